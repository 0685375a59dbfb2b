import FlyingFox
import LoopbackServers
import Quire
import QuireHTTP
import QuireSimulator
import Synchronization

/// The simulator's list behind a real server on loopback, with a validator that changes with the list.
final class ListSite: Sendable {
    private final class List: Sendable {
        let state: Mutex<SimulatedServer>
        init(_ state: SimulatedServer) { self.state = Mutex(state) }
    }

    private let list: List
    private let server: LoopbackServer
    let source: HTTPSource

    init(posts: Int, _ options: FeedOptions, _ kind: ServerKind = ServerKind()) async throws {
        var start = SimulatedServer(kind: kind)
        for _ in 0..<posts { start.insertOnTop() }
        let (wire, list) = (WireFeed(options), List(start))
        self.list = list
        server = try await LoopbackServer.start { request in
            let now = list.state.withLock { $0 }
            let etag = "W/\"\(now.now)\""
            if request.headers[HTTPHeader("If-None-Match")] == etag { return .json("", status: 304) }
            let limit = request.query["limit"].flatMap { Int($0) } ?? options.pageSize
            let answer = now.answer(to: wire.target(of: request), limit: limit, options: options)
            return .json(wire.json(answer), headers: ["ETag": etag])
        }
        source = try wire.source(server.address)
    }

    func change<R>(_ body: (inout SimulatedServer) -> R) -> R { list.state.withLock { body(&$0) } }

    /// What the server shows now, top first.
    var ids: [PostID] { list.state.withLock(\.ids) }

    /// What the requests that arrived said at a place of the query.
    func asked(_ name: String) -> [String?] { server.requests.map { $0.query[name] } }
    var requests: [HTTPRequest] { server.requests }
}
