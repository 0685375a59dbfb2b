/// The limits of a prune (R17). Limits that are nil do not apply. Whole pages leave, never one with a pinned
/// or visible post; what leaves opens a gap with the link that brings it back.
public struct PrunePolicy: Sendable, Hashable {
    /// Forget every segment but the top one, if none of its posts is pinned or visible.
    public var dropsOutOfSequence = false
    /// Forget pages received more than this many milliseconds before `now`. Those received after `now`,
    /// because the clock was wrong, count as received now from then on.
    public var maximumAge: Int64?
    /// The caller's clock, in milliseconds since 1970; only `maximumAge` needs it.
    public var now: Int64 = 0
    /// Most posts, pages, bytes of bodies to keep. Pages outside the top segment leave first, then
    /// others, each from the tail up.
    public var maximumPosts: Int?
    /// Most pages to keep.
    public var maximumPages: Int?
    /// Most bytes of bodies to keep.
    public var maximumBytes: Int?
    /// Posts on the screen: their pages stay.
    public var visible: Set<PostID> = []
    /// Stop after forgetting this many posts; call again to go on. At least one page leaves per call.
    public var budget: Int = 10_000

    /// A policy that forgets nothing.
    public init() {}
}

/// The result of a prune.
public struct PruneResult: Sendable, Hashable {
    /// Pages whose posts left.
    public var pages = 0
    /// Posts that left.
    public var posts = 0
    /// The policy is met, or nothing more may leave. If false, call again.
    public var isDone = true
}

extension Feed {
    /// R17. Forgets whole pages until the policy is met or its budget is spent.
    ///
    ///     var policy = PrunePolicy()
    ///     policy.maximumPosts = 10_000
    ///     policy.visible = [42, 41, 40]  // on the screen: their pages stay
    ///     while try !feed.prune(policy).isDone {}
    ///
    /// What leaves opens a gap with the link that brings it back. ``Cache/dryRun(_:)`` says what would leave.
    /// - Returns: How much left, and whether a further call would forget more. Bodies give their space back
    ///   to the file, which does not shrink; see ``Cache/compact(at:progress:)``.
    public func prune(_ policy: PrunePolicy) throws -> PruneResult {
        try write { try $0.prune(number, policy) }
    }
}

extension WriteSession {
    func prune(_ feed: UInt32, _ policy: PrunePolicy) throws -> PruneResult {
        var policy = policy
        if counters.aliases > 0 { policy.visible = Set(try names(of: Array(policy.visible), in: feed)) }
        var result = PruneResult()
        if policy.dropsOutOfSequence { try dropOutOfSequence(feed, policy, &result) }
        if result.isDone, let age = policy.maximumAge {
            let (oldest, overflow) = policy.now.subtractingReportingOverflow(age)
            if !overflow {
                var early: [UInt64] = []
                try evictPages(feed, policy, &result) { page, _ in
                    if page.page.fetchedAt <= oldest { return .leaves }
                    if page.page.fetchedAt > policy.now { early.append(page.page.number) }
                    return .stays
                }
                try setReceived(early, policy.now, in: feed)
            }
        }
        // A detached entry keeps its page alive, so the counts may be too large still when all was said to
        // leave.
        var before = -1
        while result.isDone, result.posts != before, try policy.isExceeded(by: transaction.counts(feed)) {
            before = result.posts
            try evictPages(feed, policy, &result) { _, counts in
                policy.isExceeded(by: counts) ? .leaves : .endsWalk
            }
        }
        return result
    }

    /// Pages that were received when the clock was wrong, later than it is now: they begin to age. Otherwise
    /// they would stay until that time comes.
    private func setReceived(_ numbers: [UInt64], _ now: Int64, in feed: UInt32) throws {
        if numbers.isEmpty { return }
        try forgetLoaded(feed)
        touch()
        for number in numbers {
            var record = try transaction.page(number, of: feed)
            record.page.fetchedAt = now
            try transaction.put(.pages(of: feed), NumberKey(newestFirst: number), record.encoded())
        }
    }

    private enum Fate { case leaves, stays, endsWalk }

