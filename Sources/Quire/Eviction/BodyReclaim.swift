// Bodies still in use leave a record that is mostly out of use, so that its space becomes free.

/// A post and the collection it belongs to.
private struct Owner: Hashable {
    let collection: UInt32
    let id: PostID
}

extension WriteSession {
    /// Returns records that are partly out of use, those of the lowest numbers first, and where to go on.
    /// Looks at `looking` records from a number on.
    func bodyRecords(
        from first: UInt64 = 0, atMost limit: Int, looking: Int = .max, where isSparse: (BodyUse) -> Bool
    ) throws -> (sparse: [(number: UInt64, use: BodyUse)], next: UInt64?) {
        try transaction.withCursor(.bodyUse) { cursor in
            var sparse: [(number: UInt64, use: BodyUse)] = []
            var looks = 0
            var found = try cursor.seek(NumberKey(first))
            while sparse.count < limit, looks < looking, let (key, value) = found, let key = NumberKey(key) {
                looks += 1
                let use = try BodyUse(value, "the use of body record \(key.number)")
                if isSparse(use) { sparse.append((key.number, use)) }
                found = try cursor.next()
            }
            return (sparse, found.flatMap { NumberKey($0.key)?.number })
        }
    }

    /// Writes the bodies still in use as a new record and points every entry to it.
    func rewriteBodies(of number: UInt64) throws {
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
        var ranges: [Range<Int>] = []
        for (_, entry) in ordered {
            let start = bytes.count
            bytes += try BodyStore(transaction: transaction).bytes(entry.body)
            ranges.append(start..<bytes.count)
        }
        var references: [BodyReference] = []
        try store(bytes.count, of: bytes, count: ranges.count) { open in
            for ((owner, _), range) in zip(ordered, ranges) {
                references.append(open.add(range, of: index.of(owner.collection).address(of: owner.id)))
            }
        }
        for ((owner, entry), reference) in zip(ordered, references) {
            release(entry.body)
            counters.bodyBytes &+= UInt64(reference.length)
            var moved = entry
            moved.body = reference
            try repoint(owner.id, to: moved, at: index.of(owner.collection).positions(of: owner.id))
        }
    }
}
