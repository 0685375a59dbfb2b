/// An entry of an encoded chunk whose body can be replaced without decoding the other entries. The result has
/// the bytes that ``ChunkWriter`` would write.
struct ChunkPatch {
    private(set) var entry = Entry()
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
        let hasBodies = columns.features & ChunkColumns.Feature.bodies != 0
        var (next, exception) = (columns.firstBody, 0)
        for at in 0..<columns.count {
            if at == slot {
                entry = try columns.entry(at: slot, &exception, &next)
            } else {
                columns.applyPlace(&exception, at: at, &next)
            }
            if !hasBodies || columns.flags(at) & ChunkColumns.Flag.body == 0 { continue }
            var body = next
            body.length = columns.length(at)
            next.offset &+= body.length
            if at > slot {
                below = (at, body)
                return
            }
            if at == slot { entry.body = body } else { above = body }
        }
    }

    /// True if another entry, which differs in its body only, fits into the columns. If not, because there is
    /// no body above or no column for what the entry has, the chunk must be written anew.
    func fits(_ new: Entry) -> Bool {
        let hasVersions = columns.features & ChunkColumns.Feature.versions != 0
        return above != nil && (new.version == nil ? entry.version == nil : hasVersions)
    }

    /// Writes the record with another entry, which must fit.
    func encode(with new: Entry, _ writer: inout ByteWriter) {
        let start = writer.size
        writer.raw(UnsafeRawBufferPointer(start: columns.base, count: columns.exceptional - columns.base))
        let count = encodeExceptions(with: new, &writer)
        writer.raw(columns.texts)
        columns.replace(at: slot, flags(new), new, exceptions: count, in: writer.bytes(from: start))
    }

    /// Writes the exceptions in their order and returns their number.
    private func encodeExceptions(with new: Entry, _ writer: inout ByteWriter) -> Int {
        var own = Replacement(slot: slot)
        var lower = Replacement(slot: below?.slot ?? .max)
        var end = above!
        if new.body.record != 0 {
            own.place(new.body, after: end)
            if new.detail != .full { own.detail = UInt64(new.detail.rawValue) }
            own.newest = new.newest.map { UInt64(bitPattern: $0) }
            end = new.body
        }
        if let below { lower.place(below.body, after: end) }
        var count = 0
        for i in 0..<columns.exceptions {
            let exception = columns.exception(i)
            count += own.write(before: exception, &writer)
            count += lower.write(before: exception, &writer)
            if isOutdated(exception) { continue }
            writer.word(exception.place)
            writer.word(exception.value)
            count += 1
        }
        return count + own.writeRest(&writer) + lower.writeRest(&writer)
    }

    private func isOutdated(_ exception: ChunkColumns.Exception) -> Bool {
        switch exception.field {
        case .record, .offset: exception.slot == slot || exception.slot == below?.slot
        case .detail, .newest: exception.slot == slot
        default: false
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

/// The exceptions of an entry about its body, which come behind its others. Those of the entry below are
/// about its place only, and come before those about its detail.
private struct Replacement {
    let slot: Int
    var record: UInt64?
    var offset: UInt64?
    var detail: UInt64?
    var newest: UInt64?
    private var isWritten = false

    private static let lastPlace = UInt32(ChunkColumns.Field.offset.rawValue)

    init(slot: Int) { self.slot = slot }

    mutating func place(_ body: BodyReference, after other: BodyReference) {
        if body.record != other.record { record = body.record }
        if body.offset != other.offset &+ other.length { offset = UInt64(body.offset) }
    }

    /// Writes them if they come before this one, and returns how many they were.
    mutating func write(before next: ChunkColumns.Exception, _ writer: inout ByteWriter) -> Int {
        let isLater = next.slot > slot || next.slot == slot && next.place >> 24 > Self.lastPlace
        return isLater ? writeRest(&writer) : 0
    }

    mutating func writeRest(_ writer: inout ByteWriter) -> Int {
        if isWritten { return 0 }
        isWritten = true
        return write(.record, record, &writer) + write(.offset, offset, &writer)
            + write(.detail, detail, &writer) + write(.newest, newest, &writer)
    }

    private func write(_ field: ChunkColumns.Field, _ value: UInt64?, _ writer: inout ByteWriter) -> Int {
        guard let value else { return 0 }
        writer.word(ChunkColumns.Exception(field, slot, value).place)
        writer.word(value)
        return 1
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
    }

    fileprivate func length(_ slot: Int) -> UInt32 { Self.word32(lengths + 4 &* slot) }

    /// Applies the exceptions of a slot that say where its body is.
    @inline(__always)
    fileprivate func applyPlace(_ at: inout Int, at slot: Int, _ next: inout BodyReference) {
        while at < exceptions {
            let exception = exception(at)
            if exception.slot != slot & 0xFF_FFFF { return }
            if exception.field == .record { next.record = exception.value }
            if exception.field == .offset { next.offset = UInt32(truncatingIfNeeded: exception.value) }
            at += 1
        }
    }

    /// Returns the entry in a slot without its body, and applies its exceptions.
    fileprivate func entry(
        at slot: Int, _ exception: inout Int, _ next: inout BodyReference
    ) throws(QuireError) -> Entry {
        var entry = Entry()
        if features & Feature.places != 0 {  // its place may depend on those above
            try forEachEntry(upTo: slot) { if $0 == slot { entry = $1 } }
            entry.body = BodyReference()
            applyPlace(&exception, at: slot, &next)
            return entry
        }
        let flags = flags(slot)
        (entry.page, entry.confirmed, entry.asked) = (page, Self.word(base + 8), Self.word(base + 16))
        entry.isDetached = flags & Flag.detached != 0
        entry.isPinned = flags & Flag.pinned != 0
        entry.isPlaceholder = flags & Flag.placeholder != 0
        if flags & Flag.unverified != 0 { entry.claim = Claim() }
        if flags & Flag.key != 0 && features & Feature.keys != 0 {
            entry.key = Int64(bitPattern: Self.word(keys + 8 &* slot))
        }
        if flags & Flag.version != 0 && features & Feature.versions != 0 {
            entry.version = Int64(bitPattern: Self.word(versions + 8 &* slot))
        }
        try apply(&exception, at: slot, &entry, &next)
        return entry
    }

    /// Replaces what the columns of a copy of this chunk have in a slot.
    fileprivate func replace(
        at slot: Int, _ flags: UInt8, _ new: Entry, exceptions: Int, in copy: UnsafeMutableRawPointer
    ) {
        copy.storeBytes(of: UInt32(exceptions).littleEndian, toByteOffset: 40, as: UInt32.self)
        copy.storeBytes(of: flags, toByteOffset: self.flags - base + slot, as: UInt8.self)
        if features & Feature.versions != 0 {
            let version = UInt64(bitPattern: new.version ?? 0)
            copy.storeBytes(
                of: version.littleEndian, toByteOffset: versions - base + 8 * slot, as: UInt64.self)
        }
        let length = new.body.record == 0 ? 0 : new.body.length
        copy.storeBytes(of: length.littleEndian, toByteOffset: lengths - base + 4 * slot, as: UInt32.self)
    }
}
