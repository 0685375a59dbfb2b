// R14 and R16: which link an edge has after its border changed.

extension FeedState {
    /// R16. The edge to continue below an entry, copied from the page that borders it.
    mutating func linkBelow(_ entry: Int) throws(Interruption) -> Edge {
        var ends = PageEnds()
        return try linkBelow(entry, &ends)
    }

    /// The same for many entries in turn, from the top down.
    mutating func linkBelow(_ entry: Int, _ ends: inout PageEnds) throws(Interruption) -> Edge {
        let page = page(of: entry)
        if options.paging.isPositional {
            // only the page of a crawl was asked for by a link, and names the page that follows
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
        if options.paging == .keyset { return newEdge(.unknown) }  // minted from the border when needed
        let (link, after, isLoose) = try ends.nearestLink(entry, in: self)
        return newEdge(link, after: after, isLoose: isLoose)
    }

    /// R16. The link of the nearest page that ends at or above the border in its segment, else the
    /// head request at the top of the feed; the entry that link continues below, if it is not the
    /// border itself; and whether it is loose.
    func nearestLink(_ border: Int) throws(Interruption) -> (link: Link, after: PostID?, isLoose: Bool) {
        var ends = PageEnds()
        return try ends.nearestLink(border, in: self)
    }

    /// The page that ends at an entry, if the server went on below it.
    fileprivate func page(endingAt entry: Int) -> StoredPage? {
        guard let page = page(of: entry), page.last == id(of: entry), page.next != .unknown,
            page.next != .end
        else { return nil }
        return page
    }

    /// The upper side of a gap as the tail, once everything below it left: an end that was in doubt because
    /// of what was cached there is asked for again.
    func asTail(_ edge: Edge) -> Edge {
        var edge = edge
        if edge.link == .confirmEnd { edge.link = options.paging.isPositional ? .more : .unknown }
        return edge
    }

    /// R16. The edge to continue above an entry.
    mutating func linkAbove(_ entry: Int) -> Edge {
        if let page = page(of: entry), page.first == id(of: entry),
            page.previous != .unknown, page.previous != .end
        {
            return newEdge(page.previous, isLoose: page.isLooseAbove)
        }
        return newEdge(.unknown)
    }

    /// A page whose first or last entry is among those that leave no longer knows where its links begin.
    mutating func forgetBorders(_ leaving: [Int]) {
        if leaving.isEmpty { return }
        let left = EntrySet(leaving)
        var last: UInt64 = 0
        for entry in leaving where entries[entry].page != last {
            last = entries[entry].page
            guard let page = pages[last] else { continue }
            if let id = page.last, isIn(page, id, left) { pages[last]!.last = nil }
            if let id = page.first, isIn(page, id, left) { pages[last]!.first = nil }
        }
    }

    /// True if the post's entry is in the set and the page is the one that last delivered it.
    private func isIn(_ page: StoredPage, _ id: PostID, _ set: EntrySet) -> Bool {
        guard let entry = index[id] else { return false }
        return set.contains(entry) && entries[entry].page == page.number
    }

    /// Edge number -> the row it borders on.
    func borders() -> [UInt64: Row] {
        let rows = serverRows
        guard let first = rows.first, let last = rows.last else { return [:] }
        var borders = [head.number: first, tail.number: last]
        for (i, row) in rows.enumerated() {
            if case .gap(let gap) = row {
                borders[gaps[gap].down.number] = rows[i - 1]
                borders[gaps[gap].up.number] = rows[i + 1]
            }
        }
        return borders
    }

    /// R14. A link that began at an entry which left does not begin at its neighbour: something may
    /// have been inserted between the two since. Such an edge gets the nearest proven link.
    mutating func rederive(from before: [UInt64: Row], gone: EntrySet) throws(Interruption) {
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
        var ends = PageEnds()
        if let row = mustChange(head) {
            head = linkAbove(try entry(at: 0, in: [row], from: .above))
        }
        if let row = mustChange(tail) {
            tail = try linkBelow(try entry(at: 0, in: [row], from: .below), &ends)
        }
        tail = asTail(tail)
        // an overlapping link may begin anywhere
        for gap in gone.isEmpty ? gapRows : try allGaps() {
            if let row = mustChange(gaps[gap].down) {
                gaps[gap].down = try linkBelow(try entry(at: 0, in: [row], from: .below), &ends)
            }
            if let row = mustChange(gaps[gap].up) {
                gaps[gap].up = linkAbove(try entry(at: 0, in: [row], from: .above))
            }
        }
    }
}

/// R16. Finds the nearest link of entry after entry, while rows and pages stay as they are. Each walk goes up
/// no further than to where the one before began: from top to bottom, all of them pass each row once.
struct PageEnds {
    /// The end of a walk: the last entry of a page, a gap, or above the first row.
    private enum End {
        case page(Int)
        case gap, top
    }

    private var rows: [Row]?
    private var known: (row: Int, end: End)?

    /// The code behind ``FeedState/nearestLink(_:)``.
    mutating func nearestLink(
        _ border: Int, in state: FeedState
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

    private func end(above start: Int, _ rows: [Row], _ state: FeedState) throws(Interruption) -> End {
        var at = start
        while at >= 0 {
            if let known, known.row == at { return known.end }
            switch rows[at] {
            case .gap: return .gap
            case .unloaded(let run): throw .needs(.bottom(run))
            case .entry(let entry): if state.page(endingAt: entry) != nil { return .page(entry) }
            }
            at -= 1
        }
        return .top
    }
}
