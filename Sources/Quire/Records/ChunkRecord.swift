/// Consecutive entries of one page (0: of none). A page has several chunks if its entries were separated.
struct ChunkRecord: Record {
    var page: UInt64
    /// The ids of the posts. `entries` has the entry of each.
    let ids: PostIDs
    var entries: [Entry]
    /// The epoch of ``PositionShifts`` when it was written; nil if no entry has a position in the server's
    /// list.
    var epoch: UInt64?

    init(page: UInt64, ids: PostIDs, entries: [Entry], epoch: UInt64 = 0) {
        (self.page, self.ids, self.entries) = (page, ids, entries)
        let isPlaced = entries.contains(where: \.isPlaced)
        self.epoch = isPlaced ? epoch : nil
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        let columns = try ChunkColumns(reader.rest())
        page = columns.page
        epoch = columns.epoch
        ids = try columns.ids()
        var entries: [Entry] = []
        entries.reserveCapacity(columns.count)
        try columns.forEachEntry { entries.append($1) }
        self.entries = entries
    }

    /// Returns the page of an encoded chunk, and the number of its entries.
    static func size(
        of value: UnsafeRawBufferPointer, _ what: @autoclosure () -> String
    ) throws(QuireError) -> (page: UInt64, entries: Int) {
        let columns = try ChunkColumns(value: value, what())
        return (columns.page, columns.count)
    }

    /// Returns the entry of a post in an encoded chunk; nil if it is not there.
    static func entry(
        of id: PostID, in value: UnsafeRawBufferPointer, _ what: @autoclosure () -> String
    ) throws(QuireError) -> Entry? {
        let columns = try ChunkColumns(value: value, what())
        do throws(QuireError) {
            guard let slot = try columns.slot(of: id) else { return nil }
            var found: Entry?
            try columns.forEachEntry(upTo: slot) { if $0 == slot { found = $1 } }
            return found
        } catch {
            throw .corrupt(what())
        }
    }

    func encode(_ writer: inout ByteWriter) {
        entries.withUnsafeBufferPointer {
            let order = Array(0..<entries.count)
            let chunk = ChunkWriter(page: page, ids: ids, entries: $0, order: order[...], epoch: epoch)
            chunk.writeColumns(into: writer.extend(by: chunk.size - Checksum.size))
        }
    }
}

/// Writes some entries of a state as a chunk.
struct ChunkWriter {
    private let page: UInt64
    private let ids: PostIDs
    private let entries: UnsafeBufferPointer<Entry>
    /// The entries of the chunk, as indices into `ids` and `entries`.
    private let order: ArraySlice<Int>
    private let epoch: UInt64?
    private let features: UInt32
    /// Where the first body is.
    private let first: BodyReference
    private let exceptions: [ChunkColumns.Exception]
    /// The number of bytes of the record, with its checksum.
    let size: Int

    init(
        page: UInt64, ids: PostIDs, entries: UnsafeBufferPointer<Entry>, order: ArraySlice<Int>,
        epoch: UInt64?
    ) {
        (self.page, self.ids, self.entries, self.order, self.epoch) = (page, ids, entries, order, epoch)
        var (features, texts): (UInt32, Int) = (epoch == nil ? 0 : ChunkColumns.Feature.places, 0)
        var first = BodyReference()
        for i in order {
            if entries[i].key != nil { features |= ChunkColumns.Feature.keys }
            if entries[i].version != nil { features |= ChunkColumns.Feature.versions }
            if entries[i].body.record != 0 && first.record == 0 { first = entries[i].body }
            if ids.number(at: i) == nil { texts += ids[i].bytes.count }
        }
        if first.record != 0 { features |= ChunkColumns.Feature.bodies }
        exceptions = Self.exceptions(entries, order, after: first)
        (self.features, self.first) = (features, first)
        size =
            ChunkColumns.size(features, count: order.count, exceptions: exceptions.count) + texts
            + Checksum.size
    }

    /// Writes the record.
    func write(into target: UnsafeMutableRawBufferPointer) {
        writeColumns(into: target.baseAddress!)
        Checksum.seal(target)
    }

