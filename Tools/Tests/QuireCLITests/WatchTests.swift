import Foundation
import Testing

@Suite("quire watch", .timeLimit(.minutes(10)))
struct WatchTests {
    /// Applies the changes of a line to the rows of a feed.
    private static func apply(_ line: [String: Any], to rows: inout [String]) throws {
        func name(_ row: Any?) -> String? {
            (row as? [String: String]).flatMap { $0["post"] ?? $0["gap"].map { "gap " + $0 } }
        }
        for change in try #require(line["changes"] as? [[String: Any]]) {
            let row = name(change["row"])
            switch change["change"] as? String {
            case "inserted":
                let below = try name(change["below"]).map { try #require(rows.firstIndex(of: $0)) + 1 }
                rows.insert(try #require(row), at: below ?? 0)
            case "removed": rows.removeAll { $0 == row }
            case "updated": #expect(rows.contains { $0 == row })
            default: Issue.record("\(change)")
            }
        }
    }

    private func rows(_ box: Sandbox) throws -> [String] {
        try box.quire("show", box.cache, "a", "-n", "999", "--json").objects().map {
            ($0["type"] as? String == "gap" ? "gap " : "") + ($0["id"] as? String ?? "")
        }
    }

    @Test("Its lines lead from one state of the feed to the next, while others write; Ctrl-C ends it")
    func follows() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...6)
        _ = try box.quire("ingest", box.cache, "a", pages[0])
        var seen = try rows(box)
        let (process, out, _) = try box.start(Tool.path, ["watch", box.cache, "a", "--since", "1"])
        for page in pages[2...] + [pages[1]] { _ = try box.quire("ingest", box.cache, "a", page) }
        _ = try box.quire("ingest", box.cache, "b", pages[0])
        _ = try box.quire("delete", box.cache, "a", "955", "1000")
        _ = try box.quire("prune", box.cache, "a", "--max-posts", "30")
        let wanted = try rows(box)
        var lines: [Substring] = []
        repeat {
            let text = try String(contentsOfFile: out, encoding: .utf8)
            lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            var rows = seen
            for line in lines {
                let object = try #require(
                    JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                #expect(object["feed"] as? String == "a")
                try Self.apply(object, to: &rows)
            }
            if rows == wanted { seen = rows }
        } while seen != wanted && !Task.isCancelled && process.isRunning
        #expect(seen == wanted && process.isRunning)
        process.send(SIGINT)
        process.waitUntilExit()
        #expect(process.status == 0)
    }

    @Test("-n ends it; a dropped feed is null; a feed or commit that is not there is an error")
    func ends() throws {
        let box = try Sandbox()
        for page in try box.pages(1...3) {
            _ = try box.quire("ingest", box.cache, "a", page, "--place", "tail")
        }
        let lines = try box.quire("watch", box.cache, "--since", "0", "-n", "2").objects()
        #expect(lines.map { $0["commit"] as? Int } == [1, 2])
        // several pages in one commit are one line
        _ = try box.quire(["ingest", box.path("b.quire"), "b"] + box.pages(1...3))
        let all = try box.quire("watch", box.path("b.quire"), "--since", "0", "-n", "1").objects()
        var rows: [String] = []
        try Self.apply(all[0], to: &rows)
        #expect(try rows == box.quire("export", box.path("b.quire"), "b", "--ids").lines && rows.count == 30)
        #expect(try box.quire("watch", box.cache, "-n", "0").out.isEmpty)
        #expect(try box.quire("watch", box.cache, "typo").status == 65)
        #expect(try box.quire("watch", box.cache, "--since", "99").status == 65)
        _ = try box.quire("drop", box.cache, "a")
        let dropped = try box.quire("watch", box.cache, "--since", "0", "-n", "1").objects()
        #expect(dropped[0]["feed"] is NSNull && dropped[0]["feed_number"] as? Int == 1)
    }

    /// Returns the objects that a program has printed to a file, once there are `count` or the program has
    /// ended.
    private func objects(_ count: Int, in path: String, of process: ChildProcess) throws -> [[String: Any]] {
        var lines: [Substring] = []
        repeat {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        } while lines.count < count && !Task.isCancelled && process.isRunning
        return try lines.map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test("A feed that was dropped is followed again when there is one of its name")
    func followsAgain() throws {
        let box = try Sandbox()
        let pages = try box.pages(1...2)
        for feed in ["a", "b"] { _ = try box.quire("ingest", box.cache, feed, pages[0]) }
        let (process, out, _) = try box.start(Tool.path, ["watch", box.cache, "a", "--since", "0"])
        defer { process.send(SIGKILL) }
        _ = try objects(1, in: out, of: process)
        _ = try box.quire("drop", box.cache, "a")
        var lines = try objects(2, in: out, of: process)
        #expect(lines.last?["feed"] is NSNull)
        _ = try box.quire("ingest", box.cache, "a", pages[0])
        lines = try objects(3, in: out, of: process)
        #expect(lines.last?["feed"] as? String == "a" && lines.last?["feed_number"] as? Int == 3)
        var rows: [String] = []
        try Self.apply(try #require(lines.last), to: &rows)
        #expect(try rows == self.rows(box) && rows.count == 10)
        // dropped, and made of a feed whose rows came before: it must be read
        _ = try box.quire("drop", box.cache, "a")
        _ = try objects(4, in: out, of: process)
        _ = try box.quire("rename", box.cache, "b", "a")
        lines = try objects(5, in: out, of: process)
        #expect(lines.last?["feed"] as? String == "a" && lines.last?["feed_number"] as? Int == 2)
        #expect(lines.last?["changes"] as? [[String: String]] == [["change": "reset"]])
        _ = try box.quire("delete", box.cache, "a", "1000")
        lines = try objects(6, in: out, of: process)
        #expect((lines.last?["changes"] as? [[String: Any]])?.first?["change"] as? String == "removed")
        process.send(SIGINT)
        #expect(process.status == 0 && lines.count == 6)
    }

    @Test("A reader that goes away ends it without a word")
    func closedPipe() throws {
        let box = try Sandbox()
        _ = try box.quire("ingest", box.cache, "a", box.page("1.json", [2, 1]))
        let run = try box.shell("{ $Q watch $C --since 0; echo $? >status; } | head -n 1")
        #expect(run.lines.count == 1 && run.err.isEmpty)
        #expect(try String(contentsOfFile: box.path("status"), encoding: .utf8) == "141\n")
    }
}
