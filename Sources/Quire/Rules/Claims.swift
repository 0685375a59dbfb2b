// R25, R26: neighbours that only the server's page numbers join.

/// The claim of a join, and the entry below it.
struct CarriedClaim {
    let lower: Int
    let claim: Claim
}

extension Draft {
    /// R8. Places the rest of an answer below its border. If only a position says that the rest follows the
    /// border, the join is unverified.
    mutating func join(_ rest: [Int], below border: Int, lower: Int? = nil) throws(Interruption) {
        let isClaim = ticket.mayClaim && !shown.contains(border)
        if isClaim && state.options.isStrict {
            let places = places()
            // nothing but the page numbers joins them
            if rest.allSatisfy({ places[$0] != nil }) { throw .refused(.noProgress) }
        }
        try splice(rest, upper: .entry(border), lower: lower)
        if isClaim, let first = accepted.first { claim(between: border, and: first) }
    }

    /// Joins neighbours that no answer has shown together: by an unverified join or, in strict feeds, a gap.
    mutating func claim(between upper: Int, and lower: Int, why: Doubt = .numbering) {
        guard let at = rows.firstIndex(of: .entry(lower)), at > 0, rows[at - 1] == .entry(upper)
        else { return }
        if !state.options.isStrict { return note(claim: lower, why) }
        let isUp = ticket.operation == .up
        let isPositional = state.options.paging.isPositional
        let down = state.newEdge(isPositional ? .more : isUp ? .unknown : ticket.own)
        let up = state.newEdge(isUp && !isPositional ? ticket.own : .unknown)
        rows.insert(state.newGap(down: down, up: up, why: why), at: at)
        farGap = true
    }

    /// R26.9. Returns true if, in a feed whose links are positions, the answer contradicts the cache: the
    /// page numbers had misplaced something, or they have shifted.
    mutating func isElsewhere(_ page: [Int], _ at: Int) throws(Interruption) -> Bool {
        // R10: that gap must be filled first
        if !ticket.mayClaim || rows[..<at].contains(where: \.isGap) { return false }
        let border = try border(above: at)
        let places = places()
        let known = page.last { places[$0].map { $0 < at } ?? false }
        if let last = page.contains(border) ? border : known { return isMisplaced(page, last, at) }
        guard state.options.order == .stable, let first = page.first, let limit = state.entries[border].key
        else { return false }
        return key(first)! >= limit && page.contains { !state.entries[$0].isCached }
    }

    /// R26.10. Places the page like a jump: by the order of the page itself, or by its keys.
    mutating func placeAnew(_ page: [Int]) throws(Interruption) {
        isAgainstCache = true
        try splice(page, upper: .unknown, lower: nil)
    }

    /// R26.10. Returns true if a keyless or append-only answer shows, above the last entry it shares with the
    /// segment, something that is cached below that entry, or the other way round.
    mutating func isMisplaced(_ page: [Int], _ last: Int, _ at: Int) -> Bool {
        if state.options.order != .keyless && state.options.order != .appendOnly { return false }
        let places = places()
        let cut = page.firstIndex(of: last)!
        return page[..<cut].contains { places[$0].map { $0 > at } ?? false }
            || page[(cut + 1)...].contains { places[$0].map { $0 < at } ?? false }
    }

    /// True if page numbers or offsets say where a page belongs, also as links (R26.9).
    var hasPositions: Bool { state.isNumbered || state.options.paging == .pages }

    /// R6. Returns true if only the numbering says that these entries, which the answer shows in another
    /// order, stand in the cached one: between unverified joins and gaps none of them is out of order.
    func wasClaimed(_ shown: [Int], _ places: EntryMap) throws(Interruption) -> Bool {
        guard hasPositions, let first = shown.compactMap({ places[$0] }).min(),
            let last = shown.compactMap({ places[$0] }).max()
        else { return false }
        var run = 0
        var runs = EntryMap(entries: state.entries.count)
        for row in rows[first...last] {
            switch row {
            case .gap: run += 1
            case .unloaded(let span):
                if !state.unloaded[span].hidesGaps { throw .needs(.all(span)) }
            case .entry(let entry):
                if state.entries[entry].isUnverified { run += 1 }
                runs[entry] = run
            }
        }
        var lowest = [Int](repeating: -1, count: run + 1)
        for entry in shown {
            let (run, place) = (runs[entry]!, places[entry]!)
            if lowest[run] > place { return false }
            lowest[run] = place
        }
        return true
    }

    /// R6, R26.10. Handles what a page of an `append-only` feed lacks between its upper side and its first
    /// anchor, and what only the numbering put directly above that anchor: the anchors have moved, and it
    /// stays below the page.
    mutating func doubtClaimed(_ page: [Int], upper: Upper) throws(Interruption) {
        guard state.options.order == .appendOnly, hasPositions, ticket.operation != .recorded else { return }
        let places = places()
        let anchors = page.filter { places[$0] != nil }
        guard let first = anchors.first.map({ places[$0]! }), !anchors.contains(where: { isNewer($0) })
        else { return }
        let start: Int
        switch upper {
        case .head: start = 0
        case .entry(let entry): start = places[entry]! + 1
        case .unknown: return
        }
        guard start < first, rows[first - 1].isGap || state.entries[anchors[0]].isUnverified,
            try !entries(in: rows[start..<first]).isEmpty
        else { return }
        moved += anchors
        rowsWithout(anchors)
    }

