import Quire
import Testing

@testable import QuireDumps

/// RSS and Atom as answers of a server: where the list goes on (RFC 5005).
@Suite struct SyndicationParserTests {
    private static func feed(_ inside: String) -> [UInt8] {
        Array(
            """
            <feed xmlns="http://www.w3.org/2005/Atom" xmlns:fh="http://purl.org/syndication/history/1.0">\(inside)
            <entry><id>a</id><updated>2024-05-01T10:00:00Z</updated><link rel="next" href="/wrong"/></entry>
            <entry><id>b</id><updated>2024-04-01T10:00:00Z</updated></entry></feed>
            """.utf8)
    }

    private static func link(_ relation: String, _ address: String) -> String {
        "<link rel='\(relation)' href='\(address)'/>"
    }

    @Test(arguments: [
        ("", Link.unknown),
        (link("self", "/x"), .unknown),
        (link("next", "2"), .token("https://a.example/b/2")),
        (link("NEXT", "?p=2"), .token("https://a.example/b/feed?p=2")),
        (link("prev-archive", "https://c.example/1"), .token("https://c.example/1")),
        (link("prev-archive", "/1") + link("next", "/2"), .token("https://a.example/2")),
        (link("previous", "/1"), .end),
        ("<fh:archive/>", .end),
        ("<fh:archive/>" + link("prev-archive", "/1"), .token("https://a.example/1")),
        ("<fh:complete/>" + link("next", "/2"), .end),
        ("<complete/>", .unknown),
    ])
    func whereItGoesOn(inside: String, next: Link) throws {
        let envelope = Envelope(request: "https://a.example/b/feed", status: 200)
        let response = try SyndicationParser.read(Self.feed(inside), envelope: envelope, name: "x")
        #expect(response.answer.next == next)
        #expect(response.answer.posts.map(\.id) == ["a", "b"])
        #expect(response.answer.posts.allSatisfy { $0.key != nil })
    }

    @Test func anItemWithoutAnIDIsARow() throws {
        let text =
            "<rss><channel><item><guid>7</guid></item><item/><item><guid>6</guid></item></channel></rss>"
        let answer = try SyndicationParser.read(Array(text.utf8), name: "x").answer
        #expect(answer.posts.map(\.id) == ["7", "6"] && answer.opaqueRows == 1)
        #expect(answer.posts.allSatisfy { $0.key == nil })
        let bodies = answer.posts.map { String(decoding: answer.bytes[$0.body], as: UTF8.self) }
        #expect(bodies == ["<item><guid>7</guid></item>", "<item><guid>6</guid></item>"])
    }

    @Test func aDateThatIsMissingTakesAllKeys() throws {
        let text =
            "<rss><channel><item><guid>7</guid><pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate></item>"
            + "<item/><item><guid>6</guid></item></channel></rss>"
        let answer = try SyndicationParser.read(Array(text.utf8), name: "x").answer
        #expect(answer.posts.count == 2 && answer.posts.allSatisfy { $0.key == nil })
    }

    @Test(arguments: [
        "", "<", "<rss>", "<html/>", "<rss/>x", "<!DOCTYPE rss [<!ENTITY a 'b'>]><rss>&a;</rss>",
    ])
    func whatIsNoFeed(text: String) {
        #expect(throws: DumpError.self) { try SyndicationParser.read(Array(text.utf8), name: "x") }
    }

    @Test func limits() {
        let deep = String(repeating: "<a>", count: 200)
        #expect(throws: DumpError.self) { try SyndicationParser.read(Array("<rss>\(deep)".utf8), name: "x") }
        let error = #expect(throws: DumpError.self) {
            try SyndicationParser.read(Self.feed(""), limit: 100, name: "x")
        }
        #expect(error?.kind == .limit)
    }
}
