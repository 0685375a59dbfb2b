extension Cache {
    /// Moves bodies together: a record of which less than a quarter is still in use is written anew
    /// without the rest. Looks at the records with the lowest numbers first and stops after moving
    /// `budget` bytes. Returns the bytes that became free for reuse; 0 means nothing was left to do.
    @discardableResult
    public func reclaim(budget: Int = 1 << 20) throws -> Int {
        try write { session in
            var freed = 0
            var moved = 0
            for (number, use) in try session.sparseBodyRecords(atMost: 64) where moved < budget {
                moved += use.live
                freed += use.total - use.live
                try session.rewriteBodies(of: number)
            }
            return freed
        }
    }
}

extension WriteSession {
    fileprivate func sparseBodyRecords(
        atMost limit: Int
    ) throws -> [(number: UInt64, use: BodyUse)] {
        try transaction.withCursor(transaction.tables.bodyUse) { cursor in
            var sparse: [(number: UInt64, use: BodyUse)] = []
            var found = try cursor.first()
            while sparse.count < limit, let (key, value) = found, let key = NumberKey(key) {
                let use = try BodyUse(value, "the use of body record \(key.number)")
                if use.live < use.total / 4 { sparse.append((key.number, use)) }
                found = try cursor.next()
            }
            return sparse
        }
    }

    /// Writes the bodies still in use as a new record and lets every entry show them there.
    fileprivate func rewriteBodies(of number: UInt64) throws {
        let what = "body record \(number)"
        guard let value = try transaction.get(transaction.tables.bodies, NumberKey(number)),
            let contents = BodyStore.contents(value)
        else { throw QuireError.corrupt(what) }
        var bytes: [UInt8] = []
        var live: [(id: PostID, post: PostRecord, range: Range<Int>)] = []
        for (key, reference) in contents {
            guard let (id, post) = try post(withKey: key), post.body.record == number,
                Int(post.body.offset) == reference.offset
            else { continue }
            let start = bytes.count
            bytes += value[reference.offset..<reference.offset + reference.length]
            live.append((id, post, start..<bytes.count))
        }
        touch()
        counters.bodyRecords += 1
        let references = try bodies.store(
            live.map(\.id), live.map(\.range), of: bytes, as: counters.bodyRecords)
        for ((id, post, _), reference) in zip(live, references) {
            try bodies.release(post.body)
            var post = post
            post.body = reference
            try posts.put(post, of: id)
            try repoint(id, to: reference, except: nil)
        }
    }

    private func post(withKey prefix: [UInt8]) throws -> (id: PostID, post: PostRecord)? {
        let key = prefix + [0, 0, 0, 0]
        guard let value = try transaction.get(transaction.tables.posts, key) else { return nil }
        let post = try PostRecord(value, "a post")
        let plain = key.withUnsafeBytes { PostKey.parse($0)?.id }
        guard let id = post.longID ?? plain else { return nil }
        return (id, post)
    }
}
