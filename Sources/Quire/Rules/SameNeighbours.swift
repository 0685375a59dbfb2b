extension FeedState {
    /// Throws if the neighbours of an unloaded span have changed. Its ends may depend on them: a detached entry
    /// belongs to the entry above it, an unverified join to the entry below. That end must then be loaded and
    /// the rule run again.
    func requireSameNeighbours(since old: FeedState) throws(Interruption) {
        if unloaded.isEmpty { return }
        var last = 0
        for (at, row) in rows.enumerated() {
            guard case .unloaded(let run) = row else { continue }
            guard let was = old.rows[last...].firstIndex(of: row) ?? old.rows[..<last].firstIndex(of: row)
            else { continue }
            last = was
            if !hasSameNeighbours(at, as: old, was, step: -1) { throw .needs(.top(run)) }
            if !hasSameNeighbours(at, as: old, was, step: 1) { throw .needs(.bottom(run)) }
        }
        try requireCountsOfSplitSegments(since: old)
    }

    /// Returns true if the same rows follow in both states in one direction: detached entries, then an entry, a
    /// gap or nothing. An entry has the same number in both.
    private func hasSameNeighbours(_ at: Int, as old: FeedState, _ was: Int, step: Int) -> Bool {
        var (at, was) = (at + step, was + step)
        func name(_ state: FeedState, _ at: Int) -> Row? {
            guard state.rows.indices.contains(at) else { return nil }
            switch state.rows[at] {
            case .gap(let gap): return .gap(Int(state.gaps[gap].id.number))
            case .entry: return state.rows[at]
            case .unloaded: return nil
            }
        }
        while true {
            let (now, before) = (name(self, at), name(old, was))
            guard let now, let before else { return now == nil && before == nil }
            if now != before { return false }
            let goesOn = (isDetached(rows[at]), old.isDetached(old.rows[was]))
            (at, was) = (at + step, was + step)
            switch goesOn {
            case (true, true): continue
            case (false, false): return true
            case (true, false): return name(self, at) == nil
            case (false, true): return name(old, was) == nil
            }
        }
    }

    /// Throws if a gap now separates runs of one segment, and one of them does not know its own count.
    private func requireCountsOfSplitSegments(since old: FeedState) throws(Interruption) {
        if unloaded.count < 2 { return }
        let (before, after) = (old.segmentsOfRuns(), segmentsOfRuns())
        for (run, segment) in before where segment != run && unloaded[run].count == 0 {
            if after[run] != after[segment] { throw .needs(.counts(run)) }
        }
    }

    /// Returns, for each unloaded span, the first one of its segment.
    private func segmentsOfRuns() -> [Int: Int] {
        var segments: [Int: Int] = [:]
        var first: Int?
        for row in rows {
            switch row {
            case .gap: first = nil
            case .entry: continue
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
