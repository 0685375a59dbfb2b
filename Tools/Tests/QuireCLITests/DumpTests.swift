import Foundation
import Testing

@Suite("quire ingest with dumps", .timeLimit(.minutes(10)))
struct DumpTests {
    // MARK: The same site again

    private static func table(_ rows: [Int: String]) -> String {
        let lines = rows.sorted { $0.key < $1.key }
            .map { "  <row Id=\"\($0.key)\" Body=\"\($0.value)\" />\n" }
        return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<posts>\n\(lines.joined())</posts>\n"
    }

    /// A later state of a site: runs of rows are gone, some have changed, some are new.
    private static func later(
        than rows: [Int: String], _ step: Int, _ random: inout some RandomNumberGenerator
    ) -> [Int: String] {
        let top = rows.keys.max()!
        let low = Int.random(in: 1...top, using: &random)
        let length = [1, 50, 1_200].randomElement(using: &random)!
        let cut = [0, 0, 1, 1_100].randomElement(using: &random)!
        let isCutBelow = Bool.random(using: &random)
        var rows = rows.filter { id, _ in
            let isGone = (low..<low + length).contains(id) && Int.random(in: 0..<50, using: &random) > 0
            return !isGone && (isCutBelow ? id > cut : id <= top - cut)
        }
        for number in 0..<[0, 100, 1_500].randomElement(using: &random)! {
            rows[Int.random(in: 1...top + 1_500, using: &random)] = "new \(number)"
        }
        for id in rows.keys.sorted() where Int.random(in: 0..<10, using: &random) == 0 {
            rows[id] = "\(step) \(rows[id]!)"
        }
        return rows
    }

    @Test("a table that is cut, or whose ingest ended early, is not whole until it was read to its end")
    func cutTable() throws {
        let box = try Sandbox()
        let text = Self.table(Dictionary(uniqueKeysWithValues: (1...2_600).map { ($0, "row \($0)") }))
        try box.write("Posts.xml", String(text.prefix(text.count / 2)))
        let cut = try box.quire("ingest", box.cache, "p", box.path("Posts.xml"), "--json")
        #expect(try cut.status == 65 && cut.object().flag("in_sequence") == false, "\(cut)")
        let words = "the ingest of p was interrupted: quire ingest \(box.cache) p … --resume goes on"
        let gaps = try box.quire("gaps", box.cache, "--exit-code")
        #expect(gaps.status == 1 && gaps.lines == ["1 interrupted ingest", "  " + words], "\(gaps)")
        #expect(try box.quire("feeds", box.cache).lines.last == words)
        #expect(try box.quire("doctor", box.cache).lines.contains("  " + words))
        #expect(try box.quire("stat", box.cache).out.contains("ingest of p"))
        #expect(try box.quire("gaps", box.cache, "--json").object().text("type") == "interrupted")
        for command in ["stat", "doctor"] {
            #expect(try box.quire(command, box.cache, "--json").object()["interrupted"] == 1)
        }
        #expect(try box.quire("feeds", box.cache, "--json").object().flag("in_sequence") == false)
        try box.write("Posts.xml", text)
        #expect(try box.quire("ingest", box.cache, "p", box.path("Posts.xml"), "--resume").status == 0)
        #expect(try box.quire("gaps", box.cache, "--exit-code").out == "in sequence\n")
    }

    @Test("a newer dump updates, adds and removes exactly what differs", arguments: 1...4)
    func newerDumps(seed: UInt64) throws {
        let box = try Sandbox()
        var random = FixedRandom(seed: seed)
        var rows = Dictionary(uniqueKeysWithValues: (1...2_600).map { ($0, "row \($0)") })
        var old: [Int: String] = [:]
        for step in 0..<4 {
            try box.write("Posts.xml", Self.table(rows))
            let run = try box.quire("ingest", box.cache, "p", box.path("Posts.xml"), "--json").object()
            #expect(run["new"] == rows.keys.count { old[$0] == nil }, "seed \(seed), step \(step)")
            #expect(run["updated"] == rows.count { old[$0.key] != nil && old[$0.key] != $0.value })
            #expect(run["removed"] == old.keys.count { rows[$0] == nil }, "seed \(seed), step \(step)")
            #expect(run["received"] == rows.count && run.flag("in_sequence") == true)
            #expect(run["gaps_opened"] == 0 && run["gaps_closed"] == 0)
            let bodies = rows.sorted { $0.key > $1.key }
                .map { "<row Id=\"\($0.key)\" Body=\"\($0.value)\" />\n" }
            let stored = try box.quire("export", box.cache, "p").out
            #expect(stored == bodies.joined(), "seed \(seed), step \(step)")
            #expect(try box.quire("check", box.cache).status == 0)
            old = rows
            rows = Self.later(than: rows, step, &random)
        }
    }

