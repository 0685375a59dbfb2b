/// What a record's key has behind the prefix of its table. Integers are big-endian, so that keys sort as
/// numbers do.
protocol Key {
    /// Lends the whole key of a record of this table.
    func withBytes<R, E: Error>(
        in table: Table, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R
}

/// Of the one record of a table.
struct NoKey: Key {
    func withBytes<R, E: Error>(
        in table: Table, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withUnsafeBytes(of: table.prefix.bigEndian) { bytes throws(E) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<table.prefixCount]))
        }
    }
}

/// A position, a page, a ticket, a body record, a generation.
struct NumberKey: Key {
    let number: UInt64

    init(_ number: UInt64) { self.number = number }

    /// Of a table that has its newest record first.
    init(newestFirst number: UInt64) { self.number = ~number }

    /// nil if the bytes are no such key.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 8 else { return nil }
        number = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    }

    var newestFirst: UInt64 { ~number }

    func withBytes<R, E: Error>(
        in table: Table, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        var words = (table.prefix.bigEndian, 0 as UInt64)
        return try withUnsafeMutableBytes(of: &words) { bytes throws(E) in
            bytes.storeBytes(of: number.bigEndian, toByteOffset: table.prefixCount, as: UInt64.self)
            return try body(UnsafeRawBufferPointer(rebasing: bytes[..<(table.prefixCount + 8)]))
        }
    }
}

extension [UInt8]: Key {
    func withBytes<R, E: Error>(
        in table: Table, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        var key: [UInt8] = []
        key.reserveCapacity(table.prefixCount + count)
        Swift.withUnsafeBytes(of: table.prefix.bigEndian) { key += $0.prefix(table.prefixCount) }
        key += self
        return try key.withUnsafeBufferPointer { bytes throws(E) in
            try body(UnsafeRawBufferPointer(bytes))
        }
    }
}

/// A post as a key, where few posts have a record.
enum PostKey {
    /// Ids longer than this are hashed; LMDB's keys end at 511 bytes.
    static let longestPlainID = 200

    /// 1 and eight bytes, or 2, a length and the bytes, or 3 and a hash of 16 bytes. No such key begins
    /// another.
    static func bytes(_ id: PostID) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(24)
        switch id.storage {
        case .integer(let number):
            key.append(1)
            withUnsafeBytes(of: number.bigEndian) { key.append(contentsOf: $0) }
        case .bytes(let bytes) where bytes.count <= longestPlainID:
            key.append(2)
            key.append(UInt8(bytes.count))
            key.append(contentsOf: bytes)
        case .bytes(let bytes):
            key.append(3)
            for seed in [1, 2] as [UInt64] {
                let hash = bytes.withUnsafeBytes { Checksum.of($0, seed: seed) }
                withUnsafeBytes(of: hash.bigEndian) { key.append(contentsOf: $0) }
            }
        }
        return key
    }

    /// The same among the posts of all collections.
    static func bytes(_ id: PostID, in collection: UInt32) -> [UInt8] {
        withUnsafeBytes(of: collection.bigEndian) { Array($0) } + bytes(id)
    }

    /// The collection of a post, from the beginning of its key.
    static func collection(_ key: UnsafeRawBufferPointer) -> UInt32? {
        key.count < 4 ? nil : UInt32(bigEndian: key.loadUnaligned(as: UInt32.self))
    }

    /// True for bytes that are the key of some post.
    static func isKey(_ key: UnsafeRawBufferPointer) -> Bool {
        guard let kind = key.first else { return false }
        switch kind {
        case 1: return key.count == 9
        case 2:
            guard key.count > 2, 1...longestPlainID ~= Int(key[1]), key.count == 2 + Int(key[1]),
                let id = PostID(bytes: key[2...])
            else { return false }
            return bytes(id).elementsEqual(key)
        default: return kind == 3 && key.count == 17
        }
    }
}
