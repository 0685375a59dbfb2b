import FlyingFox
import LoopbackServers
import Quire
import QuireHTTP
import QuirePaging
import Testing

@testable import TestSupport

/// A question is a feed: another question, another feed.
@Suite(.timeLimit(.minutes(10))) struct FeedParametersTests {
    private static let options = FeedOptions(order: .stable, pageSize: 3)
    private static let lists: [String: [UInt64]] = ["swift": [9, 8, 7], "c&c++": [5, 4]]

    private static func server() async throws -> LoopbackServer {
        try await LoopbackServer.start { request in
            let ids = lists[request.query["tagged"] ?? ""] ?? []
            let posts = ids.map { #"{"id":"\#($0)","key":\#($0),"body":{"id":\#($0)}}"# }
            return .json(#"{"posts":[\#(posts.joined(separator: ","))],"next":"end"}"#)
        }
    }

    private static func source(_ server: LoopbackServer) throws -> HTTPSource {
        try HTTPSource(
            "\(server.address)/questions?site={site}&tagged={tagged}&limit={limit}",
            profile: WireFeed(options).profile)
    }

    private static func ids(_ feed: Feed) throws -> [PostID] {
        try feed.cache.withSnapshot { try $0.rows(of: feed, limit: .max).compactMap(\.post?.id) }
    }

    @Test func twoQuestionsAreTwoLists() async throws {
        let (fixture, server) = (try PagerFixture(), try await Self.server())
        let feeds = try ["swift", "c&c++"].map {
            try fixture.feed.cache.feed(
                named: "questions", parameters: ["tagged": $0, "site": "so"], options: Self.options)
        }
        for feed in feeds { try await fixture.pager(try Self.source(server), of: feed).refresh() }
        #expect(feeds.map(\.name) == ["questions?site=so&tagged=swift", "questions?site=so&tagged=c%26c++"])
        #expect(try feeds.map(Self.ids) == [[9, 8, 7], [5, 4]])
        #expect(server.requests.map { $0.query["tagged"] } == ["swift", "c&c++"])
        #expect(server.requests.allSatisfy { $0.query["site"] == "so" })
    }

    /// A feed that is opened by its name asks what it asked before: the pager has no other way to know.
    @Test func aFeedIsAskedForAsItsNameSays() async throws {
        let (fixture, server) = (try PagerFixture(), try await Self.server())
        _ = try fixture.feed.cache.feed(
            named: "questions", parameters: ["tagged": "swift"], options: Self.options)
        let again = try #require(try fixture.feed.cache.existingFeed(named: "questions?tagged=swift"))
        try await fixture.pager(try Self.source(server), of: again).refresh()
        #expect(try Self.ids(again) == [9, 8, 7])
    }

    @Test func theOrderOfParametersIsNoQuestion() throws {
        let fixture = try PagerFixture()
        let cache = fixture.feed.cache
        let pairs = (0..<20).map { ("p\($0)", "\($0)") }
        let once = try cache.feed(named: "list", parameters: Dictionary(uniqueKeysWithValues: pairs))
        let again = try cache.feed(
            named: "list", parameters: Dictionary(uniqueKeysWithValues: pairs.reversed()))
        #expect(once.number == again.number)
        let other = try cache.feed(named: "list", parameters: ["p0": "0"])
        #expect(other.number != once.number)
    }

    /// Every list with every set of parameters has a name of its own, which gives the parameters back.
    @Test func noTwoQuestionsHaveOneName() throws {
        let fixture = try PagerFixture()
        let cache = fixture.feed.cache
        let words = ["", "a", "a=b", "a&b", "?", "%", "%3D", "ä b"]
        var names: Set<String> = []
        var count = 0
        for list in words where !list.isEmpty {
            let single = words.flatMap { key in words.map { [key: $0] } }
            let double = words.dropFirst().map { ["": $0, $0: ""] }
            for parameters in [[:]] + single + double {
                let feed = try cache.feed(named: list, parameters: parameters)
                #expect(feed.parameters == parameters, "\(feed.name)")
                names.insert(feed.name)
                count += 1
            }
        }
        #expect(names.count == count)
        #expect(try cache.feed(named: "plain", parameters: [:]).name == "plain")
    }

    @Test(arguments: ["what?", "50%", "a?b", "a?b=c&a=d", "a?b=%63", "a?b=c?", "a?a=1&a=2", "a?=b=c"])
    func aNameOfAnotherFormHasNoParameters(name: String) throws {
        let fixture = try PagerFixture()
        #expect(try fixture.feed.cache.feed(named: name).parameters == [:])
    }

    @Test func aQuestionThatIsTooLongMakesNoFeed() throws {
        let fixture = try PagerFixture()
        let cache = fixture.feed.cache
        let error = #expect(throws: QuireError.self) {
            try cache.feed(named: "list", parameters: ["q": String(repeating: "x", count: 250)])
        }
        #expect(error?.code == .badArgument)
        #expect(try cache.feeds().map(\.name) == ["main"])
    }
}
