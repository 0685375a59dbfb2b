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
        try writeCounters()  // nothing may be written before the chunks have left
        var counts = try transaction.counts(feed)
        var leaving = Leaving()
        // Chunks seen of pages that begin further up: a page's rank is that of its first entry.
        var partial: [UInt64: Leaving] = [:]
        var isDone = true
        try transaction.withCursor(.pages(of: feed)) { pages in
            try eachChunkUpward(feed, from: nil, policy) { chunk in
                let number = chunk.page
                if number == 0 { return true }
                guard let value = try pages.find(NumberKey(newestFirst: number), near: .below) else {
                    throw QuireError.corrupt("page \(number) of feed number \(feed)")
                }
                let head = try PageHead(value, ofPage: number, feed)
                var page = partial.isEmpty ? nil : partial.removeValue(forKey: number)
                page?.add(chunk)
                let sum = page?.sum ?? chunk.sum
                if sum.count < head.entries {
                    partial[number] = page ?? Leaving(chunk)
                    return true
                }
                switch try fate(head, counts) {
                case .endsWalk: return false
                case .stays: return true
                case .leaves:
                    // a page whose last entries are detached entries stays, and uses up no budget (R13)
                    if sum.hasOnlyDetached || sum.isProtected { return true }
                }
                if result.pages > 0 && result.posts + leaving.sum.count >= policy.budget {
                    isDone = false
                    return false
                }
                counts.entries -= sum.entries
                counts.bodyBytes -= sum.bodyBytes
                counts.pages -= 1
                if let page { leaving.add(page) } else { leaving.add(chunk) }
                result.pages += 1
                return true
            }
        }
        result.isDone = isDone
        result.posts += try evict(leaving, in: feed)
    }

    /// Calls `body` with each chunk from a position upward, while it returns true.
    private func eachChunkUpward(
        _ feed: UInt32, from position: UInt64?, _ policy: PrunePolicy, _ body: (SeenChunk) throws -> Bool
    ) throws {
        var below = position.map { $0 + 1 }
        let reader = ChunkReader(transaction: transaction, feed: feed)
        try reader.eachColumnsUpward(from: position) { at, columns in
            defer { below = at }
            return try body(SeenChunk(columns, at: at, next: below, policy))
        }
    }

    /// R17, first half: segments below the first gap leave, the lowest first, unless one of their posts is
    /// visible or pinned.
    private func dropOutOfSequence(
        _ feed: UInt32, _ policy: PrunePolicy, _ result: inout PruneResult
    ) throws {
        try writeCounters()
        let starts = try KnownGaps(transaction, feed: feed).all.map(\.position)
        var leaving = Leaving()
        var pages: [UInt64: Int] = [:]
        var below: UInt64?
        for start in starts.reversed() {
            var segment = Leaving()
            try eachChunkUpward(feed, from: below.map { $0 - 1 }, policy) { chunk in
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

    /// All in one change: each would load and write the neighbours of what leaves anew.
    private func evict(_ leaving: Leaving, in feed: UInt32) throws -> Int {
        if leaving.chunks.isEmpty { return 0 }
        let chunks = leaving.inOrder
        if let tail = leaving.asTail(chunks), try cutTail(tail, of: feed) { return leaving.sum.count }
        let positions = NumberTable(chunks.map { ($0.position, ()) })
        return try change(
            feed,
            focus: { loader in
                for chunk in chunks where chunk.unloaded == nil { try loader.load(chunk.position) }
                try loader.loadNeighbours()
                try loader.prepare(leaving: chunks.compactMap(\.unloaded))
            }
        ) { state throws(Interruption) in
            let count = try state.evict(chunks: positions.contains)
            return RuleResult(result: count, isChange: count > 0)
        }
    }
}

/// A chunk on the way up.
private struct SeenChunk {
    let position: UInt64
    let page: UInt64
    /// Nil if the chunk must be loaded to leave.
    var unloaded: LeavingChunk?
    let sum: Sum

    struct Sum {
        /// The number of entries with detached ones, and without.
        var count = 0
        var entries = 0
        var bodyBytes = 0
        /// True if one of the posts is pinned or visible.
        var isProtected = false

        var hasOnlyDetached: Bool { entries == 0 }

        mutating func add(_ other: Sum) {
            count += other.count
            entries += other.entries
            bodyBytes += other.bodyBytes
            isProtected = isProtected || other.isProtected
        }
    }

    init(_ columns: ChunkColumns, at position: UInt64, next: UInt64?, _ policy: PrunePolicy) throws {
        let sums = columns.sums
        (self.position, page) = (position, columns.page)
        unloaded = LeavingChunk(columns, sums, at: position, next: next)
        var isProtected = sums.flags & ChunkColumns.Flag.pinned != 0
        if !policy.visible.isEmpty && !isProtected {
            isProtected = try columns.ids().contains(where: policy.visible.contains)
        }
        sum = Sum(
            count: columns.count, entries: columns.count - sums.detached, bodyBytes: sums.bodyBytes,
            isProtected: isProtected)
    }
}

/// Chunks that are to leave.
private struct Leaving {
    private(set) var chunks: [SeenChunk] = []
    private(set) var sum = SeenChunk.Sum()

    init() {}
    init(_ chunk: SeenChunk) { add(chunk) }

    mutating func add(_ chunk: SeenChunk) {
        chunks.append(chunk)
        sum.add(chunk.sum)
    }

    mutating func add(_ other: Leaving) {
        chunks += other.chunks
        sum.add(other.sum)
    }

    /// The chunks from the top down. They mostly came from the bottom up.
    var inOrder: [SeenChunk] {
        let reversed = Array(chunks.reversed())
        let isOrdered = zip(reversed, reversed.dropFirst()).allSatisfy { $0.position < $1.position }
        return isOrdered ? reversed : chunks.sorted { $0.position < $1.position }
    }

    /// Returns the chunks if these are the last of the feed, and none of them must be loaded.
    func asTail(_ chunks: [SeenChunk]) -> [LeavingChunk]? {
        var tail: [LeavingChunk] = []
        tail.reserveCapacity(chunks.count)
        for (i, chunk) in chunks.enumerated() {
            guard let unloaded = chunk.unloaded,
                unloaded.next == (i + 1 < chunks.count ? chunks[i + 1].position : nil)
            else { return nil }
            tail.append(unloaded)
        }
        return tail
    }

    /// Loads the chunks of a page that does not leave as a whole.
    mutating func load(page: UInt64) {
        for i in chunks.indices where chunks[i].page == page { chunks[i].unloaded = nil }
    }
}

extension PrunePolicy {
    fileprivate func isExceeded(by counts: FeedCounts) -> Bool {
        maximumPosts.map { counts.entries > $0 } ?? false
            || maximumPages.map { counts.pages > $0 } ?? false
            || maximumBytes.map { counts.bodyBytes > $0 } ?? false
    }
}
