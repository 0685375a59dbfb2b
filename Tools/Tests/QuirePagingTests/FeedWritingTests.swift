import Quire
import QuireSimulator
import Synchronization
import Testing

@testable import QuirePaging
@testable import TestSupport

/// A pager and a reading state write through operations alone: encoded and replayed, they give a second cache
/// that is equal.
@Suite(.timeLimit(.minutes(10))) struct FeedWritingTests {
    @Test func everythingAPagerWritesCanBeReplayed() async throws {
        let fixture = try PagerFixture()
        let writer = try ReplayedFeed(fixture.feed)
        let server = ListServer(posts: 12, options: fixture.feed.options)
        let child = FeedOptions(paging: .ids)
        let source = Scripted { request in
            var response = try await server.page(for: request)
            response.validators = Validators(etag: "1")
            response.quota = Quota(remaining: 5)
            if request.place == .tail {
                var answer = Answer(next: .end)
                answer.append(id: "c", body: [1])
                response.embedded = [EmbeddedPage(of: "child", options: child, answer)]
            }
            return response
        }
        let pager = Pager(
            writer, source: source, options: PagerOptions(keeps: 6), clock: fixture.clock.pagerClock())
        try await pager.setVisible([])
        #expect(try await pager.refresh().verdict == .ok)
        #expect(try await pager.append().verdict == .ok)
        try await pager.beginLive()
        var message = Answer()
        message.append(id: 99, key: 99, body: [9])
        #expect(try await pager.push(message).new == [99])
        try await pager.endLive()
        server.insert(7)
        fixture.clock.now -= 5
        _ = try await pager.refresh(.ifStale)
        _ = try await pager.catchUp(to: 3, budget: 5)
        let reading = writer.reading
        try await reading.mark([12, 11])
        try await reading.setMarker(11)
        try await reading.setPosition(12, offset: 3)
        #expect(try reading.marker() == 11 && reading.areRead([12]) == [true])
        #expect(try fixture.feed.reading.unread() == reading.unread())
        var policy = PrunePolicy()
        policy.maximumPosts = 4
        #expect(try await pager.prune(policy)?.isDone == true)
        try writer.compare()
    }

    /// A page and its date are one commit, and so are "not modified" and its date.
    @Test func aRefreshIsTwoCommits() async throws {
        let fixture = try PagerFixture()
        let source = Scripted { request in
            var response = PageResponse.page([3, 2, 1], next: .end)
            if request.validators != nil { response.content = .notModified }
            response.validators = Validators(etag: "1")
            return response
        }
        let pager = Pager(fixture.feed, source: source, clock: fixture.clock.pagerClock())
        let start = try fixture.generation
        #expect(try await pager.refresh().verdict == .ok)
        #expect(try fixture.generation == start + 2)
        fixture.clock.advance(.seconds(1))
        #expect(try await pager.refresh() == .notModified)
        #expect(try fixture.generation == start + 4)
    }

    /// Another writer comes between reading and writing, several times: no change is lost.
    @Test func changesOfOneAttributeFollowEachOther() async throws {
        let fixture = try PagerFixture()
        let feed = fixture.feed
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<25 { try await feed.change("count") { [($0?.first ?? 0) + 1] } }
                }
            }
            try await group.waitForAll()
        }
        #expect(try feed.attribute("count") == [100])
    }

    /// A writer whose tickets have an issuer, which the pager names in its answers.
    @Test func answersNameTheIssuerOfTheirTicket() async throws {
        final class Writer: FeedWriting {
            let feed: Feed
            let named = Mutex<[UInt64]>([])

            init(_ feed: Feed) { self.feed = feed }

            // as an actor's would be: on another thread than the pager's
            func write(_ operations: [CacheOperation]) async throws -> [CacheReply] {
                for case .feed(_, .ingest(_, _, let issuer, _, _)) in operations {
                    named.withLock { $0.append(issuer) }
                }
                return try feed.cache.batch { batch in
                    var replies: [CacheReply] = []
                    for operation in operations { replies.append(try batch.apply(operation, issuer: 7)) }
                    return replies
                }
            }
        }
        let fixture = try PagerFixture()
        let writer = Writer(fixture.feed)
        let server = ListServer(posts: 9, options: fixture.feed.options)
        let pager = Pager(writer, source: server, clock: fixture.clock.pagerClock())
        #expect(try await pager.refresh().verdict == .ok)
        #expect(try await pager.append().verdict == .ok)
        #expect(writer.named.withLock { $0 } == [7, 7])
    }

    /// Replies that do not fit are an error, not a crash.
    @Test func aWriterThatAnswersSomethingElseIsRefused() async throws {
        final class Writer: FeedWriting {
            let feed: Feed
            let replies: [CacheReply]

            init(_ feed: Feed, _ replies: [CacheReply]) { (self.feed, self.replies) = (feed, replies) }

            func write(_ operations: [CacheOperation]) async throws -> [CacheReply] { replies }
        }
        let fixture = try PagerFixture()
        for replies in [[], [.done], [.done, .done]] as [[CacheReply]] {
            let source = Scripted { _ in .page([1]) }
            let pager = Pager(
                Writer(fixture.feed, replies), source: source, clock: fixture.clock.pagerClock())
            await #expect(throws: QuireError.self) { try await pager.refresh() }
        }
    }
}
