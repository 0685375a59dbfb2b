import Foundation
import Quire
import Testing

@testable import QuireDumps

/// What comes with a body: the request, the status, the headers, and what profiles make of them.
@Suite struct EnvelopeTests {
    private func envelope(_ text: String) throws -> Envelope {
        try Envelope(Array(text.utf8), name: "1.json.headers")
    }

    @Test func asCurlWritesIt() throws {
        let read = try envelope(
            "HTTP/1.1 302 Found\r\nlocation: /b\r\nX-Old: 1\r\n\r\n"
                + "HTTP/2 200 \r\nLink: <a>; rel=next\r\nX-Total:7\r\nlink: <b>; rel=last\r\n\r\n")
        #expect(read.status == 200 && read.request == nil && read.hasHeaders)
        #expect(read["link"] == "<a>; rel=next, <b>; rel=last" && read["x-total"] == "7")
        #expect(read["x-old"] == nil && read["location"] == nil)
    }

    @Test func withTheRequest() throws {
        let read = try envelope("GET https://a.example:443/l?page=3&q=%C3%A9\nHTTP/2 200\n\n")
        #expect(read.request == "https://a.example/l?page=3&q=%C3%A9")
        #expect(read.parameter("page") == "3" && read.parameter("q") == "é" && read.parameter("x") == nil)
        let bare = try envelope("GET http://localhost:3000/a")
        #expect(bare.request == "http://localhost:3000/a" && !bare.hasHeaders && bare.status == nil)
        #expect(try envelope("") == Envelope())
    }

    @Test(arguments: [
        ("HTTP/1.1 OK\n\n", "line 1 has no status code: \"HTTP/1.1 OK\""),
        ("HTTP/1.1 200\nlink\u{1b}[2J\n\n", "line 2 is not a header: \"link\\u{1B}[2J\""),
        ("HTTP/1.1 200\n: x\n\n", "line 2 is not a header: \": x\""),
        ("{\"a\": 1", nil as String?),
    ])
    func mistakesAreNamed(text: String, message: String?) {
        let error = dumpError { _ = try envelope(text) }
        #expect(error?.message == message.map { "1.json.headers: \($0)" })
    }

    @Test func headersHaveALimit() {
        let long = "HTTP/1.1 200\n" + String(repeating: "a: b\n", count: 300_000)
        #expect(dumpError { _ = try envelope(long) }?.kind == .limit)
    }

    @Test(arguments: [
        ("<https://a/?p=2>; rel=\"next\", <https://a/?p=9>; rel=\"last\"", "https://a/?p=2"),
        ("<b>;rel=prev,<a?x=1,2;3>;  REL = \"first NEXT\" ; title=\"x, <y>; rel=z\"", "a?x=1,2;3"),
        ("<a>; title=\"\\\"; rel=next\"; rel=up, <b>; rel=next", "b"),
        ("<a>; rel=up; rel=next, <b>; rel=next", "b"),
        ("<a>; rel=\"nextish\"", nil), ("<a; rel=next", nil), ("", nil), ("<>; rel=next", ""),
        ("<a>; rel=next, <b>; rel=next", "a"),
    ])
    func links(header: String, next: String?) {
        #expect(LinkHeader(header).addresses["next"] == next)
    }

    // MARK: Through a profile

