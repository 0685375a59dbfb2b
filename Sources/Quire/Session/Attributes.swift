/// Values that a program stores with a feed. The engine does not interpret them.
enum Attributes {
    static let nameLimit = 255
    static let valueLimit = 65_536
}

extension Transaction {
    func attribute(_ name: String, of feed: UInt32) throws(QuireError) -> [UInt8]? {
        guard let value = try get(.attributes(of: feed), Array(name.utf8)) else { return nil }
        return try ByteReader.read(value, "attribute \(name) of feed number \(feed)") {
            reader throws(QuireError) in Array(try reader.blob())
        }
    }
}

extension WriteSession {
    func setAttribute(_ name: String, to value: [UInt8]?, of feed: UInt32) throws {
        if name.isEmpty || name.utf8.count > Attributes.nameLimit {
            throw QuireError(.badArgument, "the name of an attribute has 1 to 255 bytes")
        }
        touch()
        let key = Array(name.utf8)
        guard let value else {
            return try transaction.delete(.attributes(of: feed), key)
        }
        if value.count > Attributes.valueLimit {
            throw QuireError(.badArgument, "attribute \(name) has \(value.count) bytes, over 64 KiB")
        }
        var writer = ByteWriter()
        writer.blob(value)
        try transaction.put(.attributes(of: feed), key, writer.sealed())
    }
}
