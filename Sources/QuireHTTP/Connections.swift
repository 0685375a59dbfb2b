import Foundation
import QuirePaging
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A response as it came over the network, decompressed.
struct Received: Sendable {
    var status: Int
    var headers: [String: String]
    var body: [UInt8]
}

/// What is kept between requests: open connections, and nothing else. No cookies and no cache, because
/// freshness is the pager's business.
final class Connections: Sendable {
    private let session: URLSession
    private let transfers = Transfers()

    /// - Parameter timeout: no byte may be waited for longer than this.
    init(timeout: Duration) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = timeout / .seconds(1)
        session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
    }

    // A session keeps its delegate until it is told to stop.
    deinit { session.finishTasksAndInvalidate() }

    /// - Parameter limit: more bytes than these are not read.
    /// - Throws: ``PageFailure``, `CancellationError`.
    func load(_ request: URLRequest, limit: Int) async throws -> Received {
        var request = request
        request.timeoutInterval = session.configuration.timeoutIntervalForRequest
        let task = session.dataTask(with: request)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                transfers.begin(task, limit: limit, continuation)
            }
        } onCancel: {
            transfers.end(task, .failure(CancellationError()))
            task.cancel()
        }
    }
}

/// The responses that are arriving.
private final class Transfers: NSObject, URLSessionDataDelegate, Sendable {
    typealias Continuation = CheckedContinuation<Received, any Error>

    private struct Transfer {
        let limit: Int
        let continuation: Continuation
        var body: [UInt8] = []
        var redirections = 0
    }

    private static let redirectionLimit = 5

    private let arriving = Mutex<[Int: Transfer]>([:])

    func begin(_ task: URLSessionDataTask, limit: Int, _ continuation: Continuation) {
        arriving.withLock {
            $0[task.taskIdentifier] = Transfer(limit: limit, continuation: continuation)
        }
        // A caller that was cancelled earlier could not end a request that had not begun.
        if Task.isCancelled { return end(task, .failure(CancellationError())) }
        task.resume()
    }

    /// The first end counts: what a connection says after it was given up is ignored.
    func end(_ task: URLSessionTask, _ result: Result<Received, any Error>) {
        let transfer = arriving.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        transfer?.continuation.resume(with: result)
    }

    // MARK: The session's side

    func urlSession(_ session: URLSession, dataTask task: URLSessionDataTask, didReceive data: Data) {
        let excess = arriving.withLock { arriving -> Int? in
            guard var transfer = arriving.removeValue(forKey: task.taskIdentifier) else { return nil }
            defer { arriving[task.taskIdentifier] = transfer }
            if transfer.body.count + data.count > transfer.limit { return transfer.limit }
            transfer.body.append(contentsOf: data)
            return nil
        }
        guard let limit = excess else { return }
        end(task, .failure(PageFailure("more than \(limit) bytes", isTransient: false)))
        task.cancel()
    }

    /// A redirection to another server is followed without the headers that the app set for this one.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        let count = arriving.withLock { arriving in
            arriving[task.taskIdentifier]?.redirections += 1
            return arriving[task.taskIdentifier]?.redirections ?? 0
        }
        guard count <= Self.redirectionLimit, let url = newRequest.url else {
            end(task, .failure(PageFailure("redirected too often", isTransient: false)))
            completionHandler(nil)
            return task.cancel()
        }
        let isAtHome = task.originalRequest?.url.map { $0.isSameServer(as: url) } ?? false
        completionHandler(isAtHome ? newRequest : URLRequest(url: url))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error { return end(task, .failure(Self.failure(error))) }
        guard let response = task.response as? HTTPURLResponse else {
            return end(task, .failure(PageFailure("no response of HTTP", isTransient: false)))
        }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields { headers["\(name)"] = "\(value)" }
        let body = arriving.withLock { $0[task.taskIdentifier]?.body ?? [] }
        end(task, .success(Received(status: response.statusCode, headers: headers, body: body)))
    }

    /// What goes wrong on the way may go well the next time, unless the request itself is at fault or
    /// the server is not the right one.
    private static func failure(_ error: any Error) -> any Error {
        guard let error = error as? URLError else { return error }
        let lasting: [URLError.Code] = [
            .badURL, .unsupportedURL, .userAuthenticationRequired, .secureConnectionFailed,
            .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .cannotDecodeContentData, .cannotDecodeRawData,
        ]
        return PageFailure(
            "connection failed: \(error.localizedDescription)", isTransient: !lasting.contains(error.code))
    }
}

extension URL {
    /// The same scheme, host and port.
    func isSameServer(as other: URL) -> Bool {
        func server(_ url: URL) -> [String?] {
            let scheme = url.scheme?.lowercased()
            let port = url.port ?? (scheme == "https" ? 443 : 80)
            return [scheme, url.host()?.lowercased(), "\(port)"]
        }
        return server(self) == server(other)
    }
}
