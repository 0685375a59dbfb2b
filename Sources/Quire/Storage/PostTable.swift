/// The id index: which feeds hold a post and where, and the post itself. Nothing outside this type
/// knows how that is stored.
///
/// A plain B-tree, keyed by post and feed. Random ids make each commit dirty one LMDB page per new
/// post; a sorted-run index can take its place behind this interface.
struct PostTable {
    let transaction: Transaction

    /// The piece in which this feed holds the post, nil if it does not hold it.
    func place(of id: PostID, in feed: UInt32) throws(QuireError) -> UInt64? {
        let key = PostKey.bytes(id, feed: feed)
        guard let value = try transaction.get(transaction.tables.posts, key) else { return nil }
        var reader = try ByteReader(value, "the place of post \(id)")
        let position = try reader.number()
        if case 3 = key[0], try record(of: id) == nil { return nil }
        return position
    }

    func setPlace(of id: PostID, in feed: UInt32, to position: UInt64) throws {
        var writer = ByteWriter()
        writer.number(position)
        try transaction.put(
            transaction.tables.posts, PostKey.bytes(id, feed: feed), writer.sealed())
    }

    func removePlace(of id: PostID, in feed: UInt32) throws {
        try transaction.delete(transaction.tables.posts, PostKey.bytes(id, feed: feed))
    }

    /// The post, nil if no feed holds it. Two long ids with one hash are told apart here.
    func record(of id: PostID) throws(QuireError) -> PostRecord? {
        let key = PostKey.bytes(id, feed: 0)
        guard let value = try transaction.get(transaction.tables.posts, key) else { return nil }
        let record = try PostRecord(value, "post \(id)")
        if let longID = record.longID, longID != id { return nil }
        return record
    }

    func put(_ record: PostRecord, of id: PostID) throws {
        try transaction.put(
            transaction.tables.posts, PostKey.bytes(id, feed: 0), record.encoded())
    }

    func remove(_ id: PostID) throws {
        try transaction.delete(transaction.tables.posts, PostKey.bytes(id, feed: 0))
    }

    /// A record for a post that no feed held before.
    func newRecord(of id: PostID) throws -> PostRecord {
        let key = PostKey.bytes(id, feed: 0)
        let isHashed = key[0] == 3
        if isHashed, try transaction.get(transaction.tables.posts, key) != nil {
            throw QuireError(.badArgument, "two ids of over 200 bytes have the same hash: \(id)")
        }
        return PostRecord(longID: isHashed ? id : nil)
    }

    /// The feeds that hold the post, and the piece in each.
    func places(of id: PostID) throws -> [(feed: UInt32, position: UInt64)] {
        let prefix = PostKey.prefix(id)
        return try transaction.withCursor(transaction.tables.posts) { cursor in
            var places: [(feed: UInt32, position: UInt64)] = []
            var found = try cursor.seek(PostKey.bytes(id, feed: 1))
            while let (key, value) = found, key.starts(with: prefix), key.count == prefix.count + 4 {
                let feed = key.loadUnaligned(fromByteOffset: prefix.count, as: UInt32.self)
                var reader = try ByteReader(value, "the place of post \(id)")
                places.append((UInt32(bigEndian: feed), try reader.number()))
                found = try cursor.next()
            }
            return places
        }
    }
}
