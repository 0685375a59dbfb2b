import Quire

/// Stands between the pager and its source: inspects and rewrites requests and responses, answers in the
/// source's place, and hears what became of each request.
///
///     let signing = Interceptor { request, next in
///         var request = request
///         request.parameters["token"] = try await token()
///         return try await next(request)
///     }
///
/// The first interceptor of a pager is the outermost: it sees requests first and responses last. Retries
/// pass through all of them again. What an interceptor throws fails the request, as if the source had
/// thrown it: the cache stays as it is and the pager goes on.
public struct Interceptor: Sendable {
    /// Passes a request on, at last to the source.
    public typealias Next = @Sendable (PageRequest) async throws -> PageResponse

    let intercept: @Sendable (PageRequest, @escaping Next) async throws -> PageResponse
    let observe: @Sendable (PageRequest, Result<PageResult, any Error>) -> Void

    /// - Parameters:
    ///   - intercept: answers a request, usually by passing it on.
    ///   - observe: hears what became of a request, after the commit and before anybody else; it must not
    ///     take long.
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
    /// Writes a line for each attempt and one for what became of the request. Text that came from the
    /// server is quoted in it.
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

    /// Answers requests for the first page without asking while the server confirmed it less than
    /// `interval` ago: a reader who pulls ten times in a row causes one request. Other pages pass.
    public static func answeringFresh(within interval: Duration) -> Interceptor {
        Interceptor { request, next in
            if let age = request.age, age < interval { return PageResponse(.fresh) }
            return try await next(request)
        }
    }

    /// Adds each exchange with the source to a recording.
    public static func recording(into recording: PageRecording) -> Interceptor {
        Interceptor { request, next in
            let response = try await next(request)
            recording.add(response, to: request)
            return response
        }
    }

    /// Answers from a recording, never from the source: each recorded response once, in its order. A
    /// request that was not recorded fails. For tests and demonstrations, on a cache of their own: a
    /// recorded answer is older than what the cache knows.
    public static func replaying(_ recording: PageRecording) -> Interceptor {
        Interceptor { request, _ in try recording.response(to: request) }
    }
}
