// The records that contain entries and data about their posts.

/// Consecutive entries of one page (0: of none). A page has several chunks if its entries were separated.
///
/// The entries of a page mostly came in one answer: they were confirmed together, and their bodies are
/// adjacent. An expected value takes one byte or none, so an entry takes about 17 bytes.
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

    private enum Flag {
        static let detached: UInt8 = 1
        static let pinned: UInt8 = 2
        static let placeholder: UInt8 = 4
        static let unverified: UInt8 = 8
        static let key: UInt8 = 16
        static let version: UInt8 = 32
        static let body: UInt8 = 64
        /// The body does not directly follow that of the entry above.
        static let jump: UInt8 = 128
    }

    /// Which optional data the chunk has.
    private enum Feature {
        static let places: UInt8 = 1
        /// The entries were not all requested at the time of the first one.
        static let asked: UInt8 = 2
        /// Not all bodies have full detail and are up to date.
        static let details: UInt8 = 4
        /// Some entries were pushed (R27).
        static let pushed: UInt8 = 8
    }

    private enum PlaceFlag {
        static let spot: UInt8 = 1
        static let last: UInt8 = 2
        static let checked: UInt8 = 4
        /// The entry is on the row below that of the entry above.
        static let follows: UInt8 = 8
    }

    /// The values expected of an entry, derived from those above it.
    private struct Expected {
        var confirmed: UInt64
        var asked: UInt64
        var spot: Spot?
        var key: Int64 = 0
        var version: Int64 = 0
        var body = BodyReference()

        mutating func follow(_ entry: Entry) {
            if let key = entry.key { self.key = key }
            if let version = entry.version { self.version = version }
            spot = entry.spot
            body = entry.body
            body.offset &+= body.length
        }
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: 24 + entries.count * 26)
        encode(&writer)
        return writer.sealed()
    }

    func encode(_ writer: inout ByteWriter) {
        writer.number(page)
        let first = entries.first
        var expected = Expected(confirmed: first?.confirmed ?? 0, asked: first?.asked ?? 0)
        writer.number(expected.confirmed)
        writer.number(expected.asked)
        let isMixed = entries.contains { $0.asked != expected.asked }
        let arePushed = entries.contains { $0.pushed != 0 }
        let hasDetails = entries.contains {
            $0.body.record != 0 && ($0.detail != .full || $0.newest != nil)
        }
        writer.byte(
            (epoch == nil ? 0 : Feature.places) | (isMixed ? Feature.asked : 0)
                | (hasDetails ? Feature.details : 0) | (arePushed ? Feature.pushed : 0))
        if let epoch { writer.number(epoch) }
        writer.number(entries.count)
        for (i, entry) in entries.enumerated() {
            let hasBody = entry.body.record != 0
            let jumps =
                hasBody
                && (entry.body.record != expected.body.record
                    || entry.body.offset != expected.body.offset)
            writer.byte(
                (entry.isDetached ? Flag.detached : 0) | (entry.isPinned ? Flag.pinned : 0)
                    | (entry.isPlaceholder ? Flag.placeholder : 0)
                    | (entry.isUnverified ? Flag.unverified : 0)
                    | (entry.key != nil ? Flag.key : 0) | (entry.version != nil ? Flag.version : 0)
                    | (hasBody ? Flag.body : 0) | (jumps ? Flag.jump : 0))
            ids.encode(i, &writer)
            writer.signed(Int64(bitPattern: entry.confirmed &- expected.confirmed))
            if isMixed { writer.signed(Int64(bitPattern: entry.asked &- expected.asked)) }
            if arePushed { writer.number(entry.pushed) }
            if let claim = entry.claim {
                claim.why.encode(&writer)
                writer.number(claim.since)
            }
            if epoch != nil { Self.encodePlace(entry, expected.spot, &writer) }
            if let key = entry.key { writer.signed(key &- expected.key) }
            if let version = entry.version { writer.signed(version &- expected.version) }
            if jumps {
                writer.number(entry.body.record)
                writer.number(UInt64(entry.body.offset))
            }
            if hasBody { writer.number(UInt64(entry.body.length)) }
            if hasBody && hasDetails {
                writer.byte(entry.detail.rawValue)
                writer.optional(entry.newest) { $0.signed($1) }
            }
            expected.follow(entry)
        }
    }

    private static func encodePlace(_ entry: Entry, _ above: Spot?, _ writer: inout ByteWriter) {
        var follows = false
        if let spot = entry.spot, let above {
            follows = spot.number == above.number && above.row < .max && spot.row == above.row + 1
        }
        writer.byte(
            (entry.spot == nil ? 0 : PlaceFlag.spot)
                | (entry.spot?.isLast ?? false ? PlaceFlag.last : 0)
                | (entry.isChecked ? PlaceFlag.checked : 0) | (follows ? PlaceFlag.follows : 0))
        if let spot = entry.spot, !follows {
            writer.signed(Int64(spot.number))
            writer.signed(Int64(spot.row))
        }
    }

    private static func readPlace(
        _ entry: inout Entry, _ above: Spot?, _ reader: inout ByteReader
    ) throws(QuireError) {
        let flags = try reader.byte()
        entry.isChecked = flags & PlaceFlag.checked != 0
        if flags & PlaceFlag.spot == 0 { return }
        var spot: Spot
        if flags & PlaceFlag.follows != 0 {
            guard let above, above.row < .max else { throw ByteReader.damage }
            spot = Spot(number: above.number, row: above.row + 1)
        } else {
            let (number, row) = (try reader.signed(), try reader.signed())
            guard let number = Int32(exactly: number), let row = Int32(exactly: row) else {
                throw ByteReader.damage
            }
            spot = Spot(number: number, row: row)
        }
        spot.isLast = flags & PlaceFlag.last != 0
        entry.spot = spot
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        let head = try Head(&reader)
        page = head.page
        epoch = head.epoch
        var ids = PostIDs()
        ids.reserveCapacity(head.count)
        entries = []
        entries.reserveCapacity(head.count)
        var expected = Expected(confirmed: head.confirmed, asked: head.asked)
        for _ in 0..<head.count {
            let (id, entry) = try Self.entry(&reader, head, &expected)
            ids.append(id)
            entries.append(entry)
        }
        self.ids = ids
    }

    private struct Head {
        let page: UInt64
        let confirmed: UInt64
        let asked: UInt64
        let isMixed: Bool
        let epoch: UInt64?
        let hasDetails: Bool
        let arePushed: Bool
        let count: Int

        init(_ reader: inout ByteReader) throws(QuireError) {
            page = try reader.number()
            confirmed = try reader.number()
            asked = try reader.number()
            let features = try reader.byte()
            isMixed = features & Feature.asked != 0
            hasDetails = features & Feature.details != 0
            arePushed = features & Feature.pushed != 0
            epoch = features & Feature.places == 0 ? nil : try reader.number()
            count = try reader.count()
        }
    }

    @inline(__always)
    private static func entry(
        _ reader: inout ByteReader, _ head: Head, _ expected: inout Expected
    ) throws(QuireError) -> (PostID, Entry) {
        let flags = try reader.byte()
        let id = try reader.postID()
        var entry = Entry()
        entry.page = head.page
        entry.confirmed = expected.confirmed &+ UInt64(bitPattern: try reader.signed())
        entry.asked = expected.asked
        if head.isMixed { entry.asked &+= UInt64(bitPattern: try reader.signed()) }
        if head.arePushed { entry.pushed = try reader.number() }
        if flags & Flag.unverified != 0 {
            entry.claim = Claim(why: try Doubt(&reader), since: try reader.number())
        }
        if head.epoch != nil { try readPlace(&entry, expected.spot, &reader) }
        if flags & Flag.key != 0 { entry.key = expected.key &+ (try reader.signed()) }
        if flags & Flag.version != 0 { entry.version = expected.version &+ (try reader.signed()) }
        if flags & Flag.body != 0 {
            entry.body = expected.body
            if flags & Flag.jump != 0 {
                entry.body.record = try reader.number()
                entry.body.offset = UInt32(truncatingIfNeeded: try reader.number())
            }
            entry.body.length = UInt32(truncatingIfNeeded: try reader.number())
            if head.hasDetails {
                entry.detail = Detail(rawValue: try reader.byte())
                entry.newest = try reader.optional { r throws(QuireError) in try r.signed() }
            }
        }
        entry.isDetached = flags & Flag.detached != 0
        entry.isPinned = flags & Flag.pinned != 0
        entry.isPlaceholder = flags & Flag.placeholder != 0
        expected.follow(entry)
        return (id, entry)
    }

    /// Returns the page of an encoded chunk, and the number of its entries.
    static func size(
        of value: UnsafeRawBufferPointer, _ what: @autoclosure () -> String
    ) throws(QuireError) -> (page: UInt64, entries: Int) {
        do throws(QuireError) {
            var reader = try ByteReader(value)
            let head = try Head(&reader)
            return (head.page, head.count)
        } catch {
            throw .corrupt(what())
        }
    }

    /// Returns the entry of a post in an encoded chunk; nil if it is not there.
    static func entry(
        of id: PostID, in value: UnsafeRawBufferPointer, _ what: @autoclosure () -> String
    ) throws(QuireError) -> Entry? {
        do throws(QuireError) {
            var reader = try ByteReader(value)
            let head = try Head(&reader)
            var expected = Expected(confirmed: head.confirmed, asked: head.asked)
            for _ in 0..<head.count {
                let (other, entry) = try Self.entry(&reader, head, &expected)
                if other == id { return entry }
            }
            return nil
        } catch {
            throw .corrupt(what())
        }
    }
}

/// Values of a post that were updated separately (R23), sorted by name.
struct FieldsRecord: Record, Hashable {
    struct Field: Hashable {
        var name: String
        var version: Int64
        var value: [UInt8]
    }

    let id: PostID
    var fields: [Field] = []

    init(id: PostID) { self.id = id }

    func encode(_ writer: inout ByteWriter) {
        id.encode(&writer)
        writer.list(fields) { writer, field in
            writer.text(field.name)
            writer.signed(field.version)
            writer.blob(field.value)
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        id = try reader.postID()
        fields = try reader.list { r throws(QuireError) in
            Field(name: try r.text(), version: try r.signed(), value: Array(try r.blob()))
        }
    }
}

/// How many bytes of a body record posts still refer to, if it is not all of them.
struct BodyUse: Record, Hashable {
    var live: Int
    var total: Int

    init(live: Int, total: Int) { (self.live, self.total) = (live, total) }

    func encode(_ writer: inout ByteWriter) {
        writer.number(live)
        writer.number(total)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        live = try reader.int()
        total = try reader.int()
    }
}
