/// SHA-256 (FIPS 180-4): the object store of NATS keeps this digest of each object.
struct SHA256 {
    private var state: [UInt32] = [
        0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB,
        0x5BE0_CD19,
    ]
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    // The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = {
        var primes: [Int] = []
        var candidate = 2
        while primes.count < 64 {
            if !primes.contains(where: { candidate % $0 == 0 }) { primes.append(candidate) }
            candidate += 1
        }
        return primes.map { prime in
            // the largest root with root^3 <= prime * 2^96, found bit by bit
            var root: UInt64 = 0
            for bit in (0..<36).reversed() {
                let larger = root | 1 << UInt64(bit)
                if isCube(larger, atMost: UInt64(prime)) { root = larger }
            }
            return UInt32(truncatingIfNeeded: root)
        }
    }()

    /// Returns true if value^3 <= prime * 2^96.
    private static func isCube(_ value: UInt64, atMost prime: UInt64) -> Bool {
        let square = value.multipliedFullWidth(by: value)
        let low = square.low.multipliedFullWidth(by: value)
        let high = square.high.multipliedFullWidth(by: value)
        let (middle, carry) = low.high.addingReportingOverflow(high.low)
        let top = high.high + (carry ? 1 : 0)
        let limit = (top: prime >> 32, middle: prime << 32)
        if top != limit.top { return top < limit.top }
        return middle != limit.middle ? middle < limit.middle : low.low == 0
    }

    mutating func add(_ bytes: some Collection<UInt8>) {
        count += UInt64(bytes.count)
        rest += bytes
        var at = 0
        while rest.count - at >= 64 {
            block(rest[at..<at + 64])
            at += 64
        }
        rest.removeFirst(at)
    }

    consuming func digest() -> [UInt8] {
        let bits = count * 8
        let padding = (119 - rest.count % 64) % 64 + 1
        add([0x80] + [UInt8](repeating: 0, count: padding - 1))
        add((0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) })
        return state.flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) }
        }
    }

    private mutating func block(_ bytes: ArraySlice<UInt8>) {
        func rotated(_ value: UInt32, _ by: UInt32) -> UInt32 { value >> by | value << (32 - by) }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
            for i in 0..<16 {
                let at = bytes.startIndex + 4 * i
                words[i] =
                    UInt32(bytes[at]) << 24 | UInt32(bytes[at + 1]) << 16 | UInt32(bytes[at + 2]) << 8
                    | UInt32(bytes[at + 3])
            }
            for i in 16..<64 {
                let (a, b) = (words[i - 15], words[i - 2])
                let first = rotated(a, 7) ^ rotated(a, 18) ^ a >> 3
                let second = rotated(b, 17) ^ rotated(b, 19) ^ b >> 10
                words[i] = words[i - 16] &+ first &+ words[i - 7] &+ second
            }
            var (a, b, c, d, e, f, g, h) = (
                state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
            )
            for i in 0..<64 {
                let first = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
                let added = h &+ first &+ (e & f ^ ~e & g) &+ Self.constants[i] &+ words[i]
                let second = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
                let majority = a & b ^ a & c ^ b & c
                (h, g, f, e, d, c, b, a) = (g, f, e, d &+ added, c, b, a, added &+ second &+ majority)
            }
            for (i, word) in [a, b, c, d, e, f, g, h].enumerated() { state[i] &+= word }
        }
    }
}
