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
            return try ChunkPatch(columns, of: id)?.entry
        } catch {
            throw .corrupt(what())
        }
    }

    func encode(_ writer: inout ByteWriter) {
        entries.withUnsafeBufferPointer { entries in
            Array(entries.indices).withUnsafeBufferPointer { order in
                let chunk = ChunkWriter(page: page, ids: ids, entries: entries, order: order, epoch: epoch)
                chunk.writeColumns(into: writer.extend(by: chunk.size - Checksum.size))
            }
        }
    }
}

/// Writes some entries of a state as a chunk.
struct ChunkWriter {
    typealias Feature = ChunkColumns.Feature

    private let page: UInt64
    private let ids: PostIDs
    private let entries: UnsafeBufferPointer<Entry>
    /// The entries of the chunk, as indices into `ids` and `entries`.
    private let order: UnsafeBufferPointer<Int>
    private let epoch: UInt64?
    private var features: UInt32
    /// Where the first body is.
    private var first = BodyReference()
    private var exceptions: [ChunkColumns.Exception] = []
    /// The number of bytes of the record, with its checksum.
    private(set) var size = 0

    init(
        page: UInt64, ids: PostIDs, entries: UnsafeBufferPointer<Entry>, order: UnsafeBufferPointer<Int>,
        epoch: UInt64?
    ) {
        (self.page, self.ids, self.entries, self.order, self.epoch) = (page, ids, entries, order, epoch)
        features = epoch == nil ? 0 : Feature.places
        findExceptions()
        var texts = 0
        if ids.numbers == nil {
            for i in order where ids.number(at: i) == nil { texts += ids[i].bytes.count }
        }
        size =
            ChunkColumns.size(features, count: order.count, exceptions: exceptions.count) + texts
            + Checksum.size
    }

    /// Finds out which columns there are, and what differs from the values that these imply.
    private mutating func findExceptions() {
        guard let top = order.first else { return }
        let (entries, confirmed, asked) = (entries, entries[top].confirmed, entries[top].asked)
        var (features, next) = (features, BodyReference())
        for (slot, i) in order.enumerated() {
            if entries[i].key != nil { features |= Feature.keys }
            if entries[i].version != nil { features |= Feature.versions }
            // most entries are like this
            if entries[i].confirmed == confirmed, entries[i].asked == asked, entries[i].pushed == 0,
                !entries[i].isUnverified, !entries[i].isPlaced, entries[i].newest == nil,
                entries[i].detail == .full, entries[i].body.record == next.record,
                entries[i].body.offset == next.offset
            {
                next.offset &+= entries[i].body.length
            } else {
                next = addExceptions(in: slot, confirmed, asked, next)
            }
        }
        if first.record != 0 { features |= Feature.bodies }
        self.features = features
    }

    /// Adds the exceptions of a slot. Its body is expected at `next`; returns where the one below is
    /// expected.
    @inline(never)
    private mutating func addExceptions(
        in slot: Int, _ confirmed: UInt64, _ asked: UInt64, _ next: BodyReference
    ) -> BodyReference {
        let entry = entries[order[slot]]
        if entry.confirmed != confirmed { add(.confirmed, slot, entry.confirmed) }
        if entry.asked != asked { add(.asked, slot, entry.asked) }
        if entry.pushed != 0 { add(.pushed, slot, entry.pushed) }
        if let claim = entry.claim {
            if claim.why != Claim().why { add(.why, slot, UInt64(claim.why.code)) }
            if claim.since != 0 { add(.since, slot, claim.since) }
        }
        if let spot = entry.spot, spot.number != 0 || spot.row != 0, !follows(slot) {
            let row = UInt64(UInt32(bitPattern: spot.row))
            add(.spot, slot, UInt64(bitPattern: Int64(spot.number)) << 32 | row)
        }
        if entry.body.record == 0 { return next }
        if first.record == 0 {
            first = entry.body
        } else {
            if entry.body.record != next.record { add(.record, slot, entry.body.record) }
            if entry.body.offset != next.offset { add(.offset, slot, UInt64(entry.body.offset)) }
        }
        if entry.detail != .full { add(.detail, slot, UInt64(entry.detail.rawValue)) }
        if let newest = entry.newest { add(.newest, slot, UInt64(bitPattern: newest)) }
        var end = entry.body
        end.offset &+= end.length
        return end
    }