    private mutating func note(claim lower: Int, _ why: Doubt) { claims.append((lower, why)) }

    // MARK: Recorded pages (R25)

    /// Puts an unverified join instead of a gap between two pages of consecutive numbers, and keeps a gap
    /// from opening between two neighbours whose join is proven. If only its keys put a page of new posts
    /// between such neighbours, one of the keys is wrong, and the gaps stay.
    mutating func claim() throws(Interruption) {
        rows = state.mergeGaps(rows)
        guard let first = accepted.first, let last = accepted.last else { return }
        let border = isAllNew ? ticket.after.flatMap { state.cached($0) } : nil
        let follows = border.flatMap { state.page(of: $0)?.next } == ticket.own
        var at = rows.firstIndex(of: .entry(last))! + 1
        if at < rows.count, rows[at].isGap {
            let below = try state.entry(of: rows[at + 1], from: .above)
            if isAllNew ? false : try hadProvenNeighbour(.above, below) {
                rows.remove(at: at)
            } else if state.page(of: below)?.own == answer.next && !state.options.isStrict {
                note(claim: below, .numbering)
                rows.remove(at: at)
            }
        }
        at = rows.firstIndex(of: .entry(first))! - 1
        if at > 0, case .gap(let gap) = rows[at] {
            let above = try state.entry(of: rows[at - 1], from: .below)
            let leadsHere =
                state.gaps[gap].down.link == ticket.own
                || state.page(of: above)?.next == ticket.own
            if isAllNew && !follows ? false : try hadProvenNeighbour(.below, above) {
                rows.remove(at: at)
            } else if leadsHere && !state.options.isStrict {
                note(claim: first, .numbering)
                rows.remove(at: at)
            }
        }
        updateFarGap(first, last)
    }

    /// R18. In feeds with keys, opens no gap at a page's end that falls into a proven run and leads nowhere.
    mutating func keepProvenRun() throws(Interruption) {
        guard state.options.order.hasKeys, let first = accepted.first, let last = accepted.last else {
            return
        }
        rows = state.mergeGaps(rows)  // a post that rose may have stood alone between two gaps
        var at = rows.firstIndex(of: .entry(last))! + 1
        if answer.next == .unknown, !parted.last, at < rows.count, rows[at].isGap {
            let below = try state.entry(of: rows[at + 1], from: .above)
            if try hadProvenNeighbour(.above, below) { rows.remove(at: at) }
        }
        at = rows.firstIndex(of: .entry(first))! - 1
        if answer.previous == .unknown, !parted.first, at > 0, rows[at].isGap {
            let above = try state.entry(of: rows[at - 1], from: .below)
            if try hadProvenNeighbour(.below, above) { rows.remove(at: at) }
        }
        let isInside = rows.first != .entry(first) && rows.last != .entry(last)
        if !updateFarGap(first, last) && isInside { for entry in accepted { insideRun.insert(entry) } }
    }

    /// Updates `farGap`, because that gap may just have gone. Returns true if the page still borders on a
    /// gap.
    @discardableResult
    mutating func updateFarGap(_ first: Int, _ last: Int) -> Bool {
        let start = max(0, rows.firstIndex(of: .entry(first))! - 1)
        let end = min(rows.count, rows.firstIndex(of: .entry(last))! + 2)
        let isBesideGap = rows[start..<end].contains(where: \.isGap)
        farGap = farGap && isBesideGap
        return isBesideGap
    }

    /// The side on which an entry had a proven neighbour before this page.
    private enum Neighbour { case above, below }

    private mutating func hadProvenNeighbour(_ side: Neighbour, _ entry: Int) throws(Interruption) -> Bool {
        guard state.options.order.hasKeys else { return false }
        if insideRun.contains(entry) { return true }
        let gone = Set(moved).union(goneForGood)
        let before = state.mergeGaps(
            state.serverRows.filter { row in row.entry.map { !gone.contains($0) } ?? true })
        let passed = try state.passedClaims(from: state.rows, to: before, gone: gone)
        let unverified = state.joinedClaims(passed, in: before)
        guard let at = before.firstIndex(of: .entry(entry)) else { return false }
        switch side {
        case .above:
            return at > 0 && !before[at - 1].isGap && !unverified.contains { $0.lower == entry }
        case .below:
            guard at + 1 < before.count, !before[at + 1].isGap else { return false }
            let below = try state.entry(of: before[at + 1], from: .above)
            return !unverified.contains { $0.lower == below }
        }
    }
}
