/// A fast 64-bit hash of an id: four lanes of multiply and rotate over little-endian 8-byte words, described
/// in Docs/on-disk.md. The seed is a secret of the cache where a server could choose ids that collide.
enum IDHash {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F

    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var a = seed &+ prime1
        var b = seed ^ prime2
        var c = seed
        var d = seed &- prime1
        let count = bytes.count
        guard count > 0, var next = bytes.baseAddress else {
            return finish(mix(mix(mix(mix(a, b), c), d), 0))
        }
        let end = next + count
        while end - next >= 32 {
            a = mix(a, word(next))
            b = mix(b, word(next + 8))
            c = mix(c, word(next + 16))
            d = mix(d, word(next + 24))
            next += 32
        }
        var hash = mix(mix(mix(a, b), c), d) ^ UInt64(count)
        while end - next >= 8 {
            hash = mix(hash, word(next))
            next += 8
        }
        var rest: UInt64 = 0
        while next < end {
            rest = rest << 8 | UInt64(next.load(as: UInt8.self))
            next += 1
        }
        return finish(mix(hash, rest))
    }

    private static func finish(_ mixed: UInt64) -> UInt64 {
        var hash = mixed
        hash ^= hash >> 29
        hash = hash &* prime2
        return hash ^ hash >> 32
    }

    @inline(__always)
    private static func mix(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        let product = (lane ^ word) &* prime1
        return (product << 31 | product >> 33) &+ prime2
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    }
}
