import Foundation
import Testing

/// `quire show` on a terminal. Each test waits for a picture; the time limit ends one that never comes.
@Suite("quire show as a view that scrolls", .timeLimit(.minutes(10)))
struct FeedViewTests {
    private let box: Sandbox
    private let terminal: PseudoTerminal

    /// 400 posts, 1000 to 561 without pages 4 and 30: gaps below 971 and 711.
    init() throws {
        box = try Sandbox()
        let pages = try box.pages(1...42).filter { !$0.hasSuffix("/4.json") && !$0.hasSuffix("/30.json") }
        _ = try box.quire(
            ["ingest", box.cache, "a"] + pages + ["--order", "bump", "--key", "last_activity_date"])
        terminal = try PseudoTerminal(rows: 24, columns: 80)
    }

    private func show(_ environment: [String: String] = [:], _ options: String...) throws -> ChildProcess {
        let process = try terminal.start(Tool.path, ["show", box.cache, "a"] + options, environment)
        try terminal.wait("the first picture") { !$0.isEmpty }
        return process
    }

    /// The ids on the screen.
    private var ids: [Int] { Self.ids(terminal.lines) }

    private static func ids(_ lines: [String]) -> [Int] {
        lines.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
    }

    private func press(_ keys: String, until what: String, _ isWanted: @escaping ([Int]) -> Bool) throws {
        terminal.type(keys)
        try terminal.wait("\(what) after \(keys.debugDescription)") { isWanted(Self.ids($0)) }
    }

