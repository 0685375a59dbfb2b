import QuireSimulator
import Testing

@testable import Quire

/// The set of pages against a set of the standard library: as a table, as bits, and where that changes.
@Suite struct PageSetTests {
    @Test(arguments: [1, 63, 64, 65, 128, 1_000, 100_000, 1 << 24] as [UInt64])
    func agreesWithASet(_ count: UInt64) {
        var random = SplitMix64(seed: count)
        var (pages, model) = (PageSet(count: count), Set<UInt64>())
        for step in 0..<1_000 {
            let page = UInt64.random(in: 0..<count + 2, using: &random)
            let isNew = page < count && model.insert(page).inserted
            #expect(pages.insert(page) == isNew, "step \(step): page \(page) of \(count)")
            let other = UInt64.random(in: 0..<count + 2, using: &random)
            #expect(pages.contains(other) == model.contains(other), "step \(step): page \(other) of \(count)")
        }
        for start in 0...min(count, 300) {
            let missing = (start..<max(start, count)).first { !model.contains($0) }
            #expect(pages.firstMissing(from: start) == missing, "from \(start) of \(count)")
        }
    }
}
