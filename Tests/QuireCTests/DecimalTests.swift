import QuireSimulator
import Testing

@testable import QuireC

/// Ids as decimal text, eight digits at a time.
@Suite(.timeLimit(.minutes(10))) struct DecimalTests {
    private func text(_ number: UInt64) -> String {
        let decimal = Decimal(number)
        var bytes = [UInt8](repeating: 0, count: decimal.count)
        bytes.withUnsafeMutableBytes { decimal.write(to: $0.baseAddress!) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func everyCountOfDigits() {
        var power: UInt64 = 1
        for _ in 0..<20 {
            for offset in 0..<20 as Range<UInt64> {
                let number = power &- 10 &+ offset
                if text(number) != String(number) { Issue.record("\(number) becomes \(text(number))") }
            }
            power = power &* 10
        }
        for number in 0...10_000 as ClosedRange<UInt64> {
            if text(number) != String(number) { Issue.record("\(number) becomes \(text(number))") }
        }
        #expect(text(.max) == "18446744073709551615")
    }

    @Test func randomNumbers() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<20_000 {
            let number = random.next() >> UInt64(random.below(64))
            if text(number) != String(number) { Issue.record("\(number) becomes \(text(number))") }
        }
    }
}
