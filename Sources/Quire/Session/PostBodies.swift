// Updates shared post state (body, version, detail) when entries are added, kept or removed. Posts are stored
// once and shared by the feeds of a collection (I6): all entries of a post show the same body and version,
// except placeholders, which show none.

extension WriteSession {
    /// Attaches bodies to the entries of the new state, stores new bodies, and releases those that no entry
    /// shows any more.
    func attachBodies(
        _ effect: Effect, _ loader: FeedLoader, from old: borrowing FeedState, to new: inout FeedState
    ) throws {
        var leaving: [Int] = []
        for entry in old.entries.indices {
            if !new.entries[entry].isCached {
                leaving.append(entry)
            } else if new.entries[entry].isPlaceholder && !old.entries[entry].isPlaceholder {
                new.entries[entry].takeBody(of: Entry())
                if try !others(old.id(of: entry), than: loader.feed, in: loader.index()).isShown {
                    release(old.entries[entry].body)
                }
            }
        }
        var (gone, marks): ([PostID], [Location]) = ([], [])
        if !leaving.isEmpty {
            let ids = old.index.ids[leaving[...]]
            let index = try loader.index()
            let areShared = index.areShared(ids)
            for (i, entry) in leaving.enumerated() {
                if !areShared[i] {
                    release(old.entries[entry].body)
                    gone.append(ids[i])
                    continue
                }
                let others = try others(ids[i], than: loader.feed, in: index)
                if !others.isShown { release(old.entries[entry].body) }
                if others.count == 0 {
                    marks.append(index.mark(of: ids[i], isShared: false))
                    gone.append(ids[i])
                }
            }
        }
        // must come last: the index lends bytes that a write may move
        try forget(gone, in: loader.record.collection)
        try storeBodies(effect, loader, &new, &marks)
        if new.entries.count > old.entries.count {
            let placed = EntrySet(effect.placements.lazy.map(\.entry))
            for entry in old.entries.count..<new.entries.count
            where new.entries[entry].isCached && !placed.contains(entry) {
                try enter(entry, loader, &new, &marks)
            }
        }
        add([], marks: marks)
    }

    /// Returns the number of other feeds that hold the post, and whether one shows its body. A placeholder
    /// does not.
    func others(
        _ id: PostID, than feed: UInt32, in index: PostIndex
    ) throws -> (count: Int, isShown: Bool) {
        let places = index.positions(of: id).filter { $0.feed != feed }
        let isShown = try places.contains { feed, position in
            try transaction.showsBody(of: id, at: position, of: feed)
        }
        return (places.count, isShown)
    }

    /// Removes everything known about posts that left their last feed.
    func forget(_ ids: some Collection<PostID>, in collection: UInt32) throws {
        counters.posts &-= UInt64(ids.count)
        for id in ids where counters.fieldRecords > 0 {
            if try transaction.fields(of: id, in: collection) == nil { continue }
            try transaction.delete(.fields, PostKey.bytes(id, in: collection))
            counters.fieldRecords -= 1
        }
    }

    /// Gives a new entry without a placement (from a list of ids) the body that other feeds have.
    private func enter(
        _ entry: Int, _ loader: FeedLoader, _ new: inout FeedState, _ marks: inout [Location]
    ) throws {
        let id = new.id(of: entry)
        guard let known = try transaction.post(id, at: loader.elsewhere[id]) else {
            counters.posts += 1
            return
        }
        marks.append(try loader.index().mark(of: id, isShared: true))
        new.entries[entry].takeBody(of: known)
        if known.body.record != 0 { new.entries[entry].isPlaceholder = false }
    }

