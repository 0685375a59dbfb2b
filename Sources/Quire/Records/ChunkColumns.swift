/// An encoded chunk, read in place. Values of the same kind are adjacent; a value that most entries do not
/// have, or that differs from what the others have, is an exception.
///
///     page u64 | confirmed u64 | asked u64 | body record u64 | body offset u32 | count u32 | exceptions u32
///     | features u32 | [epoch u64] | flags u8 x count | [places u8 x count] | ids u64 x count
///     | [keys i64 x count] | [versions i64 x count] | [lengths u32 x count]
///     | (slot u24, field u8, value u64) x exceptions | texts
///
/// The entries of a page mostly came in one answer: they were confirmed together, and their bodies are
/// adjacent. An entry takes 21 bytes.
@usableFromInline struct ChunkColumns {
    enum Flag {
        static let detached: UInt8 = 1
        static let pinned: UInt8 = 2
        static let placeholder: UInt8 = 4
        static let unverified: UInt8 = 8
        static let rare = detached | pinned | placeholder | unverified
        static let key: UInt8 = 16
        static let version: UInt8 = 32
        static let body: UInt8 = 64
        /// The id is not an integer: its column has where it is in `texts`.
        static let text: UInt8 = 128
    }

    enum PlaceFlag {
        static let spot: UInt8 = 1
        static let last: UInt8 = 2
        static let checked: UInt8 = 4
        /// The entry was on the row below that of the entry above.
        static let follows: UInt8 = 8
    }

    /// Which optional columns the chunk has.
    enum Feature {
        static let places: UInt32 = 1
        static let keys: UInt32 = 2
        static let versions: UInt32 = 4
        static let bodies: UInt32 = 8
        static let all: UInt32 = 15
    }

    enum Field: UInt8 {
        case confirmed = 1, asked, pushed, why, since, spot, record, offset, detail, newest
    }

    private static let head = 48
    static let exception = 12

    let base: UnsafeRawPointer
    @usableFromInline let count: Int
    let exceptions: Int
    @usableFromInline let features: UInt32
    @usableFromInline let flags: UnsafeRawPointer
    @usableFromInline let words: UnsafeRawPointer
    @usableFromInline let keys: UnsafeRawPointer
    let versions: UnsafeRawPointer
    @usableFromInline let lengths: UnsafeRawPointer
    let exceptional: UnsafeRawPointer
    @usableFromInline let texts: UnsafeRawBufferPointer

    /// Reads the chunk in these bytes, which must outlive it. All columns are within the bytes.
    init(_ bytes: UnsafeRawBufferPointer) throws(QuireError) {
        guard bytes.count >= Self.head, let base = bytes.baseAddress else { throw ByteReader.damage }
        self.base = base
        count = Int(Self.word32(base + 36))
        exceptions = Int(Self.word32(base + 40))
        features = Self.word32(base + 44)
        let hasPlaces = features & Feature.places != 0
        flags = base + (Self.head + (hasPlaces ? 8 : 0))
        words = flags + (hasPlaces ? 2 &* count : count)
        keys = words + 8 &* count
        versions = keys + (features & Feature.keys != 0 ? 8 &* count : 0)
        lengths = versions + (features & Feature.versions != 0 ? 8 &* count : 0)
        exceptional = lengths + (features & Feature.bodies != 0 ? 4 &* count : 0)
        let end = (exceptional + Self.exception &* exceptions) - base
        guard features & ~Feature.all == 0, end <= bytes.count else { throw ByteReader.damage }
        texts = UnsafeRawBufferPointer(rebasing: bytes[end...])
    }

