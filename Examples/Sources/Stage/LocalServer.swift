import FlyingFox
import Foundation
import Synchronization

/// A question to a ``LocalServer``.
public struct Question: Sendable {
    public let path: String
    public let query: [String: String]
    /// By name in lower case.
    public let headers: [String: String]

    public func number(_ name: String) -> Int? { query[name].flatMap { Int($0) } }
}

/// What a ``LocalServer`` answers.
public struct Reply: Sendable {
    public var status: Int
    public var headers: [String: String]
    public var body: String

    public init(_ body: String, status: Int = 200, headers: [String: String] = [:]) {
        (self.body, self.status, self.headers) = (body, status, headers)
    }
}

/// A server on loopback for one example. It answers as long as a reference to it is held.
public final class LocalServer: Sendable {
    /// `http://127.0.0.1:port`.
    public let address: String
    private let running: Task<Void, any Error>
    private let heard: Heard

    private final class Heard: Sendable {
        let lines = Mutex<[String]>([])
    }

    /// The port could not be told.
    struct Failure: Error {}

    public static func start(_ answer: @escaping @Sendable (Question) -> Reply) async throws -> LocalServer {
        let heard = Heard()
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: 0), logger: .disabled,
            handler: ClosureHTTPHandler { request in
                let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
                heard.lines.withLock { $0.append(query.isEmpty ? request.path : "\(request.path)?\(query)") }
                return HTTPResponse(answer(Question(request)))
            })
        let running = Task { try await server.run() }
        try await server.waitUntilListening(timeout: 600)
        guard case .ip4(_, let port)? = await server.listeningAddress else { throw Failure() }
        return LocalServer(address: "http://127.0.0.1:\(port)", running: running, heard: heard)
    }

    private init(address: String, running: Task<Void, any Error>, heard: Heard) {
        (self.address, self.running, self.heard) = (address, running, heard)
    }

    deinit { running.cancel() }

    /// The requests since the last call, without the server's name.
    public func takeRequests() -> [String] {
        heard.lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}

extension Question {
    fileprivate init(_ request: HTTPRequest) {
        path = request.path
        query = Dictionary(request.query.map { ($0.name, $0.value) }) { first, _ in first }
        headers = Dictionary(request.headers.map { ($0.key.rawValue.lowercased(), $0.value) }) {
            first, _ in first
        }
    }
}

extension HTTPResponse {
    fileprivate init(_ reply: Reply) {
        var headers = HTTPHeaders()
        for (name, value) in reply.headers { headers[HTTPHeader(name)] = value }
        self.init(
            statusCode: HTTPStatusCode(reply.status, phrase: "Status \(reply.status)"), headers: headers,
            body: Data(reply.body.utf8))
    }
}
