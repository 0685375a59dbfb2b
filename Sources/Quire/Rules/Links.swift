// R14 and R16: the link of an edge after its border has changed.

extension FeedState {
    /// R16. Returns the edge to continue below an entry, copied from the page that borders it.
    mutating func linkBelow(_ entry: Int) throws(Interruption) -> Edge {
        var ends = PageEnds()
        return try linkBelow(entry, &ends)
    }

    /// Does the same for many entries in turn, from the top down.
    mutating func linkBelow(_ entry: Int, _ ends: inout PageEnds) throws(Interruption) -> Edge {
        let page = page(of: entry)
        if options.paging.isPositional {
            // only a crawl's page was requested by a link and names the next page itself
            if let page, page.last == id(of: entry), case .token = page.own,
                case .token = page.next
            {
                return newEdge(page.next)
            }
            return newEdge(.more)
        }
        if let page, page.last == id(of: entry), page.next != .unknown {
            return newEdge(  // something was cached below
                page.next == .end ? .confirmEnd : page.next, isLoose: page.isLooseBelow)
        }
        if options.paging == .keyset { return newEdge(.unknown) }  // made from the border when needed
        let (link, after, isLoose) = try ends.nearestLink(entry, in: self)
        return newEdge(link, after: after, isLoose: isLoose)
    }

    /// R16. Returns the link of the nearest page that ends at or above the border in its segment, else the
    /// head request at the top of the feed; the entry below which the link continues, unless it is the
    /// border; and whether it is loose.
    func nearestLink(_ border: Int) throws(Interruption) -> (link: Link, after: PostID?, isLoose: Bool) {
        var ends = PageEnds()
        return try ends.nearestLink(border, in: self)
    }

    /// Returns the page that ends at an entry, if the server continued below it.
    fileprivate func page(endingAt entry: Int) -> StoredPage? {
        guard let page = page(of: entry), page.end == id(of: entry) else { return nil }
        return page
    }

    /// Turns the upper side of a gap into the tail, after everything below it left. An end that was doubtful
    /// because of the posts below is requested again.
    func asTail(_ edge: Edge) -> Edge {
        var edge = edge
        if edge.link == .confirmEnd { edge.link = options.paging.isPositional ? .more : .unknown }
        return edge
    }

    /// R16. Returns the edge to continue above an entry.
    mutating func linkAbove(_ entry: Int) -> Edge {
        if let page = page(of: entry), page.first == id(of: entry),
            page.previous != .unknown, page.previous != .end
        {
            return newEdge(page.previous, isLoose: page.isLooseAbove)
        }
        return newEdge(.unknown)
    }

    /// Clears the first or last entry of pages from which it leaves: their links begin nowhere then.
    mutating func forgetBorders(_ leaving: [Int]) {
        if leaving.isEmpty { return }
        let left = EntrySet(leaving)
        var last: UInt64 = 0
        for entry in leaving where entries[entry].page != last {
            last = entries[entry].page
            guard var page = pages[last] else { continue }
            if let id = page.last, isIn(page, id, left) { page.last = nil }
            if let id = page.first, isIn(page, id, left) { page.first = nil }
            pages[last] = page
        }
    }

    /// Returns true if the post's entry is in the set and this page last delivered it.
    private func isIn(_ page: StoredPage, _ id: PostID, _ set: EntrySet) -> Bool {
        guard let entry = index[id] else { return false }
        return set.contains(entry) && entries[entry].page == page.number
    }

    /// Returns the row that each edge borders on.
    func borders() -> Borders {
        var borders = Borders()
        guard let first = firstServerRow(), let last = lastServerRow(above: rows.count) else {
            return borders
        }
        borders.head = (head.number, first)
        borders.tail = (tail.number, last)
        if gaps.isEmpty { return borders }
        for (at, row) in rows.enumerated() {
            guard case .gap(let gap) = row else { continue }
            borders.gaps[gaps[gap].down.number] = lastServerRow(above: at)
            borders.gaps[gaps[gap].up.number] = firstServerRow(from: at + 1)
        }
        return borders
    }

