// Feeds of one collection share their posts. Feeds of different collections never do, even if ids are equal.

/// A named collection: its number and the number of its feeds. The unnamed one has the number 0 and no
/// record.
struct CollectionRecord: Record, Hashable {
    var number: UInt32
    var feeds: UInt32 = 0

    init(number: UInt32) { self.number = number }

    func encode(_ writer: inout ByteWriter) {
        writer.number(UInt64(number))
        writer.number(UInt64(feeds))
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        guard let number = UInt32(exactly: try reader.number()), number <= Self.lastNumber,
            let feeds = UInt32(exactly: try reader.number())
        else { throw ByteReader.damage }
        (self.number, self.feeds) = (number, feeds)
    }

    /// Addresses of posts have 31 bits for the number.
    static let lastNumber: UInt32 = 1 << 31 - 1
    static let nameLimit = 255
}

extension Transaction {
    func collectionRecord(_ name: String) throws(QuireError) -> CollectionRecord? {
        if name.utf8.count > CollectionRecord.nameLimit {
            throw QuireError(.badArgument, "the name of a collection has up to 255 bytes")
        }
        guard let value = try get(.collections, Array(name.utf8)) else { return nil }
        return try CollectionRecord(value, "collection \(name)")
    }

    /// Returns the number of a collection; nil if it has no feed.
    func collection(_ name: String) throws(QuireError) -> UInt32? {
        name.isEmpty ? 0 : try collectionRecord(name)?.number
    }
}

extension WriteSession {
    /// Adds a feed to the collection, which is created if needed. Returns the collection's number.
    func enterCollection(_ name: String) throws -> UInt32 {
        if name.isEmpty { return 0 }
        var record: CollectionRecord
        if let known = try transaction.collectionRecord(name) {
            record = known
        } else {
            if counters.collections == CollectionRecord.lastNumber {
                throw QuireError(.badArgument, "\(transaction.path): has had too many collections")
            }
            counters.collections += 1
            record = CollectionRecord(number: counters.collections)
        }
        record.feeds += 1
        try transaction.put(.collections, Array(name.utf8), record)
        return record.number
    }

    /// Removes a feed from the collection. The last feed removes the collection itself.
    func leaveCollection(_ name: String) throws {
        if name.isEmpty { return }
        guard var record = try transaction.collectionRecord(name), record.feeds > 0 else {
            throw QuireError.corrupt("collection \(name)")
        }
        record.feeds -= 1
        let key = Array(name.utf8)
        if record.feeds == 0 {
            try transaction.delete(.collections, key)
            try forgetAliases(in: record.number)
        } else {
            try transaction.put(.collections, key, record)
        }
    }
}
