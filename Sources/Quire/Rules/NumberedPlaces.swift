// R26: the open head, the verification of joins, and what answers show about positions.

extension Draft {
    /// R26.5. Places the page above the first entry of an open head.
    mutating func numberedUp(_ page: [Int]) throws(Interruption) {
        try requireBorder()
        let border = try state.entry(of: rows.first { !$0.isGap }!, from: .above)
        if page.isEmpty { throw .refused(.empty) }
        var rest = page
        let places = places()
        if let cut = page.firstIndex(of: border) {
            rest = Array(page[..<cut])
            shown.append(border)
        } else if let known = page.first(where: { places[$0] != nil }) {
            // where it is known to be already, the same page would be requested again
            if let spot = spot(of: known), spot == state.entries[known].spot {
                throw .refused(.noProgress)
            }
            shown.append(known)
            (head, note) = (state.newEdge(state.head.link), .drift)
            return
        } else if !ticket.mayClaim {
            throw .refused(.discontinuity)
        }
        try lift(rest.filter { places[$0] != nil }, from: &rest)  // they were below the border
        if rest.isEmpty {  // it begins with the border: request the page before
            (head, note) = (state.newEdge(state.head.link), .drift)
            return
        }
        try splice(rest, upper: .unknown, lower: border)
        headChanged = true
        if !shown.contains(border), let last = accepted.last { claim(between: last, and: border) }
    }

    /// R26.8. Takes in the page above an unverified join, requested again.
    mutating func verify(_ page: [Int]) throws(Interruption) {
        let places = places()
        guard let upper = state.cached(ticket.join!.upper), let lower = state.cached(ticket.join!.lower),
            let above = places[upper], let at = places[lower]
        else { throw .refused(.stale) }
        if page.isEmpty { throw .refused(.empty) }
        if let cut = page.firstIndex(of: upper) {
            shown.append(upper)
            let rest = Array(page[(cut + 1)...])
            ignored += page[..<cut].filter { !state.entries[$0].isCached }
            if rest.contains(where: { places[$0] ?? at < above }) {
                if state.options.order != .keyless { throw .refused(.contradiction) }
                return try placeAnew(page)
            }
            if !rest.isEmpty { return try splice(rest, upper: .entry(upper), lower: nil) }
            if answer.next == .end { return try doubtBelow(upper) }
            checkedJoin = lower
            return
        }
        let start = (rows[...above].lastIndex(where: \.isGap) ?? -1) + 1
        let shownAbove = page.filter { places[$0].map { (start...above).contains($0) } ?? false }
        if let last = shownAbove.max(by: { places[$0]! < places[$1]! }) {  // it has moved to a later page
            shown.append(last)
            if !state.isNumbered { throw .refused(.noProgress) }
            beyond = (upper, ticket.span!.start + ticket.span!.rows)
            note = .drift
            return
        }
        if page.first == lower { shown.append(lower) }
        let down = try state.linkBelow(upper)
        rows.insert(state.newGap(down: down, up: state.linkAbove(lower), why: .drift), at: at)
        farGap = true
    }

    // MARK: Positions (R26.1)

    /// Returns where the answer shows an entry; nil if it does not.
    private func spot(of entry: Int) -> Spot? {
        guard let span = ticket.span, let row = serverPosition(entry) else { return nil }
        return Spot(
            number: Int32(clamping: state.isByNumber ? span.page! : span.start + row),
            row: state.isByNumber ? Int32(clamping: row) : 0,
            isLast: row == rowsSeen - 1 || entry == pageEnd)
    }

