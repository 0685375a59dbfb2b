import Quire
import Testing

@testable import QuirePaging
@testable import TestSupport

/// How far a reader has read, across everything that happens to a feed.
@Suite(.timeLimit(.minutes(10))) struct ReadingStateTests {
    private func fixture(posts: Int, _ options: FeedOptions? = nil) async throws -> (
        PagerFixture, Pager, ListServer
    ) {
        let fixture = try PagerFixture(options ?? FeedOptions(order: .stable, pageSize: 3))
        let server = ListServer(posts: posts, options: fixture.feed.options)
        let pager = fixture.pager(server)
        try await pager.refresh()
        return (fixture, pager, server)
    }

    @Test func flagsStayWithTheirPosts() async throws {
        let (fixture, pager, _) = try await fixture(posts: 3)
        let reading = fixture.feed.reading
        try await reading.mark([3, 1, 9])
        #expect(try reading.areRead([3, 2, 1, 9]) == [true, false, true, false])
        try await reading.mark([1], isRead: false)
        _ = try fixture.feed.cache.update(3, body: Array("{}".utf8), version: 9)
        try await pager.refresh()
        try fixture.subject.reopen()
        #expect(try fixture.feed.reading.areRead([3, 2, 1]) == [true, false, false])
        try fixture.feed.reset()
        #expect(try fixture.feed.reading.areRead([3]) == [false])
    }

    @Test func theUnreadCountKnowsAboutGaps() async throws {
        let (fixture, pager, server) = try await fixture(posts: 3)
        let reading = fixture.feed.reading
        #expect(try reading.unread() == Unread(count: 3, isExact: true))
        try await reading.setMarker(2)
        #expect(try reading.unread() == Unread(count: 1, isExact: true))
        try fixture.feed.insertLocal("draft", body: [])
        #expect(try reading.unread() == Unread(count: 1, isExact: true))
        server.insert(7)
        try await pager.refresh()
        #expect(try reading.unread() == Unread(count: 4, isExact: false))
        #expect(try await pager.catchUp(to: try #require(try reading.marker()), budget: 9).reachesMarker)
        #expect(try reading.unread() == Unread(count: 8, isExact: true))
        try fixture.feed.evict([10])
        #expect(try reading.unread() == Unread(count: 7, isExact: false))
    }

    @Test func aMarkerOlderThanTheCacheIsCaughtUpWith() async throws {
        let (fixture, pager, _) = try await fixture(posts: 9)
        try await fixture.feed.reading.setMarker(2)
        #expect(try fixture.feed.reading.unread() == Unread(count: 3, isExact: false))
        try await pager.catchUp(to: 2, budget: 9)
        #expect(try fixture.feed.reading.unread() == Unread(count: 7, isExact: true))
    }

    @Test func keysSayWhereAMarkerStoodThatIsGone() async throws {
        let (fixture, pager, server) = try await fixture(posts: 6)
        try await pager.append()
        try await fixture.feed.reading.setMarker(3)
        server.delete(3)
        try await pager.refresh()
        try await pager.append()
        try fixture.feed.delete(3)
        #expect(try fixture.feed.reading.unread() == Unread(count: 3, isExact: true))
    }

    @Test func thePositionSurvives() async throws {
        let (fixture, pager, server) = try await fixture(posts: 9)
        for _ in 0..<2 { try await pager.append() }
        #expect(try fixture.feed.reading.position(above: 1, below: 1) == nil)
        try await fixture.feed.reading.setPosition(5, offset: 12.5)
        server.insert(2)
        try await pager.refresh()
        try fixture.subject.reopen()
        let reading = fixture.feed.reading
        let restored = try #require(try reading.position(above: 1, below: 1))
        #expect(restored.window.anchor == .post(5) && restored.offset == 12.5)
        try fixture.feed.evict([5])
        #expect(try reading.position(above: 1, below: 1)?.window.anchor == .post(4))
        #expect(try reading.position(above: 1, below: 1)?.offset == 0)
        try fixture.feed.reset()
        #expect(try reading.position(above: 1, below: 1) == nil)
        await #expect(throws: QuireError.self) { try await reading.setPosition(5) }
    }
}