    /// Returns a chunk without entries.
    init() {
        base = UnsafeRawPointer(bitPattern: 8)!
        (count, exceptions, features) = (0, 0, 0)
        (flags, words, keys, versions, lengths, exceptional) = (base, base, base, base, base, base)
        texts = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Reads the value of a record, with its checksum. `what` names it in an error.
    init(value: UnsafeRawBufferPointer, _ what: @autoclosure () -> String) throws(QuireError) {
        guard value.count >= Checksum.size,
            let columns = try? ChunkColumns(
                UnsafeRawBufferPointer(rebasing: value[..<(value.count - Checksum.size)]))
        else { throw .corrupt(what()) }
        self = columns
    }

    /// Returns the number of bytes of a chunk with these columns, without texts.
    static func size(_ features: UInt32, count: Int, exceptions: Int) -> Int {
        var size = head + 9 * count + exception * exceptions
        if features & Feature.places != 0 { size += 8 + count }
        if features & Feature.keys != 0 { size += 8 * count }
        if features & Feature.versions != 0 { size += 8 * count }
        if features & Feature.bodies != 0 { size += 4 * count }
        return size
    }

    var page: UInt64 { Self.word(base) }
    /// Where the first body is, and those after it. The length is missing.
    var firstBody: BodyReference {
        BodyReference(record: Self.word(base + 24), offset: Self.word32(base + 32), length: 0)
    }
    var epoch: UInt64? { features & Feature.places == 0 ? nil : Self.word(base + Self.head) }

    @inlinable @inline(__always)
    static func word(_ at: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: at.loadUnaligned(as: UInt64.self))
    }

    @inlinable @inline(__always)
    static func word32(_ at: UnsafeRawPointer) -> UInt32 {
        UInt32(littleEndian: at.loadUnaligned(as: UInt32.self))
    }

    /// What all entries together have.
    struct Sums {
        /// The flags that an entry has.
        var flags: UInt8 = 0
        var detached = 0
        var unkeyed = 0
        var bodyBytes = 0
    }

    var sums: Sums {
        var sums = Sums()
        var common: UInt8 = 0xFF
        for slot in 0..<count {
            sums.flags |= flags(slot)
            common &= flags(slot)
        }
        let hasBodies = features & Feature.bodies != 0
        if common & (Flag.key | Flag.body) == Flag.key | Flag.body && sums.flags & Flag.detached == 0
            && hasBodies
        {
            for slot in 0..<count { sums.bodyBytes &+= Int(Self.word32(lengths + 4 &* slot)) }
            return sums
        }
        for slot in 0..<count {
            let flags = flags(slot)
            sums.detached &+= Int(flags & Flag.detached)
            if flags & Flag.key == 0 { sums.unkeyed &+= 1 }
            if hasBodies && flags & Flag.body != 0 {
                sums.bodyBytes &+= Int(Self.word32(lengths + 4 &* slot))
            }
        }
        return sums
    }

    /// The sum of the column of lengths.
    var lengthSum: Int {
        if features & Feature.bodies == 0 { return 0 }
        var sum = 0
        for slot in 0..<count { sum &+= Int(Self.word32(lengths + 4 &* slot)) }
        return sum
    }

    var hasDetachedOnly: Bool {
        (0..<count).allSatisfy { flags($0) & Flag.detached != 0 }
    }

    var hasPlaceholders: Bool {
        var all: UInt8 = 0
        for slot in 0..<count { all |= flags(slot) }
        return all & Flag.placeholder != 0
    }

    func flags(_ slot: Int) -> UInt8 { flags.load(fromByteOffset: slot, as: UInt8.self) }

    func key(_ slot: Int) -> Int64? {
        if flags(slot) & Flag.key == 0 || features & Feature.keys == 0 { return nil }
        return Int64(bitPattern: Self.word(keys + 8 &* slot))
    }

    func exception(_ i: Int) -> Exception {
        let at = exceptional + Self.exception &* i
        return Exception(place: Self.word32(at), value: Self.word(at + 4))
    }

    // MARK: Ids

    @inline(__always)
    func id(_ slot: Int) throws(QuireError) -> PostID {
        let word = Self.word(words + 8 &* slot)
        if flags.load(fromByteOffset: slot, as: UInt8.self) & Flag.text == 0 { return PostID(word) }
        return try textID(word)
    }