    /// R14. Replaces links whose entry left. Such a link does not begin at the neighbour, because something
    /// may have been inserted between the two since. The edge gets the nearest proven link. One without a
    /// link gets another number: a request may be on its way with the link that the page of its border had.
    mutating func rederive(from before: Borders, gone: EntrySet) throws(Interruption) {
        let after = borders()
        if after.isEmpty { return }
        func mustChange(_ edge: Edge) -> Row? {
            guard let now = after[edge.number] else { return nil }
            if let was = before[edge.number], was != now, edge.after == nil, edge.link.isProven {
                return now
            }
            if let start = edge.after.flatMap({ index[$0] }), gone.contains(start) { return now }
            return nil
        }
        func lostBorder(of edge: Edge) -> Bool {
            guard edge.link == .unknown || edge.link == .confirmEnd, !isNumbered else { return false }
            return before[edge.number]?.entry.map(gone.contains) ?? false
        }
        var ends = PageEnds()
        if let row = mustChange(head) {
            head = linkAbove(try entry(of: row, from: .above))
        }
        if let row = mustChange(tail) {
            tail = try linkBelow(try entry(of: row, from: .below), &ends)
        }
        if lostBorder(of: tail) { tail = renumbered(tail) }
        if tail.link == .confirmEnd { tail = asTail(tail) }
        // an overlapping link may begin anywhere
        let hasHidden = !gone.isEmpty && mayHideOverlaps
        for gap in hasHidden ? try gaps(with: .naming(ids(of: gone))) : gapRows {
            if let row = mustChange(gaps[gap].down) {
                gaps[gap].down = try linkBelow(try entry(of: row, from: .below), &ends)
            }
            if lostBorder(of: gaps[gap].down) { gaps[gap].down = renumbered(gaps[gap].down) }
            if let row = mustChange(gaps[gap].up) {
                gaps[gap].up = linkAbove(try entry(of: row, from: .above))
            }
        }
    }

    private mutating func renumbered(_ edge: Edge) -> Edge {
        edgeNumbers += 1
        var edge = edge
        edge.number = edgeNumbers
        return edge
    }

    private func ids(of set: EntrySet) -> Set<PostID> {
        var ids: Set<PostID> = []
        for entry in entries.indices where set.contains(entry) { ids.insert(id(of: entry)) }
        return ids
    }
}

/// The rows on which the edges of a feed border, by the numbers of the edges.
struct Borders {
    typealias Border = (edge: UInt64, row: Row)

    fileprivate var head: Border?
    fileprivate var tail: Border?
    fileprivate var gaps: [UInt64: Row] = [:]

    fileprivate var isEmpty: Bool { head == nil }

    fileprivate subscript(edge: UInt64) -> Row? {
        if let head, head.edge == edge { return head.row }
        if let tail, tail.edge == edge { return tail.row }
        return gaps[edge]
    }
}

/// Finds the nearest link for one entry after another, while rows and pages do not change. Each walk stops
/// where the one before began, so all walks from top to bottom visit each row once.
struct PageEnds {
    /// Where a walk ended: at the last entry of a page, at a gap, or above the first row.
    private enum End {
        case page(Int)
        case gap, top
    }

    private var rows: [Row]?
    private var known: (row: Int, end: End)?

    /// Implements ``FeedState/nearestLink(_:)``.
    mutating func nearestLink(
        _ border: Int, in state: borrowing FeedState
    ) throws(Interruption) -> (link: Link, after: PostID?, isLoose: Bool) {
        let rows = self.rows ?? state.serverRows
        self.rows = rows
        let start = known?.row ?? 0
        guard
            let at = rows[start...].firstIndex(of: .entry(border))
                ?? rows[..<start].firstIndex(of: .entry(border))
        else { return (.unknown, nil, false) }
        let end = try end(above: at, rows, state)
        known = (at, end)
        switch end {
        case .gap: return (.unknown, nil, false)
        case .page(let entry):
            let page = state.page(endingAt: entry)!
            return (page.next, entry == border ? nil : state.id(of: entry), page.isLooseBelow)
        case .top:
            return state.head.link == .end
                ? (.head, state.id(of: border), false) : (.unknown, nil, false)
        }
    }

    private func end(above start: Int, _ rows: [Row], _ state: borrowing FeedState) throws(Interruption)
        -> End
    {
        var at = start
        while at >= 0 {
            if let known, known.row == at { return known.end }
            switch rows[at] {
            case .gap: return .gap
            case .unloaded(let run):
                let span = state.unloaded[run]
                if span.hidesGaps || span.isLeaving { throw .needs(.bottom(run)) }
                if !span.lacksPageEnds { throw .needs(.sought(run, .pageEnd)) }
            case .entry(let entry): if state.page(endingAt: entry) != nil { return .page(entry) }
            }
            at -= 1
        }
        return .top
    }
}
