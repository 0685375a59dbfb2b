import Foundation
import Testing

/// Another program changes the feed of `quire pull` while a request is under way.
@Suite("quire pull beside other programs", .timeLimit(.minutes(10)), .serialized)
struct PullNeighbourTests {
    /// A list of 90 posts on three pages. Another program runs a command before these requests are answered.
    private static func server(
        beside box: Sandbox, _ command: [String], at requests: @escaping @Sendable (Int) -> Bool
    ) async throws -> ListServer {
        let folder = box.folder
        return try await ListServer.start(posts: 90) { number, _, _ in
            if requests(number) {
                try? ChildProcess(Tool.path, command, in: folder).waitUntilExit()
            }
            return nil
        }
    }

    @Test("A feed that is dropped ends it with a closing line that says so")
    func dropped() async throws {
        let box = try Sandbox()
        let server = try await Self.server(beside: box, ["drop", box.cache, "l"]) { $0 == 3 || $0 == 6 }
        let run = try await box.pull("l", server.url)
        #expect(run.status == 65 && !run.err.contains("feed number"), "\(run)")
        #expect(run.lines.first?.hasPrefix("l: 0 posts (0 new, 3 requests), not whole") == true, "\(run)")
        #expect(run.lines.last == "  stopped: the feed was dropped by another program")
        let again = try await box.pull("l", server.url, "--json", "--follow")
        let end = try #require(try again.objects().last)
        #expect(end["type"] as? String == "end" && end["stopped"] as? String == "dropped", "\(again)")
        #expect(again.status == 65 && end["whole"] as? Bool == false, "\(again)")
    }

    @Test("A feed that is reset is fetched from the head again")
    func reset() async throws {
        let box = try Sandbox()
        let server = try await Self.server(beside: box, ["reset", box.cache, "l"]) { $0 == 3 }
        let run = try await box.pull("l", server.url)
        #expect(run.status == 0 && run.out.contains("l: 90 posts (90 new, ") && run.out.contains(", whole"))
        #expect(try await box.rows(of: "l") == server.ids)
    }

    @Test("A feed that is reset again and again ends it")
    func resets() async throws {
        let box = try Sandbox()
        let server = try await Self.server(beside: box, ["reset", box.cache, "l"]) { $0.isMultiple(of: 2) }
        let run = try await box.pull("l", server.url)
        #expect(run.status == 0 && run.out.contains("stopped: the feed was reset again and again"), "\(run)")
        #expect(server.requests.count < 30)
    }

    @Test("A feed that is renamed is named in the closing line as it is called now")
    func renamed() async throws {
        let box = try Sandbox()
        let server = try await Self.server(beside: box, ["rename", box.cache, "l", "m"]) { $0 == 3 }
        let run = try await box.pull("l", server.url)
        #expect(run.status == 0 && run.out.hasPrefix("m: 90 posts (90 new, "), "\(run)")
        #expect(run.err.contains("l: another program has renamed the feed; it is called m now\n"), "\(run)")
        #expect(try await box.rows(of: "m") == server.ids)
    }
}
