// Records by their names.

extension Transaction {
    /// Throws `.notFound` if there is no such feed.
    func feed(_ feed: UInt32) throws(QuireError) -> FeedRecord {
        guard let value = try get(.record(of: feed), NoKey()) else {
            throw QuireError(.notFound, "\(path): there is no feed number \(feed)")
        }
        return try FeedRecord(value, "feed number \(feed)")
    }

    /// The numbers of all feeds, in the order of their names.
    func feedNumbers() throws -> [UInt32] {
        try withCursor(.names) { cursor in
            var numbers: [UInt32] = []
            var found = try cursor.first()
            while let (_, value) = found {
                let number = try ByteReader.number(value, "the number of a feed")
                numbers.append(UInt32(truncatingIfNeeded: number))
                found = try cursor.next()
            }
            return numbers
        }
    }

    /// A page that an entry names.
    func page(_ number: UInt64, of feed: UInt32) throws(QuireError) -> PageRecord {
        guard let value = try get(.pages(of: feed), NumberKey(newestFirst: number)) else {
            throw .corrupt("page \(number) of feed number \(feed)")
        }
        return try PageRecord(value, "page \(number) of feed number \(feed)")
    }

    /// An entry that the index names.
    func entry(of id: PostID, at position: UInt64, of feed: UInt32) throws(QuireError) -> Entry {
        if let value = try get(.chunks(of: feed), NumberKey(position)),
            let entry = try ChunkRecord.entry(of: id, in: value, "a chunk of feed number \(feed)")
        {
            return entry
        }
        throw .corrupt("the place of post \(id)")
    }

    /// An entry of the post, preferably one with a body; nil if no feed holds it.
    func post(_ id: PostID, at positions: [(feed: UInt32, position: UInt64)]) throws(QuireError) -> Entry? {
        var found: Entry?
        for (feed, position) in positions {
            let entry = try entry(of: id, at: position, of: feed)
            if !entry.isPlaceholder { return entry }
            found = entry
        }
        return found
    }

    func fields(of id: PostID, in collection: UInt32) throws(QuireError) -> FieldsRecord? {
        guard let value = try get(.fields, PostKey.bytes(id, in: collection)) else { return nil }
        let record = try FieldsRecord(value, "the fields of post \(id)")
        return record.id == id ? record : nil
    }

    /// A chunk that the index names.
    func chunk(at position: UInt64, of feed: UInt32) throws(QuireError) -> ChunkRecord {
        guard let value = try get(.chunks(of: feed), NumberKey(position)) else {
            throw .corrupt("a chunk of feed number \(feed)")
        }
        return try ChunkRecord(value, "a chunk of feed number \(feed)")
    }

    /// nil if the post has no other id.
    func aliasRecord(_ id: PostID, in collection: UInt32) throws(QuireError) -> AliasRecord? {
        guard let value = try get(.aliases, PostKey.bytes(id, in: collection)) else { return nil }
        let record = try AliasRecord(value, "the ids of post \(id)")
        return record.id == id ? record : nil  // else two long ids have one hash
    }

    /// The id that a post is known by: that of the argument, unless it is another id of a post.
    func name(of id: PostID, in collection: UInt32) throws(QuireError) -> PostID {
        try aliasRecord(id, in: collection)?.name ?? id
    }
}
