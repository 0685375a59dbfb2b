import Testing

@testable import Quire

@Suite("The hash of an id")
struct IDHashTests {
    /// Docs/on-disk.md, byte by byte.
    @Test("it is the one that is described")
    func asDescribed() {
        let (prime1, prime2): (UInt64, UInt64) = (0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F)
        func mix(_ lane: UInt64, _ word: UInt64) -> UInt64 {
            let product = (lane ^ word) &* prime1
            return (product << 31 | product >> 33) &+ prime2
        }
        for count in 0...100 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
            let seed = UInt64(count) &* 0x1234_5678_9ABC_DEF1
            func word(_ at: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(bytes[at + $1]) << (8 * $1) } }
            var lanes = [seed &+ prime1, seed ^ prime2, seed, seed &- prime1]
            var at = 0
            while at + 32 <= count {
                for lane in 0..<4 { lanes[lane] = mix(lanes[lane], word(at + 8 * lane)) }
                at += 32
            }
            var hash = mix(mix(mix(lanes[0], lanes[1]), lanes[2]), lanes[3]) ^ UInt64(count)
            while at + 8 <= count {
                hash = mix(hash, word(at))
                at += 8
            }
            hash = mix(hash, bytes[at...].reduce(0) { $0 << 8 | UInt64($1) })
            hash ^= hash >> 29
            hash = hash &* prime2
            hash ^= hash >> 32
            bytes.withUnsafeBytes {
                #expect(IDHash.of($0, seed: seed) == hash, "\(count) bytes")
                #expect(IDHash.of($0, seeds: (seed, ~seed)) == (hash, IDHash.of($0, seed: ~seed)))
            }
        }
    }
}
