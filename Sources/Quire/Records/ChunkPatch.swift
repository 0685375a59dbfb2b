/// An entry of an encoded chunk whose body can be replaced without decoding the other entries. The result has the
/// bytes that ``ChunkWriter`` would write.
struct ChunkPatch {
    let entry: Entry
    private let columns: ChunkColumns
    private let slot: Int
    /// The body of the nearest entry above that has one. The next body is expected behind it.
    private var above: BodyReference?
    /// The nearest entry below that has a body.
    private var below: (slot: Int, body: BodyReference)?

    /// Finds the entry of a post in a chunk; nil if it is not there.
    init?(_ columns: ChunkColumns, of id: PostID) throws(QuireError) {
        guard let slot = try columns.slot(of: id) else { return nil }
        (self.columns, self.slot) = (columns, slot)
        var (entry, above) = (Entry(), nil as BodyReference?)
        var below: (slot: Int, body: BodyReference)?
        try columns.forEachEntry {
            if $0 == slot {
                entry = $1
            } else if $1.body.record != 0 {
                if $0 < slot { above = $1.body } else if below == nil { below = ($0, $1.body) }
            }
        }
        (self.entry, self.above, self.below) = (entry, above, below)
    }

    /// Returns the record with another entry, which differs in its body only. Returns nil if the chunk must be
    /// written anew: there is no body above, or no column for what the entry has.
    func bytes(with new: Entry) -> [UInt8]? {
        let hasVersions = columns.features & ChunkColumns.Feature.versions != 0
        guard let above, new.version == nil ? entry.version == nil : hasVersions else { return nil }
        var exceptions: [ChunkColumns.Exception] = []
        exceptions.reserveCapacity(columns.exceptions + 6)
        for i in 0..<columns.exceptions {
            let exception = columns.exception(i)
            if !isOutdated(exception) { exceptions.append(exception) }
        }
        var end = above
        if new.body.record != 0 {
            add(slot, new.body, after: end, to: &exceptions)
            if new.detail != .full { exceptions.append(.init(.detail, slot, UInt64(new.detail.rawValue))) }
            if let newest = new.newest { exceptions.append(.init(.newest, slot, UInt64(bitPattern: newest))) }
            end = new.body
        }
        if let below { add(below.slot, below.body, after: end, to: &exceptions) }
        exceptions.sort { $0.rank < $1.rank }
        return columns.bytes(flags: flags(new), new, at: slot, exceptions)
    }

    private func isOutdated(_ exception: ChunkColumns.Exception) -> Bool {
        switch exception.field {
        case .record, .offset: exception.slot == slot || exception.slot == below?.slot
        case .detail, .newest: exception.slot == slot
        default: false
        }
    }

    private func add(
        _ slot: Int, _ body: BodyReference, after other: BodyReference,
        to exceptions: inout [ChunkColumns.Exception]
    ) {
        if body.record != other.record { exceptions.append(.init(.record, slot, body.record)) }
        if body.offset != other.offset &+ other.length {
            exceptions.append(.init(.offset, slot, UInt64(body.offset)))
        }
    }

    private func flags(_ new: Entry) -> UInt8 {
        typealias Flag = ChunkColumns.Flag
        var flags = columns.flags(slot) & ~(Flag.placeholder | Flag.version | Flag.body)
        if new.isPlaceholder { flags |= Flag.placeholder }
        if new.version != nil { flags |= Flag.version }
        if new.body.record != 0 { flags |= Flag.body }
        return flags
    }
}

extension ChunkColumns {
    /// A value of an entry that differs from what the columns imply.
    struct Exception {
        /// The slot, and the field above it.
        let place: UInt32
        let value: UInt64

        init(place: UInt32, value: UInt64) { (self.place, self.value) = (place, value) }

        init(_ field: Field, _ slot: Int, _ value: UInt64) {
            self.init(place: UInt32(slot) | UInt32(field.rawValue) << 24, value: value)
        }

        var slot: Int { Int(place & 0xFF_FFFF) }
        var field: Field? { Field(rawValue: UInt8(place >> 24)) }
        /// Their order in a record.
        var rank: UInt32 { place << 8 | place >> 24 }
    }

    /// Returns the sealed record with other flags, body, version and exceptions.
    fileprivate func bytes(
        flags: UInt8, _ new: Entry, at slot: Int, _ exceptions: [Exception]
    ) -> [UInt8] {
        let columns = exceptional - base
        var writer = ByteWriter(
            capacity: columns + exceptions.count * Self.exception + texts.count + Checksum.size)
        let head = writer.extend(by: columns)
        head.copyMemory(from: base, byteCount: columns)
        head.storeBytes(of: UInt32(exceptions.count).littleEndian, toByteOffset: 40, as: UInt32.self)
        head.storeBytes(of: flags, toByteOffset: self.flags - base + slot, as: UInt8.self)
        if features & Feature.versions != 0 {
            let version = UInt64(bitPattern: new.version ?? 0)
            head.storeBytes(
                of: version.littleEndian, toByteOffset: versions - base + 8 * slot, as: UInt64.self)
        }
        let length = new.body.record == 0 ? 0 : new.body.length
        head.storeBytes(of: length.littleEndian, toByteOffset: lengths - base + 4 * slot, as: UInt32.self)
        for exception in exceptions {
            writer.word(exception.place)
            writer.word(exception.value)
        }
        if !texts.isEmpty {
            writer.extend(by: texts.count).copyMemory(from: texts.baseAddress!, byteCount: texts.count)
        }
        return writer.sealed()
    }
}
