/// A small generator whose numbers depend on its seed alone, on every platform and in every version of
/// Swift. For tests and demonstrations, not for secrets.
///
/// The standard library may change how `Int.random(in:using:)` and `shuffled(using:)` consume their
/// generator; the methods here will not, so a seed noted today repeats the same history tomorrow.
///
///     var random = SplitMix64(seed: 7)
///     let limit = random.pick([1, 2, 3, 5, 8])
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The sequence of this seed.
    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, not including, `bound`, which must be positive.
    public mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0, "there is no number from 0 to below \(bound)")
        return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// A number of a closed range.
    public mutating func number(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + below(range.count)
    }

    /// True with this probability.
    public mutating func chance(_ probability: Double) -> Bool {
        Double(next() >> 11) * 0x1p-53 < probability
    }

    /// One element of a collection, which must not be empty.
    public mutating func pick<C: RandomAccessCollection>(_ choices: C) -> C.Element {
        choices[choices.index(choices.startIndex, offsetBy: below(choices.count))]
    }

    /// The elements in another order.
    public mutating func shuffle<Element>(_ elements: inout [Element]) {
        for last in stride(from: elements.count - 1, to: 0, by: -1) {
            elements.swapAt(last, below(last + 1))
        }
    }
}
