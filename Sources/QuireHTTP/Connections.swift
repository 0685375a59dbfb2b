import Foundation
import QuirePaging
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The open connections, and nothing else. There are no cookies, and no cache, because the pager decides on
/// freshness.
final class Connections: Sendable {
    private let session: URLSession
    private let transfers = Transfers()

    /// - Parameter timeout: the longest wait for the next byte.
    init(timeout: Duration) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = timeout / .seconds(1)
        session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
    }

    // A session keeps its delegate alive until it is invalidated.
    deinit { session.finishTasksAndInvalidate() }

    /// - Parameter limit: the maximum number of bytes to read.
    /// - Throws: ``PageFailure``, `CancellationError`.
    func load(_ request: URLRequest, limit: Int) async throws -> RawResponse {
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
    typealias Continuation = CheckedContinuation<RawResponse, any Error>

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
        // A cancellation before this point could not end the task, which had not started.
        if Task.isCancelled { return end(task, .failure(CancellationError())) }
        task.resume()
    }

    /// Ends a task. Only the first result counts: later events of an abandoned connection are ignored.
    func end(_ task: URLSessionTask, _ result: Result<RawResponse, any Error>) {
        let transfer = arriving.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        transfer?.continuation.resume(with: result)
    }

    // MARK: Session delegate

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

    /// Follows a redirection. Another server gets none of the headers that the app set for this one, for they
    /// may be secrets, except who asks and for what.
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
        if isAtHome { return completionHandler(newRequest) }
        var elsewhere = URLRequest(url: url)
        for name in ["User-Agent", "Accept"] {
            let value = task.originalRequest?.value(forHTTPHeaderField: name)
            elsewhere.setValue(value, forHTTPHeaderField: name)
        }
        completionHandler(elsewhere)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error {
            let wait = Int(session.configuration.timeoutIntervalForRequest.rounded())
            return end(task, .failure(Self.failure(error, after: wait)))
        }
        guard let response = task.response as? HTTPURLResponse else {
            return end(task, .failure(PageFailure("the response is not HTTP", isTransient: false)))
        }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields { headers["\(name)"] = "\(value)" }
        let body = arriving.withLock { $0[task.taskIdentifier]?.body ?? [] }
        end(task, .success(RawResponse(status: response.statusCode, headers: headers, body: body)))
    }

    /// Translates an error. Network errors are transient, unless the request itself is wrong or the server is
    /// not the expected one.
    /// - Parameter wait: How long the server was permitted to send nothing, in seconds.
    private static func failure(_ error: any Error, after wait: Int) -> any Error {
        guard let error = error as? URLError else { return error }
        let lasting: [URLError.Code] = [
            .badURL, .unsupportedURL, .userAuthenticationRequired, .secureConnectionFailed,
            .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .cannotDecodeContentData, .cannotDecodeRawData,
        ]
        return PageFailure(words(for: error, after: wait), isTransient: !lasting.contains(error.code))
    }

    /// Foundation has no words for these errors on Linux.
    private static func words(for error: URLError, after wait: Int) -> String {
        switch error.code {
        case .timedOut: "the server sent nothing for \(wait) s (timeout)"
        case .cannotConnectToHost: "the server cannot be reached: no connection was accepted"
        case .cannotFindHost, .dnsLookupFailed: "the name of the server is not known"
        case .networkConnectionLost, .unknown: "the connection broke before the answer was whole"
        case .notConnectedToInternet: "there is no network"
        case .secureConnectionFailed: "no secure connection (TLS) with the server"
        case .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid:
            "the certificate of the server is not valid"
        case .cannotDecodeContentData, .cannotDecodeRawData:
            "the answer cannot be decompressed; it may be cut"
        case .badServerResponse, .cannotParseResponse: "the answer is not HTTP"
        default: "the connection failed (URLError \(error.code.rawValue))"
        }
    }
}

extension URLRequest {
    /// - Parameter body: The body of a POST; nil: it is a GET.
    mutating func ask(for types: String, _ body: [UInt8]?) {
        setValue(types, forHTTPHeaderField: "Accept")
        guard let body else { return }
        (httpMethod, httpBody) = ("POST", Data(body))
        setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
}

extension URL {
    /// Returns true for the same scheme, host and port.
    func isSameServer(as other: URL) -> Bool {
        func server(_ url: URL) -> [String?] {
            let scheme = url.scheme?.lowercased()
            let port = url.port ?? (scheme == "https" ? 443 : 80)
            return [scheme, url.host()?.lowercased(), "\(port)"]
        }
        return server(self) == server(other)
    }
}
