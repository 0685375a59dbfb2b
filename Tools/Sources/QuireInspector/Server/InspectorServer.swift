import FlyingFox
import FlyingSocks
import Foundation
import Quire

/// Shows caches in a browser: a server on loopback that only reads.
public final class InspectorServer: Sendable {
    private let routes: Routes
    private let gate: Gate
    private let server: HTTPServer

    /// How long a request for changes waits, and how often it looks for them.
    private static let (patience, interval) = (Duration.seconds(10), Duration.milliseconds(150))

    /// Creates a server.
    /// - Parameters:
    ///   - caches: The caches, and what to call them.
    ///   - port: A free port of 127.0.0.1.
    ///   - token: What an address begins with; random by default.
    public init(_ caches: [(cache: Cache, name: String)], port: UInt16, token: String? = nil) throws {
        routes = Routes(caches: caches.map { InspectedCache($0.cache, name: $0.name) })
        gate = Gate(token: token ?? Page.randomText(), port: port)
        let (routes, gate) = (routes, gate)
        server = HTTPServer(
            config: HTTPServer.Configuration(
                address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port), timeout: 30, logger: .disabled),
            handler: ClosureHTTPHandler { await Self.response(to: $0, routes, gate) })
    }

    /// Where a browser finds it.
    public var address: String { "http://127.0.0.1:\(gate.port)/\(gate.token)/" }

    /// The port that it listens on.
    public var port: UInt16 { gate.port }

    /// Serves until the task is cancelled.
    /// - Throws: ``Quire/QuireError`` `.io` if the port is taken.
    public func run() async throws {
        do {
            try await server.run()
        } catch SocketError.failed(_, _, let message) {
            throw QuireError(.io, "port \(port) of 127.0.0.1: \(message)")
        }
    }

    /// Returns when it takes requests.
    public func waitUntilListening() async throws { try await server.waitUntilListening() }

    /// Returns a port of 127.0.0.1 that is free now.
    public static func freePort() throws -> UInt16 {
        let socket = try Socket(domain: AF_INET)
        defer { try? socket.close() }
        try socket.bind(to: try sockaddr_in.inet(ip4: "127.0.0.1", port: 0))
        guard case .ip4(_, let port) = try socket.sockname() else { throw SocketError.unsupportedAddress }
        return port
    }

    // MARK: One request

    private static func response(
        to request: HTTPRequest, _ routes: Routes, _ gate: Gate
    ) async -> HTTPResponse {
        let target = request.target.rawValue
        let path = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        switch gate.path(
            method: request.method.rawValue, path: String(path), host: request.headers[.host],
            origin: request.headers[HTTPHeader("Origin")])
        {
        case .refused(.method): return text(.methodNotAllowed, "only GET", [HTTPHeader("Allow"): "GET"])
        case .refused: return text(.forbidden, "refused")
        case .path(let path):
            let query = Routes.Query(
                values: Dictionary(request.query.map { ($0.name, $0.value) }) { first, _ in first })
            do {
                if path == "api/changes" { return try await changes(query, routes) }
                return answer(try routes.reply(to: path, query))
            } catch let error as QuireError {
                return text(error.code == .notFound ? .notFound : .internalServerError, error.message)
            } catch {
                return text(.internalServerError, "\(error)")
            }
        }
    }

    /// Answers as soon as a cache is not as the one who asks has seen it, or when patience ends.
    private static func changes(_ query: Routes.Query, _ routes: Routes) async throws -> HTTPResponse {
        let seen = (query.values["since"] ?? "").split(separator: ",").map { UInt64($0) ?? 0 }
        let end = ContinuousClock.now + patience
        var now = try routes.generations()
        while now == seen, ContinuousClock.now < end {
            try await Task.sleep(for: interval)
            now = try routes.generations()
        }
        return answer(.json(try Page.json(now)))
    }

    private static func answer(_ reply: Routes.Reply) -> HTTPResponse {
        switch reply {
        case .file(let bytes, let type): response(.ok, bytes, type)
        case .json(let bytes): response(.ok, bytes, "application/json")
        case .notFound(let message): text(.notFound, message)
        }
    }

    private static func text(
        _ status: HTTPStatusCode, _ message: String, _ headers: [HTTPHeader: String] = [:]
    ) -> HTTPResponse {
        var response = response(status, Array((message + "\n").utf8), "text/plain; charset=utf-8")
        for (name, value) in headers { response.headers[name] = value }
        return response
    }

    private static func response(_ status: HTTPStatusCode, _ bytes: [UInt8], _ type: String) -> HTTPResponse {
        let policy =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            + "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        return HTTPResponse(
            statusCode: status,
            headers: [
                .contentType: type, HTTPHeader("Content-Security-Policy"): policy,
                HTTPHeader("X-Content-Type-Options"): "nosniff", HTTPHeader("Referrer-Policy"): "no-referrer",
                HTTPHeader("Cache-Control"): "no-store",
                HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
                HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin",
            ], body: Data(bytes))
    }
}
