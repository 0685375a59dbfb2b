import Foundation
import Testing

@Suite("quire doctor", .timeLimit(.minutes(10)))
struct DoctorTests {
    @Test("What it says compact would free is about what compact frees")
    func compact() throws {
        let box = try Sandbox()
        _ = try box.quire(["ingest", box.cache, "a"] + box.pages(1...90, top: 9_000))
        _ = try box.quire("prune", box.cache, "a", "--max-posts", "100")
        func size() throws -> Int { try #require(FileManager.default.contents(atPath: box.cache)).count }
        let (before, line) = (try size(), try box.quire("doctor", box.cache, "--json").object())
        let promised = try #require(line["compact_frees"])
        #expect(line["file_bytes"] == before && promised > 0)
        let parts = try ["body_bytes", "dead_body_bytes", "index_bytes", "free_bytes"].map {
            try #require(line[$0])
        }
        #expect(parts.reduce(0, +) == before)
        let words = try box.quire("doctor", box.cache)
        #expect(
            words.status == 0 && words.out.contains("free: the next commits use it before the file grows"))
        _ = try box.quire("compact", box.cache)
        let freed = before - (try size())
        #expect(abs(freed - promised) <= max(32_768, before / 10), "\(promised) promised, \(freed) freed")
    }

    @Test("It names who has the cache open")
    func openers() throws {
        let box = try Sandbox()
        _ = try box.quire("ingest", box.cache, "a", box.page("1.json", [2, 1]))
        #expect(try box.quire("doctor", box.cache).out.contains("no other process has it open"))
        let (process, out, _) = try box.start(Tool.path, ["watch", box.cache, "--since", "0"])
        while process.isRunning, !Task.isCancelled,
            FileManager.default.contents(atPath: out)?.isEmpty ?? true
        {}
        let run = try box.quire("doctor", box.cache)
        #expect(run.out.contains("open in process \(process.identifier) (quire)"), "\(run.out)")
        let open = try #require(
            box.quire("doctor", box.cache, "--json").object().values["open_in"] as? [[String: Any]])
        #expect(open.map { $0["process"] as? Int } == [Int(process.identifier)])
        process.send(SIGINT)
        process.waitUntilExit()
    }

    @Test("It names who holds a snapshot, and since when")
    func snapshots() throws {
        let box = try Sandbox()
        _ = try box.quire(["ingest", box.cache, "a"] + box.pages(1...300, top: 9_000))
        // export waits for its reader, and for that long its snapshot is open
        let run = try box.shell(
            """
            $Q export $C a | { read line; $Q pin $C a 9000; $Q doctor $C; $Q doctor $C --json; cat >/dev/null; }
            """)
        #expect(run.out.contains("1 snapshot held by other programs; the oldest, of process "), "\(run.out)")
        #expect(run.out.contains(", began 1 commit ago\n") && run.out.contains("(quire)"))
        #expect(run.out.contains(#""snapshots":1,"#) && run.out.contains(#""oldest_snapshot_age":1,"#))
        #expect(try box.quire("doctor", box.cache).out.contains("no other program holds a snapshot"))
    }

    @Test("It says what is missing")
    func findings() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...6).filter { !$0.hasSuffix("/4.json") }
        _ = try box.quire(["ingest", box.cache, "a"] + pages)
        let run = try box.quire("doctor", box.cache)
        #expect(run.out.contains("1 feed: 1 gap; 3 joins are unverified\n"))
        #expect(run.out.contains("  quire gaps \(box.cache) lists what is missing"))
        #expect(try box.quire("doctor", box.path("none")).status == 66)
    }
}
