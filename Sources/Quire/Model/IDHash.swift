/// SipHash-1-3 with 128 bits, of the bytes of an id. Servers choose ids: those that only count differ in very
/// few bits, and hostile ones are made to collide. Without the key, no server can find two with the same
/// hash.
///
/// Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF".
enum IDHash {
    typealias Key = (UInt64, UInt64)

    static func of(_ bytes: UnsafeRawBufferPointer, key: Key) -> (UInt64, UInt64) {
        var state = State(key)
        guard var next = bytes.baseAddress else { return state.finish(0) }
        let end = next + bytes.count
        while end - next >= 8 {
            state.add(UInt64(littleEndian: next.loadUnaligned(as: UInt64.self)))
            next += 8
        }
        var last = UInt64(truncatingIfNeeded: bytes.count) << 56
        for i in 0..<end - next { last |= UInt64(next.load(fromByteOffset: i, as: UInt8.self)) << (8 * i) }
        return state.finish(last)
    }

    private struct State {
        private var (a, b, c, d): (UInt64, UInt64, UInt64, UInt64)

        @inline(__always)
        init(_ key: Key) {
            (a, b) = (key.0 ^ 0x736F_6D65_7073_6575, key.1 ^ 0x646F_7261_6E64_6F6D ^ 0xEE)
            (c, d) = (key.0 ^ 0x6C79_6765_6E65_7261, key.1 ^ 0x7465_6462_7974_6573)
        }

        @inline(__always)
        mutating func add(_ word: UInt64) {
            d ^= word
            mix()
            a ^= word
        }

        @inline(__always)
        mutating func finish(_ last: UInt64) -> (UInt64, UInt64) {
            add(last)
            c ^= 0xEE
            for _ in 0..<3 { mix() }
            let first = a ^ b ^ c ^ d
            b ^= 0xDD
            for _ in 0..<3 { mix() }
            return (first, a ^ b ^ c ^ d)
        }

        @inline(__always)
        private mutating func mix() {
            a = a &+ b
            b = Self.rotated(b, 13) ^ a
            a = Self.rotated(a, 32)
            c = c &+ d
            d = Self.rotated(d, 16) ^ c
            a = a &+ d
            d = Self.rotated(d, 21) ^ a
            c = c &+ b
            b = Self.rotated(b, 17) ^ c
            c = Self.rotated(c, 32)
        }

        @inline(__always)
        private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
            word &<< count | word &>> (64 - count)
        }
    }
}