    @inline(never)
    private func textID(_ word: UInt64) throws(QuireError) -> PostID {
        guard let id = PostID(bytes: try text(word)) else { throw ByteReader.damage }
        return id
    }

    func text(_ word: UInt64) throws(QuireError) -> UnsafeRawBufferPointer {
        guard let text = Self.text(word, in: texts) else { throw ByteReader.damage }
        return text
    }

    /// Takes no columns, so that programs in which it is inlined need not keep all of them in memory.
    @inlinable @inline(__always)
    static func text(_ word: UInt64, in texts: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let (start, count) = (Int(word & 0xFFFF_FFFF), Int(word >> 32))
        if start &+ count > texts.count { return nil }
        return UnsafeRawBufferPointer(rebasing: texts[start..<start &+ count])
    }

    /// Throws unless all ids that are texts can be read. Eight flags are tested at a time: behind them are
    /// the ids, so no more is read than there is.
    @inline(__always)
    func requireIDs() throws(QuireError) {
        var (slot, found) = (0, 0 as UInt64)
        while slot + 8 <= count {
            found |= Self.word(flags + slot)
            slot &+= 8
        }
        if slot < count { found |= Self.word(flags + slot) << UInt64(8 * (8 - count + slot)) }
        if found & 0x8080_8080_8080_8080 != 0 { try requireTexts() }
    }

    @inline(never)
    private func requireTexts() throws(QuireError) {
        for slot in 0..<count where flags(slot) & Flag.text != 0 {
            let text = try text(Self.word(words + 8 &* slot))
            if text.isEmpty || text.count > PostID.byteLimit { throw ByteReader.damage }
        }
    }

    func ids() throws(QuireError) -> PostIDs {
        var ids = PostIDs()
        ids.reserveCapacity(count)
        try appendIDs(to: &ids)
        return ids
    }

    func slot(of id: PostID) throws(QuireError) -> Int? {
        for slot in 0..<count {
            let isText = flags.load(fromByteOffset: slot, as: UInt8.self) & Flag.text != 0
            let word = Self.word(words + 8 &* slot)
            switch id.storage {
            case .integer(let number): if !isText && word == number { return slot }
            case .bytes(let bytes): if isText, try text(word).elementsEqual(bytes) { return slot }
            }
        }
        return nil
    }

    // MARK: Entries

    /// Calls `body` with each entry, from the first one to that in the slot `last`. `position` is that of the
    /// chunk.
    @inline(__always)
    func forEachEntry(
        upTo last: Int = .max, at position: UInt64 = 0, _ body: (Int, Entry) throws(QuireError) -> Void
    ) throws(QuireError) {
        let (page, confirmed, asked) = (page, Self.word(base + 8), Self.word(base + 16))
        var next = firstBody
        var exception = 0
        var spot: Spot?
        for slot in 0..<min(count, last == .max ? count : last + 1) {
            let flags = self.flags.load(fromByteOffset: slot, as: UInt8.self)
            var entry = Entry()
            (entry.page, entry.confirmed, entry.asked) = (page, confirmed, asked)
            entry.chunk = position
            if flags & Flag.rare != 0 {
                entry.isDetached = flags & Flag.detached != 0
                entry.isPinned = flags & Flag.pinned != 0
                entry.isPlaceholder = flags & Flag.placeholder != 0
                if flags & Flag.unverified != 0 { entry.claim = Claim() }
            }
            if flags & Flag.key != 0 && features & Feature.keys != 0 {
                entry.key = Int64(bitPattern: Self.word(keys + 8 &* slot))
            }
            if flags & Flag.version != 0 && features & Feature.versions != 0 {
                entry.version = Int64(bitPattern: Self.word(versions + 8 &* slot))
            }
            if features & Feature.places != 0 { readPlace(&entry, slot, spot) }
            if exception < exceptions { try apply(&exception, at: slot, &entry, &next) }
            if flags & Flag.body != 0 && features & Feature.bodies != 0 {
                entry.body = next
                entry.body.length = Self.word32(lengths + 4 &* slot)
                next.offset &+= entry.body.length
            }
            spot = entry.spot
            try body(slot, entry)
        }
        if last == .max && exception < exceptions { throw ByteReader.damage }
    }

