/// The decimal digits of a number, eight at a time: 60 instructions for 20 digits, where a division for each
/// takes 500.
struct Decimal {
    /// Eight digits each, the first one in the lowest byte, with zeros in front.
    private let high, middle, low: UInt64
    let count: Int

    private static let zeros: UInt64 = 0x3030_3030_3030_3030

    init(_ number: UInt64) {
        let upper = number / 100_000_000
        low = Self.digits(number % 100_000_000)
        if upper == 0 {
            (high, middle) = (Self.zeros, Self.zeros)
        } else {
            high = Self.digits(upper / 100_000_000)
            middle = Self.digits(upper % 100_000_000)
        }
        let leading =
            if high != Self.zeros {
                (high ^ Self.zeros).trailingZeroBitCount / 8
            } else if middle != Self.zeros {
                8 + (middle ^ Self.zeros).trailingZeroBitCount / 8
            } else {
                16 + min(7, (low ^ Self.zeros).trailingZeroBitCount / 8)
            }
        count = 24 - leading
    }

    /// Writes the digits to `count` bytes.
    func write(to text: UnsafeMutableRawPointer) {
        var words = (high.littleEndian, middle.littleEndian, low.littleEndian)
        withUnsafeBytes(of: &words) {
            text.copyMemory(from: $0.baseAddress! + (24 - count), byteCount: count)
        }
    }

    /// Returns the eight digits of a number below 10⁸: halves it into four digits, two, and one, in all lanes
    /// of the word at once. A lane is divided by 100 as x · 10,486 / 2²⁰, and by 10 as x · 103 / 2¹⁰.
    private static func digits(_ number: UInt64) -> UInt64 {
        let fours = number / 10_000 | (number % 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let twos = hundreds | (fours &- 100 &* hundreds) << 16
        let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
        return (tens | (twos &- 10 &* tens) << 8) &+ zeros
    }
}
