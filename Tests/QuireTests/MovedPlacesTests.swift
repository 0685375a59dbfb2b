import Testing

@_spi(Unstable) @testable import Quire

/// R26.1. Each refresh moves everything below it: however many there were, the tail is looked for where it
/// is.
@Suite struct MovedPlacesTests {
    /// `[20 19 ... 1]`, then a new post on top again and again, until notes of old moves would be forgotten.
    @Test(arguments: [1, 31, 32, 33, 64, 65, 200])
    func noMoveIsForgotten(refreshes: Int) throws {
        let temporary = try TemporaryCache()
        let feed = try temporary.cache.feed(
            named: "f", options: FeedOptions(paging: .offset, pageSize: 2, sizes: .free))
        for step in 0..<19 { try Self.load(feed, step == 0 ? .head : .tail, top: 20) }
        for step in 1...refreshes { try Self.load(feed, .head, top: UInt64(20 + step)) }
        let target = try feed.plan(.tail).request?.target
        #expect(target == .position(offset: 19 + refreshes, limit: 2))
        #expect(try temporary.cache.check() == [])
    }

    /// Of a server that shows posts top to 1.
    private static func load(_ feed: Feed, _ place: Place, top: UInt64) throws {
        let request = try #require(try feed.plan(place).request)
        guard case .position(let offset, let limit?) = request.target else { return }
        var answer = Answer(next: .more)
        for id in stride(from: Int(top) - offset, to: max(0, Int(top) - offset - limit), by: -1) {
            answer.append(id: PostID(UInt64(id)), body: [])
        }
        _ = try feed.ingest(answer, for: request.ticket)
    }
}
