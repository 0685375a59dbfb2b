/// Goes through the entries of a chunk one by one, and reads of each only what is asked for. What the rules
/// need and no row shows it does not read.
///
/// Most entries are plain: no exception concerns what a row shows of them. The step to one of these is
/// inlined into the programs that use the library; it is a handful of instructions.
@usableFromInline struct ChunkWalk {
    /// What only some entries have.
    @usableFromInline struct Rare {
        /// The entry that has it.
        @usableFromInline var slot = -1
        @usableFromInline var why = Doubt.numbering
        @usableFromInline var isOutdated = false
        @usableFromInline var detail = Detail.full
    }

    @usableFromInline let columns: ChunkColumns
    /// The position of the chunk.
    @usableFromInline let position: UInt64
    @usableFromInline let page: UInt64
    /// The flag of entries with a body; 0 if the chunk has no column of lengths.
    @usableFromInline let bodyFlag: UInt8
    /// The entry at which it stands; at first, the one before those that are wanted.
    @usableFromInline var slot = -1
    /// The entries from the next one up to before this one are plain and wanted.
    @usableFromInline var plainEnd = 0
    /// The wanted entries are those before this one.
    private var end: Int
    /// The offset of the body and its length, and the offset of the next body.
    @usableFromInline var offset = 0
    @usableFromInline var length = 0
    @usableFromInline var next: Int
    /// The record of the body.
    private(set) var record: UInt64
    @usableFromInline var rare = Rare()
    /// The bodies of the record and the number of their bytes. As long as they are not known, any offset will
    /// do.
    @usableFromInline var bytes: UnsafeRawPointer?
    @usableFromInline var limit = Int.max
    /// The next exception that concerns rows.
    private var exception = 0

    init(_ columns: ChunkColumns, at position: UInt64) throws(QuireError) {
        (self.columns, self.position, page, end) = (columns, position, columns.page, columns.count)
        bodyFlag = columns.features & ChunkColumns.Feature.bodies == 0 ? 0 : ChunkColumns.Flag.body
        let first = columns.firstBody
        (record, next) = (first.record, Int(first.offset))
        try columns.requireIDs()
        plainEnd = exception < columns.exceptions ? try exceptionalSlot() : end
    }

    /// Returns a walk over no entry.
    init() { (columns, position, page, bodyFlag, end, next, record) = (ChunkColumns(), 0, 0, 0, 0, 0, 0) }

    /// True if no wanted entry follows.
    @inline(__always)
    var isDone: Bool { slot &+ 1 >= end }

    /// The number of entries that follow and are wanted.
    var rest: Int { end - slot - 1 }

    /// Goes to the entry in front of `start` and wants `count` of those that follow, if there are as many.
    mutating func want(from start: Int, count: Int) throws(QuireError) {
        while slot + 1 < min(start, end) { if !step() { try stepOverExceptions() } }
        // no sum that could overflow
        if rest > count { end = slot + 1 + count }
        plainEnd = min(plainEnd, end)
    }

    /// Says where the bodies of the record are.
    @inline(__always)
    mutating func use(_ bodies: UnsafeRawBufferPointer) {
        (bytes, limit) = (bodies.baseAddress, bodies.count)
    }

    /// Says that there is no record, so that no entry may have a body.
    mutating func useNothing() { (bytes, limit) = (nil, next) }

    /// True if the bytes of the entry's body are known and within those of the record.
    @inline(__always)
    var hasBody: Bool { next <= limit && (bytes != nil || length == 0) }

    /// Steps to the next entry if it is plain. Returns false if it is not, or there is none.
    @inlinable @inline(__always)
    mutating func step() -> Bool {
        let slot = self.slot &+ 1
        if slot >= plainEnd { return false }
        var length = 0
        if columns.flags.load(fromByteOffset: slot, as: UInt8.self) & bodyFlag != 0 {
            length = Int(ChunkColumns.word32(columns.lengths + 4 &* slot))
        }
        let end = next &+ length
        if end > limit { return false }
        (self.slot, self.length, offset, next) = (slot, length, next, end)
        return true
    }

