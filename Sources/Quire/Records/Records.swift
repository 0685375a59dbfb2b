// The records of a cache, as values and as bytes. Docs/on-disk.md describes the layout.

/// A value that can be encoded to bytes and decoded from them.
protocol Record {
    func encode(_ writer: inout ByteWriter)
    init(_ reader: inout ByteReader) throws(QuireError)
}

extension Record {
    func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        encode(&writer)
        return writer.sealed()
    }

    init(_ value: UnsafeRawBufferPointer, _ what: @autoclosure () -> String) throws(QuireError) {
        self = try ByteReader.read(value, what()) { reader throws(QuireError) in try Self(&reader) }
    }
}

/// The counters of the whole cache.
struct Counters: Record {
    var clock: UInt64 = 0
    /// The number of commits.
    var generation: UInt64 = 0
    /// The number of existing feeds.
    var feeds: UInt32 = 0
    /// The last numbers assigned to a feed and to a collection. Numbers are never reused.
    var feedNumbers: UInt32 = 0
    var collections: UInt32 = 0
    var bodyRecords: UInt64 = 0
    /// The number of distinct posts.
    var posts: UInt64 = 0
    /// The number of entries in all feeds, including detached entries, which is the number of posts in the id index.
    var entries: UInt64 = 0
    var bodyBytes: UInt64 = 0
    /// The number of posts with fields.
    var fieldRecords: UInt64 = 0
    /// The number of aliases (R28).
    var aliases: UInt64 = 0

    init() {}

    func encode(_ writer: inout ByteWriter) {
        writer.number(clock)
        writer.number(generation)
        for count in [feeds, feedNumbers, collections] { writer.number(UInt64(count)) }
        writer.number(bodyRecords)
        writer.number(posts)
        writer.number(entries)
        writer.number(bodyBytes)
        writer.number(fieldRecords)
        writer.number(aliases)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        clock = try reader.number()
        generation = try reader.number()
        feeds = UInt32(truncatingIfNeeded: try reader.number())
        feedNumbers = UInt32(truncatingIfNeeded: try reader.number())
        collections = UInt32(truncatingIfNeeded: try reader.number())
        bodyRecords = try reader.number()
        posts = try reader.number()
        entries = try reader.number()
        bodyBytes = try reader.number()
        fieldRecords = try reader.number()
        aliases = try reader.number()
    }
}

/// The record of a feed: its totals, which are read alone most often, its options, its counters, its outer edges.
struct FeedRecord: Record {
    var name: String
    var options: FeedOptions
    /// The number of `options.collection`.
    var collection: UInt32 = 0
    var resets: UInt64 = 0
    var changed: UInt64 = 0
    var edgeNumbers: UInt64 = 2
    var pageNumbers: UInt64 = 0
    var ticketNumbers: UInt64 = 0
    var gapNumbers: UInt64 = 0
    var head = Edge(link: .end, number: 1)
    var tail = Edge(link: .unknown, number: 2)
    var skippedAbove = 0
    var sizes = LearnedSizes()
    var answersAgainstOrder = 0
    var shifts = PositionShifts()
    var subscription = Subscription()
    var deltaToken: DeltaToken?
    /// The size of the segment below the last gap.
    var lastSegment = SegmentCount()
    var counts = FeedCounts()

    /// True for a feed of few chunks, which never forgets a position.
    var keepsPlaces: Bool { counts.chunks <= PositionShifts.eagerChunks }

    init(name: String, options: FeedOptions) {
        self.name = name
        self.options = options
    }

