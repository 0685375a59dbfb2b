import Foundation
import Testing

@Suite("The other commands of quire", .timeLimit(.minutes(10)))
struct CommandTests {
    /// Pages 1 to 3 and 5 to 6 of ten posts: one gap.
    private func cacheWithGap() throws -> Sandbox {
        let box = try Sandbox()
        let pages = try box.pages(1...6).filter { !$0.hasSuffix("/4.json") }
        _ = try box.quire(["ingest", box.cache, "a"] + pages)
        return box
    }

    @Test("show draws gaps and unverified joins between posts")
    func show() throws {
        let box = try cacheWithGap()
        let lines = try box.quire("show", box.cache, "a", "-n", "31").lines
        #expect(lines[0] == "a: 50 posts, 5 pages, 1 gap; 3 joins are unverified")
        #expect(lines[1].split(separator: " ").map(String.init) == ["ID", "KEY", "PAGE", "BYTES", "TEXT"])
        #expect(lines[2].hasPrefix("1000 ") && lines[2].hasSuffix("post 1000"))
        #expect(lines[12] == "- - - unverified join: numbering - - -")
        #expect(lines.filter { $0.hasPrefix("- - -") }.count == 2)
        #expect(lines[34] == "~~~~ gap g1, missing-page: page=4 ~~~~")
        #expect(lines.suffix(2).first?.hasPrefix("960 ") == true && lines.last == "…")
        let end = try box.quire("show", box.cache, "a", "--after", "942").lines
        #expect(end.last == "goes on with: page=7" && end.count == 4)
    }

    @Test("show without a feed lists the feeds, and says how to go on")
    func showNoFeed() throws {
        let box = try cacheWithGap()
        _ = try box.quire("ingest", box.cache, "b", box.page("b.json", [3, 2]))
        let run = try box.quire("show", box.cache)
        let feeds = try box.quire("feeds", box.cache).out
        #expect(run.status == 0 && run.out == feeds)
        #expect(run.err == "quire: quire show \(box.cache) FEED shows the posts of one of them\n")
        let json = try box.quire("show", box.cache, "--json")
        let feedsJSON = try box.quire("feeds", box.cache, "--json").out
        #expect(json.status == 0 && json.out == feedsJSON)
        #expect(json.err.isEmpty && json.lines.count == 2)
        for options in [["-n", "3"], ["--after", "3"], ["--at-key", "3"], ["--json", "--body"]] {
            let run = try box.quire(["show", box.cache] + options)
            #expect(run.status == 64 && run.err.contains("go with the name of a feed"), "\(options)")
        }
        #expect(try box.quire("show", box.path("none")).status == 66)
        for feed in ["a", "b"] { _ = try box.quire("drop", box.cache, feed) }
        let empty = try box.quire("show", box.cache)
        #expect(empty.out == "no feeds\n" && empty.err.isEmpty)
    }

