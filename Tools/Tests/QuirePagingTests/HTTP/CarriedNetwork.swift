import FlyingFox
import Foundation
import LoopbackServers
import Quire
import QuireHTTP
import QuirePaging
import Synchronization

/// Puts real HTTP between a pager and a simulated network: each request goes out over a socket and arrives
/// at a server that lets the network answer. What is lost breaks off in the middle of its body.
final class CarriedNetwork: PagingSource {
    struct Complaint: Error, CustomStringConvertible { let description: String }

    /// A request on its way.
    private struct Call {
        let request: PageRequest
        var isCancelled = false
        var answering: Task<PageResponse, any Error>?
    }
    private final class Exchange: Sendable {
        let calls = Mutex<(number: Int, open: [String: Call])>((0, [:]))
    }

    private let exchange = Exchange()
    private let server: LoopbackServer
    private let source: HTTPSource

    init(_ network: SimulatedNetwork, _ options: FeedOptions) async throws {
        let wire = WireFeed(options)
        server = try await LoopbackServer.start { [exchange] request in
            let key = request.query["call"] ?? ""
            guard let asked = exchange.calls.withLock({ $0.open[key]?.request }) else {
                return .json("{}", status: 400)
            }
            guard Self.isRight(request, for: asked, wire) else {
                return .json(#"{"error":"wrong","message":"the request says something else"}"#, status: 400)
            }
            let answering = exchange.calls.withLock { calls -> Task<PageResponse, any Error>? in
                guard calls.open[key]?.isCancelled == false else { return nil }
                let task = Task { try await network.page(for: asked) }
                calls.open[key]?.answering = task
                return task
            }
            guard let answering else { return .json("{}", status: 400) }
            return await Self.response(answering.result, wire)
        }
        source = try wire.source(server.address)
    }

    func page(for request: PageRequest) async throws -> PageResponse {
        let key = exchange.calls.withLock { calls in
            calls.number += 1
            calls.open["\(calls.number)"] = Call(request: request)
            return "\(calls.number)"
        }
        defer { exchange.calls.withLock { _ = $0.open.removeValue(forKey: key) } }
        var asked = request
        asked.parameters = ["call": key]
        return try await withTaskCancellationHandler {
            try await source.page(for: asked)
        } onCancel: {
            let answering = exchange.calls.withLock { calls in
                calls.open[key]?.isCancelled = true
                return calls.open[key]?.answering
            }
            answering?.cancel()
        }
    }

    /// The server got what the engine planned.
    private static func isRight(_ heard: HTTPRequest, for request: PageRequest, _ wire: WireFeed) -> Bool {
        var query = Dictionary(
            heard.query.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        query["limit"] = nil
        query["call"] = nil
        return query == wire.query(request.target, until: request.until)
            && heard.headers[HTTPHeader("If-None-Match")] == request.validators?.etag
    }

    private static func response(
        _ result: Result<PageResponse, any Error>, _ wire: WireFeed
    ) -> HTTPResponse {
        switch result {
        case .success(let response):
            var headers: [String: String] = [:]
            headers["ETag"] = response.validators?.etag
            headers["Retry-After"] = response.pause.map { "\($0.components.seconds)" }
            headers["X-Quota"] = response.quota.map { "\($0.remaining)" }
            headers["X-Quota-Renewal"] = response.quota?.renewsIn.map { "\($0.components.seconds)" }
            guard case .page(let answer) = response.content else {
                return .json("", status: 304, headers: headers)
            }
            return .json(wire.json(answer), headers: headers)
        case .failure(let failure as PageFailure):
            guard failure.isTransient else { return .json("{}", status: 400) }
            guard let pause = failure.pause else { return .dropped }
            return .json("{}", status: 429, headers: ["Retry-After": "\(pause.components.seconds)"])
        case .failure:
            return .json("{}", status: 400)
        }
    }
}
