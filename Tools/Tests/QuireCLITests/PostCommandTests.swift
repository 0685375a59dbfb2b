import Foundation
import Testing

@Suite("get, export, delete, pin, and bodies of show", .timeLimit(.minutes(10)))
struct PostCommandTests {
    private let box: Sandbox

    init() throws {
        box = try Sandbox()
        _ = try box.quire(["ingest", box.cache, "a", "--collection", "so"] + box.pages(1...3))
        _ = try box.quire(["ingest", box.cache, "b", "--collection", "so"] + box.pages(2...2))
    }

    @Test("get says in which feeds a post stands, and prints its body")
    func get() throws {
        let run = try box.quire("get", box.cache, "985")
        #expect(run.status == 0 && run.lines.count == 5)
        #expect(run.lines[0] == "985 in collection \"so\"")
        #expect(
            run.lines[1] == "  feed a          row 15, page 2"
                && run.lines[2] == "  feed b          row 5, page 1")
        #expect(run.lines[3] == "  71 bytes:" && run.lines[4].hasPrefix("{\"question_id\": 985, "))
        let json = try box.quire("get", box.cache, "985", "--json").objects()[0]
        #expect((json["body"] as? [String: Any])?["title"] as? String == "post 985")
        let feeds = try #require(json["feeds"] as? [[String: Any]])
        #expect(feeds.map { $0["feed"] as? String } == ["a", "b"])
        #expect(feeds.map { $0["rank"] as? Int } == [15, 5])
        #expect(try box.quire("get", box.cache, "985", "--body").out == run.lines[4])
        let none = try box.quire("get", box.cache, "7")
        #expect(none.status == 65 && none.err == "quire: \(box.cache): no feed has a post 7\n")
        #expect(
            try box.quire("get", box.cache, "1000", "--feed", "b").err.contains("feed b has no post 1000"))
        #expect(try box.quire("get", box.cache, "985", "--body", "--json").status == 64)
    }

    @Test("get: one id in two collections")
    func collections() throws {
        _ = try box.quire("ingest", box.cache, "other", box.page("x.json", [985]))
        #expect(try box.quire("get", box.cache, "985", "--json").objects().count == 2)
        #expect(try box.quire("get", box.cache, "985").out.contains("985 in collection \"other\""))
        let body = try box.quire("get", box.cache, "985", "--body")
        #expect(body.status == 65 && body.err.contains("--feed chooses one of a, other"))
        #expect(try box.quire("get", box.cache, "985", "--body", "--feed", "other").status == 0)
    }

    @Test("A body in JSON is itself, or the text of what is no JSON")
    func bodies() throws {
        let numbers =
            #"{"question_id": 3, "a": [1.50, -0.0e2, 9007199254740993, "\u2028 x  y"],"b":{}}"#
        try box.write("n.json", "{\"items\": [\(numbers)], \"has_more\": false}")
        _ = try box.quire("ingest", box.cache, "n", box.path("n.json"))
        let run = try box.quire("show", box.cache, "n", "--json", "--body")
        let kept =
            #"{"body":{"question_id":3,"a":[1.50,-0.0e2,9007199254740993,"\u2028 x  y"],"#
            + #""b":{}},"bytes":"#
        #expect(run.out.hasPrefix(kept), "\(run.out)\(run.err)")
        try box.write(
            "feed.xml",
            "<rss version=\"2.0\"><channel><title>t</title><item><guid>g</guid><title>a \u{202E} b</title></item></channel></rss>"
        )
        _ = try box.quire("ingest", box.cache, "rss", box.path("feed.xml"))
        let post = try box.quire("show", box.cache, "rss", "--json", "--body").objects()[0]
        #expect(post["body"] != nil && post["text"] is String)
        #expect(try !box.quire("show", box.cache, "rss", "--json", "--body").out.contains("\u{202E}"))
        #expect(try box.quire("show", box.cache, "a", "--body").status == 64)
    }

    @Test("export: a number of posts, below a post, some by id")
    func export() throws {
        let all = try box.quire("export", box.cache, "a").lines
        #expect(all.count == 30)
        #expect(try box.quire("export", box.cache, "a", "-n", "3").lines == Array(all[..<3]))
        #expect(try box.quire("export", box.cache, "a", "--after", "972").lines == [all[29]])
        #expect(
            try box.quire("export", box.cache, "a", "--after", "990", "-n", "2").lines == Array(all[11...12]))
        #expect(try box.quire("export", box.cache, "a", "-n", "0").out.isEmpty)
        #expect(
            try box.quire("export", box.cache, "a", "--id", "999", "--id", "971").lines == [all[1], all[29]])
        let missing = try box.quire("export", box.cache, "a", "--id", "999", "--id", "7")
        #expect(missing.status == 65 && missing.out.isEmpty && missing.err.contains("has no post 7"))
        #expect(try box.quire("export", box.cache, "a", "--id", "999", "-n", "1").status == 64)
        #expect(try box.quire("export", box.cache, "a", "-n=-1").status == 64)
    }

    @Test("delete closes up; all of the posts, or none")
    func delete() throws {
        let before = try box.quire("show", box.cache, "a", "-n", "99", "--json").out
        let refused = try box.quire("delete", box.cache, "a", "985", "7")
        #expect(refused.status == 65 && refused.err.contains("feed a has no post 7"))
        #expect(try box.quire("show", box.cache, "a", "-n", "99", "--json").out == before)
        #expect(try box.quire("delete", box.cache, "a", "985", "984", "985").out == "a: deleted 2 posts\n")
        #expect(try box.quire("export", box.cache, "a", "--ids").lines.count == 28)
        #expect(try box.quire("gaps", box.cache, "a", "--exit-code").status == 0)
        #expect(try box.quire("get", box.cache, "985", "--json").objects().count == 1, "feed b has it still")
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("A pinned post is shown with *, and stays when the rest is pruned")
    func pin() throws {
        #expect(try box.quire("pin", box.cache, "a", "975").out == "a: pinned 1 post\n")
        #expect(try box.quire("show", box.cache, "a", "-n", "30").out.contains("\n*975 "))
        _ = try box.quire("prune", box.cache, "a", "--max-posts", "0")
        #expect(try box.quire("export", box.cache, "a", "--ids").lines.contains("975"))
        #expect(try box.quire("unpin", box.cache, "a", "975").out == "a: unpinned 1 post\n")
        _ = try box.quire("prune", box.cache, "a", "--max-posts", "0")
        #expect(try !box.quire("export", box.cache, "a", "--ids").lines.contains("975"))
        #expect(try box.quire("pin", box.cache, "a", "7").status == 65)
    }
}
