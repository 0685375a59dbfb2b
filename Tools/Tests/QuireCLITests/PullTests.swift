import FlyingFox
import Foundation
import LoopbackServers
import QuireSimulator
import Testing

@testable import QuireCLI

@Suite("quire pull", .timeLimit(.minutes(10)), .serialized)
struct PullTests {
    @Test("a new feed is mirrored without flags, and the line says what was found")
    func whole() async throws {
        let (box, server) = (try Sandbox(), try await ListServer.start(posts: 95))
        let run = try await box.pull("so", server.url)
        #expect(run.status == 0 && run.errLines.count == 1)
        #expect(run.err.contains("read as stackexchange") && run.err.contains("bump by last_activity_date"))
        #expect(run.out == "so: 95 posts (95 new, 4 requests), whole: no gaps, head closed, end reached\n")
        #expect(try await box.rows(of: "so") == server.ids)
        #expect(server.requests.allSatisfy { $0.headers[HTTPHeader("User-Agent")] == "quire/0.1.0" })
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test("the program names the version of the header")
    func version() throws {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { folder.deleteLastPathComponent() }
        let header = try String(contentsOf: folder.appending(path: "Include/quire.h"), encoding: .utf8)
        let version = PullDiscretion.agent.dropFirst("quire/".count)
        #expect(header.contains("#define QUIRE_VERSION_STRING \"\(version)\""))
    }

    @Test("the next call asks for the head with its tag, and needs no address")
    func notModified() async throws {
        let (box, server) = (try Sandbox(), try await ListServer.start(posts: 50, hasTags: true))
        _ = try await box.pull("so", server.url)
        let asked = server.requests.count
        let again = try await box.pull("so", "--json").objects()
        #expect(again.first?["verdict"] as? String == "not modified")
        #expect(again.last?["whole"] as? Bool == true && again.last?["requests"] as? Int == 1)
        #expect(server.requests.count == asked + 1)
        server.change { $0.insert() }
        let third = try await box.pull("so", "--json").objects()
        #expect(third.last?["new"] as? Int == 1)
        #expect(try await box.rows(of: "so") == server.ids)
    }

    @Test("posts arrive between the requests", arguments: [1, 7, 45])
    func inserts(count: Int) async throws {
        let server = try await ListServer.start(posts: 200) { number, _, list in
            if number > 1 && number < 6 {
                list.insert(count)
            }
            return nil
        }
        let box = try Sandbox()
        #expect(try await box.pull("so", server.url).status == 0)
        #expect(try await box.pull("so", "--json").objects().last?["whole"] as? Bool == true)
        #expect(try await box.rows(of: "so") == server.ids)
    }

    @Test("posts rise while they are read", arguments: [1, 2, 3] as [UInt64])
    func bumps(seed: UInt64) async throws {
        print("seed \(seed)")
        let server = try await ListServer.start(posts: 150) { number, _, list in
            var random = SplitMix64(seed: seed &+ UInt64(number) << 8)
            if number < 8 {
                for _ in 0..<random.below(4) { list.bump(at: random.below(list.ids.count)) }
                list.insert(random.below(3))
            }
            return nil
        }
        let box = try Sandbox()
        for _ in 0..<2 { _ = try await box.pull("so", server.url) }
        let last = try await box.pull("so", "--json").objects().last
        #expect(last?["whole"] as? Bool == true)
        #expect(try await box.rows(of: "so") == server.ids)
    }

    @Test("a limit ends the work; the next call fills the gap and goes on")
    func limit() async throws {
        let (box, server) = (try Sandbox(), try await ListServer.start(posts: 300))
        let first = try await box.pull("so", server.url, "--pages", "3", "--exit-code")
        #expect(first.status == 1 && server.requests.count == 3)
        #expect(first.out.contains("not whole") && first.out.contains("--pages"))
        server.change { $0.insert(100) }
        let second = try await box.pull("so", "--pages", "2", "--json").objects()
        #expect(second.last?["stopped"] as? String == "limit" && second.last?["gaps"] as? Int == 1)
        #expect(try await box.rows(of: "so").contains("~"))
        #expect(try await box.pull("so").status == 0)
        #expect(try await box.rows(of: "so") == server.ids)
    }

    @Test("--plan asks nothing and changes nothing")
    func plan() async throws {
        let (box, server) = (try Sandbox(), try await ListServer.start(posts: 100))
        let new = try await box.pull("so", server.url, "--plan")
        #expect(new.status == 0 && new.out.contains(server.url) && server.requests.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: box.cache))
        _ = try await box.pull("so", server.url, "--pages", "2")
        let before = try Data(contentsOf: URL(fileURLWithPath: box.cache))
        let lines = try await box.pull("so", "--plan", "--json").objects()
        #expect(lines.compactMap { $0["place"] as? String } == ["head", "tail"])
        #expect(server.requests.count == 2)
        #expect(try Data(contentsOf: URL(fileURLWithPath: box.cache)) == before)
    }

    @Test("--until ends at a date, and a later call goes further down")
    func until() async throws {
        let (box, server) = (try Sandbox(), try await ListServer.start(posts: 300))
        let line = try await box.pull("so", server.url, "--until", "1700000200", "--json").objects().last
        #expect(line?["stopped"] as? String == "until" && line?["gaps"] as? Int == 0)
        let rows = try await box.rows(of: "so")
        #expect(rows.contains("200") && !rows.contains("100"))
        _ = try await box.pull("so", "--until", "2023-11-14T22:15:00Z")
        #expect(try await box.rows(of: "so").contains("100"))
        _ = try await box.pull("so")
        #expect(try await box.rows(of: "so") == server.ids)
    }

    @Test("an address says the size of a page, and names one list")
    func addresses() async throws {
        let (box, server) = (try Sandbox(), try await ListServer.start(posts: 250))
        _ = try await box.pull("so", "\(server.url)?pagesize=100&page=1")
        #expect(server.requests.count == 3)
        let other = try await box.pull("so", "\(server.url)?tagged=swift")
        #expect(other.status == 64 && other.err.contains("another list"))
        #expect(try await box.pull("so", "\(server.url)?pagesize=50").status == 0)
        #expect(server.requests.last?.query["pagesize"] == "50")
        for (address, reason) in [
            ("\(server.url)?page=3", "below the first one"), ("\(server.url)?order=asc", "oldest"),
            ("ftp://example.com/x", "is not an address"), ("http://a:b@127.0.0.1/x", "a password"),
            ("\(server.url)?x={nothing}", "{nothing}"),
        ] {
            let run = try await box.pull("other", address)
            #expect(run.status == 64 && run.err.contains(reason), "\(run.err)")
        }
        #expect(try await box.other("feeds", box.cache, "--json").objects().count == 1)
    }

    @Test("--follow looks again, and Ctrl-C ends it")
    func follow() async throws {
        let held = Signalled()
        let server = try await ListServer.start(posts: 40) { number, request, list in
            if request.query["page"] == nil || request.query["page"] == "1" {
                if number > 3 && list.ids.count < 60 { list.insert() }
                if list.ids.count == 60, let process = held.process {
                    held.release()  // a second one would end it at once
                    process.send(SIGINT)
                }
            }
            return nil
        }
        let box = try Sandbox()
        let process = try PullProcess(box, ["so", server.url, "--follow", "--every", "0s", "--pause", "0s"])
        held.hold(process)
        let run = await process.end()
        #expect(run.status == 130, "\(run)")
        #expect(try await box.pull("so").status == 0)
        #expect(try await box.rows(of: "so") == server.ids && server.ids.count == 60)
    }

    @Test("Ctrl-C while --follow waits is said at the end, too")
    func stoppedWhileWaiting() async throws {
        let server = try await ListServer.start(posts: 40)
        let box = try Sandbox()
        let process = try PullProcess(
            box, ["so", server.url, "--follow", "--every", "1h", "--pause", "0s", "--json"])
        // The first round is over when its line stands there.
        while !process.out.contains(#""type":"end""#), !Task.isCancelled { await Task.yield() }
        process.send(SIGINT)
        let run = await process.end()
        let ends = try run.objects().filter { $0["type"] as? String == "end" }
        #expect(
            run.status == 130 && ends.map { $0["stopped"] as? String } == ["whole", "interrupted"], "\(run)")
        #expect(ends.last?["requests"] as? Int == 0 && ends.last?["new"] as? Int == 0, "\(ends)")
    }

    @Test("without an address there must be a cache, and a feed that was pulled")
    func withoutAddress() async throws {
        let box = try Sandbox()
        let none = try await box.pull("so")
        #expect(
            none.status == 66 && none.err.contains("no such cache; to make one, say the address"), "\(none)")
        _ = try await box.other("ingest", box.cache, "a", try box.page("1.json", [3, 2, 1]))
        let never = try await box.pull("so")
        #expect(never.status == 64 && never.err.contains("feed so was never pulled"), "\(never)")
    }

