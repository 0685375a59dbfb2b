// R24, R25: pages of a recorded crawl, and of servers that fix the page size. They cannot be made to
// overlap, may have been fetched in any order, and remove nothing.

extension Draft {
    /// A page of a recorded run; it should lie below `ticket.after`, at the head if that is nil.
    mutating func recorded(_ delivered: [Int]) throws(Interruption) {
        if delivered.isEmpty && ignored.isEmpty { throw .refused(.empty) }
        if delivered.isEmpty { return }  // all of it is outdated or deleted
        var page = delivered
        let places = places()
        let known = page.filter { places[$0] != nil }
        let keyed = try hasKeys(page)
        if ticket.isAtHead, try !isBelowTheTop(page, keyed: keyed) {
            (headChanged, head) = (true, state.newEdge(.end))
            if state.options.order == .ranked { return try spliceRanked(page, below: nil) }
            try splice(page, upper: .head, lower: nil)
            return try claim()
        }
        let border = ticket.after.flatMap(state.cached).flatMap { places[$0] == nil ? nil : $0 }
        if state.options.order == .ranked, let border {
            page.removeAll { places[$0].map { $0 <= places[border]! } ?? false }
            return page.isEmpty ? () : try spliceRanked(page, below: border)
        }
        let segment = border.map { segmentAbove(places[$0]!) } ?? 0..<0
        if !keyed, let border, !known.isEmpty, known.allSatisfy({ segment.contains(places[$0]!) }) {
            let last = known.max { places[$0]! < places[$1]! }!  // R9: below the last shared entry
            let cut = page.firstIndex(of: last)! + 1
            shown += known
            ignored += page[..<cut].filter { places[$0] == nil }
            page = page[cut...].filter { places[$0] == nil }
            if page.isEmpty { return leadOn(border, last) }
            try splice(page, upper: .entry(last), lower: nil)
        } else {
            try splice(page, upper: .unknown, lower: nil)  // R18; without anchors and keys: R24
        }
        try claim()
    }

    /// R25.4. Entries with larger keys are cached above the first page of a run.
    private func isBelowTheTop(_ page: [Int], keyed: Bool) throws(Interruption) -> Bool {
        guard keyed, let top = rows.first(where: { !$0.isGap }) else { return false }
        let first = try state.entry(at: 0, in: [top], from: .above)
        return key(first)! > key(page[0])!
    }

    func hasKeys(_ page: [Int]) throws(Interruption) -> Bool {
        guard state.options.order.hasKeys, page.allSatisfy({ key($0) != nil }) else { return false }
        return try allRowsHaveKeys()
    }

    /// The rows from the top of the border's segment down to the border.
    private func segmentAbove(_ border: Int) -> Range<Int> {
        ((rows[...border].lastIndex(where: \.isGap) ?? -1) + 1)..<(border + 1)
    }

    /// R24, R25. Directly below the border, or on the far side of the gap that is there.
    func placeBelow(_ border: PostID?) -> Int {
        let row = border.flatMap(state.cached).flatMap { rows.firstIndex(of: .entry($0)) }
        let at = (row ?? rows.count - 1) + 1
        return at < rows.count && rows[at].isGap ? at + 1 : at
    }

    /// R9. The page shows only what lies above its border: the link moves on.
    private mutating func leadOn(_ border: Int, _ last: Int) {
        let at = rows.firstIndex(of: .entry(border))! + 1
        var edge = state.newEdge(
            answer.next, after: last == border ? nil : state.id(of: last))
        if last == border { moveLink(of: border, to: answer.next) }
        if at == rows.count {
            tail = edge
        } else if case .gap(let gap) = rows[at] {
            if edge.link == .end { edge.link = .confirmEnd }
            state.gaps[gap].down = edge
        }
    }

    // MARK: Claims (R25)

    /// Between two pages of consecutive numbers there is no gap, only a claimed seam; and no gap opens
    /// between two neighbours whose seam is proven.
    private mutating func claim() throws(Interruption) {
        rows = state.mergeGaps(rows)
        guard let first = accepted.first, let last = accepted.last else { return }
        var at = rows.firstIndex(of: .entry(last))! + 1
        if at < rows.count, rows[at].isGap {
            let below = try state.entry(at: at + 1, in: rows, from: .above)
            if try hadProvenNeighbour(.above, below) {
                rows.remove(at: at)
            } else if state.page(of: below)?.own == answer.next && !state.options.isStrict {
                claims.append(below)
                rows.remove(at: at)
            }
        }
        at = rows.firstIndex(of: .entry(first))! - 1
        if at > 0, case .gap(let gap) = rows[at] {
            let above = try state.entry(at: at - 1, in: rows, from: .below)
            let leadsHere =
                state.gaps[gap].down.link == ticket.own
                || state.page(of: above)?.next == ticket.own
            if try hadProvenNeighbour(.below, above) {
                rows.remove(at: at)
            } else if leadsHere && !state.options.isStrict {
                claims.append(first)
                rows.remove(at: at)
            }
        }
        let range = max(0, rows.firstIndex(of: .entry(first))! - 1)
        let end = min(rows.count, rows.firstIndex(of: .entry(last))! + 2)
        farGap = farGap && rows[range..<end].contains(where: \.isGap)
    }

    /// Which side of an entry had a proven neighbour before this page.
    private enum Neighbour { case above, below }

    private mutating func hadProvenNeighbour(
        _ side: Neighbour, _ entry: Int
    ) throws(Interruption) -> Bool {
        guard state.options.order.hasKeys else { return false }
        let gone = Set(moved)
        let before = state.mergeGaps(
            state.serverRows.filter { row in row.entry.map { !gone.contains($0) } ?? true })
        let claimed = try state.carriedClaims(from: state.rows, to: before, gone: gone)
        guard let at = before.firstIndex(of: .entry(entry)) else { return false }
        switch side {
        case .above:
            return at > 0 && !before[at - 1].isGap && !claimed.contains(entry)
        case .below:
            guard at + 1 < before.count, !before[at + 1].isGap else { return false }
            return !claimed.contains(try state.entry(at: at + 1, in: before, from: .above))
        }
    }
}
