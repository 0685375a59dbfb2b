import Foundation
import Testing

@Suite("quire with bad input", .timeLimit(.minutes(10)))
struct BadInputTests {
    private static let bad: [(name: String, text: String, reason: String)] = [
        ("truncated", #"{"items": [{"question_id": 1}, {"ques"#, "not JSON"),
        ("neither JSON nor XML", "{html}", "not JSON"), ("HTML", "<html>", "it is an HTML page, not JSON"),
        ("empty file", "", "not JSON"),
        ("no items", #"{"has_more": false}"#, "no items"),
        ("items is no array", #"{"items": 5}"#, "items is"),
        ("an error document", #"{"error_id": 400, "error_name": "bad", "items": []}"#, "error document"),
        ("an item without id", #"{"items": [{"question_id": 1}, {"id": 2}]}"#, "item 2"),
        ("an id that is a string", #"{"items": [{"question_id": "7"}]}"#, "item 1"),
        ("a negative id", #"{"items": [{"question_id": -7}]}"#, "item 1"),
        ("an id above 2^63", #"{"items": [{"question_id": 9223372036854775808}]}"#, "item 1"),
        ("an empty page", #"{"items": [], "has_more": true}"#, "empty"),
        ("an empty page that claims the end", #"{"items": [], "has_more": false}"#, "empty"),
    ]

    @Test("each is one line, exit code 65, and leaves the cache as it was", arguments: 0..<bad.count)
    func refused(index: Int) throws {
        let (_, text, reason) = Self.bad[index]
        let box = try Sandbox()
        try box.write("bad.json", text)
        let fresh = try box.quire(
            "ingest", box.cache, "a", box.path("bad.json"), "--json", "--profile", "stackexchange")
        #expect(fresh.status == 65 && fresh.errLines.count == 1)
        #expect(!FileManager.default.fileExists(atPath: box.cache))
        _ = try box.quire(["ingest", box.cache, "a"] + box.pages(1...2))
        func state() throws -> [String] {
            try [
                box.quire("show", box.cache, "a", "--json").out, box.quire("feeds", box.cache, "--json").out,
                box.quire("pages", box.cache, "a", "--json").out,
            ]
        }
        let before = try state()
        for place in ["head", "tail"] {
            let run = try box.quire(
                "ingest", box.cache, "a", box.path("bad.json"), "--json", "--place", place)
            #expect(run.status == 65 && run.errLines.count == 1)
            let error = JSONObject(
                values: try #require(
                    JSONSerialization.jsonObject(with: Data(run.err.utf8)) as? [String: Any]))
            #expect(error.text("message")?.hasPrefix("\(box.path("bad.json")): ") == true)
            #expect(error.text("message")?.contains(reason) == true, "\(run.err)")
            #expect(error.text("place") == box.path("bad.json") && error.text("type") == "error")
            let line = try run.object()
            #expect(line["pages"] == 0 && line["pages_failed"] == 1 && line["received"] == 0)
        }
        #expect(try state() == before)
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("text of another encoding, and a page of HTML, are named")
    func foreignText() throws {
        let box = try Sandbox()
        let page = try box.page("1.json", [3, 2, 1])
        let text = try String(contentsOfFile: page, encoding: .utf8)
        let html = "\n <!DOCTYPE html>\n<html lang=en><title>502 Bad\n\u{1B} Gateway</title><br>"
        let files: [(data: Data?, words: String)] = [
            (text.data(using: .utf16), "it is UTF-16 text, not UTF-8"),
            (text.data(using: .utf16LittleEndian), "it is UTF-16 text, not UTF-8"),
            (text.data(using: .utf16BigEndian), "it is UTF-16 text, not UTF-8"),
            (text.data(using: .utf32), "it is UTF-32 text, not UTF-8"),
            (Data(html.utf8), #"it is an HTML page, not JSON: "502 Bad \u{1B} Gateway""#),
        ]
        for (data, words) in files {
            try #require(data).write(to: URL(fileURLWithPath: box.path("2.json")))
            for first in [[], [page]] {  // the profile is known, or not
                let run = try box.quire(["ingest", box.path("c.quire"), "a"] + first + [box.path("2.json")])
                #expect(run.status == 65 && run.err == "quire: \(box.path("2.json")): \(words)\n", "\(run)")
            }
            let explained = try box.quire("profiles", "--explain", box.path("2.json"))
            #expect(explained.status == 65 && explained.err.contains(words), "\(explained)")
            try FileManager.default.removeItem(atPath: box.path("c.quire"))
        }
    }

    @Test("a page of 20 MB is refused")
    func hugePage() throws {
        let box = try Sandbox()
        let title = String(repeating: "x", count: 20_000_000)
        try box.write("1.json", #"{"items": [{"question_id": 1, "title": "\#(title)"}]}"#)
        let run = try box.quire("ingest", box.cache, "a", box.path("1.json"))
        #expect(run.status == 65 && run.err.contains("limit") && run.errLines.count == 1)
        #expect(!FileManager.default.fileExists(atPath: box.cache))
    }

    @Test("a page out of the promised order is refused")
    func contradiction() throws {
        let box = try Sandbox()
        let good = try box.page("1.json", [9, 8, 7])
        let bad = try box.page("2.json", [5, 6])
        let run = try box.quire(
            "ingest", box.cache, "a", good, bad, "--order", "stable", "--key", "question_id", "--json")
        #expect(run.status == 65 && run.err.contains("2.json: refused: it contradicts the order"))
        #expect(try run.object()["pages"] == 1)
    }

    @Test("a cache that is a folder, a text file, a cut file, or missing")
    func caches() throws {
        let box = try Sandbox()
        let page = try box.page("1.json", [1])
        try box.write("text", "This is not a cache, but it is long enough to be looked at twice. Really.\n")
        for path in [box.folder, box.path("text")] {
            for arguments in [["show", path, "a"], ["check", path], ["ingest", path, "a", page]] {
                let run = try box.quire(arguments)
                #expect(run.status == 65 && run.errLines.count == 1 && run.out.isEmpty)
            }
        }
        #expect(try box.quire("show", box.path("text"), "a").err.contains("not a Quire cache"))
        #expect(try String(contentsOfFile: box.path("text"), encoding: .utf8).hasPrefix("This is not"))
        for command in [
            ["feeds"], ["show", "a"], ["pages", "a"], ["gaps", "a"], ["export", "a"], ["check"],
            ["prune", "a", "--max-posts", "1"], ["stat"], ["copy", box.path("copy")],
            ["fill", "a", "g1", page],
        ] {
            let run = try box.quire([command[0], box.cache] + command.dropFirst())
            #expect(run.status == 66 && run.errLines == ["quire: \(box.cache): no such cache"])
        }
        #expect(!FileManager.default.fileExists(atPath: box.cache))
        let nowhere = try box.quire("ingest", box.path("no/folder"), "a", page)
        #expect(nowhere.status == 73 && nowhere.errLines.count == 1)
    }

    @Test("what a newcomer mistypes is named")
    func mistyped() throws {
        let box = try Sandbox()
        let page = try box.page("1.json", [3, 2])
        _ = try box.quire("ingest", box.cache, "a", page)
        let option = try box.quire("prune", box.cache, "a", "--max-pags", "5")
        #expect(option.status == 64 && option.err.contains("'--max-pags'"), "\(option)")
        let limit = try box.quire("prune", box.cache, "a")
        #expect(limit.status == 64 && limit.err.contains("Say what to forget"), "\(limit)")
        let profile = try box.quire("ingest", box.cache, "a", page, "--profile", "stackexchang")
        #expect(profile.err == "quire: no profile stackexchang; did you mean stackexchange?\n", "\(profile)")
        try box.write("notes.yaml", "interactions:\n- request: x\n")
        let other = try box.quire("ingest", box.cache, "b", box.path("notes.yaml"))
        #expect(other.status == 65 && other.err.contains("not JSON, and not XML"), "\(other)")
        #expect(other.out == "b: there was only 1 page that failed, so there is no feed\n", "\(other)")
    }

    @Test("a feed, gap or post that does not exist; no file at all; wrong words")
    func names() throws {
        let box = try Sandbox()
        let page = try box.page("1.json", [3, 2])
        _ = try box.quire("ingest", box.cache, "a", page)
        #expect(try box.quire("show", box.cache, "b").status == 65)
        #expect(try box.quire("show", box.cache, "a", "--after", "9").status == 65)
        #expect(try box.quire("fill", box.cache, "a", "g9", page).status == 65)
        #expect(try box.quire("fill", box.cache, "b", "g1", page).status == 65)
        #expect(try box.quire("fill", box.cache, "a", "9", page).status == 64)
        #expect(try box.quire("ingest", box.cache, "a", box.path("none.json")).status == 66)
        #expect(try box.quire("ingest", box.cache, "a", page, "--order", "upwards").status == 64)
        #expect(try box.quire("ingest", box.cache, "a", page, "--profile", "none").status == 64)
        #expect(try box.quire("ingest", box.cache, "c", page, "--order", "bump").status == 64)
        #expect(try box.quire("ingest", box.cache, "", page).status == 64)
        #expect(try box.quire("ingest", box.cache, "a", page, "--key", "a..b").status == 64)
        #expect(try box.quire("nothing").status == 64)
        #expect(try box.quire("--help").status == 0)
        let other = try box.quire("ingest", box.cache, "a", page, "--order", "bump", "--key", "question_id")
        #expect(other.status == 64 && other.err.contains("--order keyless"))
    }

    @Test("a file whose number is too large to count on is no page number")
    func hugeNumber() throws {
        let box = try Sandbox()
        let page = try box.page("9223372036854775807.json", [3, 2])
        for place in ["head", "tail"] {
            let run = try box.quire("ingest", box.cache, "a", page, "--place", place)
            #expect(run.status == 0)
        }
    }

    @Test("a closed pipe ends the tool without a word")
    func closedPipe() throws {
        let box = try Sandbox()
        _ = try box.quire(["ingest", box.cache, "a"] + box.pages(1...200, top: 9_000))
        for command in ["export $C a", "show $C a -n 2000 --json", "show $C a -n 2000", "feeds $C"] {
            let run = try box.shell("{ sleep 0.1; $Q \(command); echo $? >status; } | true")
            #expect(run.err.isEmpty && run.out.isEmpty)
            let status = try String(contentsOfFile: box.path("status"), encoding: .utf8)
            #expect(status == "141\n" || status == "0\n")
        }
        // The first file the tool opens must not get the number of the closed stream, and the output.
        func lock() -> Int? { FileManager.default.contents(atPath: box.cache + "-lock")?.count }
        let before = lock()
        let closed = try box.shell("$Q export $C a >&-")
        #expect(closed.status == 74 && closed.errLines.count == 1 && lock() == before)
        #expect(try box.shell("$Q check $C <&- 2>&-").out == "no findings\n")
        let full = try box.shell("$Q export $C a > /dev/full")
        #expect(full.status == 74 && full.errLines.count == 1)
        for command in ["help", "help ingest", "ingest --help", "--version"] {
            let run = try box.shell("$Q \(command) > /dev/full")
            #expect(run.status == 74 && run.errLines.count == 1, "\(command): \(run)")
        }
    }
}
