/// The bytes of a record's key. Integers are big-endian, so that keys sort as numbers do.
protocol Key {
    func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R
}

/// A feed and a number in it: a position, a page, a ticket.
struct FeedKey: Key {
    private var feed: UInt32
    private var high: UInt32
    private var low: UInt32

    init(_ feed: UInt32, _ number: UInt64) {
        self.feed = feed.bigEndian
        high = UInt32(truncatingIfNeeded: number >> 32).bigEndian
        low = UInt32(truncatingIfNeeded: number).bigEndian
    }

    /// nil if the bytes are no such key.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 12 else { return nil }
        self = bytes.loadUnaligned(as: FeedKey.self)
    }

    var feedNumber: UInt32 { UInt32(bigEndian: feed) }
    var number: UInt64 { UInt64(UInt32(bigEndian: high)) << 32 | UInt64(UInt32(bigEndian: low)) }

    func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try withUnsafeBytes(of: self) { bytes throws(E) in try body(bytes) }
    }
}

/// A number alone: a feed, a body record, a generation.
struct NumberKey: Key {
    private var bytes: UInt64

    init(_ number: UInt64) { bytes = number.bigEndian }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 8 else { return nil }
        self.bytes = bytes.loadUnaligned(as: UInt64.self)
    }

    var number: UInt64 { UInt64(bigEndian: bytes) }

    func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try withUnsafeBytes(of: bytes) { bytes throws(E) in try body(bytes) }
    }
}

extension [UInt8]: Key {
    func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try withUnsafeBufferPointer { bytes throws(E) in
            try body(UnsafeRawBufferPointer(bytes))
        }
    }
}

/// A post as a key, where few posts have a record.
enum PostKey {
    /// Ids longer than this are hashed; LMDB's keys end at 511 bytes.
    static let longestPlainID = 200

    /// 1 and eight bytes, or 2, a length and the bytes, or 3 and a hash of 16 bytes. No prefix begins
    /// another.
    static func prefix(_ id: PostID) -> [UInt8] {
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
}