    /// Returns the positions that the answer shows, and shifts what is below by the last known entry shown.
    mutating func learnPositions() throws(Interruption) -> [(entry: Int, spot: Spot)] {
        if ticket.operation == .push || ticket.operation == .delta {
            return state.isNumbered ? try moveByPush() : []
        }
        guard ticket.span != nil, state.isNumbered else { return [] }
        var seen: [(entry: Int, spot: Spot)] = []
        for entry in accepted + shown {
            guard let spot = spot(of: entry),
                !state.entries[entry].isCached || state.entries[entry].asked <= ticket.issued
            else { continue }
            // R27: what was pushed since the request is above
            let isLower = !liftedEntries.isEmpty
            let at = (state.isByNumber ? Int(spot.number) * state.unit : Int(spot.number)) + Int(spot.row)
            seen.append((entry, isLower ? Spot(at: at + liftedEntries.count, unit: state.unit) : spot))
        }
        if ticket.operation == .recorded { return seen }
        let (isSeen, hasMoved) = (EntrySet(seen.map(\.entry)), EntrySet(moved))
        let known = seen.filter {
            state.entries[$0.entry].isCached && !state.entries[$0.entry].isDetached
                && !hasMoved.contains($0.entry)
        }
        guard
            let lowest = known.max(by: { serverPosition($0.entry)! < serverPosition($1.entry)! })
        else {
            // at least the accepted entries are above it now
            if ticket.operation == .refresh && !accepted.isEmpty {
                let rows = state.serverRows
                state.moveSpots(in: rows, by: accepted.count) { !isSeen.contains($0) }
            }
            return seen
        }
        hasLandmarks = true
        let was = try state.position(lowest.entry).at
        let now = lowest.spot.position(unit: state.unit)
        if now != was {
            let rows = state.serverRows
            let at = rows.firstIndex(of: .entry(lowest.entry))!
            state.moveSpots(in: rows[(at + 1)...], by: now - was) { !isSeen.contains($0) }
        }
        return seen
    }

    /// Ends the upward search that this refresh completes: what it shows is a landmark. Another search goes
    /// on where it was if known entries tell how far everything has moved; else it begins anew.
    mutating func restSearches() throws(Interruption) {
        guard let last = accepted.last else { return }
        var isTopmost = true
        for at in try searchableEdges() {
            defer { isTopmost = false }
            let old = edge(at: at)
            guard let search = old.search else { continue }
            let border = try border(above: at)
            let isCurrent = state.id(of: border) == search.border
            if isCurrent && hasLandmarks, try !isAtTop(search, of: border) { continue }
            let isMine = isTopmost && search.back > 0 && isCurrent && border != last
            var renewed = state.newEdge(old.link)
            renewed.isDoubtful = old.isDoubtful || old.link == .confirmEnd
            if isMine {
                renewed.search = Search(search.border)
                renewed.search!.after = state.id(of: last)
                renewed.search!.ceiling = search.ceiling
            }
            setEdge(renewed, at: at)
        }
    }

    /// True if nothing is left for an upward search to request but the first page.
    private func isAtTop(_ search: Search, of border: Int) throws(Interruption) -> Bool {
        let at = try state.position(border).at
        return search.back > 0 && (state.isByNumber ? at / state.unit : at) - search.back < 1
    }

    /// Restarts other searches, because entries were placed and others seen at their positions.
    mutating func forgetSearches() throws(Interruption) {
        for at in try searchableEdges() {
            let old = edge(at: at)
            if old.search == nil || renewedEdges.contains(old.number) || old.link == .end { continue }
            var renewed = state.newEdge(old.link)
            renewed.isDoubtful = old.isDoubtful
            setEdge(renewed, at: at)
        }
    }

    /// Returns the rows of all gaps at which it is searched, of others, and the tail. The topmost gap is
    /// among them: it is never hidden.
    private func searchableEdges() throws(Interruption) -> [Int] {
        var found: [Int] = []
        for (i, row) in rows.enumerated() {
            switch row {
            case .gap: found.append(i)
            case .unloaded(let run): try state.requireKnown(.searched, in: run)
            case .entry: continue
            }
        }
        return found + [rows.count]
    }

    /// Stores the positions, and estimates that of a border that this answer did not show.
    mutating func recordPositions(_ spots: [(entry: Int, spot: Spot)]) throws(Interruption) {
        for (entry, spot) in spots where state.entries[entry].isCached {
            state.entries[entry].spot = spot
        }
        if let beyond, state.entries[beyond.border].isCached {
            let at = try state.position(beyond.border).at
            state.entries[beyond.border].spot = Spot(
                at: beyond.least.map { max(at, $0) } ?? at, unit: state.unit)
        }
        guard state.isByNumber, state.head.link == .unknown, let first = state.firstServerRow() else {
            return
        }
        let top = try state.entry(of: first, from: .above)
        let above = try state.position(top).at / state.unit - 1
        if above >= 0 { state.head.link = .token("page=\(above + state.options.firstPage)") }
    }
}
