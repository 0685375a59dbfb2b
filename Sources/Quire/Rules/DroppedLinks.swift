// R32: links that the server refuses for good.

extension FeedState {
    /// R32. Forgets the link of a ticket. No row changes, only where the next request begins.
    mutating func dropLink(of ticket: TicketRecord) throws(Interruption) -> Outcome {
        let reason = try staleReason(ticket)
        if let reason { return Outcome(.stale, reason: reason) }
        if ticket.operation == .delta && deltaToken.map({ Link.token($0.text) }) != ticket.own {
            return Outcome(.stale, reason: "edge-changed")  // another token is kept by now
        }
        guard hasKeptLink(ticket) else { return Outcome(.error, reason: "no-link") }
        switch ticket.operation {
        case .delta: deltaToken = nil
        case .up: try dropLinkAbove(ticket)
        case .verify: dropOwnLink(ticket)
        default: try dropLinkBelow(ticket)
        }
        return Outcome(.replan)
    }

    /// Returns true if a place keeps the link. None keeps a link that was made upwards from a border, the
    /// head request, or a number.
    private func hasKeptLink(_ ticket: TicketRecord) -> Bool {
        switch ticket.operation {
        case .delta: true
        case .down, .verify: ticket.span == nil && ticket.own.isProven
        case .up: ticket.span == nil && ticket.own.isProven && ticket.minted == nil
        case .refresh, .around, .snapshot, .bodies, .recorded, .push: false
        }
    }

    /// Makes the page above an unverified join forget the link by which it was asked for.
    private mutating func dropOwnLink(_ ticket: TicketRecord) {
        guard let upper = ticket.join.flatMap({ cached($0.upper) }), let page = page(of: upper),
            page.own == ticket.own
        else { return }
        pages[page.number]!.own = .unknown
    }

    private mutating func dropLinkAbove(_ ticket: TicketRecord) throws(Interruption) {
        guard let border = try border(of: ticket) else { return }
        if let page = page(of: border), page.first == id(of: border), page.previous == ticket.own {
            pages[page.number]!.previous = .unknown
        }
        let up = newEdge(.unknown)
        setEdge(up, for: ticket.edges[0])
    }

    private mutating func dropLinkBelow(_ ticket: TicketRecord) throws(Interruption) {
        let number = ticket.edges[0]
        guard let border = try border(of: ticket) else {  // R7: the first page had no entries
            tail = newEdge(.unknown)
            return
        }
        let edge = gapRows.first { gaps[$0].down.number == number }.map { gaps[$0].down } ?? tail
        var isMinted = false
        if case .below = ticket.own { isMinted = true } else { try forgetNext(ticket, above: border) }
        var below: Edge
        if isMinted, let start = try nextStart(above: border, tried: ticket.after) {
            below = newEdge(edge.link, after: id(of: start))
        } else {
            below = try fallback(edge, below: border, isHigher: isMinted || ticket.after != nil)
        }
        if number == tail.number && options.paging != .keyset { below = asTail(below) }
        setEdge(below, for: number)
    }

    /// Returns the edge by R16, as if its border had been deleted. `isHigher`: what begins at the border was
    /// refused before.
    private mutating func fallback(
        _ edge: Edge, below border: Int, isHigher: Bool
    ) throws(Interruption) -> Edge {
        if options.paging == .keyset {
            if !isHigher { return newEdge(.unknown) }
            let (link, after, isLoose) = try nearestLink(border)
            // inside the feed: nothing is made from the border again, and the gap above is filled first
            if link == .unknown { return newEdge(.head, after: id(of: border)) }
            return newEdge(link, after: after, isLoose: isLoose)
        }
        if edge.link == .confirmEnd { return newEdge(.confirmEnd) }  // its link was looked up, too
        return try linkBelow(border)
    }

    /// Makes the page of a refused link forget it. Links die with age: if this one was taken up above the
    /// border, all pages of the segment but the youngest forget theirs, too.
    private mutating func forgetNext(_ ticket: TicketRecord, above border: Int) throws(Interruption) {
        guard let start = ticket.after == nil ? border : cached(ticket.after!), let page = page(of: start),
            page.last == id(of: start), page.next == ticket.own
        else { return }  // an answer brought it that placed nothing
        if ticket.after == nil {
            pages[page.number]!.next = .unknown
            return
        }
        let rows = serverRows
        var ending: [UInt64] = []
        for row in rows[...rows.firstIndex(of: .entry(border))!].reversed() {
            if row.isGap { break }
            let entry = try entry(of: row, from: .below)
            guard let other = self.page(of: entry), other.last == id(of: entry), other.next != .end,
                other.next != .unknown
            else { continue }
            ending.append(other.number)
        }
        let youngest = ending.max()
        for number in ending where number != youngest || number == page.number {
            pages[number]!.next = .unknown
        }
    }

    /// Returns the edge whose link is made further up than at `tried`, else than at the border; at last the
    /// head request.
    mutating func edgeMade(above border: Int, tried: PostID?) throws(Interruption) -> Edge {
        guard let start = try nextStart(above: border, tried: tried) else {
            return newEdge(.head, after: id(of: border))
        }
        return newEdge(.unknown, after: id(of: start))
    }

    /// Returns the entry from which the next link is made: 1, 3, 7 and so on above the border, at last the
    /// topmost of the segment; nil if that was tried.
    private func nextStart(above border: Int, tried: PostID?) throws(Interruption) -> Int? {
        let rows = serverRows
        let last = rows.firstIndex(of: .entry(border))!
        var at = last
        if let tried, leads(from: tried, to: border) { at = rows.firstIndex(of: .entry(cached(tried)!))! }
        for row in rows[at..<last] { _ = try entry(of: row, from: .below) }  // they are counted
        let first = at
        for _ in 0...(last - at) where at > 0 && !rows[at - 1].isGap {
            at -= 1
            _ = try entry(of: rows[at], from: .below)
        }
        return at == first ? nil : rows[at].entry
    }

    private mutating func setEdge(_ edge: Edge, for number: UInt64) {
        if head.number == number {
            head = edge
        } else if tail.number == number {
            tail = edge
        } else if let gap = gapRows.first(where: { gaps[$0].has(edge: number) }) {
            if gaps[gap].down.number == number { gaps[gap].down = edge } else { gaps[gap].up = edge }
        }
    }
}
