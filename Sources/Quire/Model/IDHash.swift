/// A fast 64-bit hash of an id: four lanes of multiply and rotate over little-endian 8-byte words, described
/// in Docs/on-disk.md. The seed is a secret of the cache where a server could choose ids that collide.
enum IDHash {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F

    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        both(of: bytes, seed, seed).0  // the compiler leaves out the other one
    }

    /// Returns the hashes with two seeds, in one pass.
    static func of(_ bytes: UnsafeRawBufferPointer, seeds: (UInt64, UInt64)) -> (UInt64, UInt64) {
        both(of: bytes, seeds.0, seeds.1)
    }

    @inline(__always)
    private static func both(
        of bytes: UnsafeRawBufferPointer, _ seed: UInt64, _ other: UInt64
    ) -> (UInt64, UInt64) {
        var (a, b) = (Lanes(seed), Lanes(other))
        guard var next = bytes.baseAddress else { return (a.finished(with: 0), b.finished(with: 0)) }
        let end = next + bytes.count
        while end - next >= 32 {
            a.mix(next)
            b.mix(next)
            next += 32
        }
        var (hash, second) = (a.joined ^ UInt64(bytes.count), b.joined ^ UInt64(bytes.count))
        while end - next >= 8 {
            (hash, second) = (mix(hash, word(next)), mix(second, word(next)))
            next += 8
        }
        var rest: UInt64 = 0
        while next < end {
            rest = rest << 8 | UInt64(next.load(as: UInt8.self))
            next += 1
        }
        return (finish(mix(hash, rest)), finish(mix(second, rest)))
    }

    /// What blocks of 32 bytes are mixed into.
    private struct Lanes {
        private var a, b, c, d: UInt64

        @inline(__always)
        init(_ seed: UInt64) {
            (a, b, c, d) = (seed &+ prime1, seed ^ prime2, seed, seed &- prime1)
        }

        @inline(__always)
        mutating func mix(_ block: UnsafeRawPointer) {
            a = IDHash.mix(a, word(block))
            b = IDHash.mix(b, word(block + 8))
            c = IDHash.mix(c, word(block + 16))
            d = IDHash.mix(d, word(block + 24))
        }

        @inline(__always)
        var joined: UInt64 { IDHash.mix(IDHash.mix(IDHash.mix(a, b), c), d) }

        func finished(with rest: UInt64) -> UInt64 { finish(IDHash.mix(joined, rest)) }
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
