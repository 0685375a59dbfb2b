extension FeedState {
    /// An elided run must have the neighbours it had: what begins or ends in it may depend on them (a
    /// rider rides on the entry above it, a claimed seam ends at the entry below). Where a neighbour
    /// changed, that end of the run must be loaded and the rule run again.
    func requireSettledRuns(since old: FeedState) throws(Interruption) {
        if elided.isEmpty { return }
        var before: [Int: (above: RowID?, below: RowID?)] = [:]
        for (i, row) in old.rows.enumerated() {
            guard case .elided(let run) = row else { continue }
            before[run] = (
                i > 0 ? old.id(of: old.rows[i - 1]) : nil,
                i + 1 < old.rows.count ? old.id(of: old.rows[i + 1]) : nil
            )
        }
        for (i, row) in rows.enumerated() {
            guard case .elided(let run) = row, let was = before[run] else { continue }
            if was.above != (i > 0 ? id(of: rows[i - 1]) : nil) { throw .needs(.top(run)) }
            if was.below != (i + 1 < rows.count ? id(of: rows[i + 1]) : nil) {
                throw .needs(.bottom(run))
            }
        }
        try requireCountsOfSplitSegments(since: old)
    }

    /// Where a gap now separates runs of one segment, each must know its own count.
    private func requireCountsOfSplitSegments(since old: FeedState) throws(Interruption) {
        let (before, after) = (old.segmentsOfRuns(), segmentsOfRuns())
        for (run, segment) in before where segment != run && elided[run].count == 0 {
            if after[run] != after[segment] { throw .needs(.counts(run)) }
        }
    }

    /// Elided run -> the first elided run of its segment.
    private func segmentsOfRuns() -> [Int: Int] {
        var segments: [Int: Int] = [:]
        var first: Int?
        for row in rows {
            switch row {
            case .gap: first = nil
            case .entry: continue
            case .elided(let run):
                first = first ?? run
                segments[run] = first
            }
        }
        return segments
    }

    /// The name of a row; nil for an elided run.
    func id(of row: Row) -> RowID? {
        switch row {
        case .entry(let entry): .post(entries[entry].id)
        case .gap(let gap): .gap(gaps[gap].id)
        case .elided: nil
        }
    }
}
