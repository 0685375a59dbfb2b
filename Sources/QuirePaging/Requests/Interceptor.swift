import Quire

/// Sits between the pager and its source. It can inspect and rewrite requests and responses, answer instead
/// of the source, and observe the result of each request.
///
///     let signing = Interceptor { request, next in
///         var request = request
///         request.parameters["token"] = try await token()
///         return try await next(request)
///     }
///
/// The first interceptor of a pager is the outermost: it sees requests first and responses last. Retries pass
/// through all of them again. An error from an interceptor fails the request like one from the source: the
/// cache does not change, and the pager remains usable.
public struct Interceptor: Sendable {
    /// Passes a request on, in the end to the source.
    public typealias Next = @Sendable (PageRequest) async throws -> PageResponse

    let intercept: @Sendable (PageRequest, @escaping Next) async throws -> PageResponse
    let observe: @Sendable (PageRequest, Result<PageResult, any Error>) -> Void

    /// Creates an interceptor.
    /// - Parameters:
    ///   - intercept: answers a request, usually by passing it on.
    ///   - observe: receives the result of a request, after the commit and before any caller; it must be
    ///     quick.
    public init(
        intercept: @escaping @Sendable (PageRequest, @escaping Next) async throws -> PageResponse = {
            try await $1($0)
        },
        observe: @escaping @Sendable (PageRequest, Result<PageResult, any Error>) -> Void = { _, _ in }
    ) {
        self.intercept = intercept
        self.observe = observe
    }
}

extension Interceptor {
    /// Returns an interceptor that writes a line for each attempt and one for the result of the request. Text
    /// from the server is quoted.
    public static func logging(to write: @escaping @Sendable (String) -> Void) -> Interceptor {
        Interceptor { request, next in
            let again = request.attempt > 1 ? ", attempt \(request.attempt)" : ""
            write("\(request.feed.debugDescription): ask for \(request.target.text)\(again)")
            return try await next(request)
        } observe: { request, result in
            switch result {
            case .success(let result): write("\(request.feed.debugDescription): \(result)")
            case .failure(let error):
                write("\(request.feed.debugDescription): failed: \("\(error)".debugDescription)")
            }
        }
    }

    /// Returns an interceptor that answers requests for the first page itself if the server confirmed it less
    /// than `interval` ago: ten pulls in a row cause one request. Other pages pass.
    public static func answeringFresh(within interval: Duration) -> Interceptor {
        Interceptor { request, next in
            if let age = request.age, age < interval { return PageResponse(.fresh) }
            return try await next(request)
        }
    }

    /// Returns an interceptor that adds each exchange with the source to a recording.
    public static func recording(into recording: PageRecording) -> Interceptor {
        Interceptor { request, next in
            let response = try await next(request)
            recording.add(response, to: request)
            return response
        }
    }

    /// Returns an interceptor that answers only from a recording: each recorded response once, in order. A
    /// request that was not recorded fails. For tests and demonstrations with a cache of their own, because
    /// recorded answers are older than what another cache knows.
    public static func replaying(_ recording: PageRecording) -> Interceptor {
        Interceptor { request, _ in try recording.response(to: request) }
    }
}
