// R28: a post that had two ids has one name.

extension FeedState {
    /// The entry of the alias becomes that of the post. If the feed has both, the place that the server gave
    /// stays, and the other entry leaves as by deletion. Returns the entry of the post, nil if the feed had
    /// none of the alias, or if its body is still to be fetched.
    mutating func unite(_ alias: PostID, with id: PostID) throws(Interruption) -> Int? {
        if let deleted = tombstones[alias] {
            tombstones[alias] = nil
            tombstones[id] = max(deleted, tombstones[id] ?? 0)
        }
        guard let old = cached(alias) else { return nil }
        let known = cached(id)
        let isPinned = entries[old].isPinned || known.map { entries[$0].isPinned } ?? false
        let keepsPlace = known.map { entries[$0].isDetached && !entries[old].isDetached } ?? true
        if let known {
            let before = gapRows.map { gaps[$0] }
            try leave(keepsPlace ? known : old)
            _ = assignGapIDs(since: before)
        }
        let bringsBody = entries[old].isFromServer || known.map { entries[$0].isFromServer } ?? false
        let united = try keepsPlace ? rename(old, to: id, known) : known!
        if bringsBody { entries[united].isPlaceholder = false }
        entries[united].isPinned = isPinned
        return entries[united].isPlaceholder ? nil : united
    }

    /// The entry goes on under another id: at its place, with its page, its links and its unproven join.
    private mutating func rename(_ old: Int, to id: PostID, _ known: Int?) throws(Interruption) -> Int {
        let alias = self.id(of: old)
        var entry = entries[old]
        entry.takeBody(of: known.map { entries[$0] } ?? Entry())
        entry.chunk = known.map { entries[$0].chunk } ?? 0
        entries[old].isCached = false
        let new = known ?? entries.count
        if known == nil { append(id, entry) } else { entries[new] = entry }
        rows[rows.firstIndex(of: .entry(old))!] = .entry(new)
        if var page = pages[entry.page] {
            if page.first == alias { page.first = id }
            if page.last == alias { page.last = id }
            pages[entry.page] = page
        }
        head.rename(alias, to: id)
        tail.rename(alias, to: id)
        for gap in try allGaps() {
            gaps[gap].down.rename(alias, to: id)
            gaps[gap].up.rename(alias, to: id)
        }
        return new
    }
}

extension Entry {
    /// It shows what a server sent, and not what a client made before the server had it.
    var isFromServer: Bool { !isPlaceholder && !isLocal }

    var isLocal: Bool { isDetached && page == 0 }
}

extension Edge {
    fileprivate mutating func rename(_ alias: PostID, to id: PostID) {
        if after == alias { after = id }
        if search?.border == alias { search!.border = id }
        if search?.after == alias { search!.after = id }
    }
}
