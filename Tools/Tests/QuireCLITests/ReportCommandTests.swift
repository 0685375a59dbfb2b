import Foundation
import Quire
import Testing

@Suite("quire report and quire serve")
struct ReportCommandTests {
    private let box: Sandbox

    init() throws {
        box = try Sandbox()
        _ = try box.quire(["ingest", box.cache, "a"] + box.pages(1...3))
        _ = try box.quire(["ingest", box.cache, "b"] + box.pages(1...2))
    }

    @Test("report writes a file with all feeds, or those that are named")
    func report() throws {
        let run = try box.quire("report", box.cache, "-o", box.path("all.html"))
        #expect(run.status == 0 && run.out.contains("2 feeds"))
        let text = try String(contentsOfFile: box.path("all.html"), encoding: .utf8)
        #expect(text.hasPrefix("<!doctype html>") && text.contains("post 1000"))
        #expect(try box.quire("report", box.cache, "b", "-o", box.path("b.html")).out.contains("1 feed"))
        #expect(try box.quire("report", box.cache, "--without-bodies", "-o", box.path("c.html")).status == 0)
        #expect(!(try String(contentsOfFile: box.path("c.html"), encoding: .utf8)).contains("post 1000"))
    }

    @Test("report replaces a file and keeps its mode, follows a link, and writes to a pipe")
    func whatStandsThere() throws {
        let run = try box.shell(
            """
            for name in file target; do echo old > $name; chmod 640 $name; done
            ln -s target link; ln -s new dangling; mkfifo pipe; cat pipe > read & reader=$!
            for name in file link dangling pipe fresh; do $Q report $C -o $name || exit; done
            test -p pipe || kill $reader
            wait; test -L link -a -L dangling -a -p pipe || exit 9
            stat -c %a file target; cat read | tail -c 8; ls
            for name in file target new fresh; do grep -q '</html>' $name || exit 8; done
            """)
        #expect(run.status == 0 && run.lines.filter { $0 == "640" }.count == 2, "\(run)")
        #expect(run.out.contains("</html>") && !run.out.contains(".new"), "\(run)")
        let failed = try box.quire("report", box.cache, "-o", box.folder)
        #expect(failed.status == 73 && failed.err.contains("cannot be written: Is a directory"), "\(failed)")
    }

    @Test("a report of more feeds than it can show says so, and how to choose")
    func manyFeeds() throws {
        let box = try Sandbox()
        try Cache(at: box.cache).batch { for number in 1...501 { _ = try $0.feed(named: "f\(number)") } }
        let run = try box.quire("report", box.cache, "-o", box.path("x.html"))
        #expect(run.status == 0 && run.out.contains("the first 500 of 501 feeds"), "\(run)")
        #expect(run.err.contains("name those that it is to show"), "\(run)")
    }

    @Test("what does not exist is said, and creates nothing")
    func missing() throws {
        #expect(try box.quire("report", box.path("no.quire"), "-o", box.path("x.html")).status == 66)
        #expect(try box.quire("report", box.cache, "typo", "-o", box.path("x.html")).status == 65)
        #expect(try box.quire("report", box.cache, "-o", box.path("no/x.html")).status == 73)
        #expect(try box.quire("report", box.cache).status == 64)
        #expect(!FileManager.default.fileExists(atPath: box.path("x.html")))
        #expect(try box.quire("serve", box.path("no.quire")).status == 66)
        #expect(try box.quire("serve").status == 64)
    }

    @Test("serve prints an address of this computer, and ends after a signal")
    func serve() throws {
        let run = try box.shell(
            """
            (sh -c 'echo $$ > pid; exec "$0" serve "$1"' $Q $C; echo "ended $?") |
                { read address; echo "$address"; kill -TERM $(cat pid); cat; }
            """)
        #expect(run.lines.last == "ended 0")
        #expect(run.lines.first?.wholeMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+\/[0-9a-f]{32}\//) != nil)
    }
}