    func encode(_ writer: inout ByteWriter) {
        counts.encode(&writer)
        writer.text(name)
        writer.byte(UInt8(OrderClass.allCases.firstIndex(of: options.order)!))
        writer.byte(UInt8(Paging.allCases.firstIndex(of: options.paging)!))
        writer.byte((options.trustsEnd ? 1 : 0) | (options.isStrict ? 2 : 0))
        writer.number(options.pageSize)
        writer.number(options.minimumRun)
        writer.signed(Int64(options.firstPage))
        options.sizes.encode(&writer)
        writer.list(options.sticky.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
            $0.blob($1.bytes)
        }
        writer.text(options.collection)
        writer.number(UInt64(collection))
        writer.number(resets)
        writer.number(changed)
        writer.number(edgeNumbers)
        writer.number(pageNumbers)
        writer.number(ticketNumbers)
        writer.number(gapNumbers)
        head.encode(&writer)
        tail.encode(&writer)
        writer.number(skippedAbove)
        sizes.encode(&writer)
        writer.number(answersAgainstOrder)
        shifts.encode(&writer)
        writer.optional(subscription.headAsOf) { $0.number($1) }
        writer.optional(subscription.live) { $0.number($1) }
        writer.optional(subscription.message) { $0.number($1) }
        writer.optional(deltaToken) { writer, token in
            writer.text(token.text)
            writer.number(token.asOf)
        }
        lastSegment.encode(&writer)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        counts = try FeedCounts(&reader)
        name = try reader.text()
        let (order, paging) = (Int(try reader.byte()), Int(try reader.byte()))
        guard order < OrderClass.allCases.count, paging < Paging.allCases.count else {
            throw ByteReader.damage
        }
        let flags = try reader.byte()
        options = FeedOptions(
            order: OrderClass.allCases[order], paging: Paging.allCases[paging], trustsEnd: flags & 1 != 0,
            pageSize: try reader.int(),
            minimumRun: try reader.int(), firstPage: Int(try reader.signed()),
            isStrict: flags & 2 != 0, sizes: try SizePolicy(&reader))
        options.sticky = Set(try reader.list { r throws(QuireError) in try r.postID() })
        options.collection = try reader.text()
        collection = UInt32(truncatingIfNeeded: try reader.number())
        resets = try reader.number()
        changed = try reader.number()
        edgeNumbers = try reader.number()
        pageNumbers = try reader.number()
        ticketNumbers = try reader.number()
        gapNumbers = try reader.number()
        head = try Edge(&reader)
        tail = try Edge(&reader)
        skippedAbove = try reader.int()
        sizes = try LearnedSizes(&reader)
        answersAgainstOrder = try reader.int()
        shifts = try PositionShifts(&reader)
        subscription.headAsOf = try reader.optional { r throws(QuireError) in try r.number() }
        subscription.live = try reader.optional { r throws(QuireError) in try r.number() }
        subscription.message = try reader.optional { r throws(QuireError) in try r.number() }
        deltaToken = try reader.optional { r throws(QuireError) in
            DeltaToken(text: try r.text(), asOf: try r.number())
        }
        lastSegment = try SegmentCount(&reader)
    }
}

// Fields that both the record and the state of a feed have.

extension FeedState {
    @inline(__always)
    mutating func take(_ record: FeedRecord) {
        resets = record.resets
        changed = record.changed
        edgeNumbers = record.edgeNumbers
        pageNumbers = record.pageNumbers
        ticketNumbers = record.ticketNumbers
        gapNumbers = record.gapNumbers
        (head, tail) = (record.head, record.tail)
        skippedAbove = record.skippedAbove
        sizes = record.sizes
        answersAgainstOrder = record.answersAgainstOrder
        subscription = record.subscription
        deltaToken = record.deltaToken
    }
}

extension FeedRecord {
    @inline(__always)
    mutating func take(_ state: borrowing FeedState) {
        resets = state.resets
        changed = state.changed
        edgeNumbers = state.edgeNumbers
        pageNumbers = state.pageNumbers
        ticketNumbers = state.ticketNumbers
        gapNumbers = state.gapNumbers
        (head, tail) = (state.head, state.tail)
        skippedAbove = state.skippedAbove
        sizes = state.sizes
        answersAgainstOrder = state.answersAgainstOrder
        subscription = state.subscription
        deltaToken = state.deltaToken
    }
}

/// The number of server entries in a segment, and of those without a key.
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

/// The totals of a feed. `check` recomputes them.
struct FeedCounts: Record, Hashable {
    var entries = 0
    var detached = 0
    var placeholders = 0
    var pinned = 0
    var unverifiedJoins = 0
    var pages = 0
    var gaps = 0
    /// The number of gaps whose upper link is an end in doubt (R11): everything below waits for them.
    var endsInDoubt = 0
    /// The number of gaps with a link that begins at another post than the gap's neighbour (R14).
    var overlaps = 0
    var chunks = 0
    var bodyBytes = 0

    init() {}

