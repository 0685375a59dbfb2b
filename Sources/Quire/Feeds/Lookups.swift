// Looks up records by number, position or id.

extension Transaction {
    /// Returns the record of a feed. Throws `.notFound` if there is no such feed.
    func feed(_ feed: UInt32) throws(QuireError) -> FeedRecord {
        try FeedRecord(try recordBytes(of: feed), "feed number \(feed)")
    }

    /// Returns the totals of a feed, the beginning of its record.
    func counts(_ feed: UInt32) throws(QuireError) -> FeedCounts {
        try FeedCounts(startOf: try recordBytes(of: feed), feed)
    }

    /// Changes the totals of a feed in its record, whose other bytes stay. Returns true if the feed has
    /// views.
    func changeCounts(of feed: UInt32, _ change: (inout FeedCounts) -> Void) throws -> Bool {
        let value = try recordBytes(of: feed)
        let hasViews = try FeedRecord.hasViews(value, feed)
        var counts = try FeedCounts(startOf: value, feed)
        let before = counts
        change(&counts)
        if counts == before { return hasViews }
        try put(.record(of: feed), NoKey()) { writer in
            counts.encode(&writer)
            writer.raw(UnsafeRawBufferPointer(rebasing: value.dropLast(Checksum.size)[writer.size...]))
        }
        return hasViews
    }

    private func recordBytes(of feed: UInt32) throws(QuireError) -> UnsafeRawBufferPointer {
        guard let value = try get(.record(of: feed), NoKey()) else {
            throw .noFeed(feed, in: path)
        }
        return value
    }

    /// Returns the numbers of all feeds, in the order of their names.
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

    /// Returns the numbers of the feeds of a collection, ascending.
    func feeds(of collection: UInt32) throws -> [UInt32] {
        try withCursor(.members) { cursor in
            var feeds: [UInt32] = []
            var found = try cursor.seek(MemberKey.of(0, in: collection))
            while let key = found.flatMap({ NumberKey($0.key) }) {
                let member = MemberKey.parts(key)
                if member.collection != collection { break }
                feeds.append(member.feed)
                found = try cursor.next()
            }
            return feeds
        }
    }

    /// Returns the beginning of the record of a page to which an entry refers.
    func head(ofPage number: UInt64, of feed: UInt32) throws(QuireError) -> PageHead {
        guard let value = try get(.pages(of: feed), NumberKey(newestFirst: number)) else {
            throw .corrupt("page \(number) of feed number \(feed)")
        }
        return try PageHead(value, ofPage: number, feed)
    }

    /// Returns a page to which an entry refers.
    func page(_ number: UInt64, of feed: UInt32) throws(QuireError) -> PageRecord {
        guard let value = try get(.pages(of: feed), NumberKey(newestFirst: number)) else {
            throw .corrupt("page \(number) of feed number \(feed)")
        }
        return try PageRecord(value, "page \(number) of feed number \(feed)")
    }

    /// Returns an entry to which the index refers.
    func entry(of id: PostID, at position: UInt64, of feed: UInt32) throws(QuireError) -> Entry {
        if let value = try get(.chunks(of: feed), NumberKey(position)),
            let entry = try ChunkRecord.entry(of: id, in: value, "a chunk of feed number \(feed)")
        {
            return entry
        }
        throw .corrupt("the place of post \(id)")
    }

    /// Returns true if an entry to which the index refers is not a placeholder.
    func showsBody(of id: PostID, at position: UInt64, of feed: UInt32) throws(QuireError) -> Bool {
        let columns = try columns(at: position, of: feed)
        guard let slot = try? columns.slot(of: id) else { throw .corrupt("the place of post \(id)") }
        return columns.flags(slot) & ChunkColumns.Flag.placeholder == 0
    }

    /// Returns an entry of the post, preferably one with a body; nil if no feed holds it.
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

    /// Returns a chunk to which the index refers.
    func chunk(at position: UInt64, of feed: UInt32) throws(QuireError) -> ChunkRecord {
        guard let value = try get(.chunks(of: feed), NumberKey(position)) else {
            throw .corrupt("a chunk of feed number \(feed)")
        }
        return try ChunkRecord(value, "a chunk of feed number \(feed)")
    }

    /// Returns a chunk in place. Valid until the next write.
    func columns(at position: UInt64, of feed: UInt32) throws(QuireError) -> ChunkColumns {
        guard let value = try get(.chunks(of: feed), NumberKey(position)) else {
            throw .corrupt("a chunk of feed number \(feed)")
        }
        return try ChunkColumns(value: value, "a chunk of feed number \(feed)")
    }

    /// Returns a post's entry in a chunk to which the index refers, for a change of its body. Valid until the
    /// next write. Nil if the chunk does not have the post.
    func patch(of id: PostID, at position: UInt64, of feed: UInt32) throws(QuireError) -> ChunkPatch? {
        let columns = try columns(at: position, of: feed)
        do throws(QuireError) {
            return try ChunkPatch(columns, of: id)
        } catch {
            throw .corrupt("a chunk of feed number \(feed)")
        }
    }

    /// Returns the ids of a post; nil if it has only one.
    func aliasRecord(_ id: PostID, in collection: UInt32) throws(QuireError) -> AliasRecord? {
        guard let value = try get(.aliases, PostKey.bytes(id, in: collection)) else { return nil }
        let record = try AliasRecord(value, "the ids of post \(id)")
        return record.id == id ? record : nil  // otherwise two long ids have the same hash
    }

    /// Returns the id under which a post is known: the argument, unless that is an alias.
    func name(of id: PostID, in collection: UInt32) throws(QuireError) -> PostID {
        guard let value = try get(.aliases, PostKey.bytes(id, in: collection)) else { return id }
        let record = try AliasRecord(startOf: value, "the ids of post \(id)")
        return record.id == id ? record.name : id
    }
}
