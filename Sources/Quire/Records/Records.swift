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
        do throws(QuireError) {
            var reader = try ByteReader(value)
            try self.init(&reader)
            try reader.requireEnd()
        } catch {
            throw .corrupt(what())
        }
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
    /// The number of entries in all feeds, including detached entries, which is the number of posts in the id
    /// index.
    var entries: UInt64 = 0
    var bodyBytes: UInt64 = 0
    /// The number of posts with fields.
    var fieldRecords: UInt64 = 0
    /// The number of aliases (R28).
    var aliases: UInt64 = 0
    /// The totals of all collections that have a name. The rest is of the one that has none.
    var named = CollectionTotals()

    init() {}

    func encode(_ writer: inout ByteWriter) {
        writer.word(clock)
        writer.word(generation)
        writer.word(bodyRecords)
        writer.word(posts)
        writer.word(entries)
        writer.word(bodyBytes)
        writer.word(fieldRecords)
        writer.word(aliases)
        writer.word(feeds)
        writer.word(feedNumbers)
        writer.word(collections)
        named.encode(&writer)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        clock = try reader.word()
        generation = try reader.word()
        bodyRecords = try reader.word()
        posts = try reader.word()
        entries = try reader.word()
        bodyBytes = try reader.word()
        fieldRecords = try reader.word()
        aliases = try reader.word()
        feeds = try reader.word()
        feedNumbers = try reader.word()
        collections = try reader.word()
        named = try CollectionTotals(&reader)
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

    /// Returns true if the segment above has entries without a key, from a whole value: their number is the
    /// last before the checksum, and 0 is the only one that ends in such a byte.
    static func hasUnkeyed(_ value: UnsafeRawBufferPointer) -> Bool {
        value.count < 5 || value[value.count - 5] != 0
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
        writer.word(number)
        writer.wide(entries)
        writer.word(start)
        writer.word(fetchedAt)
    }

    /// Reads the beginning of a page's record.
    init(_ value: UnsafeRawBufferPointer, ofPage page: UInt64, _ feed: UInt32) throws(QuireError) {
        guard var reader = try? ByteReader(value), let head = try? PageHead(&reader) else {
            throw .corrupt("page \(page) of feed number \(feed)")
        }
        self = head
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        number = try reader.word()
        entries = try reader.wide()
        start = try reader.word()
        fetchedAt = try reader.word()
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
        writer.byte(
            (page.isLooseBelow ? 1 : 0) | (page.isLooseAbove ? 2 : 0) | (page.first == nil ? 0 : 4)
                | (page.last == nil ? 0 : 8))
        writer.number(page.received)
        writer.number(page.new)
        writer.number(page.duplicates)
        writer.number(page.duplicatesInPage)
        page.own.encode(&writer)
        page.next.encode(&writer)
        page.previous.encode(&writer)
        page.first?.encode(&writer)
        page.last?.encode(&writer)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        let head = try PageHead(&reader)
        let flags = try reader.byte()
        let (received, new) = (try reader.int(), try reader.int())
        let (duplicates, duplicatesInPage) = (try reader.int(), try reader.int())
        page = StoredPage(number: head.number, own: try Link(&reader))
        page.next = try Link(&reader)
        page.previous = try Link(&reader)
        if flags & 4 != 0 { page.first = try reader.postID() }
        if flags & 8 != 0 { page.last = try reader.postID() }
        page.isLooseBelow = flags & 1 != 0
        page.isLooseAbove = flags & 2 != 0
        (page.received, page.new) = (received, new)
        (page.duplicates, page.duplicatesInPage) = (duplicates, duplicatesInPage)
        (page.fetchedAt, entries, start) = (head.fetchedAt, head.entries, head.start)
    }
}