    @Test("It opens at the top, scrolls by keys, and gives the terminal back")
    func scrolling() throws {
        #expect(terminal.isCooked)
        let process = try show()
        #expect(!terminal.isCooked && terminal.text.hasPrefix("\u{1B}[?1049h\u{1B}[?25l"))
        #expect(terminal.lines.count == 24)
        #expect(terminal.lines[0].split(separator: " ") == ["ID", "KEY", "PAGE", "BYTES", "TEXT"])
        #expect(ids.first == 1_000 && terminal.lines[1].contains("post 1000"))
        #expect(terminal.lines[23].hasPrefix("a  1-"))
        #expect(terminal.lines[23].contains(" of 403  2 gaps; "))
        try press("j", until: "one row down") { $0.first == 999 }
        try press("\u{1B}[B", until: "another row down") { $0.first == 998 }
        try press("\u{1B}OA", until: "one up") { $0.first == 999 }
        try press("k", until: "the top again") { $0.first == 1_000 }
        let lowest = try #require(ids.last)
        try press(" ", until: "the next screen") { $0.first == lowest || $0.first == lowest - 1 }
        try press("b", until: "the screen before") { $0.first == 1_000 }
        try press("\u{1B}[6~", until: "the next screen") { $0.first.map { $0 < 1_000 } ?? false }
        try press("g", until: "the top") { $0.first == 1_000 }
        try press("G", until: "the end") { $0.last == 581 }
        #expect(terminal.lines.contains { $0.hasPrefix("goes on with: page=43") })
        try press("\u{1B}[H", until: "the top") { $0.first == 1_000 }
        // a sequence that comes in parts
        terminal.type("\u{1B}")
        terminal.type("[")
        try press("B", until: "one row down") { $0.first == 999 }
        terminal.type("q")
        #expect(try terminal.end(of: process) == 0)
        #expect(terminal.isCooked && terminal.text.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    }

    @Test("n and N go from gap to gap, which are red; NO_COLOR takes colours away", arguments: [true, false])
    func gaps(hasColour: Bool) throws {
        let process = try show(hasColour ? [:] : ["NO_COLOR": "1"])
        terminal.type("n")
        try terminal.wait("the first gap") {
            $0.contains { $0.hasPrefix("~~>> gap g1, missing-page: page=4 ~~") }
        }
        terminal.type("n")
        try terminal.wait("the second gap") {
            $0.contains { $0.hasPrefix("~~>> gap g2, missing-page: page=30 ") }
        }
        let gap = try #require(terminal.picture.first { $0.contains("gap g2") })
        #expect(gap.hasPrefix("\u{1B}[31m") == hasColour)
        terminal.type("n")
        try terminal.wait("that there is no other") { $0.last?.contains("no gap below") == true }
        terminal.type("N")
        try terminal.wait("the first gap") { $0.contains { $0.hasPrefix("~~>> gap g1") } }
        #expect(terminal.text.contains("\u{1B}[7m") == hasColour)
        #expect(terminal.text.contains("m- - - unverified join") == hasColour)
        terminal.type("q")
        #expect(try terminal.end(of: process) == 0)
    }

    @Test("A signal ends it and gives the terminal back", arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func signals(number: Int32) throws {
        let process = try show()
        process.send(number)
        #expect(try terminal.end(of: process) == 128 + number)
        #expect(terminal.isCooked && terminal.text.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    }

    @Test("Ctrl-C is a key here; Ctrl-Z stops it on the old screen, and it goes on when it is continued")
    func suspending() throws {
        let process = try show()
        terminal.type("\u{1A}")
        try terminal.wait { terminal.isCooked }
        func state() -> Character? {
            let text = try? String(contentsOfFile: "/proc/\(process.identifier)/stat", encoding: .utf8)
            return text?.split(separator: ")").last?.dropFirst().first
        }
        try terminal.wait { state() == "T" }
        process.send(SIGCONT)
        try press("j", until: "one row down") { $0.first == 999 }
        #expect(!terminal.isCooked)
        terminal.type("\u{03}")
        #expect(try terminal.end(of: process) == 0 && terminal.isCooked)
    }

    @Test("It takes the size of the terminal, also when that changes")
    func resizing() throws {
        let process = try show()
        #expect(terminal.lines[1...].allSatisfy { $0.count <= 80 })
        terminal.resize(rows: 10, columns: 40)
        process.send(SIGWINCH)
        try terminal.wait("a smaller picture") { $0.count == 10 && $0.allSatisfy { $0.count <= 40 } }
        terminal.resize(rows: 40, columns: 120)
        process.send(SIGWINCH)
        try terminal.wait("a larger picture") { $0.count == 40 && $0[39].count == 120 }
        terminal.type("q")
        #expect(try terminal.end(of: process) == 0)
    }

    @Test("What others write comes in; the rows that are looked at stay where they are")
    func live() throws {
        let process = try show()
        let above = try box.page("new.json", (995...1_003).reversed())
        let keyed = ["--order", "bump", "--key", "last_activity_date"]
        _ = try box.quire(["ingest", box.cache, "a", above] + keyed)
        try terminal.wait("the new posts") { Self.ids($0).first == 1_003 }
        try press("   ", until: "a lower screen") { $0.first.map { $0 < 940 } ?? false }
        let first = ids.first
        let more = try box.page("newer.json", (998...1_009).reversed())
        _ = try box.quire(["ingest", box.cache, "a", more] + keyed)
        try terminal.wait("the longer feed") { $0.last?.contains(" of 412 ") == true }
        #expect(ids.first == first)
        _ = try box.quire("reset", box.cache, "a")
        try terminal.wait("the empty feed") { $0.last?.contains("1-1 of 1 ") == true }
        _ = try box.quire("drop", box.cache, "a")
        terminal.type("q")
        #expect(try [0, 65].contains(terminal.end(of: process)) && terminal.isCooked)
    }

    @Test("It reads what it shows: a feed 100 times as long costs no more memory pages")
    func lazy() throws {
        var faults: [Int] = []
        for (feed, pages) in [("short", 4), ("long", 400)] {
            let lines = (0..<pages).map { page in
                let first = 100_000 - page * 100
                let items = (first - 99...first).reversed().map {
                    #"{"question_id": \#($0), "title": "post"}"#
                }
                return
                    #"{"page": \#(page + 1), "items": [\#(items.joined(separator: ","))], "has_more": true}"#
            }
            try box.write("\(feed).ndjson", lines.joined(separator: "\n"))
            let run = try box.quire("ingest", box.path(feed), feed, box.path("\(feed).ndjson"))
            try #require(run.status == 0, "\(run.err)")
            let terminal = try PseudoTerminal(rows: 24, columns: 80)
            let process = try terminal.start(Tool.path, ["show", box.path(feed), feed])
            try terminal.wait("the first picture") { !$0.isEmpty }
            terminal.type("G")
            try terminal.wait("the end") { Self.ids($0).last == 100_001 - pages * 100 }
            let stat = try String(contentsOfFile: "/proc/\(process.identifier)/stat", encoding: .utf8)
            let fields = try #require(stat.split(separator: ")").last).split(separator: " ")
            faults.append(try #require(Int(fields[7])))  // minflt
            terminal.type("q")
            #expect(try terminal.end(of: process) == 0)
        }
        #expect(faults[1] < faults[0] + 300, "\(faults)")
    }

    @Test("Its last line says that an ingest was interrupted")
    func interrupted() throws {
        let rows = (1...2_600).map { #"<row Id="\#($0)" Body="a" />"# }.joined(separator: "\n")
        try box.write("Posts.xml", "<posts>\n" + rows)
        #expect(try box.quire("ingest", box.path("cut.quire"), "a", box.path("Posts.xml")).status == 65)
        let terminal = try PseudoTerminal(rows: 24, columns: 80)
        let process = try terminal.start(Tool.path, ["show", box.path("cut.quire"), "a"])
        try terminal.wait("the first picture") { !$0.isEmpty }
        #expect(terminal.lines[23].contains("1 interrupted ingest"), "\(terminal.lines)")
        terminal.type("q")
        #expect(try terminal.end(of: process) == 0)
    }

    @Test("It begins where it is told; with -n, --json or TERM=dumb it prints")
    func beginning() throws {
        let process = try show([:], "--after", "900")
        #expect(ids.first == 899)
        terminal.type("q")
        #expect(try terminal.end(of: process) == 0)
        for (options, environment) in [
            (["-n", "2"], [:]), (["--json"], [:]), ([], ["TERM": "dumb"]),
        ] as [([String], [String: String])] {
            let plain = try PseudoTerminal(rows: 24, columns: 80)
            let process = try plain.start(Tool.path, ["show", box.cache, "a"] + options, environment)
            try plain.wait { !process.isRunning && !plain.text.isEmpty }
            #expect(process.status == 0 && !plain.text.contains("\u{1B}"))
        }
    }
}