    @Test("show --json has one object per row")
    func showJSON() throws {
        let box = try cacheWithGap()
        let rows = try box.quire("show", box.cache, "a", "-n", "1", "--after", "972", "--json")
        #expect(rows.lines.count == 2)
        #expect(
            rows.lines[0] == #"{"bytes":71,"detached":false,"doubt":null,"id":"971","key":null,"#
                + #""page":3,"pinned":false,"placeholder":false,"text":"post 971","type":"post","unverified":false}"#
        )
        #expect(
            rows.lines[1] == #"{"above_post":"960","below_post":"971","down":"page=4","down_kind":"token","#
                + #""down_overlapping":false,"feed":"a","id":"g1","posts_above":30,"type":"gap","#
                + #""up":"?","up_kind":"unknown","up_overlapping":false,"why":"missing-page"}"#)
    }

    @Test("show starts where it is told, by the page index")
    func showFrom() throws {
        let box = try cacheWithGap()
        let all = try box.quire("show", box.cache, "a", "-n", "999", "--json").lines
        for rank in [0, 1, 29, 30, 31, 50] {
            let some = try box.quire("show", box.cache, "a", "-n", "999", "--json", "--from-rank", "\(rank)")
            #expect(some.lines == Array(all[rank...]), "\(rank)")
        }
        let table = try box.quire("show", box.cache, "a", "-n", "1", "--from-rank", "30").lines
        #expect(table[2] == "~~~~ gap g1, missing-page: page=4 ~~~~" && table[3].hasPrefix("960 "))
        #expect(try box.quire("show", box.cache, "a", "--json", "--from-rank", "51").lines.isEmpty)
        let below = try box.quire("show", box.cache, "a", "--from-rank", "52")
        #expect(below.status == 65 && below.err.contains("feed a has 51 rows"))
        #expect(try box.quire("show", box.cache, "a", "--from-rank=-1").status == 64)
        #expect(try box.quire("show", box.cache, "a", "--from-rank", "1", "--after", "990").status == 64)
    }

    @Test("show starts at a key")
    func showAtKey() throws {
        let box = try cacheWithGap()
        #expect(try box.quire("show", box.cache, "a", "--at-key", "1").status == 65)
        let page = try box.page("dated.json", [90, 80, 70])
        let options = ["--order", "stable", "--key", "last_activity_date"]
        _ = try box.quire(["ingest", box.cache, "dated", page] + options)
        for (key, expected) in [
            ("99000", ["90", "80", "70"]), ("80000", ["80", "70"]), ("79999", ["70"]), ("1", []),
        ] {
            let shown = try box.quire("show", box.cache, "dated", "--json", "--at-key", key).objects()
            #expect(shown.compactMap { $0["id"] as? String } == expected, "\(key)")
        }
    }

    @Test("gaps: --exit-code, all feeds, and the joins that are unverified")
    func gaps() throws {
        let box = try cacheWithGap()
        #expect(try box.quire("gaps", box.cache, "a").status == 0)
        let run = try box.quire("gaps", box.cache, "--exit-code")
        #expect(run.status == 1 && run.err.isEmpty)
        #expect(run.lines.last == "1 gap; 3 joins are unverified")
        _ = try box.quire("ingest", box.cache, "a", box.path("4.json"), "--place", "tail")
        #expect(try box.quire("gaps", box.cache, "a", "--exit-code").status == 0)
    }

    @Test("pages and feeds, as tables and as objects")
    func pagesAndFeeds() throws {
        let box = try cacheWithGap()
        let pages = try box.quire("pages", box.cache, "a", "--json").objects().map(JSONObject.init)
        #expect(pages.map { $0.text("own") } == ["page=1", "page=2", "page=3", "page=5", "page=6"])
        #expect(pages.map { $0["index"] } == [0, 1, 2, 3, 4])
        #expect(pages.allSatisfy { $0["posts"] == 10 && $0.flag("full") == true })
        #expect(try box.quire("pages", box.cache, "a").lines.count == 6)
        let feed = try box.quire("feeds", box.cache, "--json").object()
        #expect(feed.text("name") == "a" && feed.text("order") == "keyless" && feed["posts"] == 50)
        #expect(feed["unverified"] == 3 && feed.flag("in_sequence") == false)
        #expect(try box.quire("feeds", box.cache).lines.count == 2)
    }

    @Test("export: bodies as received, on one line each, or ids")
    func export() throws {
        let box = try Sandbox()
        let first = "{\"question_id\": 7,\n  \"text\": \"a  \\\" b\",\n  \"list\": [1, -2.50e1 , true]}"
        let second = #"{ "question_id" : 6,  "text": "ü" }"#
        try box.write("1.json", "{\"items\": [\(first), \(second)], \"has_more\": false}")
        _ = try box.quire("ingest", box.cache, "a", box.path("1.json"))
        #expect(try box.quire("export", box.cache, "a").out == first + "\n" + second + "\n")
        #expect(
            try box.quire("export", box.cache, "a", "--ndjson").out
                == #"{"question_id":7,"text":"a  \" b","list":[1,-2.50e1,true]}"# + "\n" + second + "\n")
        #expect(try box.quire("export", box.cache, "a", "--ids").out == "7\n6\n")
        #expect(try box.quire("export", box.cache, "a", "--ids", "--ndjson").status == 64)
        try box.write("2.json", #"[{"id": "x\ny"}]"#)
        _ = try box.quire("ingest", box.cache, "b", box.path("2.json"), "--id", "id", "--order", "keyless")
        let run = try box.quire("export", box.cache, "b", "--ids")
        #expect(run.status == 65 && run.err.contains(#"the id x\u{A}y has a newline"#), "\(run)")
    }

    @Test("prune --dry-run changes nothing, prune does what it said")
    func prune() throws {
        let box = try cacheWithGap()
        let before = FileManager.default.contents(atPath: box.cache)?.count
        let rows = try box.quire("show", box.cache, "a", "-n", "999", "--json").out
        let stat = try box.quire("stat", box.cache, "--json").out
        let limits = ["prune", box.cache, "a", "--max-posts", "20", "--json"]
        let dry = try box.quire(limits + ["--dry-run"])
        #expect(dry.out == #"{"done":true,"dry_run":true,"pages":3,"posts":30}"# + "\n")
        #expect(try box.quire("show", box.cache, "a", "-n", "999", "--json").out == rows)
        #expect(try box.quire("stat", box.cache, "--json").out == stat)
        #expect(FileManager.default.contents(atPath: box.cache)?.count == before)
        let budget = try box.quire(limits + ["--budget", "1"]).object()
        #expect(budget["posts"] == 10 && budget.flag("done") == false)
        #expect(try box.quire(limits).object()["posts"] == 20)
        #expect(try box.quire("feeds", box.cache, "--json").object()["posts"] == 20)
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test(
        "each bound holds on disk, and what left can come back",
        arguments: [
            ["--max-posts", "20"], ["--max-pages", "2"], ["--max-bytes", "1600"],
        ])
    func bounds(limit: [String]) throws {
        let box = try Sandbox()
        let pages = try box.pages(1...6)
        _ = try box.quire(["ingest", box.cache, "a"] + pages)
        let before = try box.quire("feeds", box.cache, "--json").object()
        #expect(try box.quire(["prune", box.cache, "a"] + limit).status == 0)
        let after = try box.quire("feeds", box.cache, "--json").object()
        #expect(before["posts"] == 60 && after["posts"] == 20 && after["pages"] == 2)
        #expect(try #require(after["body_bytes"]) <= 1_600)
        #expect(after.text("tail") == "page=3")
        _ = try box.quire(["ingest", box.cache, "a", "--place", "tail"] + pages[2...])
        #expect(
            try box.quire("export", box.cache, "a", "--ids").lines
                == (941...1_000).reversed().map(String.init))
    }

    @Test("ingest --budget, and what stat says of it")
    func budget() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...61)
        _ = try box.quire(["ingest", box.cache, "a"] + pages.dropLast())
        let before = try box.quire("stat", box.cache, "--json").object()
        #expect(before["evicted_posts"] == 0 && before["posts"] == 600)
        let last = ["ingest", box.cache, "a", "--place", "tail", pages[60], "--budget"]
        #expect(try box.quire(last + ["much"]).status == 64)
        #expect(try box.quire(last + ["40kB"]).status == 0)
        let after = try box.quire("stat", box.cache, "--json").object()
        let (evicted, posts) = (try #require(after["evicted_posts"]), try #require(after["posts"]))
        #expect(evicted >= 100 && posts == 610 - evicted && posts >= 10)
        #expect(try box.quire("stat", box.cache).out.contains("over the size of the file"))
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("prune --out-of-sequence and --max-age")
    func pruneOthers() throws {
        let box = try cacheWithGap()
        let sequence = try box.quire("prune", box.cache, "a", "--out-of-sequence")
        #expect(sequence.out == "a: forgot 20 posts of 2 pages\n")
        #expect(try box.quire("gaps", box.cache, "a", "--exit-code").status == 0)
        #expect(try box.quire("prune", box.cache, "a", "--max-age", "1d", "--json").object()["posts"] == 0)
        #expect(try box.quire("prune", box.cache, "a", "--max-age", "0s", "--json").object()["posts"] == 30)
        for arguments in [[], ["--max-age", "5"], ["--max-age", "-1d"], ["--max-posts", "-1"]] {
            #expect(try box.quire(["prune", box.cache, "a"] + arguments).status == 64)
        }
    }

    @Test("stat and copy")
    func statAndCopy() throws {
        let box = try cacheWithGap()
        let stat = try box.quire("stat", box.cache, "--json").object()
        #expect(stat["posts"] == 50 && stat["feeds"] == 1 && stat["gaps"] == 1 && stat["pages"] == 5)
        let size = try FileManager.default.attributesOfItem(atPath: box.cache)[.size] as? Int
        #expect(stat["file_bytes"] == size)
        let copy = box.path("copy.quire")
        #expect(try box.quire("copy", box.cache, copy).status == 0)
        #expect(
            try box.quire("show", copy, "a", "--json").out == box.quire("show", box.cache, "a", "--json").out)
        #expect(try box.quire("check", copy).status == 0)
        let again = try box.quire("copy", box.cache, copy)
        #expect(again.status == 73 && again.errLines == ["quire: \(copy): exists already"])
        #expect(try box.quire("copy", box.cache, box.path("no/such/folder")).status == 73)
    }

    @Test("check finds a damaged record and exits with 1")
    func check() throws {
        let box = try cacheWithGap()
        var bytes = try #require(FileManager.default.contents(atPath: box.cache))
        let place = try #require(bytes.range(of: Data("post 975".utf8)))
        bytes[place.lowerBound] = UInt8(ascii: "P")
        try bytes.write(to: URL(fileURLWithPath: box.cache))
        let run = try box.quire("check", box.cache)
        #expect(run.status == 1 && run.lines.count >= 2 && run.err.isEmpty)
        let lines = try box.quire("check", box.cache, "--json").objects()
        #expect(lines.allSatisfy { Set($0.keys) == ["code", "location", "message"] })
        #expect(lines.contains { $0["code"] as? String == "checksum" })
    }

    @Test("verify finds a damaged page and a damaged record, and nothing in what quire wrote")
    func verify() throws {
        let box = try cacheWithGap()
        let clean = try box.quire("verify", box.cache)
        #expect(clean.status == 0 && clean.lines == ["no findings"])
        let whole = try #require(FileManager.default.contents(atPath: box.cache))
        var bytes = whole
        let place = try #require(bytes.range(of: Data("post 975".utf8)))
        bytes[place.lowerBound] = UInt8(ascii: "P")
        try bytes.write(to: URL(fileURLWithPath: box.cache))
        let lines = try box.quire("verify", box.cache, "--json").objects()
        #expect(lines.contains { $0["code"] as? String == "checksum" })
        // flags of every page but the first two
        bytes = whole
        for page in 2..<bytes.count / 4096 { bytes[page * 4096 + 10] ^= 7 }
        try bytes.write(to: URL(fileURLWithPath: box.cache))
        #expect(try box.quire("verify", box.cache).status == 1)
        #expect(try box.quire("check", box.cache).status == 65)
        #expect(try box.quire("verify", box.cache + "-none").status == 66)
    }

    /// Changes a byte of a body; returns the file.
    private func damage(_ path: String) throws -> Data {
        var bytes = try #require(FileManager.default.contents(atPath: path))
        let place = try #require(bytes.range(of: Data("post 975".utf8)))
        bytes[place.lowerBound] = UInt8(ascii: "P")
        try bytes.write(to: URL(fileURLWithPath: path))
        return bytes
    }

    @Test("repair keeps what it can and the damaged file, and says what is lost")
    func repair() throws {
        let box = try cacheWithGap()
        let sound = try box.quire("repair", box.cache)
        #expect(sound.status == 0 && sound.lines == ["the cache is sound; nothing was changed"])
        let damaged = try damage(box.cache)
        let would = try box.quire("repair", box.cache, "--dry-run")
        #expect(would.status == 1 && would.lines.last == "nothing was changed")
        #expect(FileManager.default.contents(atPath: box.cache) == damaged)
        let run = try box.quire("repair", box.cache, "--json")
        let feed = try run.object()
        #expect(run.status == 1 && feed.text("feed") == "a")
        #expect(feed["posts"]! + feed["lost_posts"]! == 50 && feed["lost_posts"]! > 0)
        #expect(FileManager.default.contents(atPath: box.cache + ".corrupt-1") == damaged)
        for command in ["verify", "check", "repair"] {
            #expect(try box.quire(command, box.cache).status == 0, "\(command)")
        }
        #expect(try box.quire("repair", box.cache + "-none").status == 66)
        try box.write("text", String(repeating: "x", count: 9000))
        #expect(try box.quire("repair", box.path("text")).status == 65)
    }

    @Test("repair says that nothing is left of a file that was cut off")
    func repairOfNothing() throws {
        let box = try cacheWithGap()
        let bytes = try #require(FileManager.default.contents(atPath: box.cache))
        try bytes.prefix(12_000).write(to: URL(fileURLWithPath: box.cache))
        let run = try box.quire("repair", box.cache)
        #expect(run.status == 1 && run.lines.contains("no feed could be recovered"), "\(run.lines)")
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("what another process has open is neither repaired nor compacted")
    func openElsewhere() throws {
        let box = try cacheWithGap()
        let pipe = Pipe()
        let (process, _, _) = try box.start(
            Tool.path, ["ingest", box.cache, "b", "-"], input: pipe.fileHandleForReading)
        // It has the cache open as soon as a page of it is there, and waits for more.
        let line = (1...40).map { #"{"items": [{"question_id": \#($0)}], "has_more": true}"# + "\n" }.joined()
        try pipe.fileHandleForWriting.write(contentsOf: Data(line.utf8))
        while process.isRunning, !Task.isCancelled, try box.quire("feeds", box.cache).lines.count < 3 {}
        try #require(process.isRunning)
        for command in ["repair", "compact"] {
            let run = try box.quire(command, box.cache)
            #expect(run.status == 75 && run.errLines == ["quire: \(box.cache): is open in another process"])
        }
        process.send(SIGKILL)
        process.waitUntilExit()
        for command in ["repair", "compact"] { #expect(try box.quire(command, box.cache).status == 0) }
    }

    @Test("compact shrinks the file")
    func compact() throws {
        let box = try cacheWithGap()
        _ = try box.quire("prune", box.cache, "a", "--max-posts", "5")
        let before = try #require(FileManager.default.contents(atPath: box.cache))
        let run = try box.quire("compact", box.cache)
        let after = try #require(FileManager.default.contents(atPath: box.cache))
        #expect(run.status == 0 && run.out.hasSuffix(" less\n") && after.count < before.count)
        #expect(
            before.range(of: Data("post 975".utf8)) != nil && after.range(of: Data("post 975".utf8)) == nil)
        #expect(try box.quire("compact", box.cache).lines == ["there was nothing to free"])
        #expect(try box.quire("check", box.cache).status == 0)
        #expect(try box.quire("compact", box.cache + "-none").status == 66)
    }

    @Test("a profile of one's own needs no code")
    func profileFile() throws {
        let box = try Sandbox()
        try box.write("p", #"{"name": "mine", "items": "d.l", "id": {"path": "n"}, "order": "append-only"}"#)
        try box.write("x", #"{"d": {"l": [{"n": "b\u001b[2J"}, {"n": "a\u202e"}]}}"#)
        let run = try box.quire("ingest", box.cache, "a", box.path("x"), "--profile-file", box.path("p"))
        #expect(run.status == 0)
        // Nothing from data steers the terminal, in either form.
        #expect(try box.quire("show", box.cache, "a").lines[2].hasPrefix(#"b\u{1B}[2J "#))
        #expect(try box.quire("show", box.cache, "a", "--json").lines[1].contains(#""id":"a\u202e""#))
        #expect(try box.quire("feeds", box.cache, "--json").object().text("order") == "append-only")
        let missing = try box.quire("ingest", box.cache, "a", box.path("x"), "--profile-file", box.path("q"))
        #expect(missing.status == 66)
        try box.write("q", #"{"name": "mine", "id": {"path": "n"}, "itmes": "d"}"#)
        let wrong = try box.quire("ingest", box.cache, "a", box.path("x"), "--profile-file", box.path("q"))
        #expect(wrong.status == 65 && wrong.err.contains("itmes"))
    }

    @Test("demo tells a short story, the same for a seed, and verifies it", arguments: 1...12)
    func demo(seed: Int) throws {
        let box = try Sandbox()
        let run = try box.quire("demo", "--seed", "\(seed)", "--cache", box.cache)
        #expect(run.status == 0 && run.err.isEmpty && run.lines.count < 60)
        #expect(run.lines.suffix(2).first == "verified: no findings")
        #expect(run.out.contains("~<") && run.lines.allSatisfy { $0.count <= 100 })
        #expect(try box.quire("gaps", box.cache, "demo", "--exit-code").status == 0)
        let again = try box.quire("demo", "--seed", "\(seed)")
        #expect(again.lines == run.lines.dropLast())
        #expect(try box.quire("demo", "--cache", box.cache).status == 73)
    }
}
