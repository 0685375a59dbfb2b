import Foundation
import Testing

@Suite("What the tool says when something is wrong", .timeLimit(.minutes(10)))
struct MessageTests {
    private func objects(_ text: String) throws -> [JSONObject] {
        try text.split(separator: "\n").map {
            JSONObject(
                values: try #require(
                    JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)"))
        }
    }

    @Test("A command that is mistyped is an error with a suggestion, also after help")
    func suggestions() throws {
        let box = try Sandbox()
        for (typed, meant) in [("shwo", "show"), ("feed", "feeds"), ("Gaps", "gaps"), ("compct", "compact")] {
            for arguments in [[typed], ["help", typed], [typed, "--help"], [typed, "x.quire"]] {
                let run = try box.quire(arguments)
                #expect(run.status == 64 && run.out.isEmpty)
                #expect(run.err == "quire: there is no command \(typed); did you mean \(meant)?\n")
            }
        }
        #expect(try box.quire("xyzzy").err == "quire: there is no command xyzzy; quire help lists all\n")
        #expect(try box.quire("help").status == 0 && box.quire("help", "show").out.contains("-n <number>"))
        #expect(try box.quire("help", "help").status == 0)
        #expect(try box.quire("show", "--jsno", "x", "y").err.contains("--json"))
        _ = try box.quire("ingest", box.cache, "so/active", box.page("1.json", [1]))
        let feed = try box.quire("show", box.cache, "so/activ")
        #expect(feed.err == "quire: \(box.cache): no feed so/activ; did you mean so/active?\n")
    }

    @Test("A limit of file sizes is an error with a message, and no signal ends the tool")
    func limitOfFileSizes() throws {
        let box = try Sandbox()
        let page = try box.page("1.json", Array((1...100).reversed()))
        #expect(try box.quire("ingest", box.cache, "a", page).status == 0)
        for (command, status) in [("report \"$C\" -o x.html", 73), ("export \"$C\" a >x", 74)] {
            let run = try box.shell("ulimit -f 1; \"$Q\" \(command)")
            #expect(run.status == status && run.err.contains("File too large"), "\(command): \(run.err)")
        }
        let run = try box.shell("ulimit -f 8; \"$Q\" compact \"$C\"")
        #expect(run.status == 74 && run.err.contains("File too large"), "\(run.err)")
        let files = try FileManager.default.contentsOfDirectory(atPath: box.folder)
        #expect(!files.contains { $0.contains("compacted") })
    }

    @Test("--version is the version of the header")
    func version() throws {
        let header = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Include/quire.h").path
        let text = try String(contentsOfFile: header, encoding: .utf8)
        let version = try #require(text.firstMatch(of: #/#define QUIRE_VERSION_STRING "(.*)"/#)?.1)
        let box = try Sandbox()
        #expect(try box.quire("--version").out == version + "\n")
    }

    @Test("With --json every line of stderr is an object, and the last has the exit code")
    func json() throws {
        let box = try Sandbox()
        _ = try box.quire("ingest", box.cache, "a", box.page("1.json", [1]))
        try box.write("text", String(repeating: "no cache ", count: 1_000))
        let cases: [([String], Int)] = [
            (["show", box.cache, "b"], 65), (["show", box.path("none"), "a"], 66),
            (["stat", box.path("text")], 65),
            (["show"], 64), (["prune", box.cache, "a"], 64), (["show", box.cache, "a", "-n=-1"], 64),
            (["typo"], 64), (["ingest", box.cache, "a", box.path("1.json"), "--order", "up"], 64),
            (["get", box.cache, "7"], 65), (["ingest", box.cache, "a", box.path("none")], 66),
            (["fill", box.cache, "a", "g1", box.path("1.json")], 65),
        ]
        for (arguments, status) in cases {
            let run = try box.quire(arguments + ["--json"])
            let lines = try objects(run.err)
            #expect(Int(run.status) == status && lines.count == 1, "\(arguments) \(run.err)")
            #expect(lines.last?["exit_code"] == status && lines.last?.text("type") == "error")
            #expect(lines.last?.text("message").map { !$0.isEmpty && !$0.contains("\n") } == true)
        }
        try box.write("odd.json", "{")
        let odd = try box.quire("ingest", box.cache, "a", box.path("odd.json"), box.path("none"), "--json")
        let lines = try objects(odd.err)
        #expect(odd.status == 65 && lines.count == 2, "\(odd.err)")
        #expect(lines.map { $0["exit_code"] as Int? } == [nil, 65])
        let gaps = try box.quire("gaps", box.cache, "--exit-code", "--json")
        #expect(gaps.err.isEmpty)
        // behind -- it is a name
        #expect(try box.quire("show", "--", box.cache, "--json").err.hasPrefix("quire: "))
        let escaped = try box.quire("show", box.cache, "\u{1B}[2J", "--json")
        #expect(escaped.err.contains(#"\u001b[2J"#))
    }

