import Foundation
import Testing

@Suite("quire profiles, and profiles of ingest", .timeLimit(.minutes(10)))
struct ProfilesTests {
    private static let listing = """
        {"kind": "Listing", "data": {"children": [{"kind": "t3", "data": {"name": "t3_b"}},
         {"kind": "t3", "data": {"name": "t3_a\\u001b[2J"}}], "after": "t3_a\\u202e", "before": null}}
        """

    @Test("all of them, as a table and as lines")
    func list() throws {
        let box = try Sandbox()
        let table = try box.quire("profiles")
        let lines = try box.quire("profiles", "--json").objects()
        #expect(table.lines.count == lines.count + 1 && lines.count >= 27)
        let names = lines.compactMap { $0["name"] as? String }
        #expect(names.contains("mastodon") && names == names.sorted())
        #expect(Set(lines[0].keys) == ["first_page", "has_key", "name", "order", "paging", "title"])
        #expect(try box.quire("profiles", "nothing").status == 64)
        #expect(try box.quire("profiles", "--source").status == 64)
    }

    @Test("one in words, and as it is written: a start for one's own")
    func one() throws {
        let box = try Sandbox()
        let words = try box.quire("profiles", "reddit")
        #expect(words.lines.first == "reddit: Reddit API: listings")
        let next = "  next       data.after; without it the end, but not on a page without posts"
        #expect(words.lines.contains(next))
        let source = try box.quire("profiles", "reddit", "--source")
        try box.write("p", source.out)
        #expect(try box.quire("profiles", "--profile-file", box.path("p")).out == words.out)
        try box.write("p", source.out.replacingOccurrences(of: "data.name", with: "data..name"))
        let wrong = try box.quire("profiles", "--profile-file", box.path("p"))
        #expect(wrong.status == 65 && wrong.err.contains("p: id.path: \"data..name\" has an empty key"))
        #expect(try box.quire("profiles", "--profile-file", box.path("q")).status == 66)
    }

    @Test("which one fits a response, and why")
    func explain() throws {
        let box = try Sandbox()
        try box.write("r.json", Self.listing)
        let run = try box.quire("profiles", "--explain", box.path("r.json"))
        #expect(run.status == 0 && run.lines[1].hasPrefix("reddit "))
        #expect(run.lines[1].hasSuffix("yes       2  has items, id, mark, next; no previous"))
        #expect(
            run.lines.contains {
                $0.hasPrefix("bluesky ") && $0.hasSuffix("no feed, where profile bluesky has its list")
            })
        #expect(run.lines.contains(#"  ids        t3_b, t3_a\u{1B}[2J"#))
        #expect(run.lines.contains(#"  next       t3_a\u{202E}"#))
        let lines = try box.quire("profiles", "--explain", box.path("r.json"), "--json").objects()
        #expect(lines.first?["profile"] as? String == "reddit" && lines.first?["posts"] as? Int == 2)
        #expect(lines.filter { $0["fits"] as? Bool == true }.count == 1)
        let other = try box.quire("profiles", "jsonfeed", "--explain", box.path("r.json"))
        #expect(other.status == 65 && other.lines[1].hasSuffix("no version"))
        #expect(other.lines.contains(#"  "data.children" of 2"#))
    }

    @Test("headers beside the response, and before it")
    func headers() throws {
        let box = try Sandbox()
        let link = "<https://a.example/l?page=2>; rel=\"next\""
        let headers = "GET https://a.example/l\nHTTP/2 200\nlink: \(link)\n"
        try box.write("a.json", #"[{"id": 1, "updated_at": "2024-05-01T10:00:00Z"}]"#)
        let bare = try box.quire("profiles", "github", "--explain", box.path("a.json"))
        #expect(bare.lines.contains("  next       not told"))
        try box.write("a.json.headers", headers)
        try box.write("b.json", headers + "\n[{\"id\": 1}]")
        for file in ["a.json", "b.json"] {
            let run = try box.quire("profiles", "--explain", box.path(file))
            #expect(run.lines.contains("  next       https://a.example/l?page=2"), "\(file)")
            #expect(run.lines.contains("  self       https://a.example/l"), "\(file)")
        }
        try box.write("a.json.headers", "HTTP/2 200\nnonsense\n")
        let wrong = try box.quire("profiles", "--explain", box.path("a.json"))
        #expect(
            wrong.status == 65 && wrong.err.contains("a.json.headers: line 2 is not a header: \"nonsense\""))
    }

    /// Only the headers tell that a page is missing: the names of the files do not.
    @Test("a crawl with headers joins where its links say so", arguments: [false, true])
    func crawl(isExchange: Bool) throws {
        let box = try Sandbox()
        let base = "https://a.example/issues"
        func page(_ number: Int) throws -> String {
            let name = "issues-\(["one", "two", "three", "four"][number - 1]).json"
            let next = number < 4 ? "link: <\(base)?page=\(number + 1)>; rel=\"next\"\n" : ""
            let address = number == 1 ? base : "\(base)?page=\(number)"
            let headers = "GET \(address)\nHTTP/2 200\n\(next)\n"
            let body = "[{\"id\": \(100 - 2 * number)}, {\"id\": \(99 - 2 * number)}]"
            if isExchange {
                try box.write(name, headers + body)
            } else {
                try box.write(name, body)
                try box.write(name + ".headers", headers)
            }
            return box.path(name)
        }
        let pages = try (1...4).map(page)
        let given = [pages[0], pages[1], pages[3]]
        let run = try box.quire(["ingest", box.cache, "i"] + given + ["--profile", "github", "--json"])
        #expect(try run.status == 0 && run.object()["new"] == 6)
        let gaps = try box.quire("gaps", box.cache, "i", "--json").objects()
        #expect(gaps.count == 1 && gaps.first?["down"] as? String == "\(base)?page=3")
        let gap = try #require(gaps.first?["gap"] as? String ?? (gaps.first?["id"] as? String))
        let fill = try box.quire("fill", box.cache, "i", gap, pages[2], "--json").object()
        #expect(fill["new"] == 2 && fill["gaps_closed"] == 1)
        #expect(try box.quire("gaps", box.cache, "i", "--json").out.isEmpty)
        let feed = try box.quire("feeds", box.cache, "--json").object()
        #expect(feed.text("tail") == "end" && feed["posts"] == 8)
        let ids = try box.quire("export", box.cache, "i", "--ids").lines
        #expect(ids == (91...98).reversed().map(String.init))
        #expect(try box.quire("check", box.cache).out == "no findings\n")
    }

    @Test("another array of the same API, remembered with the feed")
    func items() throws {
        let box = try Sandbox()
        try box.write("1.json", #"{"followers": [{"did": "did:plc:b"}], "cursor": "c"}"#)
        try box.write("2.json", #"{"followers": [{"did": "did:plc:a"}]}"#)
        let options = ["--profile", "bluesky", "--items", "followers", "--id", "did"]
        let first = try box.quire(["ingest", box.cache, "f", box.path("1.json")] + options)
        #expect(first.status == 0)
        let more = try box.quire("ingest", box.cache, "f", box.path("2.json"), "--place", "tail", "--json")
        #expect(try more.object()["new"] == 1)
        #expect(try box.quire("export", box.cache, "f", "--ids").lines == ["did:plc:b", "did:plc:a"])
        let wrong = try box.quire(["ingest", box.cache, "g", box.path("1.json")] + ["--items", "a..b"])
        #expect(wrong.status == 64 && wrong.err.contains("has an empty key"))
    }
}
