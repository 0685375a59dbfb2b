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
        let isPlaced = entries.contains { $0.spot != nil || $0.isChecked }
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
            ChunkWriter(page: page, ids: ids, entries: $0, order: order[...], epoch: epoch).write(&writer)
        }
    }
}

/// Writes some entries of a state as a chunk.
struct ChunkWriter {
    let page: UInt64
    let ids: PostIDs
    let entries: UnsafeBufferPointer<Entry>
    /// The entries of the chunk, as indices into `ids` and `entries`.
    let order: ArraySlice<Int>
    let epoch: UInt64?

    /// Returns true if an entry has a position in the server's list, so that the chunk needs an epoch.
    static func isPlaced(_ entries: UnsafeBufferPointer<Entry>, _ order: ArraySlice<Int>) -> Bool {
        for i in order where entries[i].spot != nil || entries[i].isChecked { return true }
        return false
    }

    func write(_ writer: inout ByteWriter) {
        var features: UInt32 = epoch == nil ? 0 : ChunkColumns.Feature.places
        var first = BodyReference()
        for i in order {
            if entries[i].key != nil { features |= ChunkColumns.Feature.keys }
            if entries[i].version != nil { features |= ChunkColumns.Feature.versions }
            if entries[i].body.record != 0 && first.record == 0 { first = entries[i].body }
        }
        if first.record != 0 { features |= ChunkColumns.Feature.bodies }
        let exceptions = exceptions(after: first)
        let top = order.first
        writer.word(page)
        writer.word(top.map { entries[$0].confirmed } ?? 0)
        writer.word(top.map { entries[$0].asked } ?? 0)
        writer.word(first.record)
        writer.word(first.offset)
        writer.word(UInt32(order.count))
        writer.word(UInt32(exceptions.count))
        writer.word(features)
        if let epoch { writer.word(epoch) }
        writeColumns(features, &writer)
        for exception in exceptions {
            writer.word(exception.place)
            writer.word(exception.value)
        }
        for i in order where ids.number(at: i) == nil { writer.raw(ids[i].bytes) }
    }

    private func writeColumns(_ features: UInt32, _ writer: inout ByteWriter) {
        column(&writer) { i, _ in flags(i) }
        if epoch != nil { column(&writer) { i, above in places(i, below: above) } }
        var texts: UInt64 = 0
        column(&writer) { i, _ -> UInt64 in
            if let number = ids.number(at: i) { return number }
            let count = UInt64(ids[i].bytes.count)
            defer { texts += count }
            return count << 32 | texts
        }
        if features & ChunkColumns.Feature.keys != 0 {
            column(&writer) { i, _ in UInt64(bitPattern: entries[i].key ?? 0) }
        }
        if features & ChunkColumns.Feature.versions != 0 {
            column(&writer) { i, _ in UInt64(bitPattern: entries[i].version ?? 0) }
        }
        if features & ChunkColumns.Feature.bodies != 0 {
            column(&writer) { i, _ in entries[i].body.record == 0 ? 0 : entries[i].body.length }
        }
    }

    /// Writes a value of each entry. `value` gets the entry and the one above it.
    @inline(__always)
    private func column<T: FixedWidthInteger>(_ writer: inout ByteWriter, _ value: (Int, Int?) -> T) {
        let target = writer.extend(by: order.count * MemoryLayout<T>.size)
        var (at, above): (Int, Int?) = (0, nil)
        for i in order {
            target.storeBytes(of: value(i, above).littleEndian, toByteOffset: at, as: T.self)
            at &+= MemoryLayout<T>.size
            above = i
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
            | (follows(i, above) ? Flag.follows : 0)
    }

    /// Returns true if the entry was on the row below that of the entry above it.
    private func follows(_ i: Int, _ above: Int?) -> Bool {
        guard let above, let spot = entries[i].spot, let upper = entries[above].spot else { return false }
        return spot.number == upper.number && upper.row < .max && spot.row == upper.row + 1
    }

    /// Returns what differs from the values that the columns imply. `first` is where the first body is.
    private func exceptions(after first: BodyReference) -> [ChunkColumns.Exception] {
        var all: [ChunkColumns.Exception] = []
        func add(_ field: ChunkColumns.Field, _ slot: Int, _ value: UInt64) {
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
            if let spot = entries[i].spot, spot.number != 0 || spot.row != 0, !follows(i, above) {
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
