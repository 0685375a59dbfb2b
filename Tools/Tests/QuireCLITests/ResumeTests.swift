import Foundation
import Testing

@Suite("quire ingest --resume", .timeLimit(.minutes(60)))
struct ResumeTests {
    /// Everything of a feed that a reader can see, except when its pages were fetched.
    private func state(of cache: String, _ box: Sandbox) throws -> [String] {
        let pages = try box.quire("pages", cache, "a", "--json").out
            .replacing(#/"fetched_at":\d+/#, with: "")
        return [
            pages, try box.quire("show", cache, "a", "-n", "99999999", "--json").out,
            try box.quire("gaps", cache, "a", "--json").out, try box.quire("feeds", cache, "--json").out,
            try box.quire("export", cache, "a").out,
        ]
    }

    /// Responses that overlap, among them broken ones.
    private func responses(_ box: Sandbox) throws -> [String] {
        let lines = (0..<400).map { page -> String in
            if page % 61 == 60 { return "{\"items\": [" }
            let ids = (0..<12).map { 100_000 - page * 10 - $0 }
            let items = ids.map { "{\"question_id\": \($0), \"key\": \($0), \"title\": \"post \($0)\"}" }
            return "{\"items\": [\(items.joined(separator: ", "))], \"has_more\": true}"
        }
        try box.write("r.ndjson", lines.joined(separator: "\n"))
        _ = try box.shell("gzip -f r.ndjson")
        return [box.path("r.ndjson.gz"), "--order", "bump", "--key", "key"]
    }

    /// A table of some pages.
    private func table(_ box: Sandbox) throws -> [String] {
        let body = String(repeating: "text ", count: 300)
        let rows = (1...3_000).map { "<row Id=\"\($0 * 2)\" Body=\"\(body)\"/>\n" }
        try box.write("t.xml", "<posts>\(rows.joined())</posts>")
        _ = try box.shell("gzip -f t.xml")
        return [box.path("t.xml.gz"), "--memory", "1"]  // a commit for each page
    }

    /// How often to kill: `QUIRE_KILLS`.
    private static let kills = Int(ProcessInfo.processInfo.environment["QUIRE_KILLS"] ?? "") ?? 8

    @Test(
        "killed at random moments and resumed each time, the cache is that of one run",
        arguments: [false, true])
    func killed(isTable: Bool) throws {
        let box = try Sandbox()
        let arguments = try isTable ? table(box) : responses(box)
        let clock = ContinuousClock()
        let start = clock.now
        let whole = try box.quire(["ingest", box.path("whole.quire"), "a"] + arguments + ["--json"])
        let duration = start.duration(to: clock.now)
        let expected = try state(of: box.path("whole.quire"), box)
        var kills = 0
        var round = 0
        while kills < Self.kills {
            round += 1
            let cache = box.path("\(round).quire")
            var last: (process: ChildProcess, out: String, err: String)
            repeat {
                last = try box.start(Tool.path, ["ingest", cache, "a", "--resume", "--json"] + arguments)
                // The moment is what is random here; nothing depends on how long anything takes. Enough
                // kills, and the run may end: one that is slower than the first would never get there.
                if kills < Self.kills {
                    let moment = clock.now + duration * Double.random(in: 0...0.6)
                    while last.process.isRunning && clock.now < moment { usleep(200) }
                    if last.process.isRunning {
                        last.process.send(SIGKILL)
                        kills += 1
                    }
                }
                last.process.waitUntilExit()
            } while last.process.wasKilled
            #expect(last.process.status == whole.status)
            #expect(try state(of: cache, box) == expected, "round \(round)")
            let printed = try Data(contentsOf: URL(fileURLWithPath: last.out))
            let values = try JSONSerialization.jsonObject(with: printed) as? [String: Any]
            let closing = JSONObject(values: try #require(values))
            let once = try whole.object()
            for name in ["pages", "pages_failed", "received", "new", "updated", "bytes", "gaps_opened"] {
                #expect(closing[name] == once[name], "\(name) in round \(round)")
            }
            #expect(try box.quire("check", cache).status == 0)
            for file in [cache, cache + "-lock"] { try FileManager.default.removeItem(atPath: file) }
        }
    }

    @Test("Ctrl-C ends after the current batch; --resume goes on there, and knows when all is done")
    func interrupted() throws {
        let box = try Sandbox()
        _ = try responses(box)
        let options = ["--order", "bump", "--key", "key", "--resume"]
        let whole = box.path("whole.quire")
        _ = try box.shell("gzip -dc r.ndjson.gz | $Q ingest \(whole) a - \(options.joined(separator: " "))")
        let lines = try box.shell("gzip -dc r.ndjson.gz | head -40").out

        let pipe = Pipe()
        let (process, _, err) = try box.start(
            Tool.path, ["ingest", box.cache, "a", "-"] + options, input: pipe.fileHandleForReading)
        try pipe.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
        // It waits for more after the first batch of 32 pages, for ever.
        while process.isRunning, !Task.isCancelled {
            let feed = try box.quire("feeds", box.cache, "--json").objects().first
            if feed?["pages"] as? Int == 32 { break }
        }
        process.send(SIGINT)
        process.waitUntilExit()
        #expect(!process.wasKilled && process.status == 130)
        #expect(try String(contentsOfFile: err, encoding: .utf8).contains("--resume goes on"))
        let rest = "gzip -dc r.ndjson.gz | $Q ingest $C a - \(options.joined(separator: " "))"
        let resumed = try box.shell(rest)
        #expect(resumed.err.contains("going on after 32 pages"))
        #expect(
            resumed.out.contains("counted from the start of the run: 32 pages in earlier calls"), "\(resumed)"
        )
        #expect(try state(of: box.cache, box) == state(of: whole, box))
        #expect(try box.shell(rest).err.contains("done already"))
        #expect(try state(of: box.cache, box) == state(of: whole, box))
    }

    @Test("a file that has changed starts anew")
    func changed() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...3)
        _ = try box.quire(["ingest", box.cache, "a", "--resume"] + pages)
        try box.page("3.json", [980, 979, 1, 0])
        let run = try box.quire(["ingest", box.cache, "a", "--resume", "--json"] + pages)
        #expect(try run.object()["new"] == 2)
        #expect(
            run.errLines.count == 1 && run.err.contains("nothing to resume: the last run had other files"))
    }

    @Test("with nothing to resume it says so, and it goes on only as the run began")
    func otherOptions() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...3)
        let first = try box.quire(["ingest", box.cache, "a", "--resume"] + pages)
        #expect(first.status == 0 && first.err.contains("nothing to resume: feed a has had no run yet"))
        let again = try box.quire(["ingest", box.cache, "a", "--resume"] + pages)
        #expect(again.status == 0 && again.err.contains("done already after 3 pages"))
        for other in [["--format", "responses"], ["--key", "question_id"], ["--profile", "github"]] {
            let run = try box.quire(["ingest", box.cache, "a", "--resume"] + pages + other)
            #expect(run.status == 64 && run.err.contains("--resume: the run was started with"), "\(other)")
        }
    }
}
