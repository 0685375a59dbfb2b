import Quire

/// Fetches a server's list into a feed, page by page: requests what the engine plans, and passes it the
/// answers.
///
///     let pager = Pager(feed, source: Questions())
///     try await pager.refresh(.ifStale)      // when the list is shown
///     try await pager.append()               // when the reader nears its end
///     try await pager.fill(gap.id)           // when a gap comes into view
///
/// It is an actor, because the waiting callers change at every await. Between two awaits it plans or commits,
/// so no transaction is open while it waits for a server. Use one pager for each feed: calls for the same
/// place share a request. Several pagers, even in several processes, are safe, because the engine judges each
/// answer by its ticket, but they make more requests.
///
/// Cancelling a call leaves the cache unchanged. The request itself goes on as long as another caller
/// waits for it. Every method throws ``Quire/QuireError``, ``PagerError``, `CancellationError`, and what the
/// source or an interceptor throws; the pager can be used again after each of them.
public actor Pager {
    /// Its rows are read with ``Quire/Cache/withSnapshot(_:)``, whatever the pager does meanwhile. Ask for it
    /// each time: a replica that is built anew is another cache.
    public nonisolated var feed: Feed { writer.feed }
    /// What it writes through.
    nonisolated let writer: any FeedWriting
    /// The pager's options.
    public nonisolated let options: PagerOptions
    let clock: PagerClock
    let source: any PagingSource
    let interceptors: [Interceptor]
    private let thread = PagerThread()

    /// A separate thread, because commits block.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    var flights: [Place: Flight] = [:]
    var numbers: UInt64 = 0
    /// Places where the last answer led nowhere. Automatic requests there would repeat for ever.
    var stopped: [Place: Outcome.Verdict] = [:]
    /// True until an answer tells the top of the feed again: "not modified" tells it of an earlier time.
    var asksForTop = false
    /// What each viewer sees; empty until the first one has said it.
    private var sights: [Sight] = []
    /// The app, where it says itself what is visible.
    private let app = Viewer()

    /// Creates a pager for a feed. Nothing is asked for yet.
    ///
    ///     let pager = Pager(feed, source: try HTTPSource(template, profile: .named("stackexchange")!))
    ///     try await pager.refresh(.ifStale)
    /// - Parameters:
    ///   - writer: The feed that the answers go to.
    ///   - source: What asks the server.
    ///   - interceptors: See requests and responses; the first one sees requests first.
    ///   - options: How it asks: retries, freshness, pruning.
    ///   - clock: What it waits by; tests have one of their own.
    public init(
        _ writer: any FeedWriting, source: any PagingSource, interceptors: [Interceptor] = [],
        options: PagerOptions = PagerOptions(), clock: PagerClock = .system
    ) {
        self.writer = writer
        self.source = source
        self.interceptors = interceptors
        self.options = options
        self.clock = clock
    }

    /// The places with a request under way.
    public var loading: Set<Place> { Set(flights.keys) }

    /// How many posts the server said that the list has, when it last said so; nil if it never did.
    ///
    /// A server may show fewer: some end each list after 1,000 posts, or count posts that they hide. So a
    /// feed may have fewer although its list has ended.
    public nonisolated var total: Int? {
        get throws { try feed.cache.withSnapshot { try ServerState(of: feed, in: $0).total } }
    }

    // MARK: Pages

    /// When a refresh makes a request.
    public enum RefreshNeed: Sendable, Hashable {
        /// Always, because the reader wants it.
        case always
        /// Unless the first page is fresh (``PagerOptions/lifetime``).
        case ifStale
    }

    /// Requests the first page, and follows ``PagerOptions/refresh`` if that does not reach the cached posts.
    /// Cancels requests at the tail and at an open head, whose callers get ``PageResult/preempted``.
    ///
    /// With `.ifStale`, a failure is not thrown while the page may still be shown, see
    /// ``PagerOptions/staleIfError``.
    @discardableResult
    public func refresh(_ need: RefreshNeed = .always) async throws -> PageResult {
        let freshness = need == .ifStale ? try freshness() : .unknown
        switch freshness {
        case .fresh: return .fresh
        case .revalidate:
            // A failure is reported to the interceptors. The page stays stale, so the next call tries again.
            Task { _ = try? await refresh() }
            return .revalidating
        case .tolerable, .unknown: break
        }
        let result: PageResult
        do {
            result = try await page(at: .head)
        } catch let error where freshness == .tolerable && !(error is CancellationError) {
            return .stale("\(error)")
        }
        guard case .loaded(let outcome) = result, outcome.verdict == .gap else {
            try await dropOutOfSequence()
            try await dropBeyondBound()
            return result
        }
        switch options.refresh {
        case .keepGap: break
        case .fillUntilOverlap(let pages):
            let feed = feed
            let gap = try feed.cache.withSnapshot { try $0.gaps(of: feed, limit: 1).first?.id }
            if let gap { try await fill(gap, pages: pages) }
        case .startAfresh:
            try await changeServerState { $0.isDropPending = true }
            try await dropOutOfSequence()
        }
        try await dropBeyondBound()
        return result
    }

    /// Requests the page below the last post. Waits for a refresh that is under way.
    /// - Parameter isForced: request even if the last answer here led nowhere.
    @discardableResult
    public func append(isForced: Bool = false) async throws -> PageResult {
        try await extend(.tail, isForced)
    }

    /// Requests the page above the first post of a feed whose head is open. Waits for a refresh that is under
    /// way.
    @discardableResult
    public func prepend(isForced: Bool = false) async throws -> PageResult {
        try await extend(.openHead, isForced)
    }

    private func extend(_ place: Place, _ isForced: Bool) async throws -> PageResult {
        try await waitForRefresh()
        return try await page(at: place, isForced: isForced)
    }

    /// Waits for a refresh, and for bodies, because the tail of a feed of ids would request the same ones.
    func waitForRefresh() async throws {
        while let place = flights.keys.first(where: \.goesFirst) {
            _ = try? await page(at: place)  // a failure is reported to its own callers
            try Task.checkCancellation()
        }
    }

    /// Asks for what is missing in a gap: from above, or from below where no link leads down into it.
    /// - Parameters:
    ///   - gap: The gap, as a row of the feed names it.
    ///   - pages: The largest number of pages to ask for; what is missing then stays a gap.
    ///   - isForced: Ask although the last answer led nowhere.
    /// - Returns: What the last page did; `.refused(.noSuchGap)` if the gap is closed already.
    @discardableResult
    public func fill(_ gap: GapID, pages: Int = 1, isForced: Bool = false) async throws -> PageResult {
        var last = PageResult.refused(.noSuchGap)
        for number in 0..<max(1, pages) {
            let next = try await fillOnce(gap, isForced)
            if number > 0, next == .refused(.noSuchGap) { break }  // closed by the previous page
            last = next
            guard case .loaded = last else { break }
        }
        return last
    }

    /// Requests missing bodies in a feed of ids, which has one edge: in the order of the posts, from any
    /// place (R21).
    func fillOnce(_ gap: GapID, _ isForced: Bool = false) async throws -> PageResult {
        if feed.options.paging == .ids { return try await append(isForced: isForced) }
        let result = try await page(at: .gap(gap), isForced: isForced)
        guard result == .refused(.noLink) else { return result }
        return try await page(at: .aboveGap(gap), isForced: isForced)
    }

    /// The same for a reader below the gap: from below, and from above only where no link leads up, the
    /// source knows no such request, or its answer leads nowhere.
    func fillUpOnce(_ gap: GapID, _ isForced: Bool = false) async throws -> PageResult {
        if feed.options.paging == .ids { return try await append(isForced: isForced) }
        let place = Place.aboveGap(gap)
        var result: PageResult?
        do {
            result = try await page(at: place, isForced: isForced)
        } catch let error where asksOtherSide(after: error) {
            stopped[place] = .error  // until a refresh, as after an answer that led nowhere
        }
        switch result {
        case .refused(.noSuchGap): return .refused(.noSuchGap)
        case .loaded(let outcome) where !outcome.verdict.leadsNowhere: return .loaded(outcome)
        case .preempted: return .preempted
        default: break
        }
        let other = try await page(at: .gap(gap), isForced: isForced)
        return other == .refused(.noLink) ? result ?? other : other
    }

    /// Returns true if the failure may be about the kind of request: a source need not know what is above a
    /// post.
    private func asksOtherSide(after error: any Error) -> Bool {
        if error is CancellationError || error is PagerError || error is QuireError { return false }
        return !options.retries.isTransient(error)
    }

    /// Requests the page around a post, whether or not it is cached.
    @discardableResult
    public func jump(to id: PostID) async throws -> PageResult {
        try await page(at: .around(id), isForced: true)  // a jump is never a prefetch
    }

    /// Requests the page with this number, wherever it belongs. Only in feeds paged by number.
    @discardableResult
    public func jump(toPage number: Int) async throws -> PageResult {
        try await page(at: .page(number), isForced: true)
    }

    /// Asks again for the page above a post that only the server's numbering joins to the one above it
    /// (``Quire/PostRow/isUnverified``), and says what that proved: both shown together, the join is proven;
    /// the page ended there as before, it is checked (``Quire/PostRow/isChecked``); anything else, a gap
    /// opens (R26.8).
    @discardableResult
    public func verify(joinAbove id: PostID) async throws -> PageResult {
        try await page(at: .join(above: id), isForced: true)
    }

    // MARK: Posts that the server pushes (R27)

    /// Call this when a connection begins over which the server pushes every new post. Refreshes, so that no
    /// later message opens a gap. That request is a new one, and asks for the page even if it is unchanged.
    /// - Parameter message: the number of the last message before, if messages are numbered.
    @discardableResult
    public func beginLive(after message: UInt64? = nil) async throws -> PageResult {
        _ = try await writer.write(.beginLive(after: message))
        while flights[.head] != nil {
            _ = try? await page(at: .head)  // it may have been asked before the connection began
            try Task.checkCancellation()
        }
        asksForTop = true
        return try await refresh()
    }

    /// Call this when the connection has ended.
    public func endLive() async throws { _ = try await writer.write(.endLive) }

    /// A message: posts that the server says are on top now, topmost first. See
    /// ``Quire/Feed/push(_:number:follows:)``.
    @discardableResult
    public func push(
        _ answer: Answer, number: UInt64? = nil, follows: PostID? = nil
    ) async throws -> Outcome {
        try writer.outcome(await writer.write(.push(answer, number: number, follows: follows)))
    }

    // MARK: Forgetting pages

    /// Tells the pager what the reader sees now; an empty set if there is no reader. Visible posts are never
    /// forgotten, and nothing is before the first call. Pages that wait to be forgotten leave as soon as it
    /// is safe. A ``FeedModel`` says what it shows itself, as long as it exists; this is for what the app
    /// shows besides.
    public func setVisible(_ posts: Set<PostID>) async throws {
        try await setVisible(posts, by: app)
    }

    /// Notes what one of several viewers sees now, until that is released.
    func setVisible(_ posts: Set<PostID>, by viewer: Viewer) async throws {
        sights.removeAll { $0.viewer == nil || $0.viewer === viewer }
        sights.append(Sight(viewer: viewer, posts: posts))
        try await dropOutOfSequence()
    }

    /// The posts that any viewer sees; nil until one has said.
    private var visible: Set<PostID>? {
        if sights.isEmpty { return nil }
        return sights.reduce(into: []) { if $1.viewer != nil { $0.formUnion($1.posts) } }
    }

    /// Forgets pages to save space, except those with visible or pinned posts. Forgets nothing and returns
    /// nil until the app has said what is visible.
    @discardableResult
    public func prune(_ policy: PrunePolicy) async throws -> PruneResult? {
        guard let visible else { return nil }
        var policy = policy
        policy.visible.formUnion(visible)
        let reply = try await writer.write(.prune(policy))
        guard case .pruned(let result) = reply else { throw writer.unexpected(reply) }
        return result
    }

    private func dropBeyondBound() async throws {
        guard let most = options.keeps else { return }
        var policy = PrunePolicy()
        policy.maximumPosts = max(0, most)
        while let result = try await prune(policy), !result.isDone {}
    }

    private func dropOutOfSequence() async throws {
        guard visible != nil, try await readServerState().isDropPending else { return }
        var policy = PrunePolicy()
        policy.dropsOutOfSequence = true
        while let result = try await prune(policy), !result.isDone {}
        let feed = feed
        let gaps = try feed.cache.withSnapshot { try $0.info(of: feed).gaps }
        if gaps == 0 { try await changeServerState { $0.isDropPending = false } }
    }
}

/// Stands for a list on a screen, or the app, towards the pager.
final class Viewer: Sendable {}

/// What a viewer sees. It counts as long as the viewer exists.
private struct Sight {
    weak var viewer: Viewer?
    let posts: Set<PostID>
}

extension Outcome.Verdict {
    /// Returns true if the engine has learned something and plans another request for the same place.
    func asksAgain(_ outcome: Outcome) -> Bool {
        switch self {
        case .stale, .drift, .replan, .confirmEnd: true
        case .discontinuity: !outcome.isUnchanged
        default: false
        }
    }

    /// True if an answer with this verdict is no reason to repeat the request.
    var leadsNowhere: Bool {
        switch self {
        case .noProgress, .contradiction, .discontinuity, .empty, .emptyConfirm, .error: true
        default: false
        }
    }
}
