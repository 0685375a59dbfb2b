// R13 to R15: changes that do not come from the server.

extension FeedState {
    /// R14. Deletes a post. Its neighbours stay contiguous.
    mutating func delete(_ id: PostID) throws(Interruption) {
        tombstones[id] = tick()
        guard let entry = cached(id) else { return }
        let before = gapRows.map { gaps[$0] }
        try leave(entry)
        if firstServerRow() == nil {
            head = newEdge(.end)
            tail = newEdge(.unknown)
        }
        _ = assignGapIDs(since: before)
    }

    /// Removes an entry. Its neighbours stay contiguous.
    mutating func leave(_ entry: Int) throws(Interruption) {
        let borders = borders()
        forgetBorders([entry])
        if isNumbered, let at = serverRows.firstIndex(of: .entry(entry)) {
            let below = serverRows[(at + 1)...]
            moveSpots(in: below, by: 0)
        }
        let rest = rows.filter { $0 != .entry(entry) }
        try setRows(rest)
        entries[entry].isCached = false
        try rederive(from: borders, gone: EntrySet([entry]))
    }

    /// R15. Evicts posts and opens a gap with the links of the bordering pages. At the head this opens the
    /// head, at the tail it moves the tail up. Pinned entries and detached entries stay. Returns how many
    /// left.
    @discardableResult
    mutating func evict(_ ids: [PostID]) throws(Interruption) -> Int {
        try evict(entries: ids.compactMap { cached($0) })
    }

    /// R15. Evicts the posts in these chunks, and in the unloaded spans that are leaving.
    mutating func evict(chunks leaves: (UInt64) -> Bool) throws(Interruption) -> Int {
        try evict(entries: entries.indices.filter { entries[$0].isCached && leaves(entries[$0].chunk) })
    }

    private mutating func evict(entries leaving: [Int]) throws(Interruption) -> Int {
        let leaving = leaving.filter { !entries[$0].isDetached && !entries[$0].isPinned }
        let count = leaving.count + unloaded.reduce(0) { $0 + ($1.isLeaving ? $1.count : 0) }
        if count == 0 { return 0 }
        if options.paging == .ids, let run = unloaded.firstIndex(where: \.isLeaving) {
            throw .needs(.all(run))
        }
        changed = tick()
        if options.paging == .ids {  // keep the place, which is known
            for entry in leaving {
                entries[entry].isPlaceholder = true
                entries[entry].page = 0
                entries[entry].takeBody(of: Entry())
            }
            return count
        }
        forgetBorders(leaving)
        let before = gapRows.map { gaps[$0] }
        let old = rows
        let gone = EntrySet(leaving)
        let left = try rowsAfterEvicting(gone)
        for entry in leaving { entries[entry].isCached = false }
        try setRows(withDetached(left, old: old))
        try rederive(from: Borders(), gone: gone)
        _ = assignGapIDs(since: before)
        return count
    }

    /// Returns the server's rows with each evicted run, and the gaps around it, replaced by one gap.
    private mutating func rowsAfterEvicting(_ leaving: EntrySet) throws(Interruption) -> [Row] {
        let old = serverRows
        func leaves(_ row: Row) -> Bool {
            switch row {
            case .entry(let entry): leaving.contains(entry)
            case .unloaded(let run): unloaded[run].isLeaving
            case .gap: false
            }
        }
        var rows: [Row] = []
        var ends = PageEnds()
        var i = 0
        while i < old.count {
            var j = i
            while j < old.count && (old[j].isGap || leaves(old[j])) { j += 1 }
            if j == i {
                rows.append(old[i])
                i += 1
                continue
            }
            let run = old[i..<j]
            i = j
            if run.allSatisfy(\.isGap) {
                rows += run
                continue
            }
            let isLast = j == old.count
            if rows.isEmpty && isLast {
                head = newEdge(.end)
                tail = newEdge(.unknown)
                continue
            }
            let up = isLast ? nil : try upEdge(of: run, above: old[j])
            if rows.isEmpty {
                head = up!
                for row in run where !row.isGap {
                    if case .unloaded(let run) = row {
                        skippedAbove += unloaded[run].count
                    } else {
                        skippedAbove += 1
                    }
                }
                continue
            }
            let down = try downEdge(of: run, below: rows[rows.count - 1], &ends)
            if isLast {
                tail = asTail(down)
            } else {
                rows.append(newGap(Gap(id: GapID(0), down: down, up: up!, why: .evicted, since: changed)))
            }
        }
        return rows
    }

    private mutating func downEdge(
        of run: ArraySlice<Row>, below row: Row, _ ends: inout PageEnds
    ) throws(Interruption) -> Edge {
        if case .gap(let gap)? = run.first { return besideEvicted(gaps[gap].down) }
        return try linkBelow(try entry(of: row, from: .below), &ends)
    }

    private mutating func upEdge(of run: ArraySlice<Row>, above row: Row) throws(Interruption) -> Edge {
        if case .gap(let gap)? = run.last { return besideEvicted(gaps[gap].up) }
        return linkAbove(try entry(of: row, from: .above))
    }

    /// R15. Returns the edge of a gap beside which entries are evicted. A link of the server may begin beyond
    /// them; one made from the border does not.
    private mutating func besideEvicted(_ edge: Edge) -> Edge {
        options.paging == .keyset && edge.link.isProven && edge.after == nil ? newEdge(.unknown) : edge
    }

    /// Forgets everything except the deletions. All tickets become stale.
    mutating func reset() {
        resets += 1
        for entry in entries.indices { entries[entry].isCached = false }
        setClaims([])
        rows = []
        head = newEdge(.end)
        tail = newEdge(.unknown)
        skippedAbove = 0
        subscription = Subscription()
        deltaToken = nil
        sizes = LearnedSizes(isDisproved: sizes.isDisproved)
    }

    /// R13. Puts a local post on top. It is not part of the server's sequence.
    mutating func insertLocal(_ id: PostID) throws(Interruption) {
        if cached(id) != nil { return }
        append(id, Entry(isDetached: true, confirmed: tick()))
        try setRows([.entry(entries.count - 1)] + rows)
    }

    /// R13. Removes a local post, which the server accepted under its own id or the user gave up.
    mutating func removeLocal(_ id: PostID) throws(Interruption) {
        guard let entry = cached(id), entries[entry].isDetached else { return }
        try setRows(rows.filter { $0 != .entry(entry) })
        entries[entry].isCached = false
    }

    mutating func setPinned(_ id: PostID, _ pinned: Bool) {
        if let entry = cached(id) { entries[entry].isPinned = pinned }
    }
}
