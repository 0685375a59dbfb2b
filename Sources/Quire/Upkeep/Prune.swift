/// What to forget (R17). Limits that are nil do not apply. Whole pages leave, never one with a pinned or
/// visible post; what leaves opens a gap with the link that brings it back.
public struct PrunePolicy: Sendable, Hashable {
    /// Forget every segment but the top one, if none of its posts is pinned or visible.
    public var dropsOutOfSequence = false
    /// Forget pages received more than this many milliseconds before `now`.
    public var maximumAge: Int64?
    /// The caller's clock, in milliseconds since 1970; only `maximumAge` needs it.
    public var now: Int64 = 0
    /// Most posts, pages, bytes of bodies to keep. Pages outside the top segment leave first, then
    /// others, each from the tail up.
    public var maximumPosts: Int?
    public var maximumPages: Int?
    public var maximumBytes: Int?
    /// Posts on the screen: their pages stay.
    public var visible: Set<PostID> = []
    /// Stop after forgetting this many posts; call again to go on. At least one page leaves per call.
    public var budget: Int = 10_000

    public init() {}
}

/// What a prune did.
public struct PruneResult: Sendable, Hashable {
    /// Pages whose posts left.
    public var pages = 0
    /// Posts that left.
    public var posts = 0
    /// The policy is met, or nothing more may leave. If false, call again.
    public var isDone = true
}

extension WriteSession {
    func prune(_ feed: UInt32, _ policy: PrunePolicy) throws -> PruneResult {
        var result = PruneResult()
        if policy.dropsOutOfSequence { try dropOutOfSequence(feed, policy, &result) }
        if result.isDone, let age = policy.maximumAge {
            let (oldest, overflow) = policy.now.subtractingReportingOverflow(age)
            try evictPages(feed, policy, &result) { page in
                !overflow && page.page.fetchedAt <= oldest ? .leaves : .stays
            }
        }
        if result.isDone {
            try evictPages(feed, policy, &result) { _ in
                try self.exceeds(feed, policy) ? .leaves : .endsWalk
            }
        }
        return result
    }

    private func exceeds(_ feed: UInt32, _ policy: PrunePolicy) throws -> Bool {
        let counts = try transaction.feed(feed).counts
        return policy.maximumPosts.map { counts.entries > $0 } ?? false
            || policy.maximumPages.map { counts.pages > $0 } ?? false
            || policy.maximumBytes.map { counts.bodyBytes > $0 } ?? false
    }

    private enum Fate { case leaves, stays, endsWalk }

    /// Evicts pages from the tail up. Those outside the top segment come first on that way, so this is
    /// the order of R17.
    private func evictPages(
        _ feed: UInt32, _ policy: PrunePolicy, _ result: inout PruneResult,
        fate: (PageRecord) throws -> Fate
    ) throws {
        var position: UInt64?
        // Entries seen of pages that begin further up: a page's rank is that of its first entry.
        var partial: [UInt64: [Entry]] = [:]
        while let piece = try lastPiece(of: feed, before: position) {
            position = piece.position
            let number = piece.record.page
            if number == 0 { continue }
            let entries = piece.record.entries + (partial[number] ?? [])
            let page = try transaction.page(number, of: feed)
            if entries.count < page.entries {
                partial[number] = entries
                continue
            }
            let fate = try fate(page)
            if fate == .endsWalk { return }
            let isProtected = entries.contains { $0.isPinned || policy.visible.contains($0.id) }
            if fate == .stays || isProtected { continue }
            if result.pages > 0 && result.posts >= policy.budget {
                result.isDone = false
                return
            }
            result.posts += try evict(entries.map(\.id), in: feed)
            result.pages += 1
        }
    }

    /// R17, first half: segments below the first gap leave, the lowest first, unless somebody looks at
    /// one of their posts or has pinned it.
    private func dropOutOfSequence(
        _ feed: UInt32, _ policy: PrunePolicy, _ result: inout PruneResult
    ) throws {
        let starts = try FeedLoader.gaps(transaction, feed).map(\.position)
        var end: UInt64?
        for start in starts.reversed() {
            defer { end = start }
            let segment = try entries(of: feed, from: start, to: end)
            let isProtected = segment.contains { $0.isPinned || policy.visible.contains($0.id) }
            if isProtected { continue }
            if result.pages > 0 && result.posts >= policy.budget {
                result.isDone = false
                return
            }
            result.pages += Set(segment.map(\.page)).subtracting([0]).count
            result.posts += try evict(segment.map(\.id), in: feed)
        }
    }

    private func entries(of feed: UInt32, from start: UInt64, to end: UInt64?) throws -> [Entry] {
        var entries: [Entry] = []
        try RowReader(transaction: transaction, feed: feed).eachPiece(from: start) { at, piece in
            if let end, at >= end { return false }
            entries += piece.entries
            return true
        }
        return entries
    }

    private func lastPiece(
        of feed: UInt32, before position: UInt64?
    ) throws -> (position: UInt64, record: PieceRecord)? {
        var found: (position: UInt64, record: PieceRecord)?
        if position == 0 { return nil }
        let reader = RowReader(transaction: transaction, feed: feed)
        try reader.eachPieceUpward(from: position.map { $0 - 1 }) { at, piece in
            found = (at, piece)
            return false
        }
        return found
    }
}