    @Test(
        "Ctrl-C and SIGTERM end between two commits, and are told apart; the next call goes on",
        arguments: [(SIGINT, "Ctrl-C"), (SIGTERM, "SIGTERM")])
    func interrupted(signal: Int32, name: String) async throws {
        let held = Signalled()
        let server = try await ListServer.start(posts: 300) { number, _, _ in
            if number == 4 { held.process?.send(signal) }
            return nil
        }
        let box = try Sandbox()
        let process = try PullProcess(box, ["so", server.url, "--pause", "0s"])
        held.hold(process)
        let run = await process.end()
        #expect(run.status == 130 && run.out.contains("stopped: \(name); the next call goes on here"))
        #expect(try await box.pull("so").status == 0)
        #expect(try await box.rows(of: "so") == server.ids)
    }

    @Test("--verify asks about joins that only page numbers claim")
    func verify() async throws {
        let profile = #"""
            {"name": "counted", "items": "items", "id": {"path": "question_id"}, "next": {"more": "has_more"},
             "page": {"query": "page"}, "paging": "page", "sizes": 30}
            """#
        let (box, server) = (try Sandbox(), try await ListServer.start(posts: 150))
        try box.write("counted.json", profile)
        let first = try await box.pull("so", server.url, "--profile-file", box.path("counted.json"), "--json")
        #expect(try first.objects().last?["unverified"] as? Int == 4)
        let asked = server.requests.count
        let second = try await box.pull("so", "--verify", "--json").objects()
        #expect(server.requests.count > asked + 1)
        #expect(second.contains { ($0["place"] as? String)?.hasPrefix("join above") ?? false })
        #expect(second.last?["whole"] as? Bool == true)
        #expect(try await box.rows(of: "so") == server.ids)
    }
}
