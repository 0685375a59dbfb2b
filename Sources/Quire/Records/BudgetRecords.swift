/// The distinct posts of a collection, and the bytes of their bodies. `check` recomputes them.
struct CollectionTotals: Record, Hashable {
    var posts: UInt64 = 0
    var bodyBytes: UInt64 = 0

    init() {}
    init(posts: UInt64, bodyBytes: UInt64) { (self.posts, self.bodyBytes) = (posts, bodyBytes) }

    func encode(_ writer: inout ByteWriter) {
        writer.word(posts)
        writer.word(bodyBytes)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        posts = try reader.word()
        bodyBytes = try reader.word()
    }

    static func &+ (a: Self, b: Self) -> Self {
        Self(posts: a.posts &+ b.posts, bodyBytes: a.bodyBytes &+ b.bodyBytes)
    }

    static func &- (a: Self, b: Self) -> Self {
        Self(posts: a.posts &- b.posts, bodyBytes: a.bodyBytes &- b.bodyBytes)
    }
}

/// That a feed is of a collection, as a key. The record has nothing else to say.
enum MemberKey {
    static func of(_ feed: UInt32, in collection: UInt32) -> NumberKey {
        NumberKey(UInt64(collection) << 32 | UInt64(feed))
    }

    static func parts(_ key: NumberKey) -> (collection: UInt32, feed: UInt32) {
        (UInt32(key.number >> 32), UInt32(truncatingIfNeeded: key.number))
    }
}

extension EvictionStatistics: Record {
    func encode(_ writer: inout ByteWriter) {
        for amount in [age, feed, collection, cache, file] {
            writer.word(amount.pages)
            writer.word(amount.posts)
            writer.word(amount.bodyBytes)
        }
        writer.word(hits)
        writer.word(misses)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        self.init()
        age = try Self.amount(&reader)
        feed = try Self.amount(&reader)
        collection = try Self.amount(&reader)
        cache = try Self.amount(&reader)
        file = try Self.amount(&reader)
        (hits, misses) = (try reader.word(), try reader.word())
    }

    private static func amount(_ reader: inout ByteReader) throws(QuireError) -> Amount {
        var amount = Amount()
        (amount.pages, amount.posts) = (try reader.word(), try reader.word())
        amount.bodyBytes = try reader.word()
        return amount
    }
}
