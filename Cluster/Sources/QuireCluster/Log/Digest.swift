/// 64 bits that depend on every byte. It notices damage and other histories, not deliberate changes: who may
/// append to the log is trusted.
enum Digest {
    private static let first: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let second: UInt64 = 0xD6E8_FEB8_6659_FD93

    private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }

    /// Words of eight bytes, little-endian, the last one filled up with zeros; then the number of bytes.
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var (digest, at) = (second, 0)
        while at + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            (digest, at) = (fold(digest ^ word, first), at + 8)
        }
        var rest: UInt64 = 0
        for (i, byte) in bytes[at...].enumerated() { rest |= UInt64(byte) << UInt64(8 * i) }
        return fold(fold(digest ^ rest, first) ^ UInt64(bytes.count), second)
    }

    static func of(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { of($0) } }

    /// Of three words.
    static func of(_ a: UInt64, _ b: UInt64, _ c: UInt64) -> UInt64 {
        fold(fold(fold(second ^ a, first) ^ b, first) ^ c, first)
    }
}

extension LogEntry {
    /// What tells it from all others, in this history and in others.
    var fingerprint: UInt64 { Digest.of(stamp, Digest.of(bytes), number) }
}

extension LogPosition {
    /// The place after the next entry. Its digest is never 0, so that it can be the issuer of a ticket.
    func next(_ fingerprint: UInt64) -> LogPosition {
        LogPosition(number: number + 1, digest: max(1, Digest.of(digest, number + 1, fingerprint)))
    }
}
