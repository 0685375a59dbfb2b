import Foundation
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

    // MARK: Relative addresses

    /// The ids of posts that have only links, and where the list goes on.
    private func links(_ text: String, from request: String? = "https://a.example/b/feed") throws -> [String]
    {
        let envelope = request.map { Envelope(request: $0, status: 200) }
        let answer = try SyndicationParser.read(Array(text.utf8), envelope: envelope, name: "x").answer
        return answer.posts.map(\.id.description) + [answer.next.description]
    }

    private static let atom = "<feed xmlns='http://www.w3.org/2005/Atom' "

    @Test func xmlBase() throws {
        let inside = Self.link("next", "?p=2") + "<entry><link href='1'/></entry>"
        let bases: [(base: String, links: [String])] = [
            (">", ["https://a.example/b/1", "https://a.example/b/feed?p=2"]),
            ("xml:base='https://c.example/d/'>", ["https://c.example/d/1", "https://c.example/d/?p=2"]),
            ("xml:base='/d/'>", ["https://a.example/d/1", "https://a.example/d/?p=2"]),
            ("xml:base='e/'>", ["https://a.example/b/e/1", "https://a.example/b/e/?p=2"]),
            ("xml:base=''>", ["https://a.example/b/1", "https://a.example/b/feed?p=2"]),
            ("base='https://c.example/'>", ["https://a.example/b/1", "https://a.example/b/feed?p=2"]),
            ("xml:base='https://['>", ["https://a.example/b/1", "https://a.example/b/feed?p=2"]),
        ]
        for (base, expected) in bases {
            #expect(try links("\(Self.atom)\(base)\(inside)</feed>") == expected, "\(base)")
        }
        // Without an address of the document, only a complete base makes links complete.
        #expect(try links("\(Self.atom)>\(inside)</feed>", from: nil) == ["1", "?p=2"])
        #expect(try links("\(Self.atom)xml:base='e/'>\(inside)</feed>", from: nil) == ["1", "?p=2"])
        let complete = try links("\(Self.atom)xml:base='https://c.example/'>\(inside)</feed>", from: nil)
        #expect(complete == ["https://c.example/1", "https://c.example/?p=2"])
    }

    @Test func aBaseHoldsInsideItsElement() throws {
        let text = """
            \(Self.atom)xml:base="https://c.example/"><title xml:base="https://wrong.example/"/>
            <entry xml:base="d/"><link href="1"/></entry>
            <entry xml:base="d/"><content xml:base="e/"/><link xml:base="f/" href="2"/></entry>
            <entry><link href="3"/></entry>
            <entry><id>4</id><link href="4"/></entry>
            <entry><link href="https://D.example/%7e5"/></entry>
            <link rel="next" xml:base="p/" href="2"/></feed>
            """
        #expect(
            try links(text) == [
                "https://c.example/d/1", "https://c.example/d/f/2", "https://c.example/3", "4",
                "https://D.example/%7e5", "https://c.example/p/2",
            ])
    }

    /// The link of an RSS channel is that of the site, so it says nothing of the pages of the feed.
    @Test func theChannelOfRSS() throws {
        let inside = "<item><link> /1 </link></item><item><link>2</link></item><item><guid>/3</guid></item>"
        let next = "<a:link xmlns:a='http://www.w3.org/2005/Atom' rel='next' href='?p=2'/>"
        func rss(_ channel: String, _ base: String = "") -> String {
            "<rss \(base)><channel>\(channel)\(next)\(inside)</channel></rss>"
        }
        let paged = "https://a.example/b/feed?p=2"
        #expect(
            try links(rss("<link>https://s.example/x/y</link>"))
                == ["https://s.example/1", "https://s.example/x/2", "/3", paged])
        #expect(
            try links(rss("<link>/x/</link>"))
                == ["https://a.example/1", "https://a.example/x/2", "/3", paged])
        #expect(
            try links(rss("<image><link>https://i.example/</link></image>"))
                == ["https://a.example/1", "https://a.example/b/2", "/3", paged])
        let both = rss("<link>https://s.example/</link>", "xml:base='https://c.example/d/'")
        #expect(
            try links(both)
                == ["https://c.example/1", "https://c.example/d/2", "/3", "https://c.example/d/?p=2"])
        let rdf = """
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
            <channel><link>https://s.example/</link></channel><image><link>https://i.example/</link></image>
            <item><link>1</link></item></rdf:RDF>
            """
        #expect(try links(rdf) == ["https://s.example/1", Link.unknown.description])
    }

    /// Bases cannot make a document slow: a long one is not in force, and each is resolved once.
    @Test func manyBases() throws {
        let long = String(repeating: "x", count: 3_000)
        #expect(
            try links(
                "\(Self.atom)xml:base='https://c.example/\(long)/'><entry><link href='1'/></entry></feed>")
                == ["https://a.example/b/1", Link.unknown.description])
        let entry = "<entry xml:base='\(long.prefix(2_000))/'><link href='1'/></entry>"
        let text = "\(Self.atom)>" + String(repeating: entry, count: 500) + "</feed>"
        #expect(try links(text).count == 501)
    }

    @Test func aFileOfRSS() throws {
        let text =
            "<rss><channel><link>https://s.example/x/</link><item><link>1</link></item></channel></rss>"
        let path = NSTemporaryDirectory() + "/quire-base-" + UUID().uuidString
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let options = InputOptions(profile: Profile.named("jsonfeed")!)
        let page = PageReader(Input.list([path]), options).next()
        #expect(page?.answer?.ids == ["https://s.example/x/1"])
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