    /// Stores the bodies of an answer that are new or replace an older version. A body that equals the stored
    /// one, byte for byte, is not stored again.
    private func storeBodies(
        _ effect: Effect, _ loader: FeedLoader, _ new: inout FeedState, _ marks: inout [Location]
    ) throws {
        if effect.placements.isEmpty { return }
        var fresh: [Placement] = []
        fresh.reserveCapacity(effect.placements.count)
        var (unknown, size, found): (UInt64, Int, FoundBodies?) = (0, 0, nil)
        let ids = new.index.ids
        let shared = loader.elsewhere.entries(in: new.index)
        try new.entries.withUnsafeMutableBufferPointer { entries in
            for placement in effect.placements {
                let at = placement.entry
                let body = effect.posts[placement.post].body
                let isNew = entries[at].chunk == 0
                var before: Entry?
                if shared.contains(at) {
                    if isNew || entries[at].body.record == 0 {
                        if let known = try transaction.post(ids[at], at: loader.elsewhere[ids[at]]) {
                            entries[at].takeBody(of: known)
                            if isNew { marks.append(try loader.index().mark(of: ids[at], isShared: true)) }
                        } else if isNew {
                            unknown += 1
                        }
                    }
                    before = entries[at]
                } else if isNew {
                    unknown += 1
                }
                let isMet = entries[at].meets(
                    version: effect.posts[placement.post].version,
                    detail: effect.posts[placement.post].detail, hasBody: !body.isEmpty)
                let old = entries[at].body
                if try isMet && (old.record == 0 || !isEqual(old, effect.bytes[body], &found)) {
                    fresh.append(placement)
                    size += body.count
                } else if let before, !entries[at].hasSameBody(as: before) {
                    try repoint(ids[at], to: entries[at], at: loader.elsewhere[ids[at]])
                    found = nil
                }
            }
        }
        counters.posts += unknown
        if !fresh.isEmpty { try store(fresh, size, of: effect, shared, loader, &new) }
    }

    /// Stores these bodies, of `size` bytes in all, and lets the posts' entries in other feeds show them.
    /// `shared` are the entries whose posts are there.
    private func store(
        _ fresh: [Placement], _ size: Int, of effect: Effect, _ shared: EntrySet, _ loader: FeedLoader,
        _ new: inout FeedState
    ) throws {
        let (index, ids) = (try loader.index(), new.index.ids)
        try requireHeadroom(for: size, posts: fresh.count)
        try store(size, of: effect.bytes, count: fresh.count) { open in
            new.entries.withUnsafeMutableBufferPointer { entries in
                for placement in fresh {
                    let at = placement.entry
                    if entries[at].body.record != 0 {
                        release(entries[at].body)
                        replacedBodies += 1
                    }
                    let address = index.address(of: ids[at])
                    entries[at].body = open.add(effect.posts[placement.post].body, of: address)
                }
            }
        }
        counters.bodyBytes &+= UInt64(size)
        for placement in fresh where shared.contains(placement.entry) {
            let id = ids[placement.entry]
            try repoint(id, to: new.entries[placement.entry], at: loader.elsewhere[id])
        }
    }

    /// Makes the entries of a post at these locations show the body and version of `new`. `known` is the
    /// patch for the only one, if it was read already and nothing was written since.
    func repoint(
        _ id: PostID, to new: Entry, at places: [(feed: UInt32, position: UInt64)], _ known: ChunkPatch? = nil
    ) throws {
        for (other, position) in places {
            if known == nil { try forgetLoaded(other) }
            guard let patch = try known ?? transaction.patch(of: id, at: position, of: other) else {
                throw QuireError.corrupt("the place of post \(id)")
            }
            let old = patch.entry
            var entry = old
            entry.takeBody(of: new)
            if new.body.record != 0 { entry.isPlaceholder = false }
            if patch.fits(entry) {
                try transaction.put(.chunks(of: other), NumberKey(position)) {
                    patch.encode(with: entry, &$0)
                }
            } else {
                let chunk = try chunk(at: position, of: other, with: entry, of: id)
                try transaction.put(.chunks(of: other), NumberKey(position), chunk)
            }
            let hasViews = try transaction.changeCounts(of: other) {
                $0.add(old, -1)
                $0.add(entry, 1)
            }
            if hasViews { noteChunks(CollectionOfOne(position), of: other) }
            if old.showsOther(than: entry) { noteUpdate(of: id, in: other) }
        }
    }

    /// Returns a chunk with another entry of a post.
    private func chunk(
        at position: UInt64, of feed: UInt32, with entry: Entry, of id: PostID
    ) throws(QuireError) -> ChunkRecord {
        var chunk = try transaction.chunk(at: position, of: feed)
        chunk.entries[chunk.ids.firstIndex(of: id)!] = entry
        return chunk
    }
}
