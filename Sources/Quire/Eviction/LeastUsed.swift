// Which feeds give first. No list of feeds by use is kept: a few are looked at in turn, and those used least
// of all that were met stay in mind, as Redis does with keys.

/// The feeds that may give, in the order of their last use. It looks at more when these are used up.
struct LeastUsed {
    private let scope: BudgetMemory.Scope
    private var known: [Candidate] = []
    private var at = 0
    private var hasTouched = false

    private struct Candidate {
        let feed: UInt32
        /// The commit of the last use, or the order of a read that no commit has noted.
        let use: (isFresh: UInt64, number: UInt64)
    }

    private static let sample = 5
    private static let poolSize = 16

    fileprivate init(_ scope: BudgetMemory.Scope) { self.scope = scope }

    /// Returns the next feed; nil if this commit must not look further.
    mutating func next(_ keeper: inout BudgetKeeper) throws -> UInt32? {
        if at == 0 { try add(keeper.memory.pool(scope), keeper) }
        if at == 0 || at == known.count { try look(&keeper) }
        while at == known.count, keeper.looks > 0, try look(&keeper) {}
        if at == known.count, !hasTouched {
            hasTouched = true
            let own = keeper.touched.filter {
                scope.collection == nil || $0.value.collection == scope.collection
            }
            known += own.keys.sorted().map { Candidate(feed: $0, use: (2, 0)) }
        }
        if at == known.count { return nil }
        at += 1
        return known[at - 1].feed
    }

    /// Looks at a few more feeds. Returns false if there are no others.
    @discardableResult
    private mutating func look(_ keeper: inout BudgetKeeper) throws -> Bool {
        let feeds = try keeper.nextFeeds(Self.sample, scope)
        keeper.looks -= max(1, feeds.count)
        try add(feeds, keeper)
        return !feeds.isEmpty
    }

    private mutating func add(_ feeds: [UInt32], _ keeper: BudgetKeeper) throws {
        for feed in feeds where keeper.touched[feed] == nil && !known.contains(where: { $0.feed == feed }) {
            guard let (counts, used) = try keeper.transaction.use(of: feed), counts.entries > 0 else {
                continue
            }
            let read = keeper.memory.order(ofRead: feed)
            known.append(Candidate(feed: feed, use: read.map { (1, $0) } ?? (0, used)))
        }
        known[at...].sort {
            ($0.use.isFresh, $0.use.number, $0.feed) < ($1.use.isFresh, $1.use.number, $1.feed)
        }
    }

    /// Returns the feeds to begin with in the next commit that must take something.
    func pool(without exhausted: Set<UInt32>) -> [UInt32] {
        known.lazy.filter { $0.use.isFresh < 2 && !exhausted.contains($0.feed) }.prefix(Self.poolSize).map(
            \.feed)
    }
}

extension BudgetKeeper {
    func leastUsed(_ scope: BudgetMemory.Scope) -> LeastUsed { LeastUsed(scope) }

    /// Returns the next feeds in turn, by collection and number. Each feed has its turn.
    mutating func nextFeeds(_ count: Int, _ scope: BudgetMemory.Scope) throws -> [UInt32] {
        let all =
            scope.collection.map { UInt64($0) << 32...UInt64($0) << 32 | UInt64(UInt32.max) } ?? 0...(.max)
        let start = kept.places[scope] ?? memory.place(scope)
        var (feeds, last, isAround): ([UInt32], UInt64, Bool) = ([], start, false)
        try transaction.withCursor(.members) { cursor in
            var found = try cursor.seek(NumberKey(max(start &+ 1, all.lowerBound)))
            while feeds.count < count {
                guard let key = found.flatMap({ NumberKey($0.key) }), all.contains(key.number) else {
                    if isAround { return }
                    isAround = true
                    found = try cursor.seek(NumberKey(all.lowerBound))
                    continue
                }
                if isAround && key.number > start { return }
                feeds.append(MemberKey.parts(key).feed)
                last = key.number
                found = try cursor.next()
            }
        }
        kept.places[scope] = last
        return feeds
    }

    // MARK: The focus of a feed