    private func read(_ profile: String, _ body: String, _ envelope: String? = nil) throws -> Response {
        let profile = try Profile(json: Array(#"{"name":"x","id":{},\#(profile)}"#.utf8), name: "p")
        return try PageParser(profile: profile).read(
            Array(body.utf8), envelope: try envelope.map { try self.envelope($0) }, name: "1.json")
    }

    @Test(arguments: [
        (nil as String?, Link.unknown), ("GET https://a/l", .unknown), ("HTTP/2 200", .end),
        ("HTTP/2 200\nlink: <https://a/l?p=2>; rel=next", .token("https://a/l?p=2")),
        ("HTTP/2 200\nlink: <https://a/l?p=2>; rel=prev", .end),
        ("GET https://a/l\nHTTP/2 200\nlink: </l?p=2>; rel=next", .token("https://a/l?p=2")),
        ("GET https://a/l\nHTTP/2 200\nlink: <?p=2>; rel=next", .token("https://a/l?p=2")),
    ])
    func nextByRelation(envelope: String?, next: Link) throws {
        let response = try read(#""next":{"link":"next"},"self":{"request":true}"#, "[1]", envelope)
        #expect(response.answer.next == next)
        // The request alone is of no use where the links were not recorded.
        let isChained = envelope?.hasPrefix("GET https://a/l\nHTTP") == true
        #expect(response.own == (isChained ? .token("https://a/l") : nil))
    }

    @Test(arguments: [
        ("x-next: 4", Link.token("4")), ("x-next:", .end), ("x-other: 4", .end), ("x-next: 0", .end),
    ])
    func nextByHeader(header: String, next: Link) throws {
        let profile = #""next":{"header":"X-Next","end":"0"}"#
        #expect(try read(profile, "[1]", "HTTP/2 200\n\(header)\n").answer.next == next)
        #expect(try read(profile, "[1]").answer.next == .unknown)
    }

    @Test(arguments: [
        (1, 3, Link.more), (2, 3, .more), (3, 3, .end), (4, 3, .end), (1, 0, .unknown),
    ])
    func countedPages(page: Int, pages: Int, next: Link) throws {
        let profile = #""items":"i","next":{"counted":true},"page":{"path":"p"},"pages":{"path":"n"}"#
        let response = try read(profile, #"{"i":[1],"p":\#(page),"n":"\#(pages)"}"#)
        #expect(response.answer.next == next && response.page == page && response.pages == pages)
        #expect(response.own == .token("page=\(page)"))
        var run = Crawl(startingAt: .head(page: 1))
        let recorded = response.place(number: 1, in: &run).answer.next
        #expect(recorded == (next == .end ? .end : .token("page=\(page + 1)")))
    }

    /// Where pages are counted, a link that is missing is not the end, and a link that is there counts more.
    @Test(arguments: [
        ("?page=1", "X-WP-TotalPages: 3", Link.more), ("?page=2", "X-WP-TotalPages: 3", .more),
        ("?page=3", "X-WP-TotalPages: 3", .end), ("?page=4", "X-WP-TotalPages: 3", .end),
        ("", "X-WP-TotalPages: 3", .more), ("", "X-WP-TotalPages: 1", .end),
        ("", "X-WP-TotalPages: 0", .unknown), ("", "X-WP-Total: 1", .unknown),
        ("?page=2", "Date: today", .unknown),
        ("?page=2", "X-WP-TotalPages:", .unknown),
        ("?page=2", "X-WP-TotalPages: 3\nLink: <https://a/l?page=1>; rel=\"prev\"", .more),
        ("?page=3", "X-WP-TotalPages: 3\nLink: <https://a/l?page=2>; rel=\"prev\"", .end),
        (
            "?page=3", "X-WP-TotalPages: 3\nLink: <https://a/l?page=4>; rel=\"next\"",
            .token("https://a/l?page=4")
        ),
    ])
    func aMissingLinkOfCountedPages(query: String, headers: String, next: Link) throws {
        let envelope = try envelope("GET https://a/l\(query)\nHTTP/2 200\n\(headers)\n")
        let body = Array(#"[{"id": 1, "date_gmt": "2024-01-01T10:00:00"}]"#.utf8)
        let profile = try #require(Profile.named("wordpress"))
        let answer = try PageParser(profile: profile).read(body, envelope: envelope, name: "1.json").answer
        #expect(answer.next == next)
        let hasPrevious = headers.contains("prev")
        #expect(hasPrevious || answer.previous == .unknown)
        // Where pages are not asked for by their numbers, the count cannot say what follows.
        let tokens = #""next":{"link":"next"},"page":{"query":"page"},"pages":{"header":"X-WP-TotalPages"}"#
        let other = try read(tokens, "[1]", "GET https://a/l\(query)\nHTTP/2 200\n\(headers)").answer.next
        #expect(other == (next == .more ? .unknown : next == .unknown ? .end : next))
    }

    @Test func aCountOfPagesThatIsNone() throws {
        let profile = #""next":{"link":"next"},"page":{"query":"page"},"pages":{"header":"X-WP-TotalPages"}"#
        for count in ["-1", "many", "99999999999999999999", "3.5"] {
            let error = dumpError {
                _ = try read(profile, "[1]", "GET https://a/l\nHTTP/2 200\nX-WP-TotalPages: \(count)\n")
            }
            #expect(error?.message.contains("not a count") == true)
        }
    }

    @Test func noPagesBesidePostsAreNoCount() throws {
        let profile = #""items":"i","next":{"counted":true},"page":{"path":"p"},"pages":{"path":"n"}"#
        #expect(try read(profile, #"{"i":[1],"p":1,"n":0}"#).answer.next == .unknown)
        #expect(try read(profile, #"{"i":[],"p":1,"n":0}"#).answer.next == .end)
        #expect(try read(profile, #"{"i":[1],"p":1,"n":1}"#).answer.next == .end)
    }

    @Test(arguments: [(0, 30, 91, Link.more), (3, 30, 91, .end), (2, 30, 90, .end), (0, 0, 5, .unknown)])
    func countedPosts(page: Int, size: Int, total: Int, next: Link) throws {
        let profile = #"""
            "items":"i","next":{"counted":true},"page":{"query":"page"},"first_page":0,
            "total":{"header":"X-Total"},"page_size":{"path":"s"}
            """#
        let address = page == 0 ? "https://a/l" : "https://a/l?page=\(page)"
        let head = "GET \(address)\nHTTP/2 200\nX-Total: \(total)\n"
        let response = try read(profile, #"{"i":[1],"s":\#(size)}"#, head)
        #expect(response.answer.next == next && response.page == page && response.total == total)
    }

    /// What a total says is only good for its own page: the next one may have another total, or none.
    @Test func theNumberOfPostsIsUnknownOrChanges() throws {
        let profile = #"""
            "items":"i","next":{"counted":true},"page":{"path":"p"},"total":{"path":"t"},"page_size":{"path":"s"}
            """#
        func next(_ page: Int, total: String) throws -> Link {
            try read(profile, #"{"i":[1],"p":\#(page),"s":30\#(total)}"#).answer.next
        }
        #expect(try next(2, total: #","t":61"#) == .more && next(3, total: #","t":61"#) == .end)
        // five posts less, then thirty more
        #expect(try next(2, total: #","t":56"#) == .end && next(3, total: #","t":91"#) == .more)
        #expect(try next(2, total: "") == .unknown && next(2, total: #","t":null"#) == .unknown)
        #expect(try next(2, total: #","t":0"#) == .unknown)  // there is a post
        let wrong = dumpError { _ = try next(2, total: #","t":-1"#) }
        #expect(wrong?.message.contains("not a count") == true)
    }

    /// Everything around the questions that the API of Stack Exchange sends, and the number of the page that
    /// it counts from 1.
    @Test func theEnvelopeOfStackExchange() throws {
        let parser = PageParser(profile: try #require(Profile.named("stackexchange")))
        func read(_ body: String, _ query: String = "") throws -> Response {
            let request = Envelope(
                request: "https://api.stackexchange.com/2.3/questions\(query)", status: 200)
            return try parser.read(Array(body.utf8), envelope: request, name: "1.json")
        }
        let first = try read(
            #"{"items":[{"question_id":7}],"has_more":true,"backoff":10,"quota_max":300,"quota_remaining":287}"#
        )
        #expect(
            first.answer.ids == ["7"] && first.answer.next == .more && first.page == 1 && first.asked == .head
        )
        #expect(first.backoff == 10 && first.quota == 287)
        let last = try read(#"{"items":[],"has_more":false,"quota_remaining":0}"#, "?page=3")
        #expect(last.answer.next == .end && last.page == 3 && last.asked == .below && last.quota == 0)
        #expect(last.backoff == nil)
        let error = dumpError {
            _ = try read(#"{"error_id":502,"error_name":"throttle_violation","error_message":"wait"}"#)
        }
        #expect(error?.message == "1.json: error document: throttle_violation: wait")
    }

    @Test func linksFromPosts() throws {
        let json = #"""
            {"name":"x","id":{"path":"id"},"key":{"path":"k","type":"integer"},
            "next":{"template":"until={key}&not={id}"},"previous":{"template":"{id}"}}
            """#
        let parser = PageParser(profile: try Profile(json: Array(json.utf8), name: "p"))
        let page = try parser.parse(Array(#"[{"id":"a","k":9},{"id":"b","k":"-7"}]"#.utf8), name: "f")
        #expect(page.next == .token("until=-7&not=b") && page.previous == .token("a"))
        let empty = try parser.parse(Array("[]".utf8), name: "f")
        #expect(empty.next == .end && empty.previous == .unknown)
    }

    /// Stripe: one flag for both directions, which speaks of that of the request.
    @Test(arguments: [
        ("", true, Link.token("after=7"), Link.token("before=9")), ("", false, .end, .token("before=9")),
        ("?after=12", false, .end, .token("before=9")),
        ("?before=5", true, .token("after=7"), .token("before=9")),
        ("?before=5", false, .token("after=7"), .end),
    ])
    func aFlagBesideLinksFromPosts(query: String, more: Bool, next: Link, previous: Link) throws {
        let profile = #"""
            "items":"d","next":{"template":"after={id}","more":"more"},
            "previous":{"template":"before={id}","more":"more"}
            """#
        let head = "GET https://a/l\(query)\nHTTP/2 200\n"
        let page = try read(profile, #"{"d":[9,8,7],"more":\#(more)}"#, head).answer
        #expect(page.next == next && page.previous == previous)
        // An empty page is an end if the flag says so, and no end if it says that there is more.
        let empty = try read(profile, #"{"d":[],"more":\#(more)}"#, head).answer
        #expect(empty.next == (more || query == "?before=5" ? .unknown : .end))
    }

    /// Reddit: an empty page is also the answer if the post of the link is gone.
    @Test(arguments: [
        ("?after=t3_9", "", Link.unknown, true), ("", "", .end, false), ("?after=t3_9", "null", .end, false),
        ("?after=t3_9", #""t3_8""#, .end, false), ("?before=t3_9", "", .unknown, true),
    ])
    func anEmptyPageMayBeNoEnd(query: String, row: String, next: Link, isDoubtful: Bool) throws {
        let profile = #"""
            "items":"c","opaque_rows":true,"self":{"query":"after"},
            "request":{"above":["before"]},"next":{"path":"n","empty":"doubtful"}
            """#
        let response = try read(
            profile, #"{"c":[\#(row)],"n":null}"#, "GET https://a/l\(query)\nHTTP/2 200\n")
        #expect(response.answer.next == next && response.isEndDoubtful == isDoubtful)
        let more = try read(profile, #"{"c":[],"n":"t3_1"}"#, "GET https://a/l\(query)\nHTTP/2 200\n")
        #expect(more.answer.next == .token("t3_1") && !more.isEndDoubtful)
    }

    @Test func aRecordedExchange() throws {
        let exchange = "GET https://a/l?after=t1\r\nHTTP/1.1 200 OK\r\nretry-after: 7\r\n\r\n[\"é\", 5]\n"
        let response = try read(#""self":{"query":"after"},"backoff":{"header":"Retry-After"}"#, exchange)
        #expect(response.own == .token("t1") && response.backoff == 7)
        #expect(response.answer.ids == ["é", "5"] && response.answer.bodies == ["\"é\"", "5"])
        let error = dumpError { _ = try read(#""items":"i""#, "HTTP/1.1 200\n\n{\"i\":[tru]}") }
        #expect(error?.message == "1.json: not JSON: a bad word at byte 20")
    }

    @Test(arguments: [
        ("HTTP/1.1 503\n\n<html>", "HTTP 503"), ("HTTP/1.1 304\n\n", "HTTP 304"),
        ("HTTP/1.1 429\n\n{\"e\":{\"m\":\"slow\\u001b[1m\"}}", "HTTP 429: slow\\u{1B}[1m"),
    ])
    func statusOfErrors(exchange: String, message: String) {
        let error = dumpError { _ = try read(#""items":"i","error":{"path":"e","name":"e.m"}"#, exchange) }
        #expect(error == DumpError(.data, "1.json: error document: \(message)"))
    }

    @Test(arguments: ["-1", "1.5", "x", "9007199254740993", "\u{7f}"])
    func countsAreCounts(text: String) {
        let error = dumpError {
            _ = try read(#""total":{"header":"X-Total"}"#, "[]", "HTTP/2 200\nX-Total: \(text)\n")
        }
        #expect(error?.message.hasPrefix("1.json: header X-Total is \"") == true)
    }

    @Test func everyPlaceOfThePage() throws {
        let profile = #""items":"i","page":{"path":"p","header":"X-P","query":"p"},"first_page":0"#
        func page(_ body: String, _ envelope: String?) throws -> Int? {
            try read(profile, body, envelope).page
        }
        let head = "GET https://a/l?p=3\nHTTP/2 200\nX-P: 2\n"
        #expect(try page(#"{"i":[],"p":1}"#, head) == 1)
        #expect(try page(#"{"i":[]}"#, head) == 2)
        #expect(try page(#"{"i":[]}"#, "GET https://a/l?p=3") == 3)
        #expect(try page(#"{"i":[]}"#, "GET https://a/l") == 0)
        #expect(try page(#"{"i":[]}"#, nil) == nil)
    }

    /// One byte changed must end in an answer or an error, whatever the byte and the profile.
    @Test func damagedExchanges() {
        let exchange = Array(
            #"""
            GET https://a/l?page=2&after=x
            HTTP/1.1 200 OK
            Link: <https://a/l?page=3>; rel="next", <b>; rel=prev
            X-Page: 2
            Retry-After: 1.5

            {"items": [{"id": 7, "k": "é"}], "page": 2, "has_more": true, "data": null, "kind": "Listing"}
            """#.utf8)
        let parsers = Profile.builtIn.map { PageParser(profile: $0) }
        for place in exchange.indices {
            for value in [0, 0x0A, 0x22, 0x3C, 0x5B, 0x7B, 0xFF] as [UInt8] {
                var damaged = exchange
                damaged[place] = value
                for parser in parsers {
                    guard let answer = try? parser.read(damaged, name: "d").answer else { continue }
                    #expect(answer.posts.allSatisfy { damaged.indices.contains($0.body.lowerBound) })
                }
            }
        }
    }

    // MARK: Items in an object

    @Test func arranged() throws {
        let json = #"{"name":"x","id":{"path":"id"},"items":"posts","sequence":"order"}"#
        let parser = PageParser(profile: try Profile(json: Array(json.utf8), name: "p"))
        func read(_ page: String) throws -> Answer { try parser.parse(Array(page.utf8), name: "f") }
        let answer = try read(#"{"posts":{"a":{"id":"a"},"b":{"id":"b"},"c":{"id":"c"}},"order":["c","a"]}"#)
        #expect(answer.ids == ["c", "a"] && answer.bodies == [#"{"id":"c"}"#, #"{"id":"a"}"#])
        #expect(answer.opaqueRows == 1)
        #expect(dumpError { _ = try read(#"{"posts":{},"order":["x"]}"#) }?.message == "f: posts has no x")
        #expect(
            dumpError { _ = try read(#"{"posts":[],"order":[]}"#) }?.message
                == "f: posts is an array, not an object")
        #expect(
            dumpError { _ = try read(#"{"posts":{},"order":[1]}"#) }?.message
                == "f: order is not an array of strings")
        #expect(dumpError { _ = try read(#"{"posts":{}}"#) }?.message == "f: no order")
    }

    @Test func aroundTheItems() throws {
        var profile = try #require(Profile.named("graphql"))
        try profile.setItems(path: "data.x.nodes")
        let page = #"{"data":{"x":{"nodes":[{"id":"a"}],"pageInfo":{"hasNextPage":true,"endCursor":"c"}}}}"#
        #expect(try PageParser(profile: profile).parse(Array(page.utf8), name: "f").next == .token("c"))
        #expect(
            dumpError { try profile.setItems(path: "") }?.message
                == "^.pageInfo.endCursor: there is nothing around the items")
        #expect(profile.items.keys == ["data", "x", "nodes"])
    }
}