    /// Calls `body` with each record that has bodies of these entries, and the bytes of these bodies: `all`
    /// in sum, less those of the entries in the slots `kept`, which ascend.
    func forEachBodyRecord(
        all: Int, but kept: some Collection<Int>, _ body: (UInt64, Int) -> Void
    ) {
        if all == 0 { return }
        if (0..<exceptions).allSatisfy({ exception($0).field != .record }) {
            let bytes = kept.reduce(all) { $0 - bodyLength($1) }
            if bytes > 0 { body(firstBody.record, bytes) }
            return
        }
        var (record, bytes) = (firstBody.record, 0)
        var next = record
        var at = 0
        var rest = kept.makeIterator()
        var skipped = rest.next()
        for slot in 0..<count {
            while at < exceptions, exception(at).slot <= slot {
                if exception(at).field == .record { next = exception(at).value }
                at += 1
            }
            if slot == skipped {
                skipped = rest.next()
                continue
            }
            let length = bodyLength(slot)
            if length == 0 { continue }
            if next != record {
                if bytes > 0 { body(record, bytes) }
                (record, bytes) = (next, 0)
            }
            bytes &+= length
        }
        if bytes > 0 { body(record, bytes) }
    }

    private func bodyLength(_ slot: Int) -> Int {
        if flags(slot) & Flag.body == 0 || features & Feature.bodies == 0 { return 0 }
        return Int(Self.word32(lengths + 4 &* slot))
    }

    func entry(_ slot: Int) throws(QuireError) -> Entry {
        var found = Entry()
        try forEachEntry(upTo: slot) { if $0 == slot { found = $1 } }
        return found
    }

    /// Adds the ids to a list.
    func appendIDs(to ids: inout PostIDs) throws(QuireError) {
        if !texts.isEmpty {
            for slot in 0..<count { ids.append(try id(slot)) }
            return
        }
        var all: UInt8 = 0
        for slot in 0..<count { all |= flags(slot) }
        if all & Flag.text != 0 { throw ByteReader.damage }
        ids.append(numbers: words, count: count)
    }

    private func readPlace(_ entry: inout Entry, _ slot: Int, _ above: Spot?) {
        let place = flags.load(fromByteOffset: count &+ slot, as: UInt8.self)
        entry.isChecked = place & PlaceFlag.checked != 0
        if place & PlaceFlag.spot == 0 { return }
        var spot = Spot(number: 0, row: 0)
        if place & PlaceFlag.follows != 0, let above, above.row < .max {
            spot = Spot(number: above.number, row: above.row + 1)
        }
        spot.isLast = place & PlaceFlag.last != 0
        entry.spot = spot
    }

    /// Applies the exceptions of a slot.
    func apply(
        _ exception: inout Int, at slot: Int, _ entry: inout Entry, _ next: inout BodyReference
    ) throws(QuireError) {
        while exception < exceptions {
            let found = self.exception(exception)
            if found.slot != slot & 0xFF_FFFF { return }
            let value = found.value
            guard let field = found.field else { throw ByteReader.damage }
            switch field {
            case .confirmed: entry.confirmed = value
            case .asked: entry.asked = value
            case .pushed: entry.pushed = value
            case .why: entry.claim?.why = try Doubt(code: UInt8(truncatingIfNeeded: value))
            case .since: entry.claim?.since = value
            case .spot:
                entry.spot?.number = Int32(truncatingIfNeeded: Int64(bitPattern: value) >> 32)
                entry.spot?.row = Int32(truncatingIfNeeded: value)
            case .record: next.record = value
            case .offset: next.offset = UInt32(truncatingIfNeeded: value)
            case .detail: entry.detail = Detail(rawValue: UInt8(truncatingIfNeeded: value))
            case .newest: entry.newest = Int64(bitPattern: value)
            }
            exception += 1
        }
    }
}
