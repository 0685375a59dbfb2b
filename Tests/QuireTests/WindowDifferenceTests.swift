import Testing

@_spi(Unstable) @testable import Quire

/// What a list must change, for each pair of lists with up to four of five rows.
@Suite struct WindowDifferenceTests {
    @Test func changesAsFewRowsAsPossible() {
        let lists = Self.lists(of: 1...5, longest: 4)
        #expect(lists.count == 206)
        for before in lists {
            for after in lists {
                let (old, new) = (before.map(Self.row), after.map(Self.row))
                let found = FeedWindow.Difference(from: old, to: new, updated: [])
                if found.applied(to: old, { new[$0] }) != new {
                    Issue.record("\(before) to \(after): \(found)")
                }
                let common = Self.longestCommon(before, after)
                let isLeast =
                    found.removed.count == before.count - common
                    && found.inserted.count == after.count - common && found.updated.isEmpty
                if !isLeast { Issue.record("\(before) to \(after): \(found) changes too much") }
            }
        }
    }

    /// A list that is not the one before gets other rows, but the program goes on.
    @Test func goesOnWithAnotherList() {
        for (before, after) in [([1, 2, 3], [3, 4]), ([], [1, 2]), ([1, 2, 3, 4], [2])] {
            let new = after.map(Self.row)
            let found = FeedWindow.Difference(from: before.map(Self.row), to: new, updated: nil)
            for count in 0...5 { _ = found.applied(to: (0..<count).map { Self.row($0) }) { new[$0] } }
        }
    }

    private static func row(_ number: Int) -> FeedRow {
        .gap(
            GapRow(
                id: GapID(UInt64(number)), down: .unknown, isDownOverlapping: false,
                isUpOverlapping: false, why: .unfetched, above: 0, up: .unknown, since: 0,
                position: RowPosition(chunk: 1, slot: 0)))
    }

    private static func lists(of rows: ClosedRange<Int>, longest: Int) -> [[Int]] {
        var all: [[Int]] = [[]]
        var last = all
        for _ in 0..<longest {
            last = last.flatMap { list in rows.filter { !list.contains($0) }.map { list + [$0] } }
            all += last
        }
        return all
    }

    /// The number of rows that can stay, by trying each set of them.
    private static func longestCommon(_ a: [Int], _ b: [Int]) -> Int {
        (0..<1 << a.count).reduce(0) { best, chosen in
            let part = a.indices.filter { chosen & 1 << $0 != 0 }.map { a[$0] }
            return b.filter(part.contains) == part ? max(best, part.count) : best
        }
    }
}