    /// Steps to the next entry, which there must be, and applies its exceptions. Its body may be in another
    /// record.
    @inline(never)
    mutating func stepOverExceptions() throws(QuireError) {
        slot += 1
        let flags = columns.flags(slot)
        var found = Rare()
        while exception < columns.exceptions {
            let item = columns.exception(exception)
            if item.slot != slot { break }
            found.slot = slot
            switch item.field {
            case .why:
                if flags & ChunkColumns.Flag.unverified != 0 {
                    found.why = try Doubt(code: UInt8(truncatingIfNeeded: item.value))
                }
            case .record: (record, bytes, limit) = (item.value, nil, .max)
            case .offset: next = Int(UInt32(truncatingIfNeeded: item.value))
            case .detail: found.detail = Detail(rawValue: UInt8(truncatingIfNeeded: item.value))
            case .newest: found.isOutdated = true
            default: break
            }
            exception += 1
        }
        rare = found
        length = flags & bodyFlag == 0 ? 0 : Int(ChunkColumns.word32(columns.lengths + 4 &* slot))
        (offset, next) = (next, next + length)
        plainEnd = exception < columns.exceptions ? try exceptionalSlot() : end
    }

    /// Returns the slot of the next exception that a row shows, up to which entries are plain.
    private mutating func exceptionalSlot() throws(QuireError) -> Int {
        while exception < columns.exceptions {
            let item = columns.exception(exception)
            guard let field = item.field, item.slot > slot, item.slot < columns.count else {
                throw ByteReader.damage
            }
            switch field {
            case .why, .record, .offset, .detail, .newest: return min(item.slot, end)
            case .confirmed, .asked, .pushed, .since, .spot: exception += 1
            }
        }
        return end
    }

    /// Calls `body` with the record and offset of each body of a wanted entry that is in another record than
    /// the first one.
    func forEachBodyElsewhere(_ body: (UInt64, Int) -> Void) {
        let first = columns.firstBody.record
        var record = first
        for i in 0..<columns.exceptions {
            let item = columns.exception(i)
            switch item.field {
            case .record: record = item.value
            case .offset where record != first && slot < item.slot && item.slot < end:
                body(record, Int(UInt32(truncatingIfNeeded: item.value)))
            default: continue
            }
        }
    }

    // MARK: The entry

    // What is inlined elsewhere has the numbers of `ChunkColumns.Flag`, `Feature` and `PlaceFlag` as they
    // are.

    @inlinable @inline(__always)
    var word: UInt64 { ChunkColumns.word(columns.words + 8 &* slot) }

    @inlinable @inline(__always)
    var flags: UInt8 { columns.flags.load(fromByteOffset: slot, as: UInt8.self) }

    /// Its id if that is a number.
    @inlinable @inline(__always)
    var number: UInt64? { flags & 128 == 0 ? word : nil }

    @inlinable @inline(__always)
    var key: Int64? {
        if flags & 16 == 0 || columns.features & 2 == 0 { return nil }
        return Int64(bitPattern: ChunkColumns.word(columns.keys + 8 &* slot))
    }

    var version: Int64? {
        if flags & ChunkColumns.Flag.version == 0 || columns.features & ChunkColumns.Feature.versions == 0 {
            return nil
        }
        return Int64(bitPattern: ChunkColumns.word(columns.versions + 8 &* slot))
    }

    /// The bytes of its id, if that is no number.
    @inlinable @inline(__always)
    var text: UnsafeRawBufferPointer {
        // all texts were tested
        ChunkColumns.text(word, in: columns.texts) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    @inline(__always)
    var id: PostID {
        if let number { return PostID(number) }
        return textID
    }

    @inline(never)
    private var textID: PostID { PostID(bytes: text) ?? PostID(0) }

    @inlinable @inline(__always)
    var isRare: Bool { rare.slot == slot }

    @inlinable @inline(__always)
    var isChecked: Bool {
        if columns.features & 1 == 0 { return false }
        return columns.flags.load(fromByteOffset: columns.count &+ slot, as: UInt8.self) & 4 != 0
    }

    @inlinable @inline(__always)
    var doubt: Doubt? {
        if flags & 8 == 0 { return nil }
        return isRare ? rare.why : Doubt.numbering
    }

    @inlinable @inline(__always)
    var detail: Detail { isRare ? rare.detail : Detail.full }

    @inlinable @inline(__always)
    var isOutdated: Bool { isRare && rare.isOutdated }

    var body: BodyReference {
        if length == 0 && flags & bodyFlag == 0 { return BodyReference() }
        return BodyReference(
            record: record, offset: UInt32(truncatingIfNeeded: offset),
            length: UInt32(truncatingIfNeeded: length))
    }
}
