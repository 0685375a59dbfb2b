extension FeedState {
    /// Throws if the neighbours of an unloaded span have changed. Its ends may depend on them: a detached entry
    /// belongs to the entry above it, an unverified join to the entry below. That end must then be loaded and
    /// the rule run again.
    func requireSameNeighbours(since old: FeedState) throws(Interruption) {
        if unloaded.isEmpty { return }
        let before = old.neighboursOfRuns()
        for (run, now) in neighboursOfRuns() {
            guard let was = before[run] else { continue }
            if was.above != now.above { throw .needs(.top(run)) }
            if was.below != now.below { throw .needs(.bottom(run)) }
        }
        try requireCountsOfSplitSegments(since: old)
    }

    /// Returns the rows next to each unloaded span, on both sides: detached entries, then an entry or a gap.
    private func neighboursOfRuns() -> [Int: (above: [RowID], below: [RowID])] {
        var neighbours: [Int: (above: [RowID], below: [RowID])] = [:]
        func names(_ rows: some Sequence<Row>) -> [RowID] {
            var names: [RowID] = []
            for row in rows {
                guard let name = id(of: row) else { break }
                names.append(name)
                if !isDetached(row) { break }
            }
            return names
        }
        for (i, row) in rows.enumerated() {
            guard case .unloaded(let run) = row else { continue }
            neighbours[run] = (names(rows[..<i].reversed()), names(rows[(i + 1)...]))
        }
        return neighbours
    }

    /// Throws if a gap now separates runs of one segment, and one of them does not know its own count.
    private func requireCountsOfSplitSegments(since old: FeedState) throws(Interruption) {
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