    @Test(
        "beer 2014, then 2016: 728, then 849 new, 437 changed, 1 gone",
        .enabled(if: Shared.fixtures != nil))
    func beer() throws {
        let box = try Sandbox()
        func ingest(_ name: String, _ options: String...) throws -> JSONObject {
            let path = try Shared.path("stackdump/\(name)/Posts.xml")
            return try box.quire(["ingest", box.cache, "beer", path, "--json"] + options).object()
        }
        #expect(try ingest("beer-2014-05")["new"] == 728)
        let before = try box.quire("export", box.cache, "beer").out
        let dryRun = try ingest("beer-2016-01", "--dry-run")
        #expect(dryRun["new"] == 849 && dryRun.flag("dry_run") == true)
        #expect(try box.quire("export", box.cache, "beer").out == before)
        let second = try ingest("beer-2016-01")
        #expect(second["new"] == 849 && second["updated"] == 437 && second["removed"] == 1)
        #expect(second["received"] == 1_576 && second.flag("in_sequence") == true)
        let again = try ingest("beer-2016-01")
        #expect(again["new"] == 0 && again["updated"] == 0 && again["removed"] == 0)
        let scores = try box.shell(
            "$Q export $C beer | grep -o ' Score=\"[-0-9]*\"' | tr -dc '0-9\\n-'"
        ).lines
        #expect(scores.compactMap { Int($0) }.reduce(0, +) == 6_878)
        let other = try box.quire(
            "ingest", box.cache, "beer", Shared.path("stackdump/beer-2014-05/Users.xml"))
        #expect(other.status == 65 && other.err.contains("holds rows posts"))
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test(
        "every table goes in as it was downloaded, document type and all",
        arguments: [
            "", "<!DOCTYPE TABLE>\n", "<!DOCTYPE TABLE SYSTEM \"table.dtd\" [\n<!ELEMENT row EMPTY>\n]>\n",
        ])
    func documentTypes(declaration: String) throws {
        let box = try Sandbox()
        for table in ["badges", "comments", "posthistory", "postlinks", "posts", "tags", "users", "votes"] {
            let rows = (1...3).map { "  <row Id=\"\($0)\" Text=\"&lt;\(table)&gt;\" />\n" }
            let declared = declaration.replacing("TABLE", with: table)
            try box.write(
                "\(table).xml",
                "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\(declared)<\(table)>\n\(rows.joined())</\(table)>\n"
            )
            let run = try box.quire(
                "ingest", box.path("\(table).quire"), table, box.path("\(table).xml"), "--json")
            #expect(run.status == 0 && run.err.isEmpty, "\(run.err)")
            #expect(try run.object()["new"] == 3 && run.object().flag("in_sequence") == true)
            let bodies = rows.reversed().map { $0.trimmingCharacters(in: .whitespaces) }.joined()
            #expect(try box.quire("export", box.path("\(table).quire"), table).out == bodies)
        }
    }

    @Test("a dump that declares entities is refused, by the name of the entity")
    func declaredEntities() throws {
        let box = try Sandbox()
        try box.write(
            "Posts.xml",
            "<!DOCTYPE posts [<!ENTITY who \"x\">]>\n<posts><row Id=\"1\" Body=\"&who;\" /></posts>\n")
        let run = try box.quire("ingest", box.cache, "p", box.path("Posts.xml"))
        #expect(run.status == 65 && run.errLines.count == 1)
        #expect(
            run.err.contains("Posts.xml: line 1, column") && run.err.contains("the entity who is declared"))
        #expect(!FileManager.default.fileExists(atPath: box.cache))
    }

