import Quire

/// The way to a server's list: asks for one page and parses the answer. The one thing an app writes.
///
///     struct Questions: PagingSource {
///         func page(for request: PageRequest) async throws -> PageResponse {
///             guard case .link(let link) = request.target else { … }
///             …ask the server…
///             var answer = Answer(next: page.hasMore ? .token(page.next) : .end)
///             for item in page.items { answer.append(id: item.id, body: item.bytes) }
///             return PageResponse(answer)
///         }
///     }
///
/// It may be called from any thread, for several places at once, and is cancelled as tasks are.
public protocol PagingSource: Sendable {
    /// One page of the list. To ``Quire/Request/Target/delta(since:)`` (``Pager/update()``) the answer holds
    /// what has changed, `deleted` and a new `since`; if it is only a part, its `next` leads to the rest
    /// (``PageRequest/rest``).
    /// - Throws: ``PageFailure``, which says whether trying again is worth it, or any other error. Nothing
    ///   that is thrown changes the cache. An error that the server wraps into an answer without posts
    ///   must be thrown, not returned as an empty page.
    func page(for request: PageRequest) async throws -> PageResponse
}

/// What the pager asks a source: the engine's plan and what goes with it.
public struct PageRequest: Sendable, Hashable {
    /// The name of the feed.
    public let feed: String
    /// The place of the feed where a page is asked for.
    public let place: Place
    /// The engine's plan. It cannot be rewritten: the ticket permits the answer to this and nothing else.
    public let plan: Request
    /// How many posts to ask for, where the target does not say.
    public let limit: Int
    /// 1 for the first try of this request, one more each time it is retried.
    public internal(set) var attempt = 1
    /// The question: the parameters of the feed's name (``Quire/Feed/parameters``). An interceptor may add
    /// what does not change the list: a token, a language that no post shows.
    public var parameters: [String: String]
    /// The server may answer "not modified" if these still hold; set for the first page only, and only
    /// while the cache still has that page as it was.
    public var validators: Validators?
    /// Of a delta that comes in several parts: the link that the part before this one named; nil for the
    /// first part.
    public internal(set) var rest: Link?
    /// How long ago the server last confirmed the first page, if the cache still has it; nil elsewhere.
    public internal(set) var age: Duration?

    init(_ plan: Request, at place: Place, in feed: Feed, limit: Int) {
        self.feed = feed.name
        self.place = place
        self.plan = plan
        self.limit = limit
        parameters = feed.parameters
    }

    /// What to ask for.
    public var target: Request.Target { plan.target }
    /// Bounded requests: stop at this post.
    public var until: PostID? { plan.until }

    /// What a recording knows the request by.
    var identity: String {
        let parameters = parameters.sorted { $0.key < $1.key }
            .map { "\($0.key.debugDescription): \($0.value.debugDescription)" }
        let part = rest.map { "\(target.text), part \(Request.Target.link($0).text)" } ?? target.text
        return "\(feed.debugDescription) \(part) limit \(limit) "
            + "until \(until?.description.debugDescription ?? "-") [\(parameters.joined(separator: ", "))]"
    }
}

extension Request.Target {
    /// On one line; what came from a server is quoted, so it cannot play tricks on a terminal.
    var text: String {
        switch self {
        case .link(.token(let token)): "link \(token.debugDescription)"
        case .link(.below(let id)): "below \(id.description.debugDescription)"
        case .link(.above(let id)): "above \(id.description.debugDescription)"
        case .link(let link): "link \(link)"
        case .position(let offset, let limit): "offset \(offset)" + (limit.map { " limit \($0)" } ?? "")
        case .page(let number, let limit): "page \(number)" + (limit.map { " limit \($0)" } ?? "")
        case .around(let id): "around \(id.description.debugDescription)"
        case .delta(let since): "changes since \(since.debugDescription)"
        case .snapshot: "all ids"
        case .bodies(let ids): "bodies \(ids.map { $0.description.debugDescription }.joined(separator: " "))"
        }
    }
}

/// What a source, or an interceptor in its place, answers.
public struct PageResponse: Sendable {
    /// What the server had to say about the page.
    public enum Content: Sendable {
        /// A page.
        case page(Answer)
        /// The server says that the first page is what the request's validators stand for (HTTP 304).
        case notModified
        /// Nothing was asked because the first page is known well enough. For interceptors.
        case fresh
    }

    /// The page, or why there is none.
    public var content: Content
    /// What to send along with the next request for this page.
    public var validators: Validators?
    /// How long the first page stays fresh; nil: as the pager's options say.
    public var lifetime: Duration?
    /// How long the server wants to be left alone: Stack Exchange's `backoff`, `Retry-After`.
    public var pause: Duration?
    /// How many requests the server still permits; nil if it does not say.
    public var quota: Quota?
    /// First pages of other feeds that came along. They are taken in if the page is.
    public var embedded: [EmbeddedPage] = []

    /// A response, with what else the server said.
    public init(
        _ content: Content, validators: Validators? = nil, lifetime: Duration? = nil,
        pause: Duration? = nil, quota: Quota? = nil
    ) {
        self.content = content
        self.validators = validators
        self.lifetime = lifetime
        self.pause = pause
        self.quota = quota
    }

    /// A page and nothing to say about it.
    public init(_ answer: Answer) { self.init(.page(answer)) }
}

/// What a server recognises a page by.
public struct Validators: Sendable, Hashable, Codable {
    /// As the server wrote it, quotes and `W/` included; to be sent as `If-None-Match`.
    public var etag: String?
    /// As the server wrote it; to be sent as `If-Modified-Since`. It knows whole seconds only, so a
    /// server that sends both should be asked with the entity tag.
    public var lastModified: String?

    /// What the server sent; nil for what it did not send.
    public init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }
}

/// How many requests a server still permits.
public struct Quota: Sendable, Hashable {
    /// Requests that are left.
    public var remaining: Int
    /// When there are new ones; nil if the server does not say: in a day at the latest.
    public var renewsIn: Duration?

    /// A quota as the server told it.
    public init(remaining: Int, renewsIn: Duration? = nil) {
        self.remaining = remaining
        self.renewsIn = renewsIn
    }
}

/// A request that failed: what a source throws.
public struct PageFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What failed, in words.
    public var message: String
    /// The same request may succeed later: a lost connection, HTTP 429, 502, 503.
    public var isTransient: Bool
    /// How long the server wants to be left alone: `Retry-After`, `backoff`.
    public var pause: Duration?
    /// How many requests the server still permits; nil if it does not say.
    public var quota: Quota?

    /// A failure, and what the server said about further requests.
    public init(_ message: String, isTransient: Bool, pause: Duration? = nil, quota: Quota? = nil) {
        self.message = message
        self.isTransient = isTransient
        self.pause = pause
        self.quota = quota
    }

    public var description: String { message }
}
