// Posts are stored once and shared by all feeds (I6): what an entry that comes, stays or goes means for
// the post behind it.

extension WriteSession {
    /// Brings posts and bodies in line with the entries of the new state, and gives those entries the
    /// bodies they show.
    func settlePosts<R>(
        _ effect: Effect<R>, in feed: UInt32, from old: FeedState, to new: inout FeedState
    ) throws {
        for entry in new.entries.indices {
            let had = entry < old.entries.count
            let has = new.entries[entry].isCached
            if had && !has { try leave(new.entries[entry].id) }
            if had && has && new.entries[entry].isFault && !old.entries[entry].isFault {
                try dropBody(of: new.entries[entry].id, feed: feed)
            }
        }
        try storeBodies(effect, in: feed, &new)
        let placed = Set(effect.placements.map(\.entry))
        for entry in old.entries.count..<new.entries.count
        where new.entries[entry].isCached && !placed.contains(entry) {
            try enter(entry, &new)
        }
    }

    /// One feed fewer holds the post; it goes with the last.
    private func leave(_ id: PostID) throws {
        guard var post = try posts.record(of: id) else { throw QuireError.corrupt("post \(id)") }
        post.holders -= 1
        if post.holders > 0 { return try posts.put(post, of: id) }
        try releaseBody(&post)
        try posts.remove(id)
        counters.posts &-= 1
    }

    private func releaseBody(_ post: inout PostRecord) throws {
        try bodies.release(post.body)
        counters.bodyBytes &-= UInt64(post.body.length)
        post.body = BodyReference()
    }

    /// The body of an evicted entry of an id-snapshot feed goes unless another feed shows it.
    private func dropBody(of id: PostID, feed: UInt32) throws {
        guard var post = try posts.record(of: id), post.holders == 1 else { return }
        try releaseBody(&post)
        post.version = nil
        try posts.put(post, of: id)
    }

    /// A post that came without a placement (a list of ids) shows the body other feeds brought.
    private func enter(_ entry: Int, _ new: inout FeedState) throws {
        let id = new.entries[entry].id
        var post = try posts.record(of: id)
        if post == nil {
            post = try posts.newRecord(of: id)
            counters.posts += 1
        }
        post!.holders += 1
        try posts.put(post!, of: id)
        new.entries[entry].body = post!.body
        if post!.body.record != 0 { new.entries[entry].isFault = false }
    }

    /// Stores the bodies of an answer as one record: those that are new, and those that replace an
    /// older version. A body that is there already, byte for byte, is not stored again.
    private func storeBodies<R>(
        _ effect: Effect<R>, in feed: UInt32, _ new: inout FeedState
    ) throws {
        var fresh: [(placement: Placement, post: PostRecord)] = []
        for placement in effect.placements {
            let id = placement.post.id
            var post = try posts.record(of: id)
            if post == nil {
                post = try posts.newRecord(of: id)
                counters.posts += 1
            }
            if new.entries[placement.entry].piece == 0 { post!.holders += 1 }
            if try replaces(placement.post, effect.bytes, post!) {
                fresh.append((placement, post!))
                continue
            }
            post!.version = maximum(post!.version, placement.post.version)
            try posts.put(post!, of: id)
            new.entries[placement.entry].body = post!.body
        }
        if fresh.isEmpty { return }
        counters.bodyRecords += 1
        let references = try bodies.store(
            fresh.map(\.placement.post.id), fresh.map(\.placement.post.body), of: effect.bytes,
            as: counters.bodyRecords)
        for ((placement, record), reference) in zip(fresh, references) {
            var post = record
            let hadBody = post.body.record != 0
            try releaseBody(&post)
            post.body = reference
            post.version = maximum(post.version, placement.post.version)
            counters.bodyBytes &+= UInt64(reference.length)
            try posts.put(post, of: placement.post.id)
            new.entries[placement.entry].body = reference
            if hadBody { replacedBodies += 1 }
            try repoint(placement.post.id, to: reference, except: feed)
        }
    }

    /// True if the body of this post is to be stored: there is none, or it differs and is not older.
    private func replaces(_ new: Post, _ bytes: [UInt8], _ post: PostRecord) throws -> Bool {
        if new.body.isEmpty { return false }
        if post.body.record == 0 { return true }
        if let stored = post.version, let version = new.version, version < stored { return false }
        return try !bodies.bytes(post.body).elementsEqual(bytes[new.body])
    }

    private func maximum(_ a: Int64?, _ b: Int64?) -> Int64? {
        guard let a, let b else { return a ?? b }
        return max(a, b)
    }

    /// Every entry of the post, in whatever feed, shows its new body.
    func repoint(_ id: PostID, to reference: BodyReference, except feed: UInt32?) throws {
        for (other, position) in try posts.places(of: id) where other != feed {
            let key = FeedKey(other, position)
            var piece = try transaction.piece(at: position, of: other)
            var difference = 0
            for i in piece.entries.indices where piece.entries[i].id == id {
                difference += Int(reference.length) - Int(piece.entries[i].body.length)
                piece.entries[i].body = reference
                if reference.record != 0 && piece.entries[i].isFault {
                    piece.entries[i].isFault = false
                    try changeCounts(of: other) { $0.faults -= 1 }
                }
            }
            try transaction.put(transaction.tables.pieces, key, piece.encoded())
            if difference != 0 { try changeCounts(of: other) { $0.bodyBytes += difference } }
            note([.updated(id)], in: other)
        }
    }

    private func changeCounts(of feed: UInt32, _ change: (inout FeedCounts) -> Void) throws {
        let key = NumberKey(UInt64(feed))
        var record = try transaction.feed(feed)
        change(&record.counts)
        try transaction.put(transaction.tables.feeds, key, record.encoded())
    }
}
