import Foundation
import Testing

@Suite("quire ingest and fill", .timeLimit(.minutes(10)))
struct IngestTests {
    private static let closing: Set<String> = [
        "pages", "pages_failed", "received", "new", "duplicates", "duplicates_in_page",
        "updated", "moved", "removed", "gaps_opened", "gaps_closed", "in_sequence", "interrupted",
        "unverified",
        "elapsed_ms", "bytes", "dry_run", "against_order", "fitting_order", "open_head", "outdated",
        "opaque_rows", "unplaced",
        "unplaced_count", "missing_pages", "pages_before", "pages_empty", "pages_repeated",
        "sharing_id", "telling_field",
    ]
    private static let keyed = ["--order", "bump", "--key", "last_activity_date"]

    @Test("a crawl goes in; the closing line has its names in order")
    func ingest() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...40)
        let run = try box.quire(["ingest", box.cache, "a"] + pages + ["--json"])
        #expect(run.status == 0 && run.err.isEmpty)
        let line = try run.object()
        #expect(Set(line.values.keys) == Self.closing)
        let names = run.out.split(separator: "\"").map(String.init).filter(Self.closing.contains)
        #expect(names == Self.closing.sorted())
        #expect(line["pages"] == 40 && line["pages_failed"] == 0)
        #expect(line["received"] == 400 && line["new"] == 400 && line["duplicates"] == 0)
        #expect(line["gaps_opened"] == 0 && line["unverified"] == 39)
        #expect(line.flag("in_sequence") == true)
        let size = pages.compactMap { FileManager.default.contents(atPath: $0)?.count }.reduce(0, +)
        #expect(line["bytes"] == size)
        let ids = try box.quire("export", box.cache, "a", "--ids")
        #expect(ids.lines == (601...1_000).reversed().map(String.init))
        #expect(try box.quire("check", box.cache).out == "no findings\n")
    }

    @Test("without --json there is a summary for people")
    func summary() throws {
        let box = try Sandbox()
        let run = try box.quire(["ingest", box.cache, "a"] + box.pages(1...2))
        #expect(run.lines.first?.hasPrefix("a: 2 pages, ") == true)
        #expect(run.lines.dropFirst().first == "  20 received: 20 new, 0 known already")
        #expect(run.lines.last == "  now in sequence; 1 join is unverified")
    }

    @Test("a folder means its files in natural order")
    func folder() throws {
        let box = try Sandbox()
        _ = try box.pages(1...12)
        try box.write("notes.txt", "not a page")
        let run = try box.quire("ingest", box.path("c.quire"), "a", box.folder, "--json")
        #expect(try run.object()["pages"] == 12)
        let ids = try box.quire("export", box.path("c.quire"), "a", "--ids")
        #expect(ids.lines == (881...1_000).reversed().map(String.init))
    }

    @Test("a missing page is a gap with its link, and closes it", arguments: [[], Self.keyed])
    func missingPage(options: [String]) throws {
        let box = try Sandbox()
        let pages = try box.pages(1...6)
        let given = pages.filter { !$0.hasSuffix("/4.json") }
        let first = try box.quire(["ingest", box.cache, "a"] + given + ["--json"] + options).object()
        #expect(first["gaps_opened"] == 1 && first["pages_failed"] == 0)
        #expect(first.flag("in_sequence") == false)
        let gaps = try box.quire("gaps", box.cache, "a", "--json").objects().map(JSONObject.init)
        #expect(gaps.count == 1 && gaps[0].text("down") == "page=4")
        #expect(gaps[0].text("below_post") == "971" && gaps[0].text("above_post") == "960")
        let gap = try #require(gaps[0].text("id"))
        let fill = ["fill", box.cache, "a", gap, pages[3], "--json"] + options
        let second = try box.quire(fill).object()
        #expect(second["new"] == 10 && second["gaps_closed"] == 1 && second["gaps_opened"] == 0)
        #expect(second.flag("in_sequence") == true)
        #expect(
            try box.quire("export", box.cache, "a", "--ids").lines
                == (941...1_000).reversed().map(String.init))
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("a gap of two pages is filled in two steps")
    func fillInSteps() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...7)
        _ = try box.quire(["ingest", box.cache, "a"] + pages[..<3] + pages[5...])
        let first = try box.quire("fill", box.cache, "a", "g1", pages[3], "--json").object()
        #expect(first["new"] == 10 && first.flag("in_sequence") == false)
        let gap = try box.quire("gaps", box.cache, "a", "--json").object()
        #expect(gap.text("down") == "page=5" && gap.text("below_post") == "961")
        let id = try #require(gap.text("id"))
        let second = try box.quire("fill", box.cache, "a", id, pages[4], "--json").object()
        #expect(second["new"] == 10 && second.flag("in_sequence") == true)
        #expect(try box.quire("fill", box.cache, "a", id, pages[4]).status == 65)
        #expect(
            try box.quire("export", box.cache, "a", "--ids").lines
                == (931...1_000).reversed().map(String.init))
    }

    @Test("--place tail goes on at the end, also in an empty feed and beyond a missing page")
    func tail() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...6)
        let first = try box.quire("ingest", box.cache, "a", "--place", "tail", pages[1], "--json")
        #expect(first.status == 0)
        #expect(try box.quire("feeds", box.cache, "--json").object().text("head_kind") != "end")
        let second = try box.quire(
            "ingest", box.cache, "a", "--place", "tail", pages[2], pages[4], pages[5], "--json")
        #expect(try second.object()["gaps_opened"] == 1)
        let gaps = try box.quire("gaps", box.cache, "a", "--json").objects().map(JSONObject.init)
        #expect(gaps.map { $0.text("id") } == ["head", "g1"] && gaps[1].text("down") == "page=4")
    }

    @Test("ingesting the missing page closes the gap, too")
    func missingPageIngested() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...6)
        let given = pages.filter { !$0.hasSuffix("/4.json") }
        _ = try box.quire(["ingest", box.cache, "a"] + given + Self.keyed)
        // the feed remembers which field is its key
        let run = try box.quire("ingest", box.cache, "a", pages[3], "--json").object()
        #expect(run["gaps_closed"] == 1 && run.flag("in_sequence") == true)
        let tail = try box.quire(["ingest", box.cache, "a", "--json"] + Self.keyed + pages).object()
        #expect(tail["new"] == 0 && tail["gaps_opened"] == 0)
    }

    @Test("the same files again add nothing and open nothing", arguments: [[], Self.keyed])
    func again(options: [String]) throws {
        let box = try Sandbox()
        let arguments = try ["ingest", box.cache, "a"] + box.pages(1...20) + ["--json"] + options
        _ = try box.quire(arguments)
        let before = try box.quire("export", box.cache, "a")
        let again = try box.quire(arguments).object()
        #expect(again["received"] == 200 && again["new"] == 0 && again["pages"] == 20)
        #expect(again["gaps_opened"] == 0 && again.flag("in_sequence") == true)
        #expect(try box.quire("export", box.cache, "a").out == before.out)
    }

    @Test("a failed page is a line on stderr, exit code 65, and a gap where it was given")
    func failures() throws {
        let box = try Sandbox()
        var pages = try box.pages(1...7)
        try box.write(
            "3.json",
            #"{"error_id": 502, "error_name": "throttle", "error_message": "slow\u001b[31m"}"#)
        let whole = try String(contentsOfFile: pages[4], encoding: .utf8)
        try box.write("5.json", String(whole.prefix(whole.count / 2)))
        pages.insert(box.path("8.json"), at: 7)  // does not exist
        let run = try box.quire(["ingest", box.cache, "a"] + pages + ["--json"])
        #expect(run.status == 65)
        let line = try run.object()
        #expect(line["pages"] == 5 && line["pages_failed"] == 3 && line["received"] == 50)
        let errors = try Run(status: 0, out: run.err, err: "").objects().map(JSONObject.init)
        #expect(errors.map { $0.text("place") } == [pages[2], pages[4], pages[7]])
        let escaped = #"\#(pages[2]): error document: throttle: slow\u{1B}[31m"#
        #expect(errors[0].text("message") == escaped)
        #expect(errors[1].text("message")?.hasPrefix("\(pages[4]): not JSON") == true)
        #expect(errors[2].text("message") == "\(pages[7]): no such file")
        let gaps = try box.quire("gaps", box.cache, "a", "--json").objects()
        #expect(gaps.compactMap { $0["down"] as? String } == ["page=3", "page=5"])
    }

    @Test("files without numbers follow each other; a failed one uses up its number")
    func unnumbered() throws {
        let box = try Sandbox()
        let first = try box.page("first.json", [30, 29, 28])
        let third = try box.page("third.json", [24, 23, 22])
        let run = try box.quire("ingest", box.cache, "a", first, box.path("second.json"), third)
        #expect(run.status == 65)
        let gaps = try box.quire("gaps", box.cache, "a", "--json").objects()
        #expect(gaps.compactMap { $0["down"] as? String } == ["page=2"])
        let second = try box.page("second.json", [27, 26, 25])
        let fill = try box.quire("fill", box.cache, "a", "g1", second, "--json").object()
        #expect(fill["gaps_closed"] == 1 && fill.flag("in_sequence") == true)
        let tail = try box.page("tail.json", [21, 20])
        let end = try box.page("more.json", [19, 18], more: false)
        let more = try box.quire("ingest", box.cache, "a", "--place", "tail", tail, end, "--json")
        #expect(try more.object()["gaps_opened"] == 0)
        #expect(
            try box.quire("export", box.cache, "a", "--ids").lines
                == (18...30).reversed().map(String.init))
        let feed = try box.quire("feeds", box.cache, "--json").object()
        #expect(feed.text("tail_kind") == "end" && feed["gaps"] == 0)
    }

    @Test("a later crawl goes on top, with a gap above what was there")
    func laterCrawl() throws {
        let box = try Sandbox()
        _ = try box.quire(["ingest", box.cache, "a"] + box.pages(1...3) + Self.keyed)
        let later = try box.pages(900...902, top: 20_000)
        let run = try box.quire(["ingest", box.cache, "a"] + later + ["--json"] + Self.keyed)
        #expect(try run.object()["gaps_opened"] == 1)
        let gaps = try box.quire("gaps", box.cache, "a", "--json").objects().map(JSONObject.init)
        #expect(gaps.map { $0.text("id") } == ["head", "g1"] && gaps[1].text("down") == "page=903")
        #expect(gaps[1].text("above_post") == "1000")
    }

    @Test("a body is replaced by one with a newer key, never by an older one")
    func newestBody() throws {
        let box = try Sandbox()
        func post(_ key: Int, _ title: String) -> String {
            #"{"question_id": 5, "last_activity_date": \#(key), "title": "\#(title)"}"#
        }
        try box.write("1.json", #"{"items": [\#(post(20, "new"))], "has_more": true}"#)
        try box.write("2.json", #"{"items": [\#(post(10, "old"))], "has_more": true}"#)
        for order in [["1.json", "2.json"], ["2.json", "1.json"]] {
            let cache = box.path(order[0] + ".quire")
            _ = try box.quire(["ingest", cache, "a"] + order.map(box.path) + Self.keyed)
            #expect(try box.quire("export", cache, "a").out == post(20, "new") + "\n")
        }
    }

    @Test(
        "feeds of a collection share a post; an older page of another feed does not bring its old body back")
    func sharedBody() throws {
        let box = try Sandbox()
        func post(_ key: Int) -> String { #"{"question_id": 5, "last_activity_date": \#(key)}"# }
        for (name, key) in [("new.json", 20), ("old.json", 10)] {
            try box.write(name, #"{"items": [\#(post(key))], "has_more": false}"#)
        }
        let key = ["--key", "last_activity_date", "--collection", "so"]
        _ = try box.quire(["ingest", box.cache, "a", box.path("new.json")] + key)
        _ = try box.quire(["ingest", box.cache, "b", box.path("old.json")] + key)
        for feed in ["a", "b"] {
            #expect(try box.quire("export", box.cache, feed).out == post(20) + "\n")
        }
    }

    @Test("a refused page is missing where it was given")
    func refusedInTheMiddle() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...4)
        try box.page("2.json", [])
        let run = try box.quire(["ingest", box.cache, "a"] + pages + ["--json"])
        #expect(run.status == 65)
        #expect(run.err.contains(#""message":"\#(pages[1]): refused: the page is empty""#))
        #expect(try box.quire("gaps", box.cache, "a", "--json").object().text("down") == "page=2")
        _ = try box.pages(2...2)
        let second = try box.quire("fill", box.cache, "a", "g1", pages[1], "--json").object()
        #expect(second.flag("in_sequence") == true && second["new"] == 10)
    }

    @Test("a run of more pages than share a commit is whole pages when it is killed")
    func killed() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...600, top: 10_000)
        let (process, _, _) = try box.start(Tool.path, ["ingest", box.cache, "a"] + pages)
        while process.isRunning, !Task.isCancelled {
            let feed = try box.quire("feeds", box.cache, "--json").objects().first
            if let pages = feed?["pages"] as? Int, pages > 0 { break }
        }
        if process.isRunning { process.send(SIGKILL) }
        process.waitUntilExit()
        let stat = try box.quire("stat", box.cache, "--json").object()
        let count = try #require(stat["pages"])
        #expect(stat["posts"] == count * 10 && (count % 16 == 0 || count == 600))
        #expect(try box.quire("check", box.cache).out == "no findings\n")
    }

    @Test("posts that share the id of another one of their page are counted, and are findings")
    func sharedIDs() throws {
        let box = try Sandbox()
        let rows = (0..<5).map { #"{"answer_id": \#(901 + $0), "question_id": \#($0 < 3 ? 77 : 55)}"# }
        try box.write("a.json", #"{"items": [\#(rows.joined(separator: ", "))], "has_more": false}"#)
        let found = try box.quire("ingest", box.cache, "found", box.path("a.json"), "--exit-code")
        #expect(found.status == 0 && found.out.contains("5 received: 5 new"), "\(found)")
        let named = ["ingest", box.cache, "named", box.path("a.json"), "--profile", "stackexchange"]
        let run = try box.quire(named + ["--exit-code"])
        #expect(run.status == 1 && run.out.contains("2 new, 0 known already, 3 repeated"), "\(run)")
        #expect(
            run.lines.contains {
                $0.hasPrefix("  3 posts are missing: ") && $0.contains("answer_id; --id names")
            }, "\(run)")
        let line = try box.quire(named + ["--json"]).object()
        #expect(line["sharing_id"] == 3 && line.text("telling_field") == "answer_id")
        let again = try box.quire("ingest", box.cache, "id", box.path("a.json"), "--id", "answer_id")
        #expect(again.status == 0 && again.out.contains("5 new"), "\(again)")
    }
}
