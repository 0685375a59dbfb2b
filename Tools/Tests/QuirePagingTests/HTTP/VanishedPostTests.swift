import FlyingFox
import LoopbackServers
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Synchronization
import Testing

/// A server whose links name the last post of a page, and which answers with an empty page and no link when
/// that post is gone. That is also how its list ends, if the last page is full. So Reddit does it.
@Suite(.timeLimit(.minutes(10))) struct VanishedPostTests {
    private final class Site {
        /// What the server does with a list before it answers a request for what is below a post.
        typealias Play = @Sendable (_ below: String, _ ids: inout [Int]) -> Void

        private final class State: Sendable { let ids = Mutex([Int]()) }

        private let state = State()
        private let server: LoopbackServer
        let fixture: PagerFixture
        let pager: Pager

        init(posts: Int, _ play: @escaping Play = { _, _ in }) async throws {
            state.ids.withLock { $0 = (1...posts).reversed() }
            server = try await LoopbackServer.start { [state] request in
                let ids = state.ids.withLock { ids in
                    if let after = request.query["after"] { play(after, &ids) }
                    return ids
                }
                var rest = ids[...]
                if let after = request.query["after"] {
                    let name = Int(after.dropFirst(3))
                    rest = ids.firstIndex { $0 == name }.map { ids[($0 + 1)...] } ?? []
                }
                let page = rest.prefix(10)
                let rows = page.map { #"{"kind": "t3", "data": {"name": "t3_\#($0)"}}"# }
                let after = page.count == 10 ? "\"t3_\(page.last!)\"" : "null"
                let children = rows.joined(separator: ",")
                return .json(
                    #"{"kind": "Listing", "data": {"children": [\#(children)], "after": \#(after)}}"#)
            }
            let profile = Profile.named("reddit")!
            var options = profile.options
            options.pageSize = 10
            fixture = try PagerFixture(options)
            let template = "\(server.address)/new?after={token}&limit={limit}"
            pager = fixture.pager(try HTTPSource(template, profile: profile))
        }

        func change(_ body: (inout [Int]) -> Void) { state.ids.withLock { body(&$0) } }

        var requests: Int { server.requests.count }

        /// The list as the feed should show it, whole.
        var picture: String {
            "[\(state.ids.withLock { $0.map { "t3_\($0)" } }.joined(separator: " "))] |end"
        }

        /// Returns true if the picture has these posts.
        static func all(_ ids: ClosedRange<Int>, but gone: Int? = nil, in picture: String) -> Bool {
            let shown = Set(picture.split { " []".contains($0) }.map(String.init))
            return ids.allSatisfy { $0 == gone || shown.contains("t3_\($0)") }
        }

        /// Asks for what is missing, from the top down, until nothing is.
        func fill() async throws {
            let feed = fixture.feed
            for _ in 0..<40 {
                let gap = try feed.cache.withSnapshot { try $0.gaps(of: feed).first?.id }
                let result: PageResult
                if let gap { result = try await pager.fill(gap) } else { result = try await pager.append() }
                if result == .refused(.end) { return }
            }
            Issue.record("it does not end")
        }
    }

    @Test func theListGoesOnWhoseLowestCachedPostIsGone() async throws {
        let site = try await Site(posts: 60)
        try await site.pager.refresh()
        try await site.pager.append()  // 60 to 41
        site.change { $0.removeAll { $0 == 41 } }
        let before = site.requests
        guard case .loaded(let outcome) = try await site.pager.append() else {
            Issue.record("append")
            return
        }
        // the empty page, and the one above, whose answer lacks 41 and has 40
        #expect(site.requests - before == 2 && outcome.new == ["t3_40"])
        try await site.fill()
        let picture = try site.fixture.picture
        #expect(Site.all(1...60, but: 41, in: picture) && picture.hasSuffix(" t3_1] |end"))
    }

    @Test func nothingLeavesBelowAGapWhoseBorderIsGone() async throws {
        let site = try await Site(posts: 40)
        try await site.pager.refresh()
        try await site.fill()
        site.change { $0.insert(contentsOf: (41...80).reversed(), at: 0) }
        try await site.pager.refresh()
        site.change { $0.removeAll { $0 == 71 } }
        try await site.fill()
        let picture = try site.fixture.picture
        #expect(Site.all(1...80, but: 71, in: picture))
        #expect(picture.hasSuffix(" t3_1] |end") && !picture.contains("~"))
    }

    @Test func aPageThatIsEmptyAgainIsTheEnd() async throws {
        let site = try await Site(posts: 40)
        try await site.pager.refresh()
        try await site.fill()
        // five pages, the last of them empty; then the fourth once more, and the empty one
        #expect(site.requests == 7)
        #expect(try site.fixture.picture == site.picture)
        #expect(try await site.pager.append() == .refused(.end))
    }

    @Test func whatTheServerNoLongerShowsLeavesInTheEnd() async throws {
        let site = try await Site(posts: 40)
        try await site.pager.refresh()
        try await site.fill()
        // the list is cut, and then grows: the gap leads to an end
        site.change { $0 = (41...80).reversed() }
        try await site.pager.refresh()
        try await site.fill()
        #expect(try site.fixture.picture == site.picture)
    }

    @Test func aPostThatLeavesWhileItIsAskedForTakesNothingAlong() async throws {
        let gone = Mutex(3)
        let site = try await Site(posts: 40) { below, ids in
            // the first three borders of the gap leave as soon as they are asked for
            guard let id = Int(below.dropFirst(3)), id > 45 else { return }
            gone.withLock { left in
                if left > 0 { ids.removeAll { $0 == id } }
                left -= 1
            }
        }
        try await site.pager.refresh()
        try await site.fill()
        site.change { $0.insert(contentsOf: (41...80).reversed(), at: 0) }
        try await site.pager.refresh()
        try await site.fill()
        let picture = try site.fixture.picture
        #expect(Site.all(1...40, in: picture))
        #expect(picture.hasSuffix(" t3_1] |end") && !picture.contains("~"))
    }
}