    func encode(_ writer: inout ByteWriter) {
        writer.number(entries)
        writer.number(detached)
        writer.number(placeholders)
        writer.number(pinned)
        writer.number(unverifiedJoins)
        writer.number(pages)
        writer.number(gaps)
        writer.number(endsInDoubt)
        writer.number(overlaps)
        writer.number(chunks)
        writer.number(bodyBytes)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        entries = try reader.int()
        detached = try reader.int()
        placeholders = try reader.int()
        pinned = try reader.int()
        unverifiedJoins = try reader.int()
        pages = try reader.int()
        gaps = try reader.int()
        endsInDoubt = try reader.int()
        overlaps = try reader.int()
        chunks = try reader.int()
        bodyBytes = try reader.int()
    }
}

/// A gap. Its key is the position of the chunk directly below it.
struct GapRecord: Record {
    var gap: Gap
    /// The size of the segment above the gap.
    var above: SegmentCount

    init(gap: Gap, above: SegmentCount) {
        self.gap = gap
        self.above = above
    }

    func encode(_ writer: inout ByteWriter) {
        writer.number(gap.id.number)
        gap.why.encode(&writer)
        writer.number(gap.since)
        gap.down.encode(&writer)
        gap.up.encode(&writer)
        above.encode(&writer)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        let id = GapID(try reader.number())
        let (why, since) = (try Doubt(&reader), try reader.number())
        gap = Gap(id: id, down: try Edge(&reader), up: try Edge(&reader), why: why, since: since)
        above = try SegmentCount(&reader)
    }
}

/// The beginning of a page's record, which is read alone most often.
struct PageHead: Hashable {
    var number: UInt64
    /// The number of entries it still has.
    var entries: Int
    /// None of its entries is above this position, where a search for them begins.
    var start: UInt64
    var fetchedAt: Int64

    init(number: UInt64, entries: Int, start: UInt64, fetchedAt: Int64) {
        (self.number, self.entries, self.start, self.fetchedAt) = (number, entries, start, fetchedAt)
    }

    func encode(_ writer: inout ByteWriter) {
        writer.number(number)
        writer.number(entries)
        writer.number(start)
        writer.signed(fetchedAt)
    }

    /// Reads the beginning of a page's record.
    init(_ value: UnsafeRawBufferPointer, ofPage page: UInt64, _ feed: UInt32) throws(QuireError) {
        guard var reader = try? ByteReader(value), let head = try? PageHead(&reader) else {
            throw .corrupt("page \(page) of feed number \(feed)")
        }
        self = head
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        number = try reader.number()
        entries = try reader.int()
        start = try reader.number()
        fetchedAt = try reader.signed()
    }
}

/// A page and the number of entries it still has.
struct PageRecord: Record, Hashable {
    var page: StoredPage
    var entries = 0
    /// None of its entries is above this position, where a search for them begins.
    var start: UInt64

    init(page: StoredPage, entries: Int, start: UInt64) {
        self.page = page
        self.entries = entries
        self.start = start
    }

    func encode(_ writer: inout ByteWriter) {
        PageHead(number: page.number, entries: entries, start: start, fetchedAt: page.fetchedAt).encode(
            &writer)
        page.own.encode(&writer)
        page.next.encode(&writer)
        page.previous.encode(&writer)
        writer.optional(page.first) { $1.encode(&$0) }
        writer.optional(page.last) { $1.encode(&$0) }
        writer.byte((page.isLooseBelow ? 1 : 0) | (page.isLooseAbove ? 2 : 0))
        for count in [page.received, page.new, page.duplicates, page.duplicatesInPage] {
            writer.number(count)
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        let head = try PageHead(&reader)
        page = StoredPage(number: head.number, own: try Link(&reader))
        page.next = try Link(&reader)
        page.previous = try Link(&reader)
        page.first = try reader.optional { r throws(QuireError) in try r.postID() }
        page.last = try reader.optional { r throws(QuireError) in try r.postID() }
        let flags = try reader.byte()
        page.isLooseBelow = flags & 1 != 0
        page.isLooseAbove = flags & 2 != 0
        page.received = try reader.int()
        page.new = try reader.int()
        page.duplicates = try reader.int()
        page.duplicatesInPage = try reader.int()
        (page.fetchedAt, entries, start) = (head.fetchedAt, head.entries, head.start)
    }
}