    /// Evicts pages from the tail up. Those outside the top segment come first on that way, so this is
    /// the order of R17. `fate` is told what the feed holds without the pages that leave already.
    private func evictPages(
        _ feed: UInt32, _ policy: PrunePolicy, _ result: inout PruneResult,
        fate: (PageRecord, FeedCounts) throws -> Fate
    ) throws {
        var counts = try transaction.counts(feed)
        var leaving = Leaving()
        // Entries seen of pages that begin further up: a page's rank is that of its first entry.
        var partial: [UInt64: Leaving] = [:]
        var isDone = true
        var below: UInt64?
        let reader = RowReader(transaction: transaction, feed: feed)
        try reader.chunks.eachChunkUpward(from: nil) { position, chunk in
            defer { below = position }
            let number = chunk.page
            if number == 0 { return true }
            var page = partial.removeValue(forKey: number) ?? Leaving()
            page.add(chunk, at: position, next: below)
            let record = try transaction.page(number, of: feed)
            if page.count < record.entries {
                partial[number] = page
                return true
            }
            switch try fate(record, counts) {
            case .endsWalk: return false
            case .stays: return true
            case .leaves:
                // a page whose last entries are detached entries stays, and uses up no budget (R13)
                if page.hasOnlyDetached || page.isProtected(by: policy) { return true }
            }
            if result.pages > 0 && result.posts + leaving.count >= policy.budget {
                isDone = false
                return false
            }
            page.forEach { counts.add($1, -1) }
            counts.pages -= 1
            leaving.add(page, record)
            result.pages += 1
            return true
        }
        result.isDone = isDone
        result.posts += try evict(leaving, in: feed)
    }

    /// R17, first half: segments below the first gap leave, the lowest first, unless somebody looks at
    /// one of their posts or has pinned it.
    private func dropOutOfSequence(
        _ feed: UInt32, _ policy: PrunePolicy, _ result: inout PruneResult
    ) throws {
        let starts = try KnownGaps(transaction, feed: feed).all.map(\.position)
        let reader = RowReader(transaction: transaction, feed: feed)
        var leaving = Leaving()
        var below: UInt64?
        for start in starts.reversed() {
            var segment = Leaving()
            try reader.chunks.eachChunkUpward(from: below.map { $0 - 1 }) { at, chunk in
                if at < start { return false }
                segment.add(chunk, at: at, next: below)
                below = at
                return true
            }
            if segment.isProtected(by: policy) { continue }
            if result.pages > 0 && result.posts + leaving.count >= policy.budget {
                result.isDone = false
                break
            }
            result.pages += segment.pages
            leaving.add(segment)
        }
        result.posts += try evict(leaving, in: feed)
    }

    /// All in one change: each would load and write the neighbours of what leaves anew.
    private func evict(_ leaving: Leaving, in feed: UInt32) throws -> Int {
        if leaving.count == 0 { return 0 }
        return try change(
            feed,
            focus: { loader in
                // ascending, as the loader keeps them
                for (position, chunk) in leaving.chunks.reversed() { loader.load(chunk, at: position) }
                for record in leaving.records.reversed() { loader.load(record) }
                try loader.loadNeighbours()
            }
        ) { state throws(Interruption) in
            let count = try state.evict(leaving.ids).count
            return RuleResult(result: count, isChange: count > 0)
        }
    }
}

/// Chunks that are to leave.
private struct Leaving {
    private(set) var chunks: [(position: UInt64, chunk: FeedLoader.Chunk)] = []
    /// Those of their pages that are known.
    private(set) var records: [PageRecord] = []
    /// The number of their entries.
    private(set) var count = 0

    mutating func add(_ record: ChunkRecord, at position: UInt64, next: UInt64?) {
        chunks.append((position, (record, next)))
        count += record.entries.count
    }

    mutating func add(_ other: Leaving, _ page: PageRecord? = nil) {
        if let page { records.append(page) }
        chunks += other.chunks
        count += other.count
    }

    func forEach(_ body: (PostID, Entry) -> Void) {
        for (_, chunk) in chunks {
            for (id, entry) in zip(chunk.record.ids, chunk.record.entries) { body(id, entry) }
        }
    }

    var ids: [PostID] { chunks.flatMap(\.chunk.record.ids) }

    /// The number of their pages.
    var pages: Int { Set(chunks.map(\.chunk.record.page)).subtracting([0]).count }

    var hasOnlyDetached: Bool { chunks.allSatisfy { $0.chunk.record.entries.allSatisfy(\.isDetached) } }

    func isProtected(by policy: PrunePolicy) -> Bool {
        chunks.contains { _, chunk in
            chunk.record.entries.contains(where: \.isPinned)
                || chunk.record.ids.contains(where: policy.visible.contains)
        }
    }
}

extension PrunePolicy {
    fileprivate func isExceeded(by counts: FeedCounts) -> Bool {
        maximumPosts.map { counts.entries > $0 } ?? false
            || maximumPages.map { counts.pages > $0 } ?? false
            || maximumBytes.map { counts.bodyBytes > $0 } ?? false
    }
}
