// R22: feeds without any promise about their order.

extension Draft {
    /// Places a page, which proves nothing but its own order. It joins the cached rows only if its last items
    /// are neighbours there and the page has all cached items above them. If pages above it are missing, it
    /// lies on the far side of a gap (R24).
    mutating func spliceRanked(_ page: [Int], below upper: Int?) throws(Interruption) {
        let places = places()
        var start = upper.map { places[$0]! + 1 } ?? 0
        if ticket.isBeyondMissing && start < rows.count && rows[start].isGap { start += 1 }
        let run = Array(page.suffix(state.options.minimumRun))
        let at = places[run[0]] ?? -1
        let isRun =
            at >= start && at + run.count <= rows.count
            && Array(rows[at..<at + run.count]) == run.map(Row.entry)
        let inPage = EntrySet(page)
        let over = isRun ? try entries(in: rows[start..<at]).filter { !inPage.contains($0) } : []
        let joined = isRun && over.isEmpty
        moved += page.filter { places[$0] != nil && !(joined && run.contains($0)) }
        var rest = rows[(joined ? at + run.count : start)...].filter { row in
            row.entry.map { !inPage.contains($0) } ?? true
        }[...]
        while !joined && rest.count > 1 && rest.first!.isGap && rest.dropFirst().first!.isGap {
            rest.removeFirst()
        }
        if !joined { displaced += over }
        var above = rows[..<start]
        var upperGap: Row?
        if ticket.isBeyondMissing {
            upperGap = try upperSide(page, joined ? run : [], above: &above)
        }
        let gap = try lowerSide(page, joined ? run : [], above: above, hadWindow: true, below: &rest)
        rows = assembled(above, upperGap, page, gap, rest)
        accepted = page
    }
}
