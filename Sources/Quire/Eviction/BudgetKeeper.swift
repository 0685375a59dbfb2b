/// Brings a commit within the budget of the cache, as the last operation of its session. See Docs/budget.md.
struct BudgetKeeper {
    let session: WriteSession
    let memory: BudgetMemory
    var kept = BudgetMemory.Kept()
    /// The feeds that the session has changed, planned a request for, or taken an answer into.
    private(set) var touched: [UInt32: FeedRecord] = [:]
    /// Those with a ticket of this session that is not answered.
    private let inUse: Set<UInt32>
    private let freshPages: [UInt32: Set<UInt64>]
    /// The time of the newest answer; nil if there was none.
    private let now: Int64?
    var statistics = EvictionStatistics()
    /// How many posts may still leave in this commit.
    private(set) var left: Int
    /// How many chunks a walk may see.
    private let chunkLimit: Int
    /// How many feeds may still be looked at.
    var looks = 32

    var budget: CacheBudget { memory.budget }
    var transaction: Transaction { session.transaction }

    /// How much a commit takes at least, if it must take something.
    static let postLimit = 1_024

    init(_ session: WriteSession, _ memory: BudgetMemory) {
        (self.session, self.memory) = (session, memory)
        inUse = session.tickets.waitingFeeds
        var (fresh, count) = ([UInt32: Set<UInt64>](), 0)
        for arrival in session.arrivals {
            fresh[arrival.feed, default: []].formUnion(arrival.pages)
            count += arrival.posts
        }
        freshPages = fresh
        now = session.arrivals.lazy.compactMap(\.fetchedAt).max()
        left = max(Self.postLimit, 2 * count)
        chunkLimit = 64 + 4 * fresh.values.reduce(0) { $0 + $1.count }
    }

    /// Evicts what is over the budget, and notes which feeds were used.
    mutating func run() throws {
        if !session.isDirty { return }
        try session.writeCounters()
        try findTouched()
        countMisses()
        let feeds = touched.keys.sorted()
        for feed in feeds { try keepFeed(feed, touched[feed]!) }
        try keepOthers()
        var seen: Set<UInt32> = []
        for feed in feeds where seen.insert(touched[feed]!.collection).inserted {
            try keepCollection(touched[feed]!.collection, touched[feed]!.options.collection)
        }
        try keepCache()
        try keepFile()
        try session.writeCounters()
        try noteUse()
        try storeStatistics()
    }

    private mutating func findTouched() throws {
        var feeds = Set(session.changes.map(\.feed)).union(inUse).union(freshPages.keys)
        feeds.formUnion(session.plans.map(\.feed))
        for feed in feeds where try transaction.get(.record(of: feed), NoKey()) != nil {
            touched[feed] = try transaction.feed(feed)
        }
        for (feed, pages) in freshPages { kept.pages[feed] = pages.max() }
    }

    // MARK: Limits

    private func limits(ofFeed record: FeedRecord) -> CacheBudget.Limits {
        budget.feeds.isEmpty ? budget.feed : budget.feeds[record.name] ?? budget.feed
    }

    private func limits(ofCollection name: String) -> CacheBudget.Limits {
        budget.collections.isEmpty ? budget.collection : budget.collections[name] ?? budget.collection
    }

    private mutating func keepFeed(_ feed: UInt32, _ record: FeedRecord) throws {
        let limits = limits(ofFeed: record)
        let ages = [limits.age, self.limits(ofCollection: record.options.collection).age, budget.cache.age]
        if let now, let age = ages.compactMap({ $0 }).min() { try expire(feed, record, now: now, age: age) }
        let counts = try transaction.counts(feed)
        let need = Excess(posts: counts.entries, bodyBytes: counts.bodyBytes, limits)
        if !need.isMet { _ = try shrink(feed, need, for: \.feed) }
    }

