/// A fast 64-bit hash: four lanes of multiply and rotate over 8-byte words, little-endian, as drawn in
/// Docs/on-disk.md. It finds damage; it does not resist an attacker.
enum Checksum {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F

    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var a = seed &+ prime1
        var b = seed ^ prime2
        var c = seed
        var d = seed &- prime1
        var at = 0
        let count = bytes.count
        while at + 32 <= count {
            a = mix(a, word(bytes, at))
            b = mix(b, word(bytes, at + 8))
            c = mix(c, word(bytes, at + 16))
            d = mix(d, word(bytes, at + 24))
            at += 32
        }
        var hash = mix(mix(mix(a, b), c), d) ^ UInt64(count)
        while at + 8 <= count {
            hash = mix(hash, word(bytes, at))
            at += 8
        }
        var rest: UInt64 = 0
        while at < count {
            rest = rest << 8 | UInt64(bytes[at])
            at += 1
        }
        hash = mix(hash, rest)
        hash ^= hash >> 29
        hash = hash &* prime2
        return hash ^ hash >> 32
    }

    /// Writes the checksum of all but the last four bytes into these.
    static func seal(_ bytes: UnsafeMutableRawBufferPointer) {
        let end = bytes.count - 4
        let sum = UInt32(truncatingIfNeeded: of(UnsafeRawBufferPointer(rebasing: bytes[..<end])))
        bytes.storeBytes(of: sum.littleEndian, toByteOffset: end, as: UInt32.self)
    }

    @inline(__always)
    private static func mix(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        let product = (lane ^ word) &* prime1
        return (product << 31 | product >> 33) &+ prime2
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
    }
}
