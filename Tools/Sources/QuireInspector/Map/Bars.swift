import Quire

/// What one bar of the map shows: a page's rows, or those of several where the map is too narrow for each.
struct Bar: Sendable, Equatable {
    var start: Int
    var rows = 0
    /// The smallest and the largest number of its pages; nil if no page brought its posts.
    var pages: ClosedRange<UInt64>?
    var runs = 0
    /// When they were received, in milliseconds since 1970.
    var received: ClosedRange<Int64>?
    /// How many of its rows are gaps.
    var gaps = 0

    mutating func add(_ run: FeedMap.Run, rows count: Int, receivedAt time: Int64?) {
        rows += count
        if run.isGap {
            gaps += 1
            return
        }
        runs += 1
        if let page = run.page {
            let known = pages ?? page...page
            pages = min(known.lowerBound, page)...max(known.upperBound, page)
        }
        if let time {
            let known = received ?? time...time
            received = min(known.lowerBound, time)...max(known.upperBound, time)
        }
    }
}

extension FeedMap {
    /// The rows of a range as bars, at most `limit` + 1 of them: one for each run if there is room, else each
    /// with at least its share of the rows.
    func bars(_ range: Range<Int>, limit: Int) -> [Bar] {
        let range = range.clamped(to: 0..<rows)
        if range.isEmpty { return [] }
        let first = runIndex(at: range.lowerBound)
        let end = runIndex(at: range.upperBound - 1) + 1
        let share = end - first <= limit ? 1 : (range.count + max(1, limit) - 1) / max(1, limit)
        var bars: [Bar] = []
        for run in runs[first..<end] {
            let part = (run.start..<run.start + run.rows).clamped(to: range)
            if let last = bars.last, last.rows < share {
                bars[bars.count - 1].add(run, rows: part.count, receivedAt: time(of: run))
            } else {
                var bar = Bar(start: part.lowerBound)
                bar.add(run, rows: part.count, receivedAt: time(of: run))
                bars.append(bar)
            }
        }
        return bars
    }

    private func time(of run: Run) -> Int64? { run.page.flatMap { received[$0] } }

    /// The index of the run with this row, by bisection.
    private func runIndex(at rank: Int) -> Int {
        var (low, high) = (0, runs.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if runs[middle].start <= rank { low = middle } else { high = middle }
        }
        return low
    }
}
