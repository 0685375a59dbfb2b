/// What the budget of a cache has taken away, and whether it was missed; see Docs/budget.md.
public struct EvictionStatistics: Sendable, Hashable {
    /// What one kind of limit took away.
    public struct Amount: Sendable, Hashable {
        /// The number of pages.
        public var pages: UInt64 = 0
        /// The number of posts, those counted that other feeds still hold.
        public var posts: UInt64 = 0
        /// The bytes of their bodies.
        public var bodyBytes: UInt64 = 0
    }

    /// What was too old.
    public var age = Amount()
    /// What the limits of feeds took.
    public var feed = Amount()
    /// What the limits of collections took.
    public var collection = Amount()
    /// What the limits of posts and bodies of the whole cache took.
    public var cache = Amount()
    /// What the limit of the file took.
    public var file = Amount()
    /// How often rows of a feed were read, by processes with a budget.
    public var hits: UInt64 = 0
    /// How many requests were planned for a place that had been evicted.
    public var misses: UInt64 = 0

    init() {}

    /// All that was taken away.
    public var all: Amount {
        [age, feed, collection, cache, file].reduce(into: Amount()) { $0.add($1) }
    }
}

extension EvictionStatistics.Amount {
    init(pages: Int, posts: Int, bodyBytes: Int) {
        self.init(
            pages: UInt64(clamping: pages), posts: UInt64(clamping: posts),
            bodyBytes: UInt64(clamping: bodyBytes))
    }

    mutating func add(_ other: Self) {
        pages &+= other.pages
        posts &+= other.posts
        bodyBytes &+= other.bodyBytes
    }
}

extension EvictionStatistics {
    mutating func add(_ other: Self) {
        age.add(other.age)
        feed.add(other.feed)
        collection.add(other.collection)
        cache.add(other.cache)
        file.add(other.file)
        hits &+= other.hits
        misses &+= other.misses
    }
}
