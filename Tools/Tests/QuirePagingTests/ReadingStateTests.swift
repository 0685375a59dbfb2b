import Quire
import Testing

@testable import QuirePaging
@testable import TestSupport

/// How far somebody has read, across everything that happens to a feed.
@Suite(.timeLimit(.minutes(1))) struct ReadingStateTests {
    private func desk(posts: Int, _ options: FeedOptions? = nil) async throws -> (Desk, Pager, ListServer) {
        let desk = try Desk(options ?? FeedOptions(order: .stable, pageSize: 3))
        let server = ListServer(posts: posts, options: desk.feed.options)
        let pager = desk.pager(server)
        try await pager.refresh()
        return (desk, pager, server)
    }

    @Test func flagsStayWithTheirPosts() async throws {
        let (desk, pager, _) = try await desk(posts: 3)
        let reading = desk.feed.reading
        try reading.mark([3, 1, 9])
        #expect(try reading.areRead([3, 2, 1, 9]) == [true, false, true, false])
        try reading.mark([1], isRead: false)
        _ = try desk.feed.cache.update(3, body: Array("{}".utf8), version: 9)
        try await pager.refresh()
        try desk.subject.reopen()
        #expect(try desk.feed.reading.areRead([3, 2, 1]) == [true, false, false])
        try desk.feed.reset()
        #expect(try desk.feed.reading.areRead([3]) == [false])
    }

    @Test func theUnreadCountKnowsAboutGaps() async throws {
        let (desk, pager, server) = try await desk(posts: 3)
        let reading = desk.feed.reading
        #expect(try reading.unread() == Unread(count: 3, isExact: true))
        try reading.setMarker(2)
        #expect(try reading.unread() == Unread(count: 1, isExact: true))
        try desk.feed.insertLocal("draft", body: [])
        #expect(try reading.unread() == Unread(count: 1, isExact: true))
        server.insert(7)
        try await pager.refresh()
        #expect(try reading.unread() == Unread(count: 4, isExact: false))
        #expect(try await pager.catchUp(to: try #require(try reading.marker()), budget: 9).reachesMarker)
        #expect(try reading.unread() == Unread(count: 8, isExact: true))
        try desk.feed.evict([10])
        #expect(try reading.unread() == Unread(count: 7, isExact: false))
    }

    @Test func aMarkerOlderThanTheCacheIsCaughtUpWith() async throws {
        let (desk, pager, _) = try await desk(posts: 9)
        try desk.feed.reading.setMarker(2)
        #expect(try desk.feed.reading.unread() == Unread(count: 3, isExact: false))
        try await pager.catchUp(to: 2, budget: 9)
        #expect(try desk.feed.reading.unread() == Unread(count: 7, isExact: true))
    }

    @Test func keysSayWhereAMarkerStoodThatIsGone() async throws {
        let (desk, pager, server) = try await desk(posts: 6)
        try await pager.append()
        try desk.feed.reading.setMarker(3)
        server.delete(3)
        try await pager.refresh()
        try await pager.append()
        try desk.feed.delete(3)
        #expect(try desk.feed.reading.unread() == Unread(count: 3, isExact: true))
    }

    @Test func thePositionSurvives() async throws {
        let (desk, pager, server) = try await desk(posts: 9)
        for _ in 0..<2 { try await pager.append() }
        #expect(try desk.feed.reading.position(above: 1, below: 1) == nil)
        try desk.feed.reading.setPosition(5, offset: 12.5)
        server.insert(2)
        try await pager.refresh()
        try desk.subject.reopen()
        let reading = desk.feed.reading
        let restored = try #require(try reading.position(above: 1, below: 1))
        #expect(restored.window.anchor == 5 && restored.offset == 12.5)
        try desk.feed.evict([5])
        #expect(try reading.position(above: 1, below: 1)?.window.anchor == 4)
        #expect(try reading.position(above: 1, below: 1)?.offset == 0)
        try desk.feed.reset()
        #expect(try reading.position(above: 1, below: 1) == nil)
        #expect(throws: QuireError.self) { try reading.setPosition(5) }
    }
}
