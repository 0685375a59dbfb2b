// The rows of a state: loaded entries, known gaps, and unloaded spans for everything else.

extension FeedLoader {
    func appendRows(to state: inout FeedState) throws {
        let loaded = chunks.all
        var (at, left) = (0, 0)
        var expected = try topPosition()
        let gaps = gaps.all
        for segment in 0...gaps.count {
            let gap = segment < gaps.count ? gaps[segment] : nil
            let end = gap?.position
            let total = gap?.record.above ?? record.lastSegment
            var rest = total
            let firstRun = state.unloaded.count
            while let position = expected, end.map({ position < $0 }) ?? true {
                if at < loaded.count && loaded[at].position == position {
                    append(loaded[at].range, to: &state, uncounted: &rest)
                    expected = loaded[at].next
                    at += 1
                    continue
                }
                var bound = end
                if at < loaded.count, end.map({ loaded[at].position < $0 }) ?? true {
                    bound = loaded[at].position
                }
                if let span = leavingSpan(from: position, to: bound, &left) {
                    state.rows.append(.unloaded(state.unloaded.count))
                    state.unloaded.append(span.span)
                    rest.entries -= span.span.count
                    rest.unkeyed -= span.span.unkeyed
                    expected = span.next
                    continue
                }
                if left < leaving.count, bound.map({ leaving[left].position < $0 }) ?? true {
                    bound = leaving[left].position
                }
                let known = at < loaded.count && loaded[at].position == bound ? loaded[at].previous : nil
                guard let last = try known ?? self.position(before: bound), last >= position else {
                    throw QuireError.corrupt("the gap at \(position) of feed \(record.name)")
                }
                var span = UnloadedSpan(
                    count: 0, unkeyed: 0, chunks: position...last, hidesGaps: gap?.hidesOthers ?? false)
                span.lacksPlaceholders = record.counts.placeholders == 0 || lacks(.placeholder, in: span)
                span.lacksPageEnds = lacks(.pageEnd, in: span)
                if span.hidesGaps { span.lacksGaps = self.gaps.lacking(in: span.chunks) }
                if !span.hidesGaps, let detached = try detached(atTopOf: span.chunks) {
                    (span.chunks, span.isDetached) = (detached.chunks, true)
                    expected = detached.next ?? bound
                } else {
                    expected = bound
                }
                state.rows.append(.unloaded(state.unloaded.count))
                state.unloaded.append(span)
            }
            try distribute(rest, in: firstRun..<state.unloaded.count, of: &state)
            if let gap {
                state.rows.append(.gap(state.gaps.count))
                state.gaps.append(gap.record.gap)
                expected = end
            }
        }
    }

    /// Returns the span of leaving chunks that begins at this position, and the position of the chunk below
    /// it. `left` is the index of the next leaving chunk.
    private func leavingSpan(
        from position: UInt64, to bound: UInt64?, _ left: inout Int
    ) -> (span: UnloadedSpan, next: UInt64?)? {
        while left < leaving.count, leaving[left].position < position { left += 1 }
        var (last, next): (UInt64?, UInt64?) = (nil, position)
        var count = SegmentCount()
        while left < leaving.count, leaving[left].position == next, bound.map({ next! < $0 }) ?? true {
            count.entries += leaving[left].count.entries
            count.unkeyed += leaving[left].count.unkeyed
            (last, next) = (leaving[left].position, leaving[left].next)
            left += 1
        }
        guard let last else { return nil }
        var span = UnloadedSpan(count: count.entries, unkeyed: count.unkeyed, chunks: position...last)
        span.isLeaving = true
        return (span, next)
    }

    private func append(
        _ entries: Range<Int>, to state: inout FeedState, uncounted rest: inout SegmentCount
    ) {
        for number in entries {
            state.rows.append(.entry(number))
            let entry = state.entries[number]
            if entry.isDetached { continue }
            rest.entries -= 1
            if entry.key == nil { rest.unkeyed -= 1 }
        }
    }

    /// Assigns the rest of a segment's entries to its unloaded spans. If there are several, each is counted
    /// only when a rule asks, because that may read every chunk in them.
    private func distribute(_ rest: SegmentCount, in runs: Range<Int>, of state: inout FeedState) throws {
        func isCounted(_ run: Int) -> Bool {
            !state.unloaded[run].isDetached && !state.unloaded[run].isLeaving
        }
        guard let first = runs.first(where: isCounted) else { return }
        var rest = rest
        if countsRuns {
            for run in runs where run > first && isCounted(run) {
                let count = try count(of: state.unloaded[run], rest)
                (state.unloaded[run].count, state.unloaded[run].unkeyed) = (count.entries, count.unkeyed)
                rest.entries -= count.entries
                rest.unkeyed -= count.unkeyed
            }
        }
        state.unloaded[first].count = rest.entries
        state.unloaded[first].unkeyed = rest.unkeyed
    }

    /// Returns the chunks at the top of a range that have detached entries only, and the position of the
    /// chunk that follows them in the range. No rule needs these chunks: a local post is put above thousands
    /// of others.
    private func detached(
        atTopOf range: ClosedRange<UInt64>
    ) throws -> (chunks: ClosedRange<UInt64>, next: UInt64?)? {
        if record.counts.detached == 0 { return nil }
        var last: UInt64?
        var next: UInt64?
        try ChunkReader(transaction: transaction, feed: feed).eachColumns(from: range.lowerBound) {
            if $0 > range.upperBound { return false }
            if $1.hasDetachedOnly { last = $0 } else { next = $0 }
            return next == nil
        }
        return last.map { (range.lowerBound...$0, next) }
    }

    /// Returns the number of entries in a span whose segment has `rest` that are not loaded. The page index
    /// tells it if there are no detached entries, and either all or none have keys. There is no gap above the
    /// span's first chunk.
    private func count(of span: UnloadedSpan, _ rest: SegmentCount) throws -> SegmentCount {
        let isUniform = rest.unkeyed == 0 || rest.unkeyed == rest.entries
        if record.counts.detached == 0, isUniform, !span.hidesGaps, let rows = try rows(in: span.chunks) {
            if rows < 1 || rows > rest.entries {  // no chunk is empty
                throw QuireError.corrupt("the page index of feed \(record.name)")
            }
            return SegmentCount(entries: rows, unkeyed: rest.unkeyed == 0 ? 0 : rows)
        }
        var count = SegmentCount()
        try ChunkReader(transaction: transaction, feed: feed).eachColumns(from: span.chunks.lowerBound) {
            if $0 > span.chunks.upperBound { return false }
            for slot in 0..<$1.count where $1.flags(slot) & ChunkColumns.Flag.detached == 0 {
                count.entries += 1
                if $1.key(slot) == nil { count.unkeyed += 1 }
            }
            return true
        }
        return count
    }
}