    @Test("Many bad pages are told by kind, after three of each")
    func summary() throws {
        let box = try Sandbox()
        for number in 1...60 {
            try box.write("\(number).json", number % 3 == 0 ? #"{"items": [{"id": \#(number)}]}"# : "{}")
        }
        let pages = (1...60).map { box.path("\($0).json") } + ["--profile", "stackexchange"]
        let run = try box.quire(["ingest", box.cache, "a"] + pages)
        #expect(run.status == 65 && run.errLines.count == 9, "\(run.err)")
        #expect(run.errLines[6] == "quire: 54 more failed, by kind as follows; --errors-to FILE takes each")
        #expect(
            run.errLines[7].hasPrefix("quire:   40 times: ")
                && run.errLines[8].hasPrefix("quire:   20 times: "))
        let lines = try objects(box.quire(["ingest", box.cache, "a"] + pages + ["--json"]).err)
        #expect(lines.count == 9 && lines.compactMap { $0["count"] } == [40, 20])
        #expect(lines.last?["exit_code"] == 65)
        let kept = try box.quire(["ingest", box.cache, "a"] + pages + ["--errors-to", box.path("errors")])
        #expect(kept.err.isEmpty)
        #expect(try objects(String(contentsOfFile: box.path("errors"), encoding: .utf8)).count == 60)
    }

    @Test("Sizes are written as people write them")
    func sizes() throws {
        let box = try Sandbox()
        _ = try box.quire(["ingest", box.cache, "a"] + box.pages(1...6))
        func pruned(_ size: String) throws -> Int? {
            try box.quire("prune", box.cache, "a", "--max-bytes", size, "--dry-run", "--json").object()[
                "posts"]
        }
        for (size, posts) in [
            ("1600", 40), ("1.6kB", 40), ("1.6KB", 40), ("1KiB", 50), ("1k", 50), ("1024B", 50), ("0", 60),
            ("1MB", 0),
            ("2GiB", 0), ("1t", 0),
        ] {
            #expect(try pruned(size) == posts, "\(size)")
        }
        for size in ["", "x", "1.5", "-1", "1 kB", "1XB", ".5MB", "5.MB", "1e3", "9999999999TB", "1.2.3MB"] {
            let run = try box.quire("prune", box.cache, "a", "--max-bytes=\(size)", "--dry-run")
            #expect(run.status == 64, "\(size)")
        }
        let page = try box.page("7.json", [1])
        for size in ["64", "64MiB", "1GB", "1048576B"] {
            #expect(try box.quire("ingest", box.cache, "b", page, "--memory", size).status == 0, "\(size)")
        }
        for size in ["0", "1kB", "x", "64 MiB"] {
            #expect(try box.quire("ingest", box.cache, "b", page, "--memory", size).status == 64, "\(size)")
        }
        #expect(try box.quire("ingest", box.cache, "b", page, "--record-limit", "2MiB").status == 0)
        for (option, size, words) in [
            ("--record-limit", "2GiB", "--record-limit is from 1 to 1024 MiB, not 2048 MiB."),
            ("--record-limit", "1KiB", "--record-limit is from 1 to 1024 MiB, not 1,024 bytes."),
            ("--memory", "1kB", "--memory is from 1 MiB to 1 TiB, not 1,000 bytes."),
            ("--ratio-limit", "0", "--ratio-limit is from 1 on, not 0."),
        ] {
            let run = try box.quire("ingest", box.cache, "b", page, option, size)
            #expect(run.status == 64 && run.err.contains(words), "\(run)")
        }
    }

    @Test("The columns of gaps and the members of its objects name the same")
    func gapNames() throws {
        let box = try Sandbox()
        _ = try box.quire("ingest", box.cache, "a", box.page("1.json", [9, 8]), box.page("3.json", [5, 4]))
        let table = try box.quire("gaps", box.cache).lines
        #expect(table[0].hasSuffix("BELOW POST  ABOVE POST"))
        #expect(table[1].split(separator: " ").suffix(2) == ["8", "5"])
        let gap = try box.quire("gaps", box.cache, "--json").object()
        #expect(gap.text("below_post") == "8" && gap.text("above_post") == "5")
    }
}
