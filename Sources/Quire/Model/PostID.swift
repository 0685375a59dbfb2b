/// The server's id of a post: any bytes, 1 to 65,536 of them.
///
/// Two ids are equal if their bytes are equal. A number stands for its decimal text, so `PostID(42)` and
/// `PostID("42")` are the same id. Canonical numbers up to 2⁶⁴ − 1 are stored as integers, which are small on
/// disk and fast to compare.
///
///     let id: PostID = 49799624
///     let key: PostID = "at://did:plc:abc/app.bsky.feed.post/3k"
public struct PostID: Hashable, Sendable {
    enum Storage: Hashable, Sendable {
        case integer(UInt64)
        /// Never empty, and never the canonical text of an integer.
        case bytes([UInt8])
    }

    let storage: Storage

    /// The maximum length of an id in bytes.
    public static let byteLimit = 65_536

    /// The storage must be as the cases say.
    init(storage: Storage) { self.storage = storage }

    /// Creates the id whose text is this number in decimal.
    public init(_ number: UInt64) { storage = .integer(number) }

    /// Creates the id with these bytes. Returns nil if there are none or more than ``byteLimit``.
    @inlinable
    public init?(bytes: some Collection<UInt8>) {
        let id =
            bytes.withContiguousStorageIfAvailable { Self.read($0) }
            ?? Array(bytes).withUnsafeBufferPointer { Self.read($0) }
        guard let id else { return nil }
        self = id
    }

    @usableFromInline
    static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> PostID? {
        guard !bytes.isEmpty, bytes.count <= byteLimit else { return nil }
        if let number = canonicalNumber(bytes) { return PostID(number) }
        return PostID(storage: .bytes(Array(bytes)))
    }

    /// Creates the id with the UTF-8 bytes of this text. Returns nil if it is empty or over ``byteLimit``.
    @inlinable
    public init?(_ text: some StringProtocol) { self.init(bytes: text.utf8) }

    /// The bytes of the id, as the server wrote them.
    public var bytes: [UInt8] {
        switch storage {
        case .integer(let number): Array(String(number).utf8)
        case .bytes(let bytes): bytes
        }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(_rawHashValue(seed: 0)) }

    /// Hashes an id quickly, because the rules look ids up all the time. An integer takes three instructions;
    /// the standard library takes about 100, and hashes an array byte by byte. The hash is still
    /// unpredictable: its secret is random in each process.
    public func _rawHashValue(seed: Int) -> Int {
        let seed = UInt64(bitPattern: Int64(seed))
        switch storage {
        case .integer(let number): return Self.hash(number ^ seed, Self.secret)
        case .bytes(let bytes):
            let hash = bytes.withUnsafeBytes { IDHash.of($0, key: (Self.secret, seed)) }
            return Int(truncatingIfNeeded: hash.0)
        }
    }

    @inline(__always)
    static func hash(_ number: UInt64, _ secret: UInt64) -> Int {
        let product = number.multipliedFullWidth(by: secret)
        return Int(truncatingIfNeeded: product.low ^ product.high)
    }

    static let secret = UInt64.random(in: .min ... .max) | 1

    /// Returns the number if the bytes are its canonical decimal text, without a sign or a leading zero.
    private static func canonicalNumber(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64? {
        guard bytes.count <= 20, let first = bytes.first else { return nil }
        if first == UInt8(ascii: "0") && bytes.count > 1 { return nil }
        var number: UInt64 = 0
        for byte in bytes {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            if overflow || carry { return nil }
            number = sum
        }
        return number
    }
}

extension PostID: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    public init(integerLiteral value: UInt64) { self.init(value) }

    /// Creates an id from a literal, which must not be empty.
    public init(stringLiteral value: String) {
        guard let id = PostID(value) else { preconditionFailure("a post id has 1 to 65,536 bytes") }
        self = id
    }
}

extension PostID: CustomStringConvertible {
    /// The id as text for people, not for storage. Bytes that are not UTF-8 become U+FFFD.
    public var description: String {
        switch storage {
        case .integer(let number): String(number)
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }
}
