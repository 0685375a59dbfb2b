// R11 and R12: answers that contain nothing below their border.

extension Draft {
    /// Returns the edge below the rows that end here: the upper side of a gap, or the tail.
    func edge(at: Int) -> Edge {
        at < rows.count ? state.gaps[rows[at].gap!].down : tail
    }

    mutating func setEdge(_ edge: Edge, at: Int) {
        if at < rows.count { state.gaps[rows[at].gap!].down = edge } else { tail = edge }
    }

    /// Returns the entry above a gap or the tail.
    func border(above at: Int) throws(Interruption) -> Int {
        let row = rows[..<at].lastIndex(where: { !$0.isGap })!
        return try state.entry(of: rows[row], from: .below)
    }

    /// Handles an answer with nothing below the border: moves the link on, or treats it as a possible end.
    mutating func nothingBelow(_ at: Int) throws(Interruption) {
        let gap = at < rows.count ? rows[at].gap : nil
        let edge = edge(at: at)
        let link = answer.next
        if endsRange && gap != nil {
            // in a bump feed the bounding post may have risen, and the server stopped at its new place
            if !isPositioned || state.options.order == .bump { throw .refused(.discontinuity) }
            rows.remove(at: at)  // the bounded range is empty: joined
            return
        }
        if link == .unknown {
            return try makeLink(at, edge)
        }
        if link == .end { return try endBelow(at, gap: gap, edge: edge) }
        // the request may have used another link, from further up
        var triedLinks = ticket.own == edge.link ? edge.triedLinks + [edge.link] : [ticket.own]
        if triedLinks.contains(link) { throw .refused(.noProgress) }  // R12
        if hasGotOn { triedLinks.removeLast() }  // nothing goes round without going back
        let border = try border(above: at)
        let isLoose = isLoose(.last, at: border) || (edge.isLoose && shown.isEmpty)
        let after = isPositioned ? nil : standsAt.map { state.id(of: $0) }
        var follow = state.newEdge(link, after: after, triedLinks: triedLinks, isLoose: isLoose)
        follow.isDoubtful = edge.isDoubtful || edge.link == .confirmEnd
        setEdge(follow, at: at)
        if isPositioned { moveLink(of: border, to: link, isLoose: isLoose) }
    }

    /// R12. True if the answer stands further down than where its link begins, over entries that are cached.
    private var hasGotOn: Bool {
        guard !isPositioned, let standsAt, let after = ticket.after.flatMap({ state.cached($0) }) else {
            return false
        }
        let rows = rows
        guard let from = rows.firstIndex(of: .entry(after)) else { return false }
        return rows[from...].dropFirst().contains(.entry(standsAt))
    }

    /// R32.3. Makes a link from what an answer without one has shown: its border, which is there after all,
    /// or the last entry that it shows. Each request may go back once.
    private mutating func makeLink(_ at: Int, _ edge: Edge) throws(Interruption) {
        guard state.options.paging == .keyset, ticket.after != nil,
            let start = isPositioned ? try border(above: at) : standsAt, shown.contains(start)
        else { throw .refused(.empty) }
        let word: Link = edge.link == .confirmEnd ? .confirmEnd : .unknown
        var triedLinks = edge.triedLinks
        if !isPositioned && !hasGotOn {
            if triedLinks.contains(ticket.own) { throw .refused(.noProgress) }
            triedLinks.append(ticket.own)
        }
        let after = isPositioned ? nil : state.id(of: start)
        setEdge(state.newEdge(word, after: after, triedLinks: triedLinks), at: at)
    }

    /// Updates the link of the page that contains the border, too.
    mutating func moveLink(of border: Int, to link: Link, isLoose: Bool) {
        if let page = state.page(of: border), page.last == state.id(of: border) {
            state.pages[page.number]!.next = link
            state.pages[page.number]!.isLooseBelow = isLoose
        }
    }

    private mutating func endBelow(_ at: Int, gap: Int?, edge: Edge) throws(Interruption) {
        if !isPositioned { throw .refused(.discontinuity) }
        // rows that left above move what follows the border onto the border's page (R26.9)
        let isAssumed = ticket.mayClaim ? !shown.contains(try border(above: at)) : false
        guard let gap else {
            tail = state.newEdge(.end)
            tail.isAssumed = isAssumed
            return
        }
        if edge.link == .confirmEnd || edge.isDoubtful || state.options.trustsEnd {
            // a second, independent request must confirm the end
            let border = try border(above: at)
            if maySkip, !shown.contains(border),
                try entries(in: rows[at...]).contains(where: { wouldHide($0, below: border) })
            {
                return try distrustLink(below: border)  // the list may end elsewhere
            }
            if try !isOutrun(at) {
                try cutBelow(at)
                tail.isAssumed = isAssumed
                return
            }
        }
        state.gaps[gap].down = state.newEdge(.confirmEnd)
        note = .confirmEnd
    }

    /// R11. Returns true if an answer that arrived after this request was planned has shown something below.
    /// This older end then removes nothing.
    func isOutrun(_ at: Int) throws(Interruption) -> Bool {
        try entries(in: rows[at...]).contains { isNewer($0) }
    }

    /// R11. Marks what follows this entry as doubtful, because the server ended above the border.
    mutating func doubtBelow(_ entry: Int) throws(Interruption) {
        let at = rows.firstIndex(of: .entry(entry))! + 1
        if state.options.trustsEnd, try !isOutrun(at) { return try cutBelow(at) }
        let below = try state.entry(of: rows[at], from: .above)
        let down = state.newEdge(.confirmEnd)
        let up = state.linkAbove(below)
        rows.insert(state.newGap(down: down, up: up, why: .endInDoubt), at: at)
        note = .confirmEnd
    }

    /// Removes everything below the border, because the end is confirmed.
    mutating func cutBelow(_ at: Int) throws(Interruption) {
        leave(try entries(in: rows[at...]))
        rows.removeSubrange(at...)
        tail = state.newEdge(.end)
    }

    /// R9. Makes the next request start above the border, because the border may be gone.
    mutating func distrustLink(below border: Int) throws(Interruption) {
        let at = find(edge: ticket.edges[0])
        if state.isNumbered { return askAgain(for: border, at: at) }
        if let page = state.page(of: border), page.last == state.id(of: border) {
            state.pages[page.number]!.last = nil
        }
        var edge = try state.linkBelow(border)
        if state.options.paging == .keyset, edge.link == .unknown, let border = try state.border(of: ticket) {
            // made from the border it would be the same request
            edge = try state.edgeMade(above: border, tried: ticket.after)
        }
        setEdge(edge, at: at)
        note = .replan
    }
}
