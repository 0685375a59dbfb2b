// R21: feeds that first hand out the list of ids.

extension Draft {
    /// Takes in the list of ids, which is the order. The bodies follow later.
    mutating func snapshot(_ ids: [Int]) throws(Interruption) {
        let cached = try entries(in: rows)
        if ids.isEmpty && !rows.isEmpty { throw .refused(.emptyConfirm) }
        var order: [Int: Int] = [:]
        for (i, entry) in cached.enumerated() { order[entry] = i }
        let staying = ids.filter { state.entries[$0].isCached }
        if staying.allSatisfy({ order[$0] != nil }) {
            let still = Set(longestIncreasing(staying.map { order[$0]! }).map { staying[$0] })
            moved += staying.filter { !still.contains($0) }
        }
        let listed = Set(ids)
        leave(cached.filter { !listed.contains($0) })
        rows = ids.map(Row.entry)
        headChanged = true
        head = state.newEdge(.end)
        tail = state.newEdge(.end)
    }

    /// Takes in bodies for the requested ids. What the server does not return is gone.
    mutating func bodies(_ page: [Int]) throws(Interruption) {
        if answer.posts.isEmpty && answer.opaqueRows == 0 { throw .refused(.emptyConfirm) }
        let wanted = ticket.ids.compactMap { state.cached($0) }
        let (isWanted, isShown) = (EntrySet(wanted), EntrySet(page))
        ignored += page.filter { !isWanted.contains($0) }
        accepted = wanted.filter(isShown.contains)
        goneForGood = wanted.filter { !isShown.contains($0) }
        leave(goneForGood)
        rowsWithout(goneForGood)
    }
}
