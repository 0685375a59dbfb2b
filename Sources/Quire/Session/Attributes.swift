/// Values that a program stores with a feed, or with the cache. The engine does not interpret them.
enum Attributes {
    static let nameLimit = 255
    static let valueLimit = 65_536

    /// The table of a feed's attributes, or of the cache's: no feed has the number 0.
    static func table(of feed: UInt32?) -> Table { .attributes(of: feed ?? 0) }
}

extension Transaction {
    /// The value of an attribute of a feed, or of the cache.
    func attribute(_ name: String, of feed: UInt32?) throws(QuireError) -> [UInt8]? {
        guard let value = try get(Attributes.table(of: feed), Array(name.utf8)) else { return nil }
        func what() -> String { feed.map { "attribute \(name) of feed number \($0)" } ?? "attribute \(name)" }
        return try ByteReader.read(value, what()) { reader throws(QuireError) in Array(try reader.blob()) }
    }
}

extension WriteSession {
    /// Sets an attribute of a feed, or of the cache.
    func setAttribute(_ name: String, to value: [UInt8]?, of feed: UInt32?) throws {
        if name.isEmpty || name.utf8.count > Attributes.nameLimit {
            throw QuireError(.badArgument, "the name of an attribute has 1 to 255 bytes")
        }
        if let value, value.count > Attributes.valueLimit {
            throw QuireError(.badArgument, "attribute \(name) has \(value.count) bytes, over 64 KiB")
        }
        if let feed { _ = try transaction.counts(feed) }  // it must exist
        touch()
        let (table, key) = (Attributes.table(of: feed), Array(name.utf8))
        guard let value else { return try transaction.delete(table, key) }
        var writer = ByteWriter()
        writer.blob(value)
        try transaction.put(table, key, writer.sealed())
    }

    /// Sets an attribute whose value is `old`. Returns false if it is another one.
    func exchangeAttribute(
        _ name: String, from old: [UInt8]?, to new: [UInt8]?, of feed: UInt32
    ) throws -> Bool {
        if try transaction.attribute(name, of: feed) != old { return false }
        try setAttribute(name, to: new, of: feed)
        return true
    }
}
