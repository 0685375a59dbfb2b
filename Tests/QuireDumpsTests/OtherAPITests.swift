import Quire
import Testing

/// What the profiles find in real responses, to the letter.
@Suite(.enabled(if: Fixtures.areThere, "needs ../shared/fixtures"))
struct OtherAPITests {
    struct API: Sendable, CustomTestStringConvertible {
        var file: String
        /// The name of a built-in profile, or the JSON of one.
        var profile: String
        var count: Int
        var first: String
        var next: Link = .unknown
        var previous: Link = .unknown
        var opaqueRows = 0
        var testDescription: String { file }
    }

    static let apis = [
        API(
            file: "github/perceval/github_request",
            profile: "github",
            count: 1, first: "1"),
        API(
            file: "graphql/cli/pr/list/fixtures/prList.json",
            profile: #"""
                {"name":"graphql","items":"data.repository.pullRequests.nodes","id":{"path":"number"},
                "next":{"path":"^.pageInfo.endCursor","more":"^.pageInfo.hasNextPage"}}
                """#,
            count: 3, first: "32", next: .end),
        API(
            file: "mastodon/mastodon.py/pages/test_fetch_next_previous/002.json",
            profile: "mastodon",
            count: 5, first: "117020580518794573"),
        API(
            file: "reddit/praw/pages/TestListingGenerator.test_exhaust_items/010.json",
            profile: "reddit",
            count: 100, first: "t1_c09jty6", next: .token("t1_c02bvo5")),
        API(
            file: "reddit/praw/pages/TestListingGenerator.test_exhaust_items/011.json",
            profile: "reddit",
            count: 1, first: "t3_3dautm", next: .end),
        API(
            file: "bluesky/atproto.dart/getAuthorFeed.json",
            profile: "bluesky",
            count: 25, first: "at://did:plc:gggcwmwoyak6op4pkqm76ckz/app.bsky.feed.post/3jukz62npim26",
            next: .token("1682809172466::bafyreihdpdn7uiqmshzb2y4o67gzy2aeairq6phuk476k2oidhy2p5dbwu")),
        API(
            file: "hn/todayinclojure/hn.json",
            profile: #"""
                {"name":"algolia","id":{"path":"objectID"},"key":{"path":"created_at_i"}}
                """#,
            count: 5, first: "22505748"),
        API(
            file: "hn/garrett/hn.json",
            profile: "hackernews",
            count: 500, first: "39992817", next: .end),
        API(
            file: "hn/ashwin/hackernews.json",
            profile: #"{"name":"hn","opaque_rows":true,"id":{"path":"id"}}"#,
            count: 99, first: "12579008", opaqueRows: 1),
        API(
            file: "twitter/simdjson/twitter.json",
            profile: "twitter1",
            count: 100, first: "505874924095815681",
            next: .token("?max_id=505874847260352512&q=%E4%B8%80&count=100&include_entities=1"),
            previous: .token("?since_id=505874924095815681&q=%E4%B8%80&include_entities=1")),
        API(
            file: "discourse/discourse_api/latest.json",
            profile: "discourse",
            count: 3, first: "1", next: .token("/latest.json?page=1")),
        API(
            file: "wordpress/wp-pages.json",
            profile: "wordpress",
            count: 10, first: "457"),
        API(
            file: "wordpress/activity-log-success-3.json",
            profile: #"""
                {"name":"activity","items":"current.orderedItems","id":{"path":"activity_id"},
                "key":{"path":"published"},"next":{"path":"current.next"}}
                """#,
            count: 19, first: "AV9O9QdZjEqjFGbxaO_m",
            next: .token(
                "https://public-api.wordpress.com/wpcom/v2/sites/activity002.mystagingwebsite.com/activity?number=20&page=2"
            )),
        API(
            file: "matrix/nio/room_messages.json",
            profile: "matrix",
            count: 3, first: "$1444812213350496Caaaa:example.com",
            next: .token("t47409-4357353_219380_26003_2265"),
            previous: .token("t47429-4392820_219380_26003_2265")),
        API(
            file: "nostr/old-new.json",
            profile: "nostr",
            count: 2, first: "1550ff0e62ef2b3872375cb522dd7c31137b395cc82ab70f7184369a88a2ff57",
            next: .token("until=1696725051"), previous: .token("since=1696725047")),
    ]

    @Test(arguments: apis)
    func pages(api: API) throws {
        let answer = try Fixtures.page(api.file, api.profile)
        #expect(answer.posts.count == api.count && answer.ids.first == api.first)
        #expect(answer.opaqueRows == api.opaqueRows)
        #expect(answer.next == api.next && answer.previous == api.previous)
    }

    @Test func twitterV2EndsWithoutAToken() throws {
        let folder = "twitter/dart-pagination/data/tweets"
        let pages = try (1...4).map { try Fixtures.page("\(folder)/dataset_\($0).json", "twitter2") }
        #expect(pages.allSatisfy { !$0.posts.isEmpty })
        #expect(pages.last?.next == .end)
    }
}
