/// What a program remembers about a feed; bytes without meaning to the engine.
enum Attributes {
    static let nameLimit = 255
    static let valueLimit = 65_536

    static func key(_ feed: UInt32, _ name: String) -> [UInt8] {
        withUnsafeBytes(of: feed.bigEndian) { Array($0) } + Array(name.utf8)
    }
}

extension WriteSession {
    func setAttribute(_ name: String, to value: [UInt8]?, of feed: UInt32) throws {
        if name.isEmpty || name.utf8.count > Attributes.nameLimit {
            throw QuireError(.badArgument, "the name of an attribute has 1 to 255 bytes")
        }
        touch()
        let key = Attributes.key(feed, name)
        guard let value else {
            return try transaction.delete(transaction.tables.attributes, key)
        }
        if value.count > Attributes.valueLimit {
            throw QuireError(.badArgument, "attribute \(name) has \(value.count) bytes, over 64 KiB")
        }
        var writer = ByteWriter()
        writer.blob(value)
        try transaction.put(transaction.tables.attributes, key, writer.sealed())
    }
}
