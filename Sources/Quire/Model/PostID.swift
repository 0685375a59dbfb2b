/// The name a server gives a post: any bytes, 1 to 65,536 of them.
///
/// Two ids are equal when their bytes are equal. A number is its decimal text, so `PostID(42)` and
/// `PostID("42")` are the same id; canonical numbers up to 2⁶⁴ − 1 are kept as integers, which makes
/// them small on disk and fast to compare.
///
///     let id: PostID = 49799624
///     let key: PostID = "at://did:plc:abc/app.bsky.feed.post/3k"
public struct PostID: Hashable, Sendable {
    enum Storage: Hashable, Sendable {
        case integer(UInt64)
        /// Never the canonical text of an integer, never empty.
        case bytes([UInt8])
    }

    let storage: Storage

    /// The most bytes an id may have.
    public static let byteLimit = 65_536

    /// The id whose text is this number in decimal.
    public init(_ number: UInt64) { storage = .integer(number) }

    /// The id with these bytes, or nil if there are none or more than ``byteLimit``.
    public init?(bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty, bytes.count <= Self.byteLimit else { return nil }
        if let number = Self.canonicalNumber(bytes) {
            storage = .integer(number)
        } else {
            storage = .bytes(Array(bytes))
        }
    }

    /// The id with the UTF-8 bytes of this text, or nil if it is empty or longer than ``byteLimit``.
    public init?(_ text: some StringProtocol) { self.init(bytes: Array(text.utf8)) }

    /// The bytes of the id, as the server wrote them.
    public var bytes: [UInt8] {
        switch storage {
        case .integer(let number): Array(String(number).utf8)
        case .bytes(let bytes): bytes
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch storage {
        case .integer(let number): hasher.combine(number)
        case .bytes(let bytes): hasher.combine(bytes)
        }
    }

    /// Rules look ids up all the time. Of an integer this takes three instructions instead of the hundred
    /// of SipHash, and is as little foreseeable: the factor is a secret of the process.
    public func _rawHashValue(seed: Int) -> Int {
        guard case .integer(let number) = storage else {
            var hasher = Hasher()
            hasher.combine(seed)
            hash(into: &hasher)
            return hasher.finalize()
        }
        let product = (number ^ UInt64(bitPattern: Int64(seed))).multipliedFullWidth(by: Self.secret)
        return Int(truncatingIfNeeded: product.low ^ product.high)
    }

    private static let secret = UInt64.random(in: .min ... .max) | 1

    /// The number whose canonical decimal text these bytes are: no sign, no leading zero.
    private static func canonicalNumber(_ bytes: some Collection<UInt8>) -> UInt64? {
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

    /// A literal must not be empty.
    public init(stringLiteral value: String) {
        guard let id = PostID(value) else { preconditionFailure("a post id has 1 to 65,536 bytes") }
        self = id
    }
}

extension PostID: CustomStringConvertible {
    /// The id as text; bytes that are not UTF-8 show as U+FFFD. For people, not for storage.
    public var description: String {
        switch storage {
        case .integer(let number): String(number)
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }
}
