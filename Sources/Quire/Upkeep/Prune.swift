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
                    if page.fetchedAt <= oldest { return .leaves }
                    if page.fetchedAt > policy.now { early.append(page.number) }
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
            try transaction.put(.pages(of: feed), NumberKey(newestFirst: number), record)
        }
    }

    private enum Fate { case leaves, stays, endsWalk }

    /// Evicts pages from the tail up. Those outside the top segment come first on that way, so this is
    /// the order of R17. `fate` is told what the feed holds without the pages that leave already.
    private func evictPages(
        _ feed: UInt32, _ policy: PrunePolicy, _ result: inout PruneResult,
        fate: (PageHead, FeedCounts) throws -> Fate
    ) throws {
        var counts = try transaction.counts(feed)
        var leaving = Leaving()
        // Entries seen of pages that begin further up: a page's rank is that of its first entry.
        var partial: [UInt64: Leaving] = [:]
        var isDone = true
        var below: UInt64?
        try ChunkReader(transaction: transaction, feed: feed).eachColumnsUpward(from: nil) { at, columns in
            defer { below = at }
            let number = columns.page
            if number == 0 { return true }
            var page = partial.removeValue(forKey: number) ?? Leaving()
            try page.add(columns, at: at, next: below, policy)
            let head = try transaction.head(ofPage: number, of: feed)
            if page.count < head.entries {
                partial[number] = page
                return true
            }
            switch try fate(head, counts) {
            case .endsWalk: return false
            case .stays: return true
            case .leaves:
                // a page whose last entries are detached entries stays, and uses up no budget (R13)
                if page.hasOnlyDetached || page.isProtected { return true }
            }
            if result.pages > 0 && result.posts + leaving.count >= policy.budget {
                isDone = false
                return false
            }
            counts.entries -= page.entries
            counts.bodyBytes -= page.bodyBytes
            counts.pages -= 1
            leaving.add(page)
            result.pages += 1
            return true
        }
        result.isDone = isDone
        result.posts += try evict(leaving, in: feed)
    }

    /// R17, first half: segments below the first gap leave, the lowest first, unless one of their posts is
    /// visible or pinned.
    private func dropOutOfSequence(
        _ feed: UInt32, _ policy: PrunePolicy, _ result: inout PruneResult
    ) throws {
        let starts = try KnownGaps(transaction, feed: feed).all.map(\.position)
        let reader = ChunkReader(transaction: transaction, feed: feed)
        var leaving = Leaving()
        var below: UInt64?
        for start in starts.reversed() {
            var segment = Leaving()
            try reader.eachColumnsUpward(from: below.map { $0 - 1 }) { at, columns in
                if at < start { return false }
                try segment.add(columns, at: at, next: below, policy)
                below = at
                return true
            }
            if segment.isProtected { continue }
            if result.pages > 0 && result.posts + leaving.count >= policy.budget {
                result.isDone = false
                break
            }
            result.pages += segment.pages.count
            leaving.add(segment)
        }
        // a page that another segment has a part of stays, with other links
        for (number, count) in leaving.pages
        where try transaction.head(ofPage: number, of: feed).entries > count {
            leaving.load(page: number)
        }
        result.posts += try evict(leaving, in: feed)
    }

    /// All in one change: each would load and write the neighbours of what leaves anew.
    private func evict(_ leaving: Leaving, in feed: UInt32) throws -> Int {
        if leaving.count == 0 { return 0 }
        let positions = Set(leaving.all)
        return try change(
            feed,
            focus: { loader in
                for position in leaving.loaded.sorted() { try loader.load(position) }
                try loader.loadNeighbours()
                try loader.prepare(leaving: leaving.unloaded.sorted { $0.position < $1.position })
            }
        ) { state throws(Interruption) in
            let count = try state.evict(chunks: positions.contains)
            return RuleResult(result: count, isChange: count > 0)
        }
    }
}

/// Chunks that are to leave.
private struct Leaving {
    /// Those that need not be loaded for it, from the bottom up.
    private(set) var unloaded: [LeavingChunk] = []
    private(set) var loaded: [UInt64] = []
    /// The number of entries in all of them, with detached ones.
    private(set) var count = 0
    private(set) var pages: [UInt64: Int] = [:]
    /// The number of entries without detached ones, and the bytes of all bodies.
    private(set) var entries = 0
    private(set) var bodyBytes = 0
    /// True if one of the posts is pinned or visible.
    private(set) var isProtected = false

    var all: [UInt64] { loaded + unloaded.map(\.position) }
    var hasOnlyDetached: Bool { entries == 0 }

    mutating func add(
        _ columns: ChunkColumns, at position: UInt64, next: UInt64?, _ policy: PrunePolicy
    ) throws {
        if let chunk = LeavingChunk(columns, at: position, next: next) {
            unloaded.append(chunk)
        } else {
            loaded.append(position)
        }
        typealias Flag = ChunkColumns.Flag
        count += columns.count
        entries += columns.count - columns.count(with: Flag.detached)
        bodyBytes += columns.bodyBytes
        if columns.count(with: Flag.pinned) > 0 { isProtected = true }
        if !policy.visible.isEmpty, try columns.ids().contains(where: policy.visible.contains) {
            isProtected = true
        }
        if columns.page != 0 { pages[columns.page, default: 0] += columns.count }
    }

    mutating func add(_ other: Leaving) {
        unloaded += other.unloaded
        loaded += other.loaded
        count += other.count
        pages.merge(other.pages, uniquingKeysWith: +)
    }

    /// Loads the chunks of a page that does not leave as a whole.
    mutating func load(page: UInt64) {
        loaded += unloaded.filter { $0.page == page }.map(\.position)
        unloaded.removeAll { $0.page == page }
    }
}

extension PrunePolicy {
    fileprivate func isExceeded(by counts: FeedCounts) -> Bool {
        maximumPosts.map { counts.entries > $0 } ?? false
            || maximumPages.map { counts.pages > $0 } ?? false
            || maximumBytes.map { counts.bodyBytes > $0 } ?? false
    }
}