    /// Returns the ways to what may leave: from the end that is farther from the focus, from the other end,
    /// and last through all that is left. Nil if the feed has no posts.
    func paths(in feed: UInt32) throws -> [ChunkPath]? {
        let ends = try transaction.withCursor(.chunks(of: feed)) { cursor in
            try (NumberKey.number(of: cursor.first()), NumberKey.number(of: cursor.last()))
        }
        guard let first = ends.0, let last = ends.1 else { return nil }
        guard let focus = try focus(of: feed) else { return [ChunkPath()] }
        let up = ChunkPath(goesUp: true, end: focus.upperBound)
        let down = ChunkPath(goesUp: false, end: focus.lowerBound)
        // positions are about as far from each other as the pages there
        let isLower = focus.lowerBound &- first > last &- focus.upperBound
        return (isLower ? [down, up] : [up, down]) + [ChunkPath()]
    }

    /// Returns the positions of what is visible, else of the page that came last; nil is the head.
    private func focus(of feed: UInt32) throws -> ClosedRange<UInt64>? {
        let visible = try session.names(of: Array(memory.visible(feed)), in: feed)
        if !visible.isEmpty {
            let index = try session.index(of: transaction.feed(feed).collection)
            let positions = index.positions(of: visible, in: feed).compactMap(\.self)
            if let first = positions.min(), let last = positions.max() { return first...last }
        }
        guard let page = kept.pages[feed] ?? memory.lastPage(of: feed),
            let value = try transaction.get(.pages(of: feed), NumberKey(newestFirst: page))
        else { return nil }
        let start = try PageHead(value, ofPage: page, feed).start
        return start...start
    }

    // MARK: Use

    /// Writes the use of feeds into their records: of those that the session touched, and of some that were
    /// read.
    mutating func noteUse() throws {
        let commit = session.counters.generation + 1
        let reads = memory.reads(atMost: 8)
        for (feed, order) in reads { kept.stamped[feed] = order }
        for feed in Set(touched.keys).union(reads.map(\.feed)).sorted() {
            guard let (_, used) = try transaction.use(of: feed), used != commit else { continue }
            session.loaded.noteUse(of: feed, in: commit)
            try transaction.setUsed(feed, in: commit)
        }
    }

    /// Counts the requests for what had been evicted.
    mutating func countMisses() {
        for plan in session.plans {
            let isCut = plan.isTail && kept.tails[plan.feed] ?? memory.isTailCut(plan.feed)
            if isCut { kept.tails[plan.feed] = false }
            if plan.isEvicted || isCut { statistics.misses += 1 }
        }
    }

    mutating func storeStatistics() throws {
        kept.hits = memory.noted
        statistics.hits = kept.hits
        if statistics == EvictionStatistics() { return }
        var all = try transaction.evictions()
        all.add(statistics)
        try transaction.put(.evictions, NoKey(), all)
    }
}

extension Transaction {
    /// Returns the totals of a feed and the commit of its last use; nil if there is no such feed.
    fileprivate func use(of feed: UInt32) throws(QuireError) -> (counts: FeedCounts, used: UInt64)? {
        guard let value = try get(.record(of: feed), NoKey()) else { return nil }
        return (try FeedCounts(startOf: value, feed), try FeedRecord.used(value, feed))
    }

    fileprivate func setUsed(_ feed: UInt32, in commit: UInt64) throws {
        guard let value = try get(.record(of: feed), NoKey()) else { return }
        try put(.record(of: feed), NoKey()) { writer in
            let (head, rest) = (
                FeedRecord.usedOffset, value.dropLast(Checksum.size)[(FeedRecord.usedOffset + 8)...]
            )
            writer.raw(UnsafeRawBufferPointer(rebasing: value[..<head]))
            writer.word(commit)
            writer.raw(UnsafeRawBufferPointer(rebasing: rest))
        }
    }

    /// Returns what the budget has taken.
    func evictions() throws(QuireError) -> EvictionStatistics {
        guard let value = try get(.evictions, NoKey()) else { return EvictionStatistics() }
        return try EvictionStatistics(value, "what the budget has taken")
    }
}

extension NumberKey {
    fileprivate static func number(of record: Cursor.Record?) -> UInt64? {
        record.flatMap { NumberKey($0.key)?.number }
    }
}
