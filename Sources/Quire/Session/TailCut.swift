// The last pages of a feed leave. This is the usual prune, and the rule needs one entry for it: the last that
// stays. So nothing is loaded but that entry and its page.
//
//     chunks   ... │ a b c │ d e f │ g h i │        d to i leave
//     rows     [all above][c][leaving]      ->      [all above][c], and the tail continues below c

extension WriteSession {
    /// R15, R17. Evicts the last chunks of a feed, given in order. Returns false, and has changed nothing, if
    /// the rule must see more of the feed.
    func cutTail(_ leaving: [LeavingChunk], of feed: UInt32) throws -> Bool {
        try forgetLoaded(feed)
        var record = try transaction.feed(feed)
        guard var state = try transaction.bottom(of: record, leaving, feed) else { return false }
        state.clock = counters.clock
        if !state.evictTail() { return false }
        record.take(state)
        var removal = try ChunkRemoval(leaving, of: feed, in: index(of: record.collection), self)
        touch()
        enter(record.collection)
        counters.clock = state.clock
        try removal.apply(to: self) { _ in false }
        record.remove(removal.removed, unkeyed: leaving.reduce(0) { $0 + $1.count.unkeyed })
        try transaction.put(.record(of: feed), NoKey(), record.encoded())
        if record.hasViews { noteChunks(removal.removed.positions, of: feed) }
        note(removal.changes, in: feed)
        note(removal.removed.ranks, of: feed)
        return true
    }
}

extension Transaction {
    /// Returns the state of a feed whose last chunks are `leaving`. It has loaded only the entry above them.
    /// Returns nil if the rule must see more.
    fileprivate func bottom(
        of record: FeedRecord, _ leaving: [LeavingChunk], _ feed: UInt32
    ) throws -> FeedState? {
        let (first, last) = (leaving[0], leaving[leaving.count - 1])
        if record.options.paging == .ids || record.options.paging.isPositional { return nil }
        if record.counts.overlaps > 0 || record.head.after != nil { return nil }
        if record.counts.gaps > 0 {
            let gap = try withCursor(.gaps(of: feed)) { try $0.last() }
            guard let gap = gap.flatMap({ NumberKey($0.key)?.number }), gap < first.position else {
                return nil
            }
        }
        let above = try withCursor(.chunks(of: feed)) { try $0.before(NumberKey(first.position)) }
        guard let above, let position = NumberKey(above.key)?.number else { return nil }
        let columns = try ChunkColumns(value: above.value, "a chunk of feed \(record.name)")
        let slot = columns.count - 1
        guard slot >= 0, columns.flags(slot) & ChunkColumns.Flag.rare == 0,
            columns.page != 0, columns.page != first.page
        else { return nil }
        var state = FeedState(options: record.options)
        state.take(record)
        do throws(QuireError) {
            try state.append(columns.id(slot), columns.entry(slot))
        } catch {
            throw QuireError.corrupt("a chunk of feed \(record.name)")
        }
        state.entries[0].chunk = position
        state.pages[columns.page] = try page(columns.page, of: feed).page
        let count = leaving.reduce(0) { $0 + $1.count.entries }
        state.unloaded = [
            UnloadedSpan(count: 0, unkeyed: 0, chunks: 1...position),
            UnloadedSpan(count: count, unkeyed: 0, chunks: first.position...last.position),
        ]
        state.unloaded[1].isLeaving = true
        state.rows = [.unloaded(0), .entry(0), .unloaded(1)]
        state.mayHideOverlaps = false
        return state
    }
}

extension FeedState {
    /// Evicts the span at the tail. Returns false if the rule needs more, or if it changes more than the
    /// tail.
    fileprivate mutating func evictTail() -> Bool {
        let (entry, before) = (entries[0], pages)
        do throws(Interruption) {
            _ = try evict { _ in false }
        } catch {
            return false
        }
        return rows == [.unloaded(0), .entry(0)] && entries[0].isSame(as: entry)
            && pages.elementsEqual(before) { $0.number == $1.number && $0.value == $1.value }
    }
}

extension FeedRecord {
    /// Subtracts what left from the last segment.
    fileprivate mutating func remove(_ removed: RemovedChunks, unkeyed: Int) {
        counts.pages -= removed.counts.pages
        counts.chunks -= removed.counts.chunks
        counts.entries -= removed.counts.entries
        counts.bodyBytes -= removed.counts.bodyBytes
        lastSegment.entries -= removed.counts.entries
        lastSegment.unkeyed -= unkeyed
    }
}