    @Test("a dump that breaks off removes nothing above, and has no gap below")
    func brokenDump() throws {
        let box = try Sandbox()
        let rows = Dictionary(uniqueKeysWithValues: (1...2_500).map { ($0, "row") })
        let text = Self.table(rows)
        try box.write("Posts.xml", text)
        _ = try box.quire("ingest", box.cache, "p", box.path("Posts.xml"))
        try box.write("Posts.xml", String(text.prefix(text.count * 2 / 3)))
        let run = try box.quire("ingest", box.cache, "p", box.path("Posts.xml"), "--json")
        #expect(run.status == 65 && run.errLines.count == 1 && run.err.contains("Posts.xml: "))
        let line = try run.object()
        #expect(line["removed"] == 0 && line["gaps_opened"] == 0 && line.flag("interrupted") == true)
        #expect(try box.quire("feeds", box.cache, "--json").object()["gaps"] == 0)
        #expect(try box.quire("export", box.cache, "p", "--ids").lines.count == 2_500)
    }

    // MARK: ServerState

    @Test("a list from a pipe is in sequence, without claims; a broken line is a gap")
    func pipe() throws {
        let box = try Sandbox()
        let lines = (1...2_500).map { "{\"question_id\": \(3_000 - $0), \"title\": \"t\"}" }
        try box.write("l.ndjson", lines.joined(separator: "\n"))
        let run = try box.shell("gzip -c l.ndjson | $Q ingest $C a - --json").object()
        #expect(run["new"] == 2_500 && run["received"] == 2_500 && run["duplicates"] == 0)
        #expect(run["unverified"] == 0 && run.flag("in_sequence") == true)
        let damaged = lines[..<100] + ["{\"question_id\": }"] + lines[101...]
        try box.write("b.ndjson", damaged.joined(separator: "\n"))
        let broken = try box.quire("ingest", box.cache, "b", box.path("b.ndjson"), "--json")
        #expect(broken.status == 65 && broken.err.contains("b.ndjson: line 101: not JSON"))
        #expect(try broken.object()["new"] == 2_499 && broken.object()["gaps_opened"] == 1)
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("a line above the record limit is a gap; a list that is cut is an interrupted ingest")
    func listsThatEndEarly() throws {
        let box = try Sandbox()
        let lines = (1...40).reversed().map { id in
            let text = String(repeating: "x", count: id == 30 ? 1_200_000 : 9)
            return "{\"id\": \(id), \"created_at\": \(1_700_000_000 + id), \"t\": \"\(text)\"}"
        }
        try box.write("long.jsonl", lines.joined(separator: "\n"))
        try box.write("long.json", "[\(lines.joined(separator: ","))]")
        func ingest(_ feed: String, _ name: String) throws -> Run {
            try box.quire("ingest", box.cache, feed, box.path(name), "--record-limit", "1MiB", "--json")
        }
        let long = try ingest("lines", "long.jsonl")
        #expect(long.status == 65 && long.err.contains("long.jsonl: line 11 is above the limit of 1.0 MB\""))
        #expect(try long.object()["new"] == 39 && long.object()["gaps_opened"] == 1, "\(long)")
        let array = try ingest("array", "long.json")
        #expect(array.err.contains("item 11 is above the limit of 1.0 MB, so the rest was not read"))
        let whole = (1...40_000).reversed().map { "{\"id\": \($0), \"created_at\": \(1_700_000_000 + $0)}" }
        try box.write("whole.jsonl", whole.joined(separator: "\n"))
        _ = try box.shell("gzip -c whole.jsonl | head -c 90000 > cut.jsonl.gz")
        let cut = try ingest("cut", "cut.jsonl.gz")
        for (feed, run) in [("array", array), ("cut", cut)] {
            #expect(try run.status == 65 && run.object().flag("interrupted") == true, "\(run)")
            #expect(try run.object().flag("in_sequence") == false)
            let gaps = try box.quire("gaps", box.cache, feed, "--exit-code")
            #expect(gaps.status == 1 && gaps.lines.contains("1 interrupted ingest"), "\(gaps)")
        }
        #expect(try ingest("cut", "whole.jsonl").object().flag("in_sequence") == true)
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("--strict and --max-errors stop in time; --errors-to takes the errors")
    func errors() throws {
        let box = try Sandbox()
        var pages = try box.pages(1...9)
        for broken in [3, 5, 7] { try box.write("\(broken).json", "{\u{1B}") }
        pages.append(box.path("none.json"))
        func ingest(_ feed: String, _ options: String...) throws -> Run {
            try box.quire(["ingest", box.cache, feed] + pages + ["--json"] + options)
        }
        let strict = try ingest("a", "--strict")
        #expect(strict.status == 65 && strict.errLines.count == 1)
        #expect(try strict.object()["pages"] == 2 && strict.object()["pages_failed"] == 1)
        let two = try ingest("b", "--max-errors", "2")
        #expect(two.status == 65 && two.errLines.count == 3)
        #expect(try two.object()["pages"] == 4 && two.object()["pages_failed"] == 3)
        let all = try ingest("c", "--errors-to", box.path("errors"))
        #expect(try all.status == 65 && all.err.isEmpty && all.object()["pages"] == 6)
        let lines = try String(contentsOfFile: box.path("errors"), encoding: .utf8)
        let errors = try lines.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
        }
        #expect(errors.map { $0["place"] } == [pages[2], pages[4], pages[6], pages[9]])
        #expect(errors.last?["message"] == "\(pages[9]): no such file")
        #expect(try ingest("d", "--errors-to", box.path("no/folder")).status == 73)
        #expect(try ingest("d", "--strict", "--max-errors", "3").status == 64)
    }

    @Test("--dry-run leaves no trace, also where there is no cache")
    func dryRun() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...3)
        let run = try box.quire(["ingest", box.cache, "a", "--dry-run", "--json"] + pages).object()
        #expect(run["new"] == 30 && run.flag("dry_run") == true)
        #expect(!FileManager.default.fileExists(atPath: box.cache))
    }

    @Test("progress is drawn only where it is wanted, and steers nothing but its own line")
    func progress() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...3)
        for option in [[], ["--progress", "auto"], ["--progress", "never"]] {
            #expect(try box.quire(["ingest", box.cache, "a"] + pages + option).err.isEmpty)
        }
        let shown = try box.quire(["ingest", box.cache, "a", "--progress", "always"] + pages)
        #expect(shown.err.contains(" %  ") && shown.err.contains("/s  ") && shown.err.hasPrefix("\r["))
        #expect(shown.err.unicodeScalars.allSatisfy { $0 == "\r" || (0x20..<0x7F).contains($0.value) })
        let piped = try box.shell("cat 1.json | $Q ingest $C a - --progress always")
        #expect(piped.err.contains(" read  "))
    }

    @Test("nothing of the data steers a terminal; an id is bytes")
    func terminal() throws {
        let box = try Sandbox()
        let steering = "\\u001b[2J\\r\\u202e"
        try box.write(
            "a.ndjson",
            "{\"question_id\": 1, \"title\": \"\(steering)\"}\n{\"question_id\": \"\(steering)\"}\n")
        try box.write("b.json", "{\"error_id\": 1, \"error_message\": \"\(steering)\"}")
        let item = "<item><guid>../../x</guid><title>\u{202E}</title></item>"
        try box.write("c.rss", "<rss>\(item)<item><\u{E9}\u{202E}/></item></rss>")
        var text = ""
        for name in ["a.ndjson", "b.json", "c.rss"] {
            let run = try box.quire("ingest", box.cache, name, box.path(name))
            text += run.out + run.err
            text += try box.quire("show", box.cache, name).out
            text += try box.quire("show", box.cache, name, "--json").out
        }
        #expect(
            text.unicodeScalars.allSatisfy {
                $0 == "\n" || $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x202E
            })
        #expect(try box.quire("export", box.cache, "c.rss", "--ids").lines == ["../../x"])
        #expect(!FileManager.default.fileExists(atPath: box.folder + "/../../x"))
    }
}

/// Numbers that follow from a seed.
struct FixedRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
