import Quire
import Synchronization
import Testing

@testable import QuirePaging

/// When the first page is fresh enough, and what is asked and written when it is not.
@Suite(.timeLimit(.minutes(10))) struct FreshnessTests {
    /// A server whose answers carry validators, and which may be switched off.
    private final class Server: PagingSource {
        struct State {
            var isDown = false
            var etag = "W/\"1\""
            var lifetime: Duration?
            var asked: [Validators?] = []
        }
        let state = Mutex(State())

        func page(for request: PageRequest) async throws -> PageResponse {
            try state.withLock { state in
                state.asked.append(request.validators)
                if state.isDown { throw PageFailure("down", isTransient: false) }
                let isKnown = request.validators?.etag == state.etag
                var response = PageResponse.page([3, 2, 1], next: .token("below 1"))
                if isKnown { response.content = .notModified }
                response.validators = Validators(etag: state.etag, lastModified: "yesterday")
                response.lifetime = state.lifetime
                return response
            }
        }

        var count: Int { state.withLock { $0.asked.count } }
    }

    private let options = PagerOptions(
        lifetime: .seconds(300), staleWhileRevalidate: .seconds(60), staleIfError: .seconds(1_000))

    @Test func aFreshPageIsNotAskedFor() async throws {
        let (fixture, server) = (try PagerFixture(), Server())
        let pager = fixture.pager(server, options: options)
        #expect(try await pager.refresh(.ifStale).verdict == .ok)
        fixture.clock.advance(.seconds(299))
        #expect(try await pager.refresh(.ifStale) == .fresh)
        #expect(server.count == 1)
        // Another pager knows it too, as it would after a restart.
        #expect(try await fixture.pager(server, options: options).refresh(.ifStale) == .fresh)
        #expect(try await pager.refresh() == .notModified)
        #expect(server.count == 2)
    }

    @Test func theServersLifetimeCounts() async throws {
        let (fixture, server) = (try PagerFixture(), Server())
        server.state.withLock { $0.lifetime = .seconds(10) }
        let pager = fixture.pager(server, options: options)
        try await pager.refresh()
        fixture.clock.advance(.seconds(9))
        #expect(try await pager.refresh(.ifStale) == .fresh)
        fixture.clock.advance(.seconds(1))
        #expect(try await pager.refresh(.ifStale) == .revalidating)
    }

    @Test func aStalePageIsShownWhileItIsFetched() async throws {
        let (fixture, server) = (try PagerFixture(), Server())
        let pager = fixture.pager(server, options: options)
        try await pager.refresh()
        fixture.clock.advance(.seconds(310))
        #expect(try await pager.refresh(.ifStale) == .revalidating)
        try await until { server.count == 2 }
        try await until { (try? await pager.refresh(.ifStale)) == .fresh }
        #expect(server.count == 2)
    }

    @Test func aStalePageIsShownWhenFetchingItFails() async throws {
        let (fixture, server) = (try PagerFixture(), Server())
        let pager = fixture.pager(server, options: options)
        try await pager.refresh()
        server.state.withLock { $0.isDown = true }
        fixture.clock.advance(.seconds(1_299))
        #expect(try await pager.refresh(.ifStale) == .stale("down"))
        await #expect(throws: PageFailure.self) { try await pager.refresh() }
        fixture.clock.advance(.seconds(1))
        await #expect(throws: PageFailure.self) { try await pager.refresh(.ifStale) }
        #expect(try fixture.picture == "[3 2 1] |…")
    }

    @Test func aClockThatWasSetBackMakesNothingFresh() async throws {
        let (fixture, server) = (try PagerFixture(), Server())
        let pager = fixture.pager(server, options: options)
        try await pager.refresh()
        fixture.clock.now -= 1
        #expect(try await pager.refresh(.ifStale) == .notModified)
        #expect(server.count == 2)
    }

    @Test func notModifiedRenewsWithoutWritingPosts() async throws {
        let (fixture, server) = (try PagerFixture(), Server())
        let pager = fixture.pager(server, options: options)
        try await pager.refresh()
        let pages = try pages(fixture)
        fixture.clock.advance(.seconds(400))
        let before = try fixture.generation
        #expect(try await pager.refresh(.ifStale) == .notModified)
        let sent = Validators(etag: "W/\"1\"", lastModified: "yesterday")
        #expect(server.state.withLock { $0.asked.last } == sent)
        #expect(try await pager.refresh(.ifStale) == .fresh)
        #expect(try self.pages(fixture) == pages)
        let changes = try fixture.feed.cache.withSnapshot { try $0.changes(since: before) }
        #expect(changes?.isEmpty == true)
    }

    @Test func validatorsAreSentOnlyWhileThePageIsThere() async throws {
        let (fixture, server) = (try PagerFixture(), Server())
        let pager = fixture.pager(server, options: options)
        try await pager.refresh()
        try fixture.feed.evict([3])  // "not modified" would leave the hole for ever
        #expect(try await pager.refresh(.ifStale).verdict == .ok)
        #expect(try fixture.picture == "[3 2 1] |…")
        try fixture.feed.evict([2])
        #expect(try fixture.picture == "[3] ~ [1] |…")
        #expect(try await pager.refresh().verdict == .joined)
        #expect(try fixture.picture == "[3 2 1] |…")
        try fixture.feed.reset()
        #expect(try await pager.refresh().verdict == .ok)
        #expect(server.state.withLock { $0.asked } == [nil, nil, nil, nil])
    }

    @Test func whatAnotherProgramFetchedIsNotWhatTheValidatorsStandFor() async throws {
        let (fixture, server) = (try PagerFixture(), Server())
        let pager = fixture.pager(server, options: options)
        try await pager.refresh()
        let plan = try #require(try fixture.feed.plan(.head).request)
        var answer = Answer(next: .token("below 3"))
        for id in [PostID(4), 3] { answer.append(id: id, key: Int64(id.description)) }
        #expect(try fixture.feed.ingest(answer, for: plan.ticket).verdict == .ok)
        #expect(try fixture.picture == "[4 3 2 1] |…")
        // The server is back at its old state: 4 is gone, which "not modified" would not say.
        try await pager.refresh()
        #expect(try fixture.picture == "[3 2 1] |…")
    }

    @Test func anotherPageSizeIsAnotherPage() async throws {
        let (fixture, server) = (try PagerFixture(), Server())
        try await fixture.pager(server, options: options).refresh()
        var larger = options
        larger.pageSize = 50
        #expect(try await fixture.pager(server, options: larger).refresh(.ifStale).verdict == .ok)
        #expect(server.state.withLock { $0.asked } == [nil, nil])
    }

    /// The date goes with the posts: where those are refused, nothing is fresh.
    @Test func aPageThatIsRefusedIsNotFresh() async throws {
        let fixture = try PagerFixture()
        let isWrong = fixture.pager(Scripted { _ in .page([1, 3, 2], next: .end) }, options: options)
        #expect(try await isWrong.refresh().verdict == .contradiction)
        let isRight = fixture.pager(Scripted { _ in .page([3, 2, 1], next: .end) }, options: options)
        #expect(try await isRight.refresh(.ifStale).verdict == .ok)
        #expect(try await isRight.refresh(.ifStale) == .fresh)
        #expect(try fixture.picture.hasPrefix("[3 2 1]"))
    }

    /// Each page has the date of its own answer, across a restart, and leaves by it.
    @Test func pagesRememberWhenTheyWereFetched() async throws {
        let fixture = try PagerFixture()
        let pager = fixture.pager(
            Scripted {
                $0.place == .head ? .page([6, 5, 4], next: .token("n")) : .page([3, 2, 1], next: .end)
            })
        let start = fixture.clock.now
        try await pager.refresh()
        fixture.clock.advance(.seconds(5))
        try await pager.append()
        #expect(try pages(fixture).map(\.fetchedAt) == [start, start + 5_000])
        var policy = PrunePolicy()
        (policy.now, policy.maximumAge) = (start + 5_500, 1_000)
        try await pager.setVisible([])
        try await pager.prune(policy)
        #expect(try fixture.picture == "…| [3 2 1] |end")
    }

    @Test func notModifiedWithoutValidatorsIsAnError() async throws {
        let fixture = try PagerFixture()
        let pager = fixture.pager(Scripted { _ in PageResponse(.notModified) })
        await #expect(throws: PageFailure.self) { try await pager.refresh() }
        #expect(try await fixture.pager(Server()).refresh().verdict == .ok)
    }

    private func pages(_ fixture: PagerFixture) throws -> [PageInfo] {
        try fixture.feed.cache.withSnapshot { try $0.pages(of: fixture.feed, limit: 9) }
    }
}