    /// Two feeds that the session did not touch, in turn.
    private mutating func keepOthers() throws {
        let ages = [budget.feed, budget.collection, budget.cache].contains { $0.age != nil }
        let hasLimits = ages || budget.feed != CacheBudget.Limits() || !budget.feeds.isEmpty
        if !hasLimits && budget.collections.isEmpty { return }
        for feed in try nextFeeds(2, BudgetMemory.Scope(isForRelief: false))
        where try touched[feed] == nil && transaction.get(.record(of: feed), NoKey()) != nil {
            try keepFeed(feed, transaction.feed(feed))
        }
    }

    private mutating func keepCollection(_ collection: UInt32, _ name: String) throws {
        let limits = limits(ofCollection: name)
        if limits.posts == nil && limits.bodyBytes == nil { return }
        try relieve(BudgetMemory.Scope(collection: collection), for: \.collection) { keeper in
            let totals = try keeper.session.totals(of: collection)
            return Excess(totals, limits)
        }
    }

    private mutating func keepCache() throws {
        let limits = budget.cache
        if limits.posts == nil && limits.bodyBytes == nil { return }
        try relieve(BudgetMemory.Scope(), for: \.cache) { Excess($0.session.counters.totals, limits) }
    }

    /// The space that is freed is not known before the end of the commit, so it is estimated.
    private mutating func keepFile() throws {
        guard let limit = budget.fileBytes else { return }
        let start = Int(clamping: transaction.fileUse().used) + session.unwrittenBytes
        if start > max(0, limit) { try reclaimSome() }
        try relieve(BudgetMemory.Scope(), for: \.file) { keeper in
            let freed = keeper.statistics.all
            let bytes = Int(clamping: freed.bodyBytes) + Excess.bytesPerPost * Int(clamping: freed.posts)
            return Excess(fileBytes: start - bytes, limit: limit)
        }
    }

    /// Writes a few body records again that are mostly out of use.
    private mutating func reclaimSome() throws {
        let first = kept.bodies ?? memory.bodies
        let (sparse, next) = try session.bodyRecords(from: first, atMost: 4, looking: 16) {
            $0.live < $0.total / 4
        }
        for (number, _) in sparse { try session.rewriteBodies(of: number) }
        kept.bodies = next ?? 0
    }

    /// Takes from feeds, the least recently used first, until a need is met.
    private mutating func relieve(
        _ scope: BudgetMemory.Scope,
        for reason: WritableKeyPath<EvictionStatistics, EvictionStatistics.Amount>,
        _ need: (BudgetKeeper) throws -> Excess
    ) throws {
        if try need(self).isMet { return }
        var candidates = leastUsed(scope)
        var exhausted: Set<UInt32> = []
        while left > 0, let feed = try candidates.next(&self) {
            while left > 0, case let need = try need(self), need.isWanting {
                if try shrink(feed, need, for: reason) == 0 {
                    exhausted.insert(feed)
                    break
                }
            }
            if try !need(self).isWanting { break }
        }
        kept.pools[scope] = candidates.pool(without: exhausted)
    }

    // MARK: One feed

    /// Evicts pages of a feed, those farthest from its focus first. Returns how many posts left.
    private mutating func shrink(
        _ feed: UInt32, _ need: Excess,
        for reason: WritableKeyPath<EvictionStatistics, EvictionStatistics.Amount>
    ) throws -> Int {
        guard !inUse.contains(feed), let paths = try paths(in: feed) else { return 0 }
        let before = try transaction.feed(feed)
        if before.options.paging == .ids && !need.isOfBytes { return 0 }  // its order stays (R15)
        let start = need
        return try evict(feed, before, along: paths, isForAge: false, for: reason) { _, counts in
            start.isMet(by: before.counts, counts) ? .endsWalk : .leaves
        }
    }

