/// A small deterministic generator: the same seed gives the same numbers on every machine.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// A generator of its own for each combination of numbers.
    init(seed: UInt64, _ parts: UInt64...) {
        state = parts.reduce(seed) { mixed($0 &* 0x9E37_79B9_7F4A_7C15 &+ $1) }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return mixed(state)
    }

    /// Evenly distributed below a bound of at least 1.
    mutating func below(_ bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }
}

/// A bijection of 64-bit numbers.
func mixed(_ number: UInt64) -> UInt64 {
    var z = number
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
}