    /// Writes the record without its checksum.
    func writeColumns(into target: UnsafeMutableRawPointer) {
        var at = target
        func put<T: FixedWidthInteger>(_ value: T) {
            at.storeBytes(of: value.littleEndian, as: T.self)
            at += MemoryLayout<T>.size
        }
        let top = order.first
        put(page)
        put(top.map { entries[$0].confirmed } ?? 0)
        put(top.map { entries[$0].asked } ?? 0)
        put(first.record)
        put(first.offset)
        put(UInt32(order.count))
        put(UInt32(exceptions.count))
        put(features)
        if let epoch { put(epoch) }
        for i in order { put(flags(i)) }
        if epoch != nil {
            var above: Int?
            for i in order {
                put(places(i, below: above))
                above = i
            }
        }
        var texts: UInt64 = 0
        for i in order {
            if let number = ids.number(at: i) {
                put(number)
            } else {
                let count = UInt64(ids[i].bytes.count)
                put(count << 32 | texts)
                texts += count
            }
        }
        if features & ChunkColumns.Feature.keys != 0 { for i in order { put(entries[i].key ?? 0) } }
        if features & ChunkColumns.Feature.versions != 0 { for i in order { put(entries[i].version ?? 0) } }
        if features & ChunkColumns.Feature.bodies != 0 {
            for i in order { put(entries[i].body.record == 0 ? 0 : entries[i].body.length) }
        }
        for exception in exceptions {
            put(exception.place)
            put(exception.value)
        }
        if texts == 0 { return }
        for i in order where ids.number(at: i) == nil {
            for byte in ids[i].bytes { put(byte) }
        }
    }

    private func flags(_ i: Int) -> UInt8 {
        typealias Flag = ChunkColumns.Flag
        var flags: UInt8 = 0
        if entries[i].isDetached { flags |= Flag.detached }
        if entries[i].isPinned { flags |= Flag.pinned }
        if entries[i].isPlaceholder { flags |= Flag.placeholder }
        if entries[i].isUnverified { flags |= Flag.unverified }
        if entries[i].key != nil { flags |= Flag.key }
        if entries[i].version != nil { flags |= Flag.version }
        if entries[i].body.record != 0 { flags |= Flag.body }
        if ids.number(at: i) == nil { flags |= Flag.text }
        return flags
    }

    private func places(_ i: Int, below above: Int?) -> UInt8 {
        typealias Flag = ChunkColumns.PlaceFlag
        guard let spot = entries[i].spot else { return entries[i].isChecked ? Flag.checked : 0 }
        return Flag.spot | (spot.isLast ? Flag.last : 0) | (entries[i].isChecked ? Flag.checked : 0)
            | (Self.follows(entries, i, above) ? Flag.follows : 0)
    }

    /// Returns true if the entry was on the row below that of the entry above it.
    private static func follows(_ entries: UnsafeBufferPointer<Entry>, _ i: Int, _ above: Int?) -> Bool {
        guard let above, let spot = entries[i].spot, let upper = entries[above].spot else { return false }
        return spot.number == upper.number && upper.row < .max && spot.row == upper.row + 1
    }

    /// Returns what differs from the values that the columns imply. `first` is where the first body is.
    private static func exceptions(
        _ entries: UnsafeBufferPointer<Entry>, _ order: ArraySlice<Int>, after first: BodyReference
    ) -> [ChunkColumns.Exception] {
        var all: [ChunkColumns.Exception] = []
        func add(_ field: ChunkColumns.Field, _ slot: Int, _ value: UInt64) {
            if all.isEmpty { all.reserveCapacity(16) }
            all.append(.init(field, slot, value))
        }
        guard let top = order.first else { return [] }
        let (confirmed, asked) = (entries[top].confirmed, entries[top].asked)
        var (slot, next) = (0, first)
        var above: Int?
        for i in order {
            if entries[i].confirmed != confirmed { add(.confirmed, slot, entries[i].confirmed) }
            if entries[i].asked != asked { add(.asked, slot, entries[i].asked) }
            if entries[i].pushed != 0 { add(.pushed, slot, entries[i].pushed) }
            if let claim = entries[i].claim {
                if claim.why != Claim().why { add(.why, slot, UInt64(claim.why.code)) }
                if claim.since != 0 { add(.since, slot, claim.since) }
            }
            if let spot = entries[i].spot, spot.number != 0 || spot.row != 0, !follows(entries, i, above) {
                add(
                    .spot, slot,
                    UInt64(bitPattern: Int64(spot.number)) << 32 | UInt64(UInt32(bitPattern: spot.row)))
            }
            let body = entries[i].body
            if body.record != 0 {
                if body.record != next.record { add(.record, slot, body.record) }
                if body.offset != next.offset { add(.offset, slot, UInt64(body.offset)) }
                if entries[i].detail != .full { add(.detail, slot, UInt64(entries[i].detail.rawValue)) }
                if let newest = entries[i].newest { add(.newest, slot, UInt64(bitPattern: newest)) }
                next = body
                next.offset &+= body.length
            }
            (slot, above) = (slot + 1, i)
        }
        return all
    }
}
