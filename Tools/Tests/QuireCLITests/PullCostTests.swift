import FlyingFox
import Foundation
import LoopbackServers
import Testing

/// How many requests a mirror takes. `Scripts/pull-figures` measures the same with time.
@Suite("what quire pull asks for", .timeLimit(.minutes(10)), .serialized)
struct PullCostTests {
    private func requests(_ url: String, asked: () -> Int) async throws -> Int {
        let box = try Sandbox()
        let run = try await box.pull("feed", url)
        #expect(run.status == 0, "\(run)")
        return asked()
    }

    @Test("a list whose pages link to each other takes one request a page")
    func linked() async throws {
        let server = try await LoopbackServer.start { request in
            let start = request.query["after"].flatMap { Int($0) } ?? 300
            let items = (max(1, start - 29)...start).reversed().map { #"{"id": \#($0), "state": "open"}"# }
            let next = "<http://\(request.headers[.host] ?? "")/issues?after=\(start - 30)>; rel=\"next\""
            return .json("[\(items.joined(separator: ","))]", headers: start > 30 ? ["Link": next] : [:])
        }
        #expect(try await requests(server.address + "/issues") { server.requests.count } == 10)
    }

    /// Each page shows the post that it follows, so that every join is proven. That costs a third of the
    /// requests.
    @Test("a numbered list takes at most a half more, with every join proven", arguments: [30, 100])
    func numbered(size: Int) async throws {
        let server = try await ListServer.start(posts: 400, usual: size)
        let count = try await requests(server.url) { server.requests.count }
        #expect(count * 2 <= 3 * ((400 + size - 1) / size))
    }
}
