import Foundation
import Testing

@Suite("collections, and feeds that go", .timeLimit(.minutes(10)))
struct CollectionToolTests {
    private static func issue(_ text: String) -> String { #"{"number":1,"title":"\#(text)"}"# }

    @Test("two feeds with the same ids keep their own bodies")
    func repositories() throws {
        let box = try Sandbox()
        for name in ["repoA", "repoB"] {
            try box.write(name + ".json", "[\(Self.issue(name))]")
            let run = try box.quire(
                "ingest", box.cache, name, box.path(name + ".json"), "--profile", "github", "--id", "number",
                "--items", "")
            #expect(run.status == 0, "\(run.err)")
        }
        for name in ["repoA", "repoB"] {
            #expect(try box.quire("export", box.cache, name).out == Self.issue(name) + "\n")
        }
        let feeds = try box.quire("feeds", box.cache, "--json").objects()
        #expect(feeds.map { $0["collection"] as? String } == ["repoA", "repoB"])
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("tables of one dump keep all their rows")
    func tables() throws {
        let box = try Sandbox()
        let names = ["posts", "users", "votes", "tags"]
        for (number, name) in names.enumerated() {
            let rows = (1...50 * (number + 1)).map { #"<row Id="\#($0)" Text="\#(name) \#($0)" />"# }
            let file = name.capitalized + ".xml"
            try box.write(file, "<?xml version=\"1.0\"?>\n<\(name)>\(rows.joined(separator: "\n"))</\(name)>")
            #expect(try box.quire("ingest", box.cache, name, box.path(file)).status == 0)
        }
        #expect(try box.quire("stat", box.cache, "--json").object()["posts"] == 500)
        for name in names {
            let bodies = try box.quire("export", box.cache, name).lines
            #expect(bodies.allSatisfy { $0.contains("\(name) ") }, "\(name)")
        }
    }

    @Test("a feed that exists keeps its collection, an empty one may take another")
    func fixed() throws {
        let box = try Sandbox()
        let page = try box.pages(1...1)
        _ = try box.quire(["ingest", box.cache, "a", "--collection", "so"] + page)
        #expect(try box.quire(["ingest", box.cache, "a"] + page).status == 0)
        let other = try box.quire(["ingest", box.cache, "a", "--collection", "x"] + page)
        #expect(other.status == 64 && other.err.contains("--collection \"so\", which cannot become \"x\""))
        #expect(try box.quire("reset", box.cache, "a").out == "a: reset, without 10 posts\n")
        #expect(try box.quire(["ingest", box.cache, "a", "--collection", "x"] + page).status == 0)
        let feeds = try box.quire("feeds", box.cache, "--json").objects()
        #expect(feeds.map { $0["collection"] as? String } == ["x"])
    }

    @Test("two first runs into one feed at the same time share its collection")
    func firstRunsAtOnce() throws {
        let box = try Sandbox()
        let page = try box.pages(1...1)
        try #require(try box.quire(["ingest", box.cache, "other"] + page).status == 0)
        let pipe = Pipe()
        let (late, _, err) = try box.start(
            Tool.path, ["ingest", box.cache, "a", "-"], input: pipe.fileHandleForReading)
        // More than a pipe holds: when it is written, the run has seen that there is no feed, and reads.
        let start = #"{"items": [{"question_id": 7, "title": ""# + String(repeating: "x", count: 300_000)
        try pipe.fileHandleForWriting.write(contentsOf: Data(start.utf8))
        #expect(try box.quire(["ingest", box.cache, "a"] + page).status == 0)
        try pipe.fileHandleForWriting.write(contentsOf: Data((#""}], "has_more": true}"# + "\n").utf8))
        try pipe.fileHandleForWriting.close()
        late.waitUntilExit()
        let said = try String(contentsOfFile: err, encoding: .utf8)
        #expect(late.status == 0, "\(said)")
        let feeds = try box.quire("feeds", box.cache, "--json").objects()
        #expect(feeds.map { $0["collection"] as? String } == ["a", "other"])
        #expect(feeds.first?["posts"] as? Int == 11)
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("a first page that is refused leaves no feed")
    func refusedFirstPage() throws {
        let box = try Sandbox()
        // keys must descend, and these do not
        let posts = (1...3).map { #"{"question_id": \#($0), "creation_date": \#($0)}"# }
        try box.write("1.json", #"{"items": [\#(posts.joined(separator: ","))], "has_more": true}"#)
        let keyed = ["--order", "stable", "--key", "creation_date"]
        let run = try box.quire(["ingest", box.cache, "a", box.path("1.json")] + keyed)
        #expect(run.status == 65 && run.err.contains("contradicts the order"))
        #expect(try box.quire("feeds", box.cache).out == "no feeds\n")
        let again = try box.quire("ingest", box.cache, "a", box.path("1.json"), "--order", "keyless")
        #expect(again.status == 0)
    }

    @Test("a feed is dropped; the feeds that share its posts keep them")
    func drop() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...2)
        for name in ["a", "b"] {
            _ = try box.quire(["ingest", box.cache, name, "--collection", "so"] + pages)
        }
        #expect(try box.quire("drop", box.cache, "a").out == "a: dropped, with 20 posts\n")
        #expect(try box.quire("feeds", box.cache, "--json").objects().count == 1)
        #expect(try box.quire("export", box.cache, "b").lines.count == 20)
        #expect(try box.quire("drop", box.cache, "a").status == 65)
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("a renamed feed keeps its posts; one that takes its old name gets a collection of its own")
    func rename() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...2)
        for name in ["a", "b"] { _ = try box.quire(["ingest", box.cache, name] + pages) }
        #expect(try box.quire("rename", box.cache, "a", "b").status == 65)
        #expect(try box.quire("rename", box.cache, "a", "").status == 64)
        let taken = try box.quire("rename", box.cache, "a", "-dash")
        #expect(taken.status == 64 && taken.err.contains("no option -dash; a name that"), "\(taken)")
        #expect(try box.quire("rename", box.cache, "a", "--", "-dash").status == 0)
        #expect(try box.quire("rename", box.cache, "--", "-dash", "a").status == 0)
        #expect(try box.quire("rename", "-h").out.contains("USAGE: quire rename"))
        #expect(try box.quire("rename", box.cache, "a", "c").out == "a: is called c now\n")
        _ = try box.quire(["ingest", box.cache, "a"] + pages)
        let feeds = try box.quire("feeds", box.cache, "--json").objects()
        #expect(feeds.map { $0["name"] as? String } == ["a", "b", "c"])
        #expect(feeds.map { $0["collection"] as? String } == ["a 2", "b", "a"])
        #expect(try box.quire("check", box.cache).status == 0)
    }
}