    /// Evicts pages that were fetched before the newest answer less the age.
    private mutating func expire(_ feed: UInt32, _ record: FeedRecord, now: Int64, age: Int64) throws {
        let (oldest, overflow) = now.subtractingReportingOverflow(max(0, age))
        if overflow || inUse.contains(feed) { return }
        // pages are numbered as they come: if the first one is young enough, all are
        let first = try transaction.withCursor(.pages(of: feed)) { cursor in
            try cursor.last().flatMap { key, value in
                try NumberKey(key).map { try PageHead(value, ofPage: $0.newestFirst, feed) }
            }
        }
        guard let first, first.fetchedAt < oldest else { return }
        _ = try evict(feed, record, along: [ChunkPath()], isForAge: true, for: \.age) { page, _ in
            page.fetchedAt < oldest ? .leaves : .stays
        }
    }

    private mutating func evict(
        _ feed: UInt32, _ record: FeedRecord, along paths: [ChunkPath], isForAge: Bool,
        for reason: WritableKeyPath<EvictionStatistics, EvictionStatistics.Amount>,
        fate: (PageHead, FeedCounts) throws -> PageFate
    ) throws -> Int {
        var policy = PrunePolicy()
        policy.visible = Set(try session.names(of: Array(memory.visible(feed)), in: feed))
        let before = try transaction.counts(feed)
        let fresh = freshPages[feed] ?? []
        var result = PruneResult()
        for (i, var path) in paths.enumerated() {
            policy.budget = left
            let walk = BudgetMemory.Walk(feed: feed, isForAge: isForAge, goesUp: path.goesUp, isLast: i > 1)
            path.start = kept.walks[walk] ?? memory.start(of: walk)
            path.limit = chunkLimit
            let (posts, stop) = (
                result.posts,
                try session.evictPages(feed, along: path, policy, &result) { page, counts in
                    let fate = try fate(page, counts)
                    return fate == .leaves && fresh.contains(page.number) ? .stays : fate
                }
            )
            if stop != nil || result.posts == posts { kept.walks[walk] = .some(stop) }
        }
        if result.posts == 0 { return 0 }
        try session.writeCounters()
        let after = try transaction.feed(feed)
        if after.tail.number != record.tail.number { kept.tails[feed] = true }
        statistics[keyPath: reason].add(
            EvictionStatistics.Amount(
                pages: result.pages, posts: result.posts, bodyBytes: before.bodyBytes - after.counts.bodyBytes
            ))
        left -= result.posts
        return result.posts
    }
}

extension WriteSession {
    /// Brings the session within the budget. What it did is remembered at once: if the commit fails, that is
    /// a little less than what could be known.
    @inline(never)
    func keep(_ memory: BudgetMemory) throws {
        var keeper = BudgetKeeper(self, memory)
        try keeper.run()
        memory.settle(keeper.kept)
    }
}

/// By how much a limit is exceeded.
struct Excess {
    private var posts = 0
    private var bytes = 0
    /// No limit is exceeded, so the commit must take nothing.
    private(set) var isMet = true

    /// What a post takes in the file beside its body.
    static let bytesPerPost = 48

    init(posts: Int, bodyBytes: Int, _ limits: CacheBudget.Limits) {
        (self.posts, self.bytes) = (over(posts, limits.posts), over(bodyBytes, limits.bodyBytes))
    }

    init(_ totals: CollectionTotals, _ limits: CacheBudget.Limits) {
        self.init(posts: Int(clamping: totals.posts), bodyBytes: Int(clamping: totals.bodyBytes), limits)
    }

    init(fileBytes: Int, limit: Int) { bytes = over(fileBytes, limit) }

    /// Returns how much must leave until a little room is left, so that most commits take nothing.
    private mutating func over(_ amount: Int, _ limit: Int?) -> Int {
        guard let limit = limit.map({ max(0, $0) }) else { return 0 }
        if amount > limit { isMet = false }
        return amount - (limit - limit / 32)
    }

    /// More should leave.
    var isWanting: Bool { posts > 0 || bytes > 0 }
    var isOfBytes: Bool { bytes > 0 }

    /// Returns true if what a feed has lost is enough.
    func isMet(by before: FeedCounts, _ after: FeedCounts) -> Bool {
        let (entries, bodies) = (before.entries - after.entries, before.bodyBytes - after.bodyBytes)
        return entries >= posts && bodies >= bytes
    }
}
