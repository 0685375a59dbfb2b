import Testing

@_spi(Unstable) @testable import Quire

/// R14, R16. Many gaps that open in one call: each gets the link of the nearest page end above it.
///
///     [9 8 7]a [6 5 4]b [3 2 1]c    without 8 5 2:    [9] ~head~ [7 6] ~a~ [4 3] ~b~ [1]
@Suite struct ScatteredEvictionTests {
    private static let links = [7: "a", 4: "b", 1: "c"]

    /// Everything that may leave: 510 subsets of nine posts.
    @Test func everySubset() throws {
        for subset in 1..<511 {
            let temporary = try TemporaryCache()
            let feed = try temporary.cache.feed(named: "f", options: FeedOptions(order: .keyless))
            var place = Place.head
            for last in [7, 4, 1] {
                var answer = Answer(next: .token(Self.links[last]!))
                for id in stride(from: last + 2, through: last, by: -1) {
                    answer.append(id: PostID(UInt64(id)), body: [])
                }
                let request = try #require(try feed.plan(place).request)
                #expect(try feed.ingest(answer, for: request.ticket).verdict == .ok)
                place = .tail
            }
            let gone = (1...9).filter { subset & (1 << ($0 - 1)) != 0 }
            try feed.evict(gone.map { PostID(UInt64($0)) })
            try Self.requireLinks(feed, gone: gone)
        }
    }

    private static func requireLinks(_ feed: Feed, gone: [Int]) throws {
        let left = (1...9).reversed().filter { !gone.contains($0) }
        let gaps = try feed.cache.withSnapshot { snapshot in
            try snapshot.rows(of: feed, limit: 99).compactMap { row in
                if case .gap(let gap) = row { gap } else { nil }
            }
        }
        // The posts above gaps, top first.
        let borders = zip(left, left.dropFirst()).filter { $0 - 1 != $1 }.map(\.0)
        #expect(gaps.count == borders.count, "without \(gone)")
        for (gap, border) in zip(gaps, borders) {
            let target = try feed.plan(.gap(gap.id)).request?.target
            let segment = (border...9).prefix { left.contains($0) }
            if let end = segment.first(where: { links[$0] != nil }) {
                #expect(gap.down == .token(links[end]!), "below \(border), without \(gone)")
                #expect(target == .link(gap.down), "below \(border), without \(gone)")
            } else if segment.last == 9 {  // nothing lies above it
                #expect(gap.down == .head, "below \(border), without \(gone)")
                #expect(target == .link(.head), "below \(border), without \(gone)")
            }
        }
    }
}
