// The records of a cache, as values and as bytes. This is the only file that knows their layout;
// Docs/on-disk.md draws it.

/// What a record can do: become bytes and come back.
protocol Record {
    func encode(_ writer: inout ByteWriter)
    init(_ reader: inout ByteReader) throws(QuireError)
}

extension Record {
    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        encode(&writer)
        return writer.sealed()
    }

    init(_ value: UnsafeRawBufferPointer, _ what: String) throws(QuireError) {
        var reader = try ByteReader(value, what)
        self = try Self(&reader)
        try reader.end()
    }
}

/// Counters of the whole cache.
struct Counters: Record {
    var clock: UInt64 = 0
    /// Number of committed writes.
    var generation: UInt64 = 0
    var feeds: UInt32 = 0
    var bodyRecords: UInt64 = 0
    var posts: UInt64 = 0
    var bodyBytes: UInt64 = 0

    init() {}

    func encode(_ writer: inout ByteWriter) {
        writer.number(clock)
        writer.number(generation)
        writer.number(UInt64(feeds))
        writer.number(bodyRecords)
        writer.number(posts)
        writer.number(bodyBytes)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        clock = try reader.number()
        generation = try reader.number()
        feeds = UInt32(truncatingIfNeeded: try reader.number())
        bodyRecords = try reader.number()
        posts = try reader.number()
        bodyBytes = try reader.number()
    }
}

/// A feed: what it is, its counters, its outer edges.
struct FeedRecord: Record {
    var name: String
    var options: FeedOptions
    var generation: UInt64 = 0
    var changed: UInt64 = 0
    var edgeNumbers: UInt64 = 2
    var pageNumbers: UInt64 = 0
    var ticketNumbers: UInt64 = 0
    var gapNumbers: UInt64 = 0
    var head = Edge(link: .end, number: 1)
    var tail = Edge(link: .unknown, number: 2)
    var drift = 0
    var overlap = 1
    var skippedAbove = 0
    /// The segment below the last gap.
    var lastSegment = SegmentCount()
    var counts = FeedCounts()

    init(name: String, options: FeedOptions) {
        self.name = name
        self.options = options
    }

    func encode(_ writer: inout ByteWriter) {
        writer.text(name)
        writer.text(options.order.rawValue)
        writer.text(options.paging.rawValue)
        writer.byte((options.trustsEnd ? 1 : 0) | (options.isStrict ? 2 : 0))
        writer.number(options.pageSize)
        writer.number(options.minimumRun)
        writer.signed(Int64(options.firstPage))
        writer.list(options.sticky.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
            $0.blob($1.bytes)
        }
        for counter in [
            generation, changed, edgeNumbers, pageNumbers, ticketNumbers, gapNumbers,
        ] { writer.number(counter) }
        head.encode(&writer)
        tail.encode(&writer)
        writer.signed(Int64(drift))
        writer.number(overlap)
        writer.number(skippedAbove)
        lastSegment.encode(&writer)
        counts.encode(&writer)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        name = try reader.text()
        guard let order = OrderClass(rawValue: try reader.text()),
            let paging = Paging(rawValue: try reader.text())
        else { throw reader.damage }
        let flags = try reader.byte()
        options = FeedOptions(
            order: order, paging: paging, trustsEnd: flags & 1 != 0, pageSize: try reader.int(),
            minimumRun: try reader.int(), firstPage: Int(try reader.signed()),
            isStrict: flags & 2 != 0)
        options.sticky = Set(try reader.list { r throws(QuireError) in try r.postID() })
        generation = try reader.number()
        changed = try reader.number()
        edgeNumbers = try reader.number()
        pageNumbers = try reader.number()
        ticketNumbers = try reader.number()
        gapNumbers = try reader.number()
        head = try Edge(&reader)
        tail = try Edge(&reader)
        drift = Int(try reader.signed())
        overlap = try reader.int()
        skippedAbove = try reader.int()
        lastSegment = try SegmentCount(&reader)
        counts = try FeedCounts(&reader)
    }
}

/// How many entries of the server's sequence a segment has, and how many of them lack a key.
struct SegmentCount: Record, Hashable {
    var entries = 0
    var unkeyed = 0

    init(entries: Int = 0, unkeyed: Int = 0) {
        self.entries = entries
        self.unkeyed = unkeyed
    }

    func encode(_ writer: inout ByteWriter) {
        writer.number(entries)
        writer.number(unkeyed)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        entries = try reader.int()
        unkeyed = try reader.int()
    }
}

/// Totals of a feed. `check` recomputes them.
struct FeedCounts: Record, Hashable {
    var entries = 0
    var riders = 0
    var faults = 0
    var pinned = 0
    var claimedSeams = 0
    var pages = 0
    var gaps = 0
    var pieces = 0
    var bodyBytes = 0

    init() {}

    func encode(_ writer: inout ByteWriter) {
        for count in [
            entries, riders, faults, pinned, claimedSeams, pages, gaps, pieces, bodyBytes,
        ] { writer.number(count) }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        entries = try reader.int()
        riders = try reader.int()
        faults = try reader.int()
        pinned = try reader.int()
        claimedSeams = try reader.int()
        pages = try reader.int()
        gaps = try reader.int()
        pieces = try reader.int()
        bodyBytes = try reader.int()
    }
}