    private mutating func add(_ field: ChunkColumns.Field, _ slot: Int, _ value: UInt64) {
        if exceptions.isEmpty { exceptions.reserveCapacity(16) }
        exceptions.append(.init(field, slot, value))
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
        let columns = at
        at = target + ChunkColumns.size(features, count: order.count, exceptions: 0)
        for exception in exceptions {
            put(exception.place)
            put(exception.value)
        }
        writeColumns(at: columns, texts: at)
    }

    /// Writes the columns, and the texts behind the exceptions.
    private func writeColumns(at flags: UnsafeMutableRawPointer, texts: UnsafeMutableRawPointer) {
        let count = order.count
        let words = flags + (epoch == nil ? count : 2 &* count)
        let keys = words + 8 &* count
        let versions = keys + (features & Feature.keys == 0 ? 0 : 8 &* count)
        let lengths = versions + (features & Feature.versions == 0 ? 0 : 8 &* count)
        var text = 0
        for slot in 0..<count {
            let i = order[slot]
            var bits = entries[i].isPlain ? 0 : rareFlags(i)
            if features & Feature.keys != 0 {
                if entries[i].key != nil { bits |= ChunkColumns.Flag.key }
                Self.put(entries[i].key ?? 0, keys, slot)
            }
            if features & Feature.versions != 0 {
                if entries[i].version != nil { bits |= ChunkColumns.Flag.version }
                Self.put(entries[i].version ?? 0, versions, slot)
            }
            if features & Feature.bodies != 0 {
                if entries[i].body.record != 0 { bits |= ChunkColumns.Flag.body }
                Self.put(entries[i].body.record == 0 ? 0 : entries[i].body.length, lengths, slot)
            }
            if let number = ids.number(at: i) {
                Self.put(number, words, slot)
            } else {
                bits |= ChunkColumns.Flag.text
                let bytes = ids[i].bytes
                Self.put(UInt64(bytes.count) << 32 | UInt64(text), words, slot)
                for (n, byte) in bytes.enumerated() { Self.put(byte, texts + text, n) }
                text += bytes.count
            }
            Self.put(bits, flags, slot)
            if epoch != nil { Self.put(places(slot), flags + count, slot) }
        }
    }

    @inline(__always)
    private static func put<T: FixedWidthInteger>(_ value: T, _ column: UnsafeMutableRawPointer, _ slot: Int)
    {
        column.storeBytes(of: value.littleEndian, toByteOffset: slot &* MemoryLayout<T>.size, as: T.self)
    }

    @inline(never)
    private func rareFlags(_ i: Int) -> UInt8 {
        typealias Flag = ChunkColumns.Flag
        return (entries[i].isDetached ? Flag.detached : 0) | (entries[i].isPinned ? Flag.pinned : 0)
            | (entries[i].isPlaceholder ? Flag.placeholder : 0)
            | (entries[i].isUnverified ? Flag.unverified : 0)
    }

    private func places(_ slot: Int) -> UInt8 {
        typealias Flag = ChunkColumns.PlaceFlag
        let entry = entries[order[slot]]
        guard let spot = entry.spot else { return entry.isChecked ? Flag.checked : 0 }
        return Flag.spot | (spot.isLast ? Flag.last : 0) | (entry.isChecked ? Flag.checked : 0)
            | (follows(slot) ? Flag.follows : 0)
    }

    /// Returns true if the entry was on the row below that of the entry above it.
    private func follows(_ slot: Int) -> Bool {
        guard slot > 0, let spot = entries[order[slot]].spot, let upper = entries[order[slot - 1]].spot
        else { return false }
        return spot.number == upper.number && upper.row < .max && spot.row == upper.row + 1
    }
}
