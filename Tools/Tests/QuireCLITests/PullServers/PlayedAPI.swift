import FlyingFox
import Foundation
import LoopbackServers
import Testing

/// A recorded post: its id, and its bytes as JSON.
struct PlayedPost: Sendable {
    let id: String
    let json: String
}

/// A server that shows recorded posts in the manner of their API.
struct PlayedAPI: Sendable, CustomTestStringConvertible {
    /// The profile that must be found.
    let profile: String
    /// The path of the first page.
    let path: String
    /// The posts on a page.
    let size: Int
    let posts: [PlayedPost]
    let answer: @Sendable (_ posts: [PlayedPost], _ request: HTTPRequest, _ size: Int) -> HTTPResponse

    var testDescription: String { profile }

    /// Reads the posts of recorded responses. Nil where there are no fixtures.
    static func posts(
        _ files: [String], at items: [String] = [], id path: [String], post: [String] = []
    ) -> [PlayedPost] {
        guard let folder = Shared.fixtures else { return [] }
        var (posts, seen): ([PlayedPost], Set<String>) = ([], [])
        for file in files {
            let data = FileManager.default.contents(atPath: "\(folder)/\(file)") ?? Data()
            var list = try? JSONSerialization.jsonObject(with: data)
            for key in items { list = (list as? [String: Any])?[key] }
            for item in list as? [Any] ?? [] {
                var value: Any? = item
                for key in path { value = (value as? [String: Any])?[key] }
                guard let value, let bytes = try? JSONSerialization.data(withJSONObject: item),
                    seen.insert("\(value)").inserted
                else { continue }
                posts.append(PlayedPost(id: "\(value)", json: String(decoding: bytes, as: UTF8.self)))
            }
        }
        return posts
    }