/// A gap lies directly above the piece whose position is its key.
struct GapRecord: Record {
    var gap: Gap
    /// The segment above the gap.
    var above: SegmentCount

    init(gap: Gap, above: SegmentCount) {
        self.gap = gap
        self.above = above
    }

    func encode(_ writer: inout ByteWriter) {
        writer.number(gap.id.number)
        gap.down.encode(&writer)
        gap.up.encode(&writer)
        above.encode(&writer)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        gap = Gap(
            id: GapID(try reader.number()), down: try Edge(&reader), up: try Edge(&reader))
        above = try SegmentCount(&reader)
    }
}

/// Consecutive entries of one page (0: of none). A page whose entries were separated has several.
struct PieceRecord: Record {
    var page: UInt64
    var entries: [Entry]

    init(page: UInt64, entries: [Entry]) {
        self.page = page
        self.entries = entries
    }

    private enum Flag {
        static let rider: UInt8 = 1
        static let pinned: UInt8 = 2
        static let fault: UInt8 = 4
        static let claimed: UInt8 = 8
        static let key: UInt8 = 16
        static let body: UInt8 = 32
    }

    func encode(_ writer: inout ByteWriter) {
        writer.number(page)
        writer.list(entries) { writer, entry in
            writer.byte(
                (entry.isRider ? Flag.rider : 0) | (entry.isPinned ? Flag.pinned : 0)
                    | (entry.isFault ? Flag.fault : 0) | (entry.isClaimed ? Flag.claimed : 0)
                    | (entry.key != nil ? Flag.key : 0)
                    | (entry.body.record != 0 ? Flag.body : 0))
            entry.id.encode(&writer)
            writer.number(entry.confirmed)
            if let key = entry.key { writer.signed(key) }
            if entry.body.record != 0 { entry.body.encode(&writer) }
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        let page = try reader.number()
        self.page = page
        entries = try reader.list { reader throws(QuireError) in
            let flags = try reader.byte()
            var entry = Entry(id: try reader.postID())
            entry.page = page
            entry.confirmed = try reader.number()
            if flags & Flag.key != 0 { entry.key = try reader.signed() }
            if flags & Flag.body != 0 { entry.body = try BodyReference(&reader) }
            entry.isRider = flags & Flag.rider != 0
            entry.isPinned = flags & Flag.pinned != 0
            entry.isFault = flags & Flag.fault != 0
            entry.isClaimed = flags & Flag.claimed != 0
            return entry
        }
    }
}

/// A page and how many entries it still has.
struct PageRecord: Record, Hashable {
    var page: StoredPage
    var entries = 0

    init(page: StoredPage, entries: Int) {
        self.page = page
        self.entries = entries
    }

    func encode(_ writer: inout ByteWriter) {
        writer.number(page.number)
        page.own.encode(&writer)
        page.next.encode(&writer)
        page.previous.encode(&writer)
        writer.optional(page.first) { $1.encode(&$0) }
        writer.optional(page.last) { $1.encode(&$0) }
        for count in [page.received, page.new, page.duplicates, page.duplicatesInPage, entries] {
            writer.number(count)
        }
        writer.signed(page.fetchedAt)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        page = StoredPage(number: try reader.number(), own: try Link(&reader))
        page.next = try Link(&reader)
        page.previous = try Link(&reader)
        page.first = try reader.optional { r throws(QuireError) in try r.postID() }
        page.last = try reader.optional { r throws(QuireError) in try r.postID() }
        page.received = try reader.int()
        page.new = try reader.int()
        page.duplicates = try reader.int()
        page.duplicatesInPage = try reader.int()
        entries = try reader.int()
        page.fetchedAt = try reader.signed()
    }
}

/// A post, however many feeds hold it.
struct PostRecord: Record, Hashable {
    struct Field: Hashable {
        var name: String
        var version: Int64
        var value: [UInt8]
    }

    /// Spelled out only if the key holds a hash of it.
    var longID: PostID?
    var body = BodyReference()
    var version: Int64?
    /// Number of feeds that hold it.
    var holders = 0
    /// Values that were updated one by one (R23), sorted by name.
    var fields: [Field] = []

    init(longID: PostID?) { self.longID = longID }

    func encode(_ writer: inout ByteWriter) {
        writer.optional(longID) { $1.encode(&$0) }
        body.encode(&writer)
        writer.optional(version) { $0.signed($1) }
        writer.number(holders)
        writer.list(fields) { writer, field in
            writer.text(field.name)
            writer.signed(field.version)
            writer.blob(field.value)
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        longID = try reader.optional { r throws(QuireError) in try r.postID() }
        body = try BodyReference(&reader)
        version = try reader.optional { r throws(QuireError) in try r.signed() }
        holders = try reader.int()
        fields = try reader.list { r throws(QuireError) in
            Field(name: try r.text(), version: try r.signed(), value: Array(try r.blob()))
        }
    }
}

/// How much of a body record posts still refer to.
struct BodyUse: Record, Hashable {
    var posts: Int
    var live: Int
    var total: Int

    init(posts: Int, live: Int, total: Int) {
        (self.posts, self.live, self.total) = (posts, live, total)
    }

    func encode(_ writer: inout ByteWriter) {
        writer.number(posts)
        writer.number(live)
        writer.number(total)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        posts = try reader.int()
        live = try reader.int()
        total = try reader.int()
    }
}
