// R11 and R12: answers that hold nothing below their border.

extension Draft {
    /// Nothing in the answer lies below the border: the link moves on, or the end is near.
    mutating func nothingBelow(_ at: Int) throws(Interruption) {
        let gap = at < rows.count ? rows[at].gap : nil
        let edge = gap.map { state.gaps[$0].down } ?? tail
        let link = answer.next
        if endsRange && gap != nil {
            if !isPositioned { throw .refused(.discontinuity) }
            rows.remove(at: at)  // the bounded range is empty: joined
            return
        }
        if link == .unknown { throw .refused(.empty) }
        if link == .end { return try endBelow(at, gap: gap, edge: edge) }
        if ticket.offset != nil {
            if drift == state.drift && link == edge.link && answer.opaqueRows == 0 {
                throw .refused(.noProgress)
            }
            note = .drift
            return
        }
        if link == edge.link || edge.barren.contains(link) { throw .refused(.noProgress) }  // R12
        let after = isPositioned ? nil : standsAt.map { state.id(of: $0) }
        var follow = state.newEdge(link, after: after, barren: edge.barren + [edge.link])
        follow.isSuspect = edge.isSuspect || edge.link == .confirmEnd
        if let gap { state.gaps[gap].down = follow } else { tail = follow }
        if isPositioned, let last = rows[..<at].lastIndex(where: { !$0.isGap }) {
            let border = try state.entry(at: last, in: rows, from: .below)
            moveLink(of: border, to: link)
        }
    }

    /// The bordering page's link moves on too.
    mutating func moveLink(of border: Int, to link: Link) {
        if let page = state.page(of: border), page.last == state.id(of: border) {
            state.pages[page.number]!.next = link
        }
    }

    private mutating func endBelow(_ at: Int, gap: Int?, edge: Edge) throws(Interruption) {
        if !isPositioned { throw .refused(.discontinuity) }
        guard let gap else {
            tail = state.newEdge(.end)
            return
        }
        if edge.link == .confirmEnd || edge.isSuspect || state.options.trustsEnd {
            try cutBelow(at)  // a second, independent confirmation
        } else {
            state.gaps[gap].down = state.newEdge(.confirmEnd)
            note = .confirmEnd
        }
    }

    /// R11. The server ended above the border: what follows this entry is in doubt.
    mutating func doubtBelow(_ entry: Int) throws(Interruption) {
        let at = rows.firstIndex(of: .entry(entry))! + 1
        if state.options.trustsEnd { return try cutBelow(at) }
        let below = try state.entry(at: at, in: rows, from: .above)
        let down = state.newEdge(.confirmEnd)
        let up = state.linkAbove(below)
        rows.insert(state.newGap(down: down, up: up), at: at)
        note = .confirmEnd
    }

    /// The end was confirmed: what lies below is gone.
    private mutating func cutBelow(_ at: Int) throws(Interruption) {
        leave(try entries(in: rows[at...]))
        rows.removeSubrange(at...)
        tail = state.newEdge(.end)
    }
}
