import FlyingFox
import LoopbackServers
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Synchronization
import Testing

/// Servers over HTTP whose cursors expire, or name posts that are gone (R32): what is cached stays, the list
/// goes on, and no gap hides.
@Suite(.timeLimit(.minutes(10))) struct ExpiringLinksTests {
    private static let profile = #"""
        {"name": "x", "order": "keyless", "items": "items", "id": {"path": "id"}, "next": {"path": "next"},
         "since": {"path": "sync"}, "deleted": "gone", "error": {"path": "error", "expired": ["invalid_cursor"]}}
        """#

    /// A list whose cursors hold until `expire()`. Its requests are by link, ten posts a page.
    private final class Site {
        private final class State: Sendable {
            let list = Mutex((ids: [UInt64](), life: 0))
        }

        private let state = State()
        private let server: LoopbackServer
        let fixture: PagerFixture
        let pager: Pager

        /// - Parameter refusal: What a request with an old cursor is answered.
        init(
            posts: Int, isAlwaysDead: Bool = false,
            refusal: (text: String, status: Int) = (#"{"message": "cursor expired"}"#, 400)
        ) async throws {
            let state = state
            server = try await LoopbackServer.start { request in
                let (ids, life) = state.list.withLock { ($0.ids, $0.life) }
                if let since = request.query["since"] {
                    return since == "s\(life)"
                        ? .json(#"{"items": [], "sync": "s\#(life)"}"#)
                        : .json(#"{"message": "sync token too old"}"#, status: 410)
                }
                var start = 0
                if let cursor = request.query["cursor"] {
                    let parts = cursor.split(separator: "-").compactMap { UInt64($0) }
                    if isAlwaysDead || parts[1] != life {
                        return .json(refusal.text, status: refusal.status)
                    }
                    start = ids.firstIndex(of: parts[0])! + 1
                }
                let page = ids[start...].prefix(10)
                let rows = page.map { #"{"id": \#($0)}"# }.joined(separator: ",")
                let next = page.endIndex < ids.count ? #""\#(page.last!)-\#(life)""# : "null"
                return .json(#"{"items": [\#(rows)], "next": \#(next), "sync": "s\#(life)"}"#)
            }
            let profile = try Profile(json: Array(ExpiringLinksTests.profile.utf8), name: "profile")
            var options = profile.options
            options.pageSize = 10
            fixture = try PagerFixture(options)
            let template = "\(server.address)/list?cursor={token}&since={since}"
            pager = fixture.pager(try HTTPSource(template, profile: profile))
            insert(posts)
        }

        func insert(_ count: Int) {
            state.list.withLock { list in
                for _ in 0..<count { list.ids.insert(UInt64(list.ids.count + 1), at: 0) }
            }
        }

        func expire() { state.list.withLock { $0.life += 1 } }

        /// How many requests `body` makes.
        func requests(_ body: (Pager) async throws -> Void) async throws -> Int {
            let before = server.requests.count
            try await body(pager)
            return server.requests.count - before
        }

        /// The list as the feed should show it, whole.
        var picture: String {
            "[\(state.list.withLock { $0.ids.map { "\($0)" } }.joined(separator: " "))] |end"
        }
    }

    private static let refusals = [
        (#"{"message": "cursor expired"}"#, 400), ("gone", 410), ("", 404), ("{}", 422),
        (#"{"ok": false, "error": "invalid_cursor"}"#, 200),
    ]

    @Test(arguments: refusals) func appendGoesOnAndNothingCachedIsLost(_ text: String, _ status: Int)
        async throws
    {
        let site = try await Site(posts: 60, refusal: (text, status))
        try await site.pager.refresh()
        for _ in 0..<3 { try await site.pager.append() }
        site.expire()
        site.insert(3)
        // two cursors are refused, the head's page leads to four pages, of which the last has new posts
        let requests = try await site.requests { pager in
            guard case .loaded(let outcome) = try await pager.append() else {
                Issue.record("append")
                return
            }
            #expect(outcome.new == (14...20).reversed().map { PostID(UInt64($0)) } && outcome.removed.isEmpty)
        }
        #expect(requests == 7)
        let (posts, gaps) = try site.fixture.feed.cache.withSnapshot { snapshot in
            let info = try snapshot.info(of: site.fixture.feed)
            return (info.posts, info.gaps)
        }
        #expect(posts == 50 && gaps == 0)
        while try await site.pager.append() != .refused(.end) {}
        #expect(try site.fixture.picture == site.picture)
    }

    @Test(arguments: [
        (#"{"message": "no"}"#, 401), ("", 403), ("", 500), (#"{"ok": false, "error": "fatal"}"#, 200),
    ])
    func otherRefusalsAreFailures(_ text: String, _ status: Int) async throws {
        let site = try await Site(posts: 30, refusal: (text, status))
        try await site.pager.refresh()
        try await site.pager.append()
        let shown = try site.fixture.picture
        site.expire()
        await #expect(throws: PageFailure.self) { try await site.pager.append() }
        #expect(try site.fixture.picture == shown)
    }

    /// The way down to the tail begins above a gap: that is no end.
    @Test func theGapAboveIsFilledFirst() async throws {
        let site = try await Site(posts: 60)
        try await site.pager.refresh()
        try await site.pager.append()
        site.insert(25)
        #expect(try await site.pager.refresh().verdict == .gap)
        site.expire()
        let feed = site.fixture.feed
        #expect(try await site.pager.append() == .refused(.fillFirst))
        #expect(try feed.cache.withSnapshot { try $0.info(of: feed).posts } == 30)
        let gap = try feed.cache.withSnapshot { try $0.gaps(of: feed)[0].id }
        while try await site.pager.fill(gap) != .refused(.noSuchGap) {}
        while try await site.pager.append() != .refused(.end) {}
        #expect(try site.fixture.picture == site.picture)
    }

    @Test func aGapIsFilledWhoseLinkHasExpired() async throws {
        let site = try await Site(posts: 20)
        try await site.pager.refresh()
        site.insert(25)
        #expect(try await site.pager.refresh().verdict == .gap)
        site.expire()
        let feed = site.fixture.feed
        let gap = try feed.cache.withSnapshot { try $0.gaps(of: feed)[0].id }
        // the link is refused, the head's page has a new one, and that leads into the gap
        let requests = try await site.requests { pager in
            let result = try await pager.fill(gap)
            #expect(result.verdict == .gap)
        }
        #expect(requests == 3)
        #expect(try feed.cache.withSnapshot { try $0.gaps(of: feed).count } == 1)
        #expect(try await site.pager.fill(gap, pages: 9).verdict == .joined)
        while try await site.pager.append() != .refused(.end) {}
        #expect(try site.fixture.picture == site.picture)
    }

    @Test func aServerThatRefusesWhatItHasJustGivenIsNotAskedForEver() async throws {
        let site = try await Site(posts: 30, isAlwaysDead: true)
        try await site.pager.refresh()
        let shown = try site.fixture.picture
        for _ in 0..<2 {
            // the stored link, the head, and its link, which is as young as the call
            let requests = try await site.requests { pager in
                await #expect(throws: PageFailure.self) { try await pager.append() }
            }
            #expect(requests == 3)
        }
        #expect(try site.fixture.picture.hasPrefix(shown.prefix { $0 != "|" }))
    }

    @Test func anExpiredTokenOfChangesIsReplacedByThatOfARefresh() async throws {
        let site = try await Site(posts: 5)
        try await site.pager.refresh()
        site.expire()
        site.insert(1)
        #expect(try await site.requests { _ = try await $0.update() } == 2)
        #expect(try site.fixture.picture == site.picture)
        #expect(try await site.requests { _ = try await $0.update() } == 1)
    }

    @Test func postsThatAreGoneAtTheBorderLeaveAndTheListGoesOn() async throws {
        let ids = Mutex((1...40).reversed().map { $0 })
        let server = try await LoopbackServer.start { request in
            let ids = ids.withLock(\.self)
            var start = 0
            if let id = request.query["below"].flatMap({ Int($0) }) {
                guard let at = ids.firstIndex(of: id) else {
                    return .json(#"{"message": "no such post"}"#, status: 404)
                }
                start = at + 1
            }
            let rows = ids[start...].prefix(10).map { #"{"id": \#($0)}"# }.joined(separator: ",")
            return .json(#"{"items": [\#(rows)]}"#)
        }
        let json = #"""
            {"name": "x", "order": "stable", "paging": "keyset", "items": "items", "id": {"path": "id"},
             "key": {"path": "id"}}
            """#
        let profile = try Profile(json: Array(json.utf8), name: "profile")
        let fixture = try PagerFixture(profile.options)
        let pager = fixture.pager(
            try HTTPSource("\(server.address)/list?below={below}&n={limit}", profile: profile))
        try await pager.refresh()
        try await pager.append()  // 40 to 21
        ids.withLock { $0.removeAll { (21...24).contains($0) } }
        // 21, 22 and 24 are refused; 28 is there
        let before = server.requests.count
        guard case .loaded(let outcome) = try await pager.append() else {
            Issue.record("append")
            return
        }
        #expect(server.requests.count - before == 4)
        #expect(outcome.removed.count == 4 && outcome.new.count == 7)
        let shown = ids.withLock { $0.prefix { $0 >= 14 }.map { "\($0)" }.joined(separator: " ") }
        #expect(try fixture.picture.hasPrefix("[\(shown)]"))
    }
}
