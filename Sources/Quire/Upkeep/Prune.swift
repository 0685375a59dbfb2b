extension Feed {
    /// R17. Forgets whole pages until the policy is met or its budget is spent.
    ///
    ///     var policy = PrunePolicy()
    ///     policy.maximumPosts = 10_000
    ///     policy.visible = [42, 41, 40]  // on the screen: their pages stay
    ///     while try !feed.prune(policy).isDone {}
    ///
    /// What leaves opens a gap with the link that brings it back. ``Cache/dryRun(_:)`` says what would leave.
    /// On a full disk it takes a part of the budget, because a commit needs room in proportion to it.
    /// - Returns: How much left, and whether a further call would forget more. Bodies give their space back
    ///   to the file, which does not shrink; see ``Cache/compact(at:progress:)``.
    public func prune(_ policy: PrunePolicy) throws -> PruneResult {
        var policy = policy
        while true {
            do {
                return try write { try $0.prune(number, policy) }
            } catch let error as QuireError where error.code == .diskFull && policy.budget > 100 {
                policy.budget = min(policy.budget, 10_000) / 4
            }
        }
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

    /// R17, first half: segments below the first gap leave, the lowest first, unless one of their posts is
    /// visible or pinned.
    private func dropOutOfSequence(
        _ feed: UInt32, _ policy: PrunePolicy, _ result: inout PruneResult
    ) throws {
        try writeCounters()
        let starts = try KnownGaps(transaction, feed: feed).all.map(\.position)
        var leaving = LeavingPages()
        var pages: [UInt64: Int] = [:]
        var below: UInt64?
        for start in starts.reversed() {
            var segment = LeavingPages()
            try eachChunk(feed, along: ChunkPath(start: below), policy) { chunk in
                if chunk.position < start { return false }
                segment.add(chunk)
                below = chunk.position
                return true
            }
            if segment.sum.isProtected { continue }
            if result.pages > 0 && result.posts + leaving.sum.count >= policy.budget {
                result.isDone = false
                break
            }
            result.pages += Set(segment.chunks.lazy.map(\.page)).subtracting([0]).count
            for chunk in segment.chunks where chunk.page != 0 {
                pages[chunk.page, default: 0] += chunk.sum.count
            }
            leaving.add(segment)
        }
        // a page that another segment has a part of stays, with other links
        for (number, count) in pages where try transaction.head(ofPage: number, of: feed).entries > count {
            leaving.load(page: number)
        }
        result.posts += try evict(leaving, in: feed)
    }
}

extension PrunePolicy {
    fileprivate func isExceeded(by counts: FeedCounts) -> Bool {
        maximumPosts.map { counts.entries > $0 } ?? false
            || maximumPages.map { counts.pages > $0 } ?? false
            || maximumBytes.map { counts.bodyBytes > $0 } ?? false
    }
}
