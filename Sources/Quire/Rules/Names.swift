// R28: uniting two ids of a post under one name.

extension FeedState {
    /// Gives the alias's entry to the post `id`. If the feed has both, the place from the server stays, and
    /// the other entry leaves like a deleted one. Returns the post's entry; nil if the feed had no entry of
    /// the alias, or the body is still missing.
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

    /// Moves an entry to another id. It keeps its place, page, links and unproven join.
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
        for gap in try gaps(with: .naming([alias])) {
            gaps[gap].down.rename(alias, to: id)
            gaps[gap].up.rename(alias, to: id)
        }
        return new
    }
}

extension Entry {
    /// True if it shows content from a server, not content that a client made first.
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
