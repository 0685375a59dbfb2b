import FlyingFox
import Foundation
import LoopbackServers
import Synchronization
import Testing

@testable import QuireCLI

/// Lists whose requests or answers are not JSON pages: RSS and Atom, GraphQL, lists of ids.
@Suite("quire pull of feeds, GraphQL and lists of ids", .timeLimit(.minutes(10)), .serialized)
struct PullFormTests {
    // MARK: RSS and Atom

    private static func atom(_ ids: some Sequence<Int>, _ inside: String = "") -> String {
        let entries = ids.map { id in
            "<entry><id>urn:\(id)</id><title>Post \(id)</title>"
                + "<updated>2024-05-\(10 + id)T10:00:00Z</updated></entry>"
        }
        return """
            <?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" \
            xmlns:fh="http://purl.org/syndication/history/1.0"><id>urn:list</id>\(inside)\(entries.joined())</feed>
            """
    }

    private static func link(_ relation: String, _ address: String) -> String {
        "<link rel=\"\(relation)\" href=\"\(address)\"/>"
    }

    @Test("a paged feed is followed to its last page, by relative links too")
    func paged() async throws {
        let server = try await LoopbackServer.start { request in
            switch request.query["p"] {
            case nil: .json(Self.atom([9, 8, 7], Self.link("next", "feed?p=2")))
            case "2": .json(Self.atom([6, 5], Self.link("previous", "feed") + Self.link("next", "?p=3")))
            default: .json(Self.atom([4, 3], Self.link("previous", "feed?p=2")))
            }
        }
        let box = try Sandbox()
        let run = try await box.pull("blog", server.address + "/a/feed")
        #expect(run.status == 0 && run.out.contains("whole: no gaps"), "\(run)")
        #expect(try await box.rows(of: "blog") == (3...9).reversed().map { "urn:\($0)" })
        #expect(
            server.requests.allSatisfy { $0.headers[HTTPHeader("Accept")]?.contains("atom+xml") ?? false })
        #expect(try await box.pull("blog").status == 0)
        #expect(try await box.other("check", box.cache).status == 0)
        let body = try await box.other("get", box.cache, "urn:3", "--body").out
        #expect(body.hasPrefix("<entry><id>urn:3</id>"))
    }

    @Test("a paged feed ends with the page that has no link, and is read with an empty line before it")
    func lastPage() async throws {
        let server = try await LoopbackServer.start { request in
            let text =
                request.query["p"] == nil
                ? Self.atom([9, 8], Self.link("next", "feed?p=2|%26")) : Self.atom([7])
            return request.query["p"].map { $0 == "2|&" } ?? true
                ? .json("\n" + text) : .json("", status: 404)
        }
        let box = try Sandbox()
        let run = try await box.pull("blog", server.address + "/a/feed")
        #expect(run.status == 0 && run.out.contains("whole: no gaps, head closed, end reached"), "\(run)")
        #expect(try await box.rows(of: "blog") == ["urn:9", "urn:8", "urn:7"] && server.requests.count == 2)
    }

    @Test("an archived feed is followed by prev-archive, and asked again with its tag")
    func archived() async throws {
        let server = try await LoopbackServer.start { request in
            switch request.path {
            case "/feed" where request.headers[HTTPHeader("If-None-Match")] == "\"1\"": .json("", status: 304)
            case "/feed":
                .json(Self.atom([9, 8], Self.link("prev-archive", "/2")), headers: ["ETag": "\"1\""])
            case "/2": .json(Self.atom([8, 7, 6], "<fh:archive/>" + Self.link("prev-archive", "/1")))
            default: .json(Self.atom([5, 4], "<fh:archive/>" + Self.link("current", "/feed")))
            }
        }
        let box = try Sandbox()
        let run = try await box.pull("blog", server.address + "/feed")
        #expect(run.out.contains("whole: no gaps"), "\(run)")
        #expect(try await box.rows(of: "blog") == (4...9).reversed().map { "urn:\($0)" })
        let again = try await box.pull("blog", "--json").objects()
        #expect(again.first?["verdict"] as? String == "not modified" && server.requests.count == 4)
    }

    @Test("a plain feed shows its newest items: what fell out between two calls is a gap")
    func window() async throws {
        let top = Mutex(5)
        let server = try await LoopbackServer.start { request in
            let top = top.withLock(\.self)
            let tag = "\"\(top)\""
            if request.headers[HTTPHeader("If-None-Match")] == tag { return .json("", status: 304) }
            let items = (top - 2...top).reversed().map { "<item><guid>\($0)</guid></item>" }
            let channel = "<channel><title>x</title>\(items.joined())</channel>"
            return .json("<rss version=\"2.0\">\(channel)</rss>", headers: ["ETag": tag])
        }
        let box = try Sandbox()
        let first = try await box.pull("news", server.address)
        #expect(first.status == 0 && first.out.contains("the end was not seen"), "\(first)")
        top.withLock { $0 = 7 }
        _ = try await box.pull("news")
        #expect(try await box.rows(of: "news") == ["7", "6", "5", "4", "3"])
        top.withLock { $0 = 20 }
        let before = server.requests.count
        let third = try await box.pull("news", "--json").objects()
        #expect(third.last?["gaps"] as? Int == 1 && third.last?["whole"] as? Bool == false)
        #expect(try await box.rows(of: "news") == ["20", "19", "18", "~", "7", "6", "5", "4", "3"])
        // What nothing can fill is not asked for.
        let fourth = try await box.pull("news", "--json").objects()
        #expect(fourth.first?["verdict"] as? String == "not modified", "\(fourth)")
        #expect(server.requests.count == before + 2)
    }

    @Test("what is neither JSON nor a feed leaves nothing", arguments: ["<posts/>", "<svg></svg>"])
    func noFeed(text: String) async throws {
        let server = try await LoopbackServer.start { _ in .json(text) }
        let box = try Sandbox()
        let run = try await box.pull("blog", server.address)
        #expect(run.status == 65 && run.err.contains("quire pull reads JSON, RSS and Atom"), "\(run)")
        #expect(!FileManager.default.fileExists(atPath: box.cache))
    }

    // MARK: GraphQL

    private static let profile = #"""
        {"name": "mine", "items": "data.repository.issues.nodes", "id": {"path": "id"},
         "next": {"path": "^.pageInfo.endCursor", "more": "^.pageInfo.hasNextPage"},
         "quota": {"path": "data.rateLimit.remaining"},
         "error": {"path": "errors", "message": "errors.0.message"},
         "request": {"body": {"query": "query($first: Int, $after: String) { … }",
           "variables": {"owner": "o", "first": "{limit}", "after": "{token}"}}}}
        """#

    private static func connection(_ request: HTTPRequest, of count: Int) async throws -> String {
        let body = try JSONSerialization.jsonObject(with: try await request.bodyData) as? [String: Any]
        let variables = try #require(body?["variables"] as? [String: Any])
        #expect(variables["owner"] as? String == "o" && body?["query"] as? String != nil)
        let size = try #require(variables["first"] as? Int)
        #expect(!(variables["after"] is NSNull), "a place without a value is left out")
        let start = (variables["after"] as? String).flatMap { Int($0.dropFirst()) } ?? 0
        let end = min(count, start + size)
        let nodes = (start..<end).map { #"{"id": "I\#(count - $0)"}"# }.joined(separator: ",")
        return #"""
            {"data": {"rateLimit": {"remaining": 50}, "repository": {"issues": {"nodes": [\#(nodes)],
             "pageInfo": {"hasNextPage": \#(end < count), "endCursor": "c\#(end)"}}}}}
            """#
    }

    @Test("GraphQL is asked by POST, with the cursor in the body")
    func graphQL() async throws {
        let server = try await LoopbackServer.start { request in
            guard request.method == .POST else { return .json("{}", status: 405) }
            return .json(try await Self.connection(request, of: 70))
        }
        let box = try Sandbox()
        try box.write("mine.json", Self.profile)
        let run = try await box.pull(
            "issues", server.address + "/graphql", "--profile-file", box.path("mine.json"))
        #expect(run.status == 0 && run.out.contains("whole: no gaps"), "\(run)")
        #expect(try await box.rows(of: "issues") == (1...70).reversed().map { "I\($0)" })
        #expect(server.requests.count == 4)
        #expect(
            server.requests.allSatisfy { $0.headers[HTTPHeader("Content-Type")] == "application/json" })
        let plan = try await box.pull("issues", "--plan")
        #expect(plan.out.contains("each request is a POST"), "\(plan)")
        #expect(try await box.pull("issues").status == 0)
    }

    @Test("an array of nothing but a place is sent when the place has a value, as Elasticsearch wants it")
    func searchAfter() async throws {
        let server = try await LoopbackServer.start { request in
            let body = try JSONSerialization.jsonObject(with: try await request.bodyData) as? [String: Any]
            let after = body?["search_after"] as? [String]
            if let after, after.count != 1 { return .json(#"{"error": "at least one value"}"#, status: 400) }
            let start = after.flatMap { Int($0[0]) } ?? 100
            let hits = (1..<start).reversed().prefix(30).map { #"{"_id": "h\#($0)", "sort": [\#($0)]}"# }
            return .json(#"{"hits": {"hits": [\#(hits.joined(separator: ","))]}}"#)
        }
        let box = try Sandbox()
        try box.write(
            "es.json",
            #"""
            {"name": "es", "items": "hits.hits", "id": {"path": "_id"}, "order": "stable",
             "key": {"path": "sort.0", "type": "integer"}, "next": {"template": "{key}"},
             "request": {"body": {"size": 30, "sort": [{"at": "desc"}], "search_after": ["{token}"]}}}
            """#)
        let run = try await box.pull("f", server.address + "/_search", "--profile-file", box.path("es.json"))
        #expect(run.status == 0 && run.out.contains("whole: no gaps"), "\(run)")
        #expect(try await box.rows(of: "f") == (1..<100).reversed().map { "h\($0)" })
    }

    @Test("a quota that is spent in the middle, with status 200, ends the work until it is renewed")
    func quotaInTheMiddle() async throws {
        let server = try await LoopbackServer.start { request in
            let text = try await Self.connection(request, of: 90)
            if text.contains(#""I90""#) { return .json(text) }
            return .json(
                #"{"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}"#,
                headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "3600"])
        }
        let box = try Sandbox()
        try box.write("mine.json", Self.profile)
        let run = try await PullInside(
            box, "issues", server.address, "--profile-file", box.path("mine.json"))
        #expect(run.end.stopped == .quota && run.end.posts == 20 && run.end.opening != nil, "\(run.end)")
        #expect(server.requests.count == 2)
    }

    private static let naming = profile.replacing(
        #""message": "errors.0.message""#,
        with: #"""
            "name": ["errors.0.type", "errors.0.extensions.code"], "message": "errors.0.message",
            "later": ["RATE_LIMITED", "THROTTLED"]
            """#)

    @Test(
        "a rate limit in an answer with status 200 is waited for, at the first request and in the middle",
        arguments: [
            #"{"type": "RATE_LIMITED", "message": "slow down"}"#,
            #"{"message": "slow down", "extensions": {"code": "THROTTLED"}}"#,
        ])
    func rateLimit(error: String) async throws {
        let count = Mutex(0)
        let server = try await LoopbackServer.start { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard [1, 2, 5].contains(number) else { return .json(try await Self.connection(request, of: 45)) }
            let headers = number == 5 ? ["Retry-After": "7"] : [:]
            return .json(#"{"data": null, "errors": [\#(error)]}"#, headers: headers)
        }
        let box = try Sandbox()
        try box.write("mine.json", Self.naming)
        let run = try await PullInside(
            box, "issues", server.address, "--profile-file", box.path("mine.json"))
        #expect(run.end.whole && run.end.posts == 45, "\(run.end)")
        #expect(server.requests.count == 6 && run.waits.contains { $0 >= .seconds(5) }, "\(run.waits)")
    }

    @Test("a rate limit that stays ends the work, for a later call")
    func lastingRateLimit() async throws {
        let server = try await LoopbackServer.start { request in
            let text = try await Self.connection(request, of: 45)
            if text.contains(#""I45""#) { return .json(text) }
            return .json(#"{"errors": [{"type": "RATE_LIMITED", "message": "slow down"}]}"#)
        }
        let box = try Sandbox()
        try box.write("mine.json", Self.naming)
        let run = try await PullInside(
            box, "issues", server.address, "--profile-file", box.path("mine.json"))
        #expect(run.end.stopped == .network && run.end.posts == 20, "\(run.end)")
        #expect(run.end.reason?.contains("RATE_LIMITED: slow down") ?? false, "\(run.end)")
        #expect(server.requests.count == 4)
    }

    @Test("any other error ends the work with the words of the server", arguments: [true, false])
    func otherErrors(isFirst: Bool) async throws {
        let server = try await LoopbackServer.start { request in
            let text = try await Self.connection(request, of: 45)
            if !isFirst && text.contains(#""I45""#) { return .json(text) }
            return .json(
                #"{"data": {}, "errors": [{"type": "NOT_FOUND", "message": "there is no such list"}]}"#)
        }
        let box = try Sandbox()
        try box.write("mine.json", Self.naming)
        let run = try await box.pull("issues", server.address, "--profile-file", box.path("mine.json"))
        #expect(run.status == 65 && server.requests.count == (isFirst ? 1 : 2), "\(run)")
        #expect((run.out + run.err).contains("NOT_FOUND: there is no such list"), "\(run)")
        #expect(FileManager.default.fileExists(atPath: box.cache) != isFirst)
    }

    @Test("a server that asks for patience before its API is known is asked again")
    func patience() async throws {
        let isFirst = Mutex(true)
        let server = try await LoopbackServer.start { _ in
            let refuses = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            if refuses {
                return .json(#"{"error": {"code": "maxlag", "info": "wait"}}"#, headers: ["Retry-After": "5"])
            }
            let rows = (0..<9).map {
                #"{"rcid": \#(90 - $0), "ns": 0, "timestamp": "2024-05-01T10:00:\#(30 - $0)Z"}"#
            }
            let changes = rows.joined(separator: ",")
            return .json(#"{"batchcomplete": true, "query": {"recentchanges": [\#(changes)]}}"#)
        }
        let box = try Sandbox()
        let run = try await PullInside(box, "changes", server.address + "/w/api.php")
        #expect(run.end.posts == 9 && server.requests.count == 2 && run.waits.contains { $0 >= .seconds(3) })
        #expect(run.notes.contains { $0.contains("read as mediawiki") }, "\(run.notes)")
    }

    // MARK: Lists of ids

    @Test("bodies of a list of ids are asked for one at a time, and a later call goes on")
    func bodies() async throws {
        let ids = (101...112).reversed().map(\.self)
        let server = try await LoopbackServer.start { request in
            if request.path == "/v0/topstories.json" { return .json("\(ids)") }
            guard let id = Int(request.path.split(separator: "/").last?.dropLast(".json".count) ?? "") else {
                return .json("{}", status: 404)
            }
            return .json(id == 105 ? "null" : #"{"id": \#(id), "title": "Story \#(id)"}"#)
        }
        let box = try Sandbox()
        let first = try await box.pull(
            "top", server.address + "/v0/topstories.json", "--pages", "6", "--json")
        let line = try first.objects().last
        #expect(line?["stopped"] as? String == "limit" && line?["bodies_missing"] as? Int == 7, "\(first)")
        #expect(try await box.pull("top", "--plan").out.contains("one at a time"))
        let second = try await box.pull("top", "--json").objects().last
        #expect(second?["bodies_missing"] as? Int == 0 && second?["requests"] as? Int == 8)
        let items = server.requests.map(\.path).filter { $0.hasPrefix("/v0/item/") }
        #expect(Set(items).count == ids.count && items.count == ids.count)
        // The server does not know story 105 any longer, so it leaves.
        #expect(try await box.rows(of: "top") == ids.filter { $0 != 105 }.map(String.init))
        #expect(try await box.other("get", box.cache, "103", "--body").out.contains("Story 103"))
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test("one body that the server refuses does not keep back the others")
    func refusedBody() async throws {
        let server = try await LoopbackServer.start { request in
            if request.path == "/list.json" { return .json("[5, 4, 3]") }
            if request.path == "/item/4.json" { return .json("{}", status: 404) }
            return .json(#"{"id": \#(request.path.dropFirst("/item/".count).prefix(1))}"#)
        }
        let box = try Sandbox()
        let line = try await box.pull(
            "top", server.address + "/list.json", "--profile", "hackernews", "--json"
        ).objects().last
        #expect(line?["bodies_missing"] as? Int == 1 && line?["stopped"] as? String == "stuck")
        #expect((line?["reason"] as? String)?.contains("body of 4") ?? false)
    }

    // MARK: Profiles of users

    @Test("a profile of one's own names the parameters of a request")
    func parameters() async throws {
        let server = try await LoopbackServer.start { request in
            let size = request.query["n"].flatMap { Int($0) } ?? 10
            let start = min(45, request.query["from"].flatMap { Int($0) } ?? 0)
            let ids = (start..<min(45, start + size)).map { #"{"id": \#(45 - $0)}"# }
            return .json(#"{"rows": [\#(ids.joined(separator: ","))], "all": 45}"#)
        }
        let box = try Sandbox()
        try box.write(
            "own.json",
            #"""
            {"name": "own", "items": "rows", "id": {"path": "id"}, "total": {"path": "all"}, "paging": "offset",
             "sizes": "free", "request": {"size": "n", "offset": "from"}}
            """#)
        let run = try await box.pull(
            "own", server.address + "/x?n=20", "--profile-file", box.path("own.json"))
        #expect(run.status == 0 && run.out.contains("whole"), "\(run)")
        #expect(try await box.rows(of: "own") == (1...45).reversed().map(String.init))
        #expect(server.requests.allSatisfy { $0.query["n"] != nil && $0.query["offset"] == nil })
    }

    @Test("WordPress without the header Link ends where its count of pages says")
    func noLink() async throws {
        let server = try await LoopbackServer.start { request in
            let (page, size) = (Int(request.query["page"] ?? "1")!, Int(request.query["per_page"] ?? "10")!)
            let ids = (0..<35).reversed().dropFirst((page - 1) * size).prefix(size)
            let posts = ids.map { #"{"id": \#($0 + 1), "date_gmt": "2024-01-01T10:00:\#(10 + $0)"}"# }
            return .json(
                "[\(posts.joined(separator: ","))]",
                headers: ["X-WP-Total": "35", "X-WP-TotalPages": "\((35 + size - 1) / size)"])
        }
        let box = try Sandbox()
        let run = try await box.pull("posts", server.address + "/posts", "--profile", "wordpress")
        #expect(run.status == 0 && run.out.contains("whole"), "\(run)")
        #expect(try await box.rows(of: "posts") == (1...35).reversed().map(String.init))
    }
}
