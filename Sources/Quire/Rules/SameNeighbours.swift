extension FeedState {
    /// Throws if the neighbours of an unloaded span have changed. Its ends may depend on them: a detached
    /// entry belongs to the entry above it, an unverified join to the entry below. That end must then be
    /// loaded and the rule run again.
    func requireSameNeighbours(since old: borrowing FeedState) throws(Interruption) {
        if unloaded.isEmpty { return }
        var last = 0
        for (at, row) in rows.enumerated() {
            guard case .unloaded(let run) = row else { continue }
            guard let was = old.rows[last...].firstIndex(of: row) ?? old.rows[..<last].firstIndex(of: row)
            else { continue }
            last = was
            let (above, wasAbove) = (neighbour(of: at, step: -1), old.neighbour(of: was, step: -1))
            if above != wasAbove || isAnyPlaced(above: was, in: old) {
                throw .needs(unloaded[run].isDetached ? .all(run) : .top(run))
            }
            if unloaded[run].isDetached { continue }
            if neighbour(of: at, step: 1) != old.neighbour(of: was, step: 1) { throw .needs(.bottom(run)) }
        }
        if unloaded.count < 2 { return }
        try requireOrderOfSpans()
        try requireCountsOfSplitSegments(since: old)
    }

    /// Throws if detached entries that were not loaded follow a post that moved past another span: their
    /// chunks must be written anew.
    private func requireOrderOfSpans() throws(Interruption) {
        var above: Int?
        for row in rows {
            guard case .unloaded(let run) = row else { continue }
            if let above, unloaded[above].chunks.upperBound > unloaded[run].chunks.lowerBound {
                throw .needs(.all(unloaded[run].isDetached ? run : above))
            }
            above = run
        }
    }

    /// Returns the name of the next row of the server's sequence in one direction, the same in both states;
    /// nil for nothing and for an unloaded span.
    private func neighbour(of at: Int, step: Int) -> Row? {
        var at = at + step
        while rows.indices.contains(at) {
            switch rows[at] {
            case _ where isDetached(rows[at]): at += step
            case .gap(let gap): return .gap(Int(gaps[gap].id.number))
            case .entry: return rows[at]
            case .unloaded: return nil
            }
        }
        return nil
    }

    /// Returns true if an answer showed one of the entries that were detached, directly above a row. Those
    /// below it then follow it.
    private func isAnyPlaced(above at: Int, in old: borrowing FeedState) -> Bool {
        var at = at - 1
        while at >= 0, old.isDetached(old.rows[at]) {
            let entry = old.rows[at].entry
            if entry.map({ entries[$0].isCached && !entries[$0].isDetached }) ?? false { return true }
            at -= 1
        }
        return false
    }

    /// Throws if a gap now separates runs of one segment, and one of them does not know its own count.
    private func requireCountsOfSplitSegments(since old: borrowing FeedState) throws(Interruption) {
        let (before, after) = (old.segmentsOfRuns(), segmentsOfRuns())
        for run in before.indices where unloaded[run].count == 0 {
            guard let segment = before[run], segment != run else { continue }
            if after[run] != after[segment] { throw .needs(.counts(run)) }
        }
    }

    /// Returns, for each unloaded span, the first one of its segment; nil for those without a count of the
    /// segment.
    private func segmentsOfRuns() -> [Int?] {
        var segments = [Int?](repeating: nil, count: unloaded.count)
        var first: Int?
        for row in rows {
            switch row {
            case .gap: first = nil
            case .entry: continue
            case .unloaded(let run) where unloaded[run].isDetached || unloaded[run].isLeaving: continue
            case .unloaded(let run):
                first = first ?? run
                segments[run] = first
            }
        }
        return segments
    }

    /// Returns the name of a row; nil for an unloaded span.
    func id(of row: Row) -> RowID? {
        switch row {
        case .entry(let entry): .post(id(of: entry))
        case .gap(let gap): .gap(gaps[gap].id)
        case .unloaded: nil
        }
    }
}
