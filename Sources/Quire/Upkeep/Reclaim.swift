extension Cache {
    /// Writes body records again if less than a quarter of their bytes is in use, without the unused rest.
    /// Starts with the lowest record numbers and stops after moving `budget` bytes. Returns the number of
    /// bytes that became free for reuse; 0 means that nothing was left to do.
    @discardableResult
    public func reclaim(budget: Int = 1 << 20) throws -> Int {
        try reclaim(budget: budget) { $0.live < $0.total / 4 }
    }

    func reclaim(budget: Int, where isSparse: (BodyUse) -> Bool) throws -> Int {
        try write(isOfLog: true) { session in  // what the cache holds stays
            var freed = 0
            var moved = 0
            for (number, use) in try session.bodyRecords(atMost: 64, where: isSparse) where moved < budget {
                moved += use.live
                freed += use.total - use.live
                try session.rewriteBodies(of: number)
            }
            return freed
        }
    }
}

/// A post and the collection it belongs to.
private struct Owner: Hashable {
    let collection: UInt32
    let id: PostID
}

extension WriteSession {
    fileprivate func bodyRecords(
        atMost limit: Int, where isSparse: (BodyUse) -> Bool
    ) throws -> [(number: UInt64, use: BodyUse)] {
        try transaction.withCursor(.bodyUse) { cursor in
            var sparse: [(number: UInt64, use: BodyUse)] = []
            var found = try cursor.first()
            while sparse.count < limit, let (key, value) = found, let key = NumberKey(key) {
                let use = try BodyUse(value, "the use of body record \(key.number)")
                if isSparse(use) { sparse.append((key.number, use)) }
                found = try cursor.next()
            }
            return sparse
        }
    }

    /// Writes the bodies still in use as a new record and points every entry to it.
    fileprivate func rewriteBodies(of number: UInt64) throws {
        let index = try index(of: 0)
        guard
            let contents = BodyStore.contents(try BodyStore(transaction: transaction).record(number))
        else { throw QuireError.corrupt("body record \(number)") }
        var live: [Owner: Entry] = [:]
        var collections: [UInt32: UInt32] = [:]
        for at in stride(from: 0, to: contents.hashes.count, by: 8) {
            let hash = contents.hashes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            for (feed, position) in index.positions(withHash: UInt64(littleEndian: hash)) {
                let chunk = try transaction.chunk(at: position, of: feed)
                let collection = try collections[feed] ?? transaction.feed(feed).collection
                collections[feed] = collection
                for (id, entry) in zip(chunk.ids, chunk.entries)
                where entry.body.record == number {
                    live[Owner(collection: collection, id: id)] = entry
                }
            }
        }
        touch()
        let ordered = live.sorted { $0.value.body.offset < $1.value.body.offset }
        var bytes: [UInt8] = []
        var bodies: [(address: PostAddress, range: Range<Int>)] = []
        for (owner, entry) in ordered {
            let start = bytes.count
            bytes += try BodyStore(transaction: transaction).bytes(entry.body)
            bodies.append((index.of(owner.collection).address(of: owner.id), start..<bytes.count))
        }
        for ((owner, entry), reference) in zip(ordered, try store(bodies, of: bytes)) {
            release(entry.body)
            counters.bodyBytes &+= UInt64(reference.length)
            var moved = entry
            moved.body = reference
            try repoint(owner.id, to: moved, at: index.of(owner.collection).positions(of: owner.id))
        }
    }
}