    /// Reads the posts of recorded pages that hold them in an object, and their order beside it.
    private static func channel(_ files: [String]) -> [PlayedPost] {
        guard let folder = Shared.fixtures else { return [] }
        return files.flatMap { file -> [PlayedPost] in
            let data = FileManager.default.contents(atPath: "\(folder)/\(file)") ?? Data()
            let page = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
            let posts = page?["posts"] as? [String: Any] ?? [:]
            return (page?["order"] as? [String] ?? []).compactMap { id in
                guard let post = posts[id], let bytes = try? JSONSerialization.data(withJSONObject: post)
                else { return nil }
                return PlayedPost(id: id, json: String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    // MARK: Manners

    /// Pages by number, counted from `first`.
    static func numbered(
        _ posts: [PlayedPost], _ request: HTTPRequest, _ size: Int, by name: String, first: Int
    ) -> (json: String, page: Int, pages: Int) {
        let size = request.query[name].flatMap { Int($0) } ?? size
        let page = request.query["page"].flatMap { Int($0) } ?? first
        let shown = posts.dropFirst((page - first) * size).prefix(size)
        return (array(shown), page, (posts.count + size - 1) / size)
    }

    static func array(_ posts: some Sequence<PlayedPost>) -> String {
        "[\(posts.map(\.json).joined(separator: ","))]"
    }

    private static func link(_ request: HTTPRequest, _ query: String) -> [String: String] {
        ["Link": "<http://\(request.headers[.host] ?? "")\(request.path)?\(query)>; rel=\"next\""]
    }

    /// The posts below the one that the request names, and whether more follow.
    static func below(
        _ posts: [PlayedPost], _ request: HTTPRequest, _ size: Int, by name: String, strictly: Bool = true
    ) -> (shown: ArraySlice<PlayedPost>, more: Bool) {
        let start = request.query[name].flatMap { id in posts.firstIndex { $0.id == id } }.map { $0 + 1 } ?? 0
        let shown = posts.dropFirst(start).prefix(size)
        return (shown, start + shown.count < posts.count)
    }

    static let all: [PlayedAPI] = [
        PlayedAPI(
            profile: "stackexchange", path: "/2.3/questions?site=stackoverflow&sort=activity", size: 30,
            posts: posts(
                (1...6).map { "stackexchange/so-activity-2018/pages/\($0).json" }, at: ["items"],
                id: ["question_id"])
        ) {
            let (json, page, pages) = numbered($0, $1, $2, by: "pagesize", first: 1)
            return .json(#"{"items": \#(json), "has_more": \#(page < pages), "quota_remaining": 99}"#)
        },
        PlayedAPI(
            profile: "mastodon", path: "/api/v1/timelines/public", size: 7,
            posts: posts(
                (2...4).map { "mastodon/mastodon.py/pages/test_pagination_iterator/00\($0).json" }, id: ["id"]
            )
        ) {
            let (shown, more) = below($0, $1, $2, by: "max_id")
            return .json(array(shown), headers: more ? link($1, "max_id=\(shown.last!.id)") : [:])
        },
        PlayedAPI(
            profile: "reddit", path: "/user/spez/comments", size: 100,
            posts: posts(
                (1...4).map { "reddit/praw/pages/TestListingGenerator.test_exhaust_items/00\($0).json" },
                at: ["data", "children"], id: ["data", "name"])
        ) {
            let (shown, more) = below($0, $1, $2, by: "after")
            let after = more ? "\"\(shown.last!.id)\"" : "null"
            return .json(
                #"{"kind": "Listing", "data": {"children": \#(array(shown)), "after": \#(after), "before": null}}"#
            )
        },
        PlayedAPI(
            profile: "hn-algolia", path: "/api/v1/search_by_date?tags=story", size: 2,
            posts: posts(["hn/todayinclojure/hn.json"], id: ["objectID"])
        ) {
            let (json, page, pages) = numbered($0, $1, $2, by: "hitsPerPage", first: 0)
            return .json(
                #"{"hits": \#(json), "page": \#(page), "nbPages": \#(pages), "nbHits": \#($0.count)}"#)
        },
        PlayedAPI(
            profile: "wordpress", path: "/wp-json/wp/v2/pages", size: 4,
            posts: posts(["wordpress/wp-pages.json"], id: ["id"])
        ) {
            let (json, page, pages) = numbered($0, $1, $2, by: "per_page", first: 1)
            let counts = ["X-WP-Total": "\($0.count)", "X-WP-TotalPages": "\(pages)"]
            let next = page < pages ? link($1, "per_page=\($2)&page=\(page + 1)") : [:]
            return .json(json, headers: counts.merging(next) { $1 })
        },
        PlayedAPI(
            profile: "gitlab", path: "/api/v4/projects/1/issues", size: 2,
            posts: posts(["gitlab/perceval/issue_page_1", "gitlab/perceval/issue_page_2"], id: ["id"])
        ) {
            let (json, page, pages) = numbered($0, $1, $2, by: "per_page", first: 1)
            return .json(
                json,
                headers: [
                    "X-Page": "\(page)", "X-Next-Page": page < pages ? "\(page + 1)" : "",
                    "X-Prev-Page": page > 1 ? "\(page - 1)" : "", "X-Total": "\($0.count)",
                    "X-Total-Pages": "\(pages)",
                ])
        },
        PlayedAPI(
            profile: "bluesky", path: "/xrpc/app.bsky.feed.getAuthorFeed?actor=a", size: 10,
            posts: posts(["bluesky/atproto.dart/getAuthorFeed.json"], at: ["feed"], id: ["post", "uri"])
        ) {
            let (shown, more) = below($0, $1, $2, by: "cursor")
            return .json(#"{"feed": \#(array(shown))\#(more ? ", \"cursor\": \"\(shown.last!.id)\"" : "")}"#)
        },
        PlayedAPI(
            profile: "discourse-posts", path: "/posts.json", size: 2,
            posts: posts(["discourse/discourse_api/posts_latest.json"], at: ["latest_posts"], id: ["id"])
        ) { .json(#"{"latest_posts": \#(array(below($0, $1, $2, by: "before").shown))}"#) },
        PlayedAPI(
            profile: "twitter2", path: "/2/users/1/tweets", size: 2,
            posts: posts(
                (1...4).map { "twitter/dart-pagination/data/tweets/dataset_\($0).json" }, at: ["data"],
                id: ["id"])
        ) {
            let (shown, more) = below($0, $1, $2, by: "pagination_token")
            let next = more ? #", "next_token": "\#(shown.last!.id)""# : ""
            return .json(#"{"data": \#(array(shown)), "meta": {"result_count": \#(shown.count)\#(next)}}"#)
        },
        PlayedAPI(
            profile: "askbot", path: "/en/api/v1/questions", size: 1,
            posts: posts(
                ["askbot/perceval/askbot_api_questions.json", "askbot/perceval/askbot_api_questions_2.json"],
                at: ["questions"], id: ["id"])
        ) {
            let (json, _, pages) = numbered($0, $1, $2, by: "none", first: 1)
            return .json(#"{"count": \#($0.count), "pages": \#(pages), "questions": \#(json)}"#)
        },
        PlayedAPI(
            profile: "matrix", path: "/_matrix/client/v3/rooms/r/messages?dir=b", size: 2,
            posts: posts(["matrix/nio/room_messages.json"], at: ["chunk"], id: ["event_id"])
        ) {
            let (shown, more) = below($0, $1, $2, by: "from")
            let end = more ? #", "end": "\#(shown.last!.id)""# : ""
            return .json(#"{"chunk": \#(array(shown)), "start": "\#($1.query["from"] ?? "t0")"\#(end)}"#)
        },
        PlayedAPI(
            profile: "mattermost", path: "/api/v4/channels/c/posts", size: 4,
            posts: channel([
                "mattermost/perceval/mattermost_posts.json", "mattermost/perceval/mattermost_posts_next.json",
            ])
        ) {
            let size = $1.query["per_page"].flatMap { Int($0) } ?? $2
            let page = $1.query["page"].flatMap { Int($0) } ?? 0
            let shown = $0.dropFirst(page * size).prefix(size)
            let order = shown.map { "\"\($0.id)\"" }.joined(separator: ",")
            let bodies = shown.map { "\"\($0.id)\": \($0.json)" }.joined(separator: ",")
            return .json("{\"order\": [\(order)], \"posts\": {\(bodies)}}")
        },
        PlayedAPI(
            profile: "itunes", path: "/search?term=x", size: 20,
            posts: posts(["itunes/http_service/itunes.json"], at: ["results"], id: ["trackId"])
        ) {
            let size = $1.query["limit"].flatMap { Int($0) } ?? $2
            let shown = $0.dropFirst($1.query["offset"].flatMap { Int($0) } ?? 0).prefix(size)
            return .json(#"{"resultCount": \#(shown.count), "results": \#(array(shown))}"#)
        },
    ]
}
