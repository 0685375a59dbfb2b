/// The part of a record's key after the prefix of its table. Integers are big-endian, so keys sort like
/// numbers.
protocol Key {
    /// Lends the whole key of a record in this table.
    func withBytes<R, E: Error>(
        in table: Table, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R
}

/// The empty key, in a table with a single record.
struct NoKey: Key {
    func withBytes<R, E: Error>(
        in table: Table, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withUnsafeBytes(of: table.prefix.bigEndian) { bytes throws(E) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<table.prefixCount]))
        }
    }
}

/// A number as a key: of a position, page, ticket, body record or generation.
struct NumberKey: Key {
    let number: UInt64

    init(_ number: UInt64) { self.number = number }

    /// Creates a key in a table with the newest record first.
    init(newestFirst number: UInt64) { self.number = ~number }

    /// Returns nil if the bytes are not such a key.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 8 else { return nil }
        number = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    }

    /// Returns nil if the bytes are not the key of a run. Runs are numbered as they are written, so a higher
    /// number comes from damage only, and the next one can always be formed.
    init?(ofRun bytes: UnsafeRawBufferPointer) {
        guard let key = NumberKey(bytes), 1...1 << 48 ~= key.number else { return nil }
        self = key
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

/// A post as a key, in tables with records of only a few posts.
enum PostKey {
    /// Longer ids are hashed, because LMDB's keys have at most 511 bytes.
    static let longestPlainID = 200

    /// Returns 1 and eight bytes, or 2, a length and the bytes, or 3 and a hash of 16 bytes. No key is a
    /// prefix of another.
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
            let (first, second) = bytes.withUnsafeBytes { IDHash.of($0, key: (1, 2)) }
            for hash in [first, second] {
                withUnsafeBytes(of: hash.bigEndian) { key.append(contentsOf: $0) }
            }
        }
        return key
    }

    /// Returns the key of a post with its collection in front.
    static func bytes(_ id: PostID, in collection: UInt32) -> [UInt8] {
        withUnsafeBytes(of: collection.bigEndian) { Array($0) } + bytes(id)
    }

    /// Returns the collection from the beginning of a post's key.
    static func collection(_ key: UnsafeRawBufferPointer) -> UInt32? {
        key.count < 4 ? nil : UInt32(bigEndian: key.loadUnaligned(as: UInt32.self))
    }

    /// Returns true if the bytes are the key of a post.
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
