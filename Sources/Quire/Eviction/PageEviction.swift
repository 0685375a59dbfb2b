// R15, R17: whole pages leave a feed, all of one walk in one change.

/// Which chunks of a feed a walk sees, and in which order.
struct ChunkPath {
    /// Upwards begins with the last chunk.
    var goesUp = true
    /// Begin behind this position, as the walk goes; nil is the end of the feed.
    var start: UInt64?
    /// Stop before this position.
    var end: UInt64?
    /// Stop after this many chunks, where no page is seen in part.
    var limit = Int.max
}

/// What becomes of a page that a walk has seen.
enum PageFate { case leaves, stays, endsWalk }

extension WriteSession {
    /// Evicts pages along a path. On the way up those outside the top segment come first, so that is the
    /// order of R17. `fate` is told what the feed holds without the pages that leave already. Returns the
    /// position of the last chunk if the limit of the path ended the walk.
    @discardableResult
    func evictPages(
        _ feed: UInt32, along path: ChunkPath = ChunkPath(), _ policy: PrunePolicy,
        _ result: inout PruneResult,
        fate: (PageHead, FeedCounts) throws -> PageFate
    ) throws -> UInt64? {
        try writeCounters()  // nothing may be written before the chunks have left
        var counts = try transaction.counts(feed)
        var leaving = LeavingPages()
        // Chunks seen of pages that go on: a page's rank is that of its first entry.
        var partial: [UInt64: LeavingPages] = [:]
        var isDone = true
        var seen = 0
        var stop: UInt64?
        try transaction.withCursor(.pages(of: feed)) { pages in
            try eachChunk(feed, along: path, policy) { chunk in
                seen += 1
                if seen > path.limit, partial.isEmpty || seen > 4 * path.limit { return false }
                if seen >= path.limit { stop = chunk.position }
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
                    partial[number] = page ?? LeavingPages(chunk)
                    return true
                }
                switch try fate(head, counts) {
                case .endsWalk:
                    stop = nil
                    return false
                case .stays: return true
                case .leaves:
                    // a page whose last entries are detached entries stays, and uses up no budget (R13)
                    if sum.hasOnlyDetached || sum.isProtected { return true }
                }
                if result.pages > 0 && result.posts + leaving.sum.count >= policy.budget {
                    isDone = false
                    stop = nil
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
        return stop
    }

    /// Calls `body` with each chunk on a path, while it returns true.
    func eachChunk(
        _ feed: UInt32, along path: ChunkPath, _ policy: PrunePolicy, _ body: (SeenChunk) throws -> Bool
    ) throws {
        if !path.goesUp { return try eachChunkDownward(feed, along: path, policy, body) }
        let reader = ChunkReader(transaction: transaction, feed: feed)
        // the chunk below the first one, which may be another one than when the path was noted
        var below = try path.start.flatMap { start in
            try transaction.withCursor(.chunks(of: feed)) { cursor in
                try cursor.seek(NumberKey(start)).flatMap { NumberKey($0.key)?.number }
            }
        }
        try reader.eachColumnsUpward(from: below.map { $0 - 1 }) { at, columns in
            if let end = path.end, at <= end { return false }
            defer { below = at }
            return try body(SeenChunk(columns, at: at, next: below, policy))
        }
    }

    private func eachChunkDownward(
        _ feed: UInt32, along path: ChunkPath, _ policy: PrunePolicy, _ body: (SeenChunk) throws -> Bool
    ) throws {
        if path.start == .max { return }
        var held: (at: UInt64, columns: ChunkColumns)?
        var ends = false
        try ChunkReader(transaction: transaction, feed: feed).eachColumns(
            from: path.start.map { $0 + 1 } ?? 0
        ) {
            at, columns in
            if let held {
                ends = try !body(SeenChunk(held.columns, at: held.at, next: at, policy))
            }
            let isBehind = path.end.map { at >= $0 } ?? false
            held = ends || isBehind ? nil : (at, columns)
            return !ends && !isBehind
        }
        if let held { _ = try body(SeenChunk(held.columns, at: held.at, next: nil, policy)) }
    }

    /// All in one change: each would load and write the neighbours of what leaves anew.
    func evict(_ leaving: LeavingPages, in feed: UInt32) throws -> Int {
        if leaving.chunks.isEmpty { return 0 }
        let chunks = leaving.inOrder
        if let tail = leaving.asTail(chunks), try cutTail(tail, of: feed) { return leaving.sum.count }
        let positions = NumberTable(chunks.map { ($0.position, ()) })
        var count = 0
        try change(
            feed,
            focus: { loader in
                for chunk in chunks where chunk.unloaded == nil { try loader.load(chunk.position) }
                try loader.loadNeighbours()
                try loader.prepare(leaving: chunks.compactMap(\.unloaded))
            }
        ) { state throws(Interruption) in
            count = try state.evict(chunks: positions.contains)
            return Effect(isChange: count > 0)
        }
        return count
    }
}
