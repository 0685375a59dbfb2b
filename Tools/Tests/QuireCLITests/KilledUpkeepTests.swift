import Foundation
import Testing

/// `repair` and `compact` killed at random moments: the old file or the new one is there, whole, and the
/// damaged one is never lost.
@Suite("repair and compact, killed", .timeLimit(.minutes(60)))
struct KilledUpkeepTests {
    private static let kills = Int(ProcessInfo.processInfo.environment["QUIRE_KILLS"] ?? "") ?? 8
    private let box: Sandbox
    private let whole: Data

    init() throws {
        box = try Sandbox()
        let body = String(repeating: "text ", count: 300)
        let rows = (1...2_000).map { "<row Id=\"\($0 * 2)\" Body=\"\($0) \(body)\"/>\n" }
        try box.write("t.xml", "<posts>\(rows.joined())</posts>")
        _ = try box.quire("ingest", box.cache, "a", box.path("t.xml"), "--memory", "1")
        _ = try box.quire("prune", box.cache, "a", "--max-posts", "1000")
        whole = try #require(FileManager.default.contents(atPath: box.cache))
    }

    private var files: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: box.folder).filter {
                $0.hasPrefix("test.quire")
            }
        }
    }

    /// Runs the command until it was killed so often, and once more; `judge` looks at what each death left.
    private func kill(_ command: String, from start: Data, _ judge: (Data) throws -> Void) throws {
        let clock = ContinuousClock()
        try start.write(to: URL(fileURLWithPath: box.cache))
        let began = clock.now
        let status = try box.quire(command, box.cache).status
        let duration = began.duration(to: clock.now)
        for _ in 0..<Self.kills {
            for file in try files { try FileManager.default.removeItem(atPath: box.path(file)) }
            try start.write(to: URL(fileURLWithPath: box.cache))
            let process = try box.start(Tool.path, [command, box.cache]).process
            // The moment is what is random here; nothing depends on how long anything takes.
            let moment = clock.now + duration * Double.random(in: 0...1)
            while process.isRunning && clock.now < moment { usleep(100) }
            process.send(SIGKILL)
            process.waitUntilExit()
            try judge(try #require(FileManager.default.contents(atPath: box.cache)))
            let again = try box.quire(command, box.cache)
            #expect(again.status == status || again.status == 0, "\(again.err)")
            for test in ["verify", "check"] { #expect(try box.quire(test, box.cache).status == 0) }
            let left = try files.filter { $0.contains("repaired") || $0.contains("compacted") }
            #expect(left == [])
        }
    }

    @Test func repair() throws {
        var damaged = whole
        for post in [100, 1_900] {  // one of them was pruned
            let place = try #require(damaged.range(of: Data("\(post) text".utf8)))
            damaged[place.lowerBound] ^= 1
        }
        try kill("repair", from: damaged) { now in
            let kept = FileManager.default.contents(atPath: box.cache + ".corrupt-1")
            if now != damaged {
                let status = try box.quire("verify", box.cache).status
                #expect(kept != nil && status == 0)
            }
            #expect(kept == nil || kept == damaged)
        }
        #expect(FileManager.default.contents(atPath: box.cache + ".corrupt-1") == damaged)
        let kept = try files.filter { $0.contains("corrupt") }
        #expect(kept.count == 1)
    }

    @Test func compact() throws {
        let posts = try box.quire("export", box.cache, "a").out
        try kill("compact", from: whole) { now in
            if now != whole { #expect(now.count < whole.count) }
            let status = try box.quire("verify", box.cache).status
            #expect(status == 0)
        }
        #expect(try box.quire("export", box.cache, "a").out == posts)
    }

    /// Others open the cache all the time: each sees all of it, in the old file or in the new one.
    @Test func openedMeanwhile() throws {
        let posts = try box.quire("export", box.cache, "a").out
        for _ in 0..<Self.kills {
            try whole.write(to: URL(fileURLWithPath: box.cache))
            let process = try box.start(Tool.path, ["compact", box.cache]).process
            while process.isRunning, !Task.isCancelled {
                let run = try box.quire("export", box.cache, "a")
                #expect(run.status == 0 && run.out == posts, "\(run.err)")
            }
            #expect([0, 75].contains(process.status), "75: somebody had it open first")
        }
        #expect(try box.quire("compact", box.cache).status == 0)
        #expect(try box.quire("export", box.cache, "a").out == posts)
    }
}
