import Quire
import QuireSimulator

/// What an app writes to one feed, drawn at random: refreshes, pages, local posts, what its user deletes and
/// what leaves to make room. A simulated server answers, and its list changes meanwhile. Each write is
/// prepared first, so that it can be timed or counted alone.
///
///     var writes = try AppWrites(in: cache, FeedOptions(order: .bump), pages: 300, seed: 5)
///     let (kind, write) = try writes.next()
///     try time(kind) { try write(writes.feed) }
public struct AppWrites {
    /// What one write does.
    public enum Kind: String, CaseIterable, Sendable {
        /// The first page, with up to five new posts.
        case refresh
        /// The first page, with more new posts than it shows: that opens a gap.
        case refreshPastAPage = "refresh, more than a page is new"
        /// The first page of a feed in which three posts have risen to the top.
        case refreshOfRisen = "refresh, posts have risen"
        /// A page below the upper border of a gap.
        case pageIntoGap = "page into a gap"
        /// A page above the lower border of a gap.
        case pageAboveGap = "page above a gap"
        /// The page below the lowest post.
        case pageAtTail = "page at the tail"
        /// The posts on both sides of one that is there.
        case pageAround = "page around a post"
        /// The same, where three of its neighbours are gone.
        case pageAroundChanges = "page around posts that are gone"
        /// A page in the middle, by its number.
        case pageByNumber = "page by its number"
        /// The page that shows whether two posts are neighbours.
        case join = "check of a join"
        /// A new post that the server sends by itself.
        case push
        /// A post that the client made.
        case localAdded = "local post added"
        /// The server has the local post, under a name of its own.
        case localConfirmed = "local post confirmed"
        /// A post is kept whatever a prune takes.
        case pinned = "post pinned"
        /// A post is gone from the server.
        case deleted = "post deleted"
        /// A post leaves to make room.
        case evicted = "post evicted"
        /// All posts of a page leave to make room.
        case pageEvicted = "page evicted"

        /// True if it asks for the top of the list.
        public var isRefresh: Bool { [.refresh, .refreshPastAPage, .refreshOfRisen].contains(self) }
    }

    /// The feed that they are for.
    public let feed: Feed
    private let options: FeedOptions
    private let pages: Int
    private var server = SimulatedServer()
    private var random: SplitMix64
    private var locals = 0

    /// Posts of one page.
    public static let pageSize = 10

    /// Loads a feed of this many pages, each a page of the server's.
    public init(in cache: Cache, _ options: FeedOptions, pages: Int, seed: UInt64) throws {
        var options = options
        options.pageSize = Self.pageSize
        (self.options, self.pages, random) = (options, pages, SplitMix64(seed: seed))
        feed = try cache.feed(named: "feed", options: options)
        // the server has more at its end, for pages at the tail
        for _ in 0..<(pages + 20) * Self.pageSize { server.insertOnTop() }
        // of a list of ids, the bodies of the upper half
        try load(.head)
        for _ in 1..<(options.paging == .ids ? pages / 2 : pages) { try load(.tail) }
    }

    private func load(_ place: Place) throws {
        try feed.cache.batch { batch in
            let feed = batch[feed]
            guard let request = try feed.plan(place).request else { return }
            _ = try feed.ingest(answer(to: request), for: request.ticket)
        }
    }

    private func answer(to request: Request) -> Answer {
        server.answer(to: request.target, limit: Self.pageSize, options: options)
    }

    /// Draws a write until the feed has something of its kind, and returns it with what carries it out.
    public mutating func next() throws -> (kind: Kind, write: (Feed) throws -> Void) {
        while true {
            let kind = random.pick(Kind.allCases)
            if let write = try prepared(kind) { return (kind, write) }
        }
    }

    private mutating func prepared(_ kind: Kind) throws -> ((Feed) throws -> Void)? {
        switch kind {
        case .refresh: return try refresh(after: random.below(6))
        case .refreshPastAPage: return try refresh(after: Self.pageSize * 5 / 2)
        case .refreshOfRisen:
            guard options.order == .bump else { return nil }
            for _ in 0..<3 { server.bump(random.pick(server.ids)) }
            return try request(.head)
        case .pageIntoGap: return try gap().flatMap { try request(.gap($0)) }
        case .pageAboveGap: return try gap().flatMap { try request(.aboveGap($0)) }
        case .pageAtTail: return try request(.tail)
        case .pageAround: return try post().flatMap { try request(.around($0)) }
        case .pageAroundChanges:
            guard let id = try post(), let at = server.ids.firstIndex(of: id) else { return nil }
            for id in server.ids[(at + 1)...].prefix(3) { server.delete(id) }
            return try request(.around(id))
        case .pageByNumber: return try request(.page(2 + random.below(pages)))
        case .join: return try post().flatMap { try request(.join(above: $0)) }
        case .push:
            if options.paging == .ids { return nil }
            server.insertOnTop()
            let answer = server.answer(to: .link(.head), limit: 1, options: options)
            return { _ = try $0.push(answer) }
        case .localAdded:
            locals += 1
            let id = local
            return { _ = try $0.insertLocal(id, body: Array("local".utf8)) }
        case .localConfirmed:
            if locals == 0 { return nil }
            let (id, confirmed) = (local, server.insertOnTop())
            return { _ = try $0.confirmLocal(id, as: confirmed) }
        case .pinned: return try post().map { id in { try $0.pin(id) } }
        case .deleted:
            guard let id = try post() else { return nil }
            server.delete(id)
            return { try $0.delete(id) }
        case .evicted: return try post().map { id in { _ = try $0.evict([id]) } }
        case .pageEvicted:
            let count = try feed.cache.withSnapshot { try $0.info(of: feed).pages }
            if count < pages / 2 { return nil }
            let at = random.below(count)
            return { _ = try $0.evictPage(at: at) }
        }
    }

    private var local: PostID { PostID("local-\(locals)")! }

    private mutating func refresh(after count: Int) throws -> ((Feed) throws -> Void)? {
        for _ in 0..<count { server.insertOnTop() }
        return try request(.head)
    }

    /// The page that the feed would ask for, planned already and answered.
    private func request(_ place: Place) throws -> ((Feed) throws -> Void)? {
        guard let request = try feed.plan(place).request else { return nil }
        let answer = answer(to: request)
        return { feed in
            guard let request = try feed.plan(place).request else { return }
            _ = try feed.ingest(answer, for: request.ticket)
        }
    }

    /// A post of the feed; nil if it has none where one is looked for.
    private mutating func post() throws -> PostID? {
        let count = try feed.cache.withSnapshot { try $0.rowCount(of: feed) }
        if count == 0 { return nil }
        let rank = random.below(count)
        return try feed.cache.withSnapshot { try $0.rows(of: feed, from: rank, limit: 1).first?.post?.id }
    }

    private mutating func gap() throws -> GapID? {
        let gaps = try feed.cache.withSnapshot { try $0.gaps(of: feed) }
        return gaps.isEmpty ? nil : random.pick(gaps).id
    }
}
