import Testing

@_spi(Unstable) @testable import Quire

/// What is evicted in the middle of a long feed needs the number of posts above and below it, which the page
/// index tells: the parts that are not loaded.
@Suite struct CountedSpanTests {
    private let temporary: TemporaryCache
    private let feed: Feed

    init() throws {
        temporary = try TemporaryCache()
        feed = try temporary.cache.feed(named: "f", options: FeedOptions(order: .stable))
        for page in 0..<40 {
            var answer = Answer(next: .token("\(page + 1)"))
            for key in (page * 10..<page * 10 + 10).map({ 1_000 - Int64($0) }) {
                answer.append(id: PostID(UInt64(key)), key: key)
            }
            let plan = try feed.plan(page == 0 ? .head : .tail)
            _ = try feed.ingest(answer, for: plan.request!.ticket)
        }
    }

    @Test func isTakenFromThePageIndex() throws {
        #expect(try feed.evict([795]) == 1)
        #expect(try temporary.cache.check().isEmpty)
    }

    /// Rows at the first chunk, at the last one, or none: then a part seems to have none, too many, or fewer
    /// than none.
    @Test(arguments: [(0, 400), (39, 1 << 40), (39, -400)])
    func wrongNumbersAreDamage(chunk: Int, rows: Int) throws {
        try temporary.cache.environment.write { transaction in
            var positions: [UInt64] = []
            try ChunkReader(transaction: transaction, feed: feed.number).eachPage(from: 0) { at, _ in
                positions.append(at)
                return true
            }
            let table = Table.ranks(of: feed.number)
            for number in 1...64 as ClosedRange<UInt64> { try transaction.delete(table, NumberKey(number)) }
            let changes = [RankChange(position: positions[chunk], rows: rows, pages: 1)]
            try transaction.put(table, NumberKey(1), Forgery.encoded(changes))
        }
        let error = #expect(throws: QuireError.self) { try feed.evict([795]) }
        #expect(error?.code == .corrupt)
    }
}
