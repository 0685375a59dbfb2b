/// How large a cache may become. The engine keeps it in the commits that the program makes anyway: what is
/// farthest from what was used and is shown leaves, and can be fetched again. See Docs/budget.md.
///
///     var budget = CacheBudget()
///     budget.fileBytes = 50_000_000
///     budget.feed.posts = 2_000
///     let cache = try Cache(at: path, options: CacheOptions(budget: budget))
public struct CacheBudget: Sendable, Hashable {
    /// The limits of a cache, a collection or a feed. What is nil has no limit; less than 0 counts as 0.
    public struct Limits: Sendable, Hashable {
        /// Most posts.
        public var posts: Int?
        /// Most bytes of bodies.
        public var bodyBytes: Int?
        /// The largest age of a page, in milliseconds: between its ``Answer/fetchedAt`` and that of the
        /// newest answer of the commit that looks.
        public var age: Int64?

        /// Creates limits.
        public init(posts: Int? = nil, bodyBytes: Int? = nil, age: Int64? = nil) {
            (self.posts, self.bodyBytes, self.age) = (posts, bodyBytes, age)
        }
    }

    /// Most bytes of the file that records may occupy, without free space.
    public var fileBytes: Int?
    /// The limits of the whole cache.
    public var cache = Limits()
    /// The limits of each collection.
    public var collection = Limits()
    /// The limits of each feed.
    public var feed = Limits()
    /// Other limits for collections with these names.
    public var collections: [String: Limits] = [:]
    /// Other limits for feeds with these names.
    public var feeds: [String: Limits] = [:]

    /// A budget without limits.
    public init() {}
}

/// A budget in options. It is apart, so that options are cheap to copy, and opening one without a budget
/// costs nothing.
final class BudgetBox: Sendable, Hashable {
    let budget: CacheBudget

    init(_ budget: CacheBudget) { self.budget = budget }

    static func == (a: BudgetBox, b: BudgetBox) -> Bool { a.budget == b.budget }
    func hash(into hasher: inout Hasher) { hasher.combine(budget) }
}
