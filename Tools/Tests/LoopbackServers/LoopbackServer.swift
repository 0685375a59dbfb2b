import FlyingFox
import FlyingSocks
import Foundation
import Synchronization

/// A real server on loopback whose answers are a closure. It runs as long as a reference to it is held.
package final class LoopbackServer: Sendable {
    package typealias Script = @Sendable (HTTPRequest) async throws -> HTTPResponse

    /// `http://127.0.0.1:port`.
    package let address: String
    private let ears: Ears
    private let running: Task<Void, any Error>

    package static func start(_ script: @escaping Script) async throws -> LoopbackServer {
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: 0), timeout: 600, logger: .disabled)
        let ears = Ears()
        await server.appendRoute("*") { request in
            ears.requests.withLock { $0.append(request) }
            return try await script(request)
        }
        let running = Task { try await server.run() }
        try await server.waitUntilListening(timeout: 600)
        guard case .ip4(_, let port)? = await server.listeningAddress else {
            throw SocketFailure()
        }
        return LoopbackServer(port: port, ears: ears, running: running)
    }

    private struct SocketFailure: Error {}
    private final class Ears: Sendable {
        let requests = Mutex<[HTTPRequest]>([])
    }

    private init(port: UInt16, ears: Ears, running: Task<Void, any Error>) {
        address = "http://127.0.0.1:\(port)"
        self.ears = ears
        self.running = running
    }

    deinit { running.cancel() }

    /// The requests that arrived so far.
    package var requests: [HTTPRequest] { ears.requests.withLock { $0 } }
}

extension HTTPResponse {
    package static func json(_ text: String, status: Int = 200, headers: [String: String] = [:])
        -> HTTPResponse
    {
        HTTPResponse(
            statusCode: HTTPStatusCode(status, phrase: "Status \(status)"),
            headers: HTTPHeaders(
                Dictionary(uniqueKeysWithValues: headers.map { (HTTPHeader($0.key), $0.value) })),
            body: Data(text.utf8))
    }

    /// A body that is announced and breaks off: the connection is lost in the middle of it.
    package static var dropped: HTTPResponse {
        HTTPResponse(statusCode: .ok, body: HTTPBodySequence(from: BrokenBody(), count: 1_000))
    }

    /// A body that is announced and does not come: nothing follows its first bytes.
    package static var silent: HTTPResponse {
        HTTPResponse(statusCode: .ok, body: HTTPBodySequence(from: BrokenBody(isSilent: true), count: 1_000))
    }
}

/// A few bytes, then an error, or nothing.
private struct BrokenBody: AsyncBufferedSequence {
    typealias Element = UInt8
    struct Lost: Error {}
    var isSilent = false
    struct Iterator: AsyncBufferedIteratorProtocol {
        let isSilent: Bool
        var isFirst = true
        mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }
        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            defer { isFirst = false }
            if isFirst { return Array("[{\"id\"".utf8) }
            if isSilent { try await Task.sleep(for: .seconds(3_600)) }
            throw Lost()
        }
    }
    func makeAsyncIterator() -> Iterator { Iterator(isSilent: isSilent) }
}
