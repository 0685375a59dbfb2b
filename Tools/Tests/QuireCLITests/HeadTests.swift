import Foundation
import Testing

/// Only an answer to the request for the head closes the head; until then posts may be missing above the
/// first one, and every command says so.
@Suite("quire and the head", .timeLimit(.minutes(10)))
struct HeadTests {
    private let box: Sandbox
    private static let keyed = ["--order", "bump", "--key", "last_activity_date"]

    init() throws { box = try Sandbox() }

    private func head() throws -> JSONObject { try box.quire("feeds", box.cache, "--json").object() }

    @Test("pages 10 to 12 leave the head open in every command", arguments: [[], Self.keyed])
    func laterPages(options: [String]) throws {
        let pages = try box.pages(10...12)
        let run = try box.quire(["ingest", box.cache, "a"] + pages + options)
        #expect(run.status == 0)
        #expect(run.lines.last?.hasPrefix("  now 1 open head; ") == true)
        #expect(try head().text("head_kind") != "end" && head().flag("in_sequence") == false)
        let gaps = try box.quire("gaps", box.cache, "a", "--exit-code", "--json")
        #expect(gaps.status == 1)
        #expect(try gaps.object().text("id") == "head" && gaps.object().text("above_post") == "910")
        #expect(try box.quire("gaps", box.cache, "--exit-code").status == 1)
        #expect(try box.quire("show", box.cache, "a").out.contains("~~~~ open head: "))
        #expect(try box.quire("show", box.cache, "a").lines[0].contains("1 open head"))
        #expect(try box.quire("show", box.cache, "a", "--json").lines[0].contains(#""type":"head""#))
        #expect(try box.quire("feeds", box.cache).out.contains("0 + head"))
        #expect(try box.quire("stat", box.cache, "--json").object()["open_heads"] == 1)
    }

    @Test("the head's link names the page above, which goes on top")
    func theLinkOfTheHead() throws {
        _ = try box.quire(["ingest", box.cache, "a"] + box.pages(10...12))
        #expect(try head().text("head") == "page=9")
        let run = try box.quire(["ingest", box.cache, "a"] + box.pages(9...9) + ["--json"]).object()
        #expect(run["new"] == 10 && run.flag("in_sequence") == false)
        #expect(
            try box.quire("export", box.cache, "a", "--ids").lines == (881...920).reversed().map(String.init))
        #expect(try head().text("head") == "page=8")
    }

    @Test("the first page closes the head", arguments: [[], Self.keyed])
    func theFirstPage(options: [String]) throws {
        _ = try box.quire(["ingest", box.cache, "a"] + box.pages(2...3) + options)
        #expect(try head().flag("in_sequence") == false)
        let run = try box.quire(["ingest", box.cache, "a"] + box.pages(1...3) + options + ["--json"]).object()
        #expect(run.flag("in_sequence") == true)
        #expect(try box.quire("gaps", box.cache, "a", "--exit-code").status == 0)
        #expect(
            try box.quire("export", box.cache, "a", "--ids").lines
                == (971...1_000).reversed().map(String.init))
    }

    @Test("a broken first page is a gap that all count", arguments: [[], Self.keyed])
    func brokenFirstPage(options: [String]) throws {
        let pages = try box.pages(1...3)
        try box.write("1.json", "{")
        let run = try box.quire(["ingest", box.cache, "a"] + pages + options)
        #expect(run.status == 65)
        #expect(run.lines.last?.hasPrefix("  now 1 open head; ") == true)
        #expect(try box.quire("gaps", box.cache, "a", "--exit-code").status == 1)
        let json = try box.quire(["ingest", box.cache, "a", pages[1], "--json"]).object()
        #expect(json.flag("in_sequence") == false)
    }

    @Test("a first file whose request was for a later page does not close the head")
    func theRequestSaysWhich() throws {
        let page = try box.page("a.json", [20, 19])
        try box.write("a.json.headers", "GET https://api.example/2.2/questions?page=7\nHTTP/1.1 200 OK\n\n")
        #expect(try box.quire("ingest", box.cache, "a", page, "--json").object().flag("in_sequence") == false)
        let first = try box.page("b.json", [30, 29])
        try box.write("b.json.headers", "GET https://api.example/2.2/questions\nHTTP/1.1 200 OK\n\n")
        #expect(try box.quire("ingest", box.cache, "a", first).status == 0)
        #expect(try head().text("head_kind") == "end")
    }

    @Test("where pages are counted from 0, the first one is 0, whether the file says so or not")
    func countedFromZero() throws {
        func page(_ name: String, _ ids: [Int]) throws -> String {
            let topics = ids.map { #"{"id": \#($0), "bumped_at": "2024-05-03T10:00:00Z"}"# }
            let more = ids[0] == 9 ? #""more_topics_url": "/latest?page=1", "# : ""
            try box.write(name, #"{"topic_list": {\#(more)"topics": [\#(topics.joined(separator: ","))]}}"#)
            return box.path(name)
        }
        let counted = try [page("a.json", [9, 8]), page("b.json", [7, 6])]
        let named = try [page("0.json", [9, 8]), page("1.json", [7, 6])]
        for (feed, files) in [("a", counted), ("b", named)] {
            let run = try box.quire(
                ["ingest", box.cache, feed] + files + ["--profile", "discourse", "--json"])
            #expect(try run.object().flag("in_sequence") == true, "\(feed)")
        }
        let late = try box.quire("ingest", box.cache, "c", named[1], "--profile", "discourse", "--json")
            .object()
        #expect(late.flag("in_sequence") == false)
    }
}
