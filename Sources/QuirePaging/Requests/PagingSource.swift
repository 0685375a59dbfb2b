import Quire

/// Requests pages of a server's list and parses the answers. It is the only part that an app must write.
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
/// It may be called from any thread, for several places at once, and is cancelled like a task.
public protocol PagingSource: Sendable {
    /// Returns one page of the list. The answer to ``Quire/Request/Target/delta(since:)``
    /// (``Pager/update()``) contains the changes, `deleted` and a new `since`. If it is only a part, its
    /// `next` leads to the rest (``PageRequest/rest``).
    /// - Throws: ``PageFailure``, which says whether a retry may help, or any other error. A thrown error
    ///   never changes a post or a gap; one that ``PageFailure/refusesLink`` makes the feed forget the link.
    ///   If the server sends an error as an answer without posts, throw it, and do
    ///   not return an empty page.
    func page(for request: PageRequest) async throws -> PageResponse
}

/// A request of the pager to a source: the engine's plan, and what belongs to it.
public struct PageRequest: Sendable, Hashable {
    /// The name of the feed.
    public let feed: String
    /// The place of the feed for which a page is requested.
    public let place: Place
    /// The engine's plan. It cannot be changed: the ticket permits only the answer to this.
    public let plan: Request
    /// How many posts to ask for, unless the target says.
    public let limit: Int
    /// 1 for the first attempt of this request, and one more for each retry.
    public internal(set) var attempt = 1
    /// The parameters of the feed's name (``Quire/Feed/parameters``). An interceptor may add some that do not
    /// change the list: a token, a language that does not show in posts.
    public var parameters: [String: String]
    /// If these are still valid, the server may answer "not modified". Set for the first page only, and only
    /// while the cache still has that page unchanged.
    public var validators: Validators?
    /// For a delta in several parts: the link in the previous part; nil for the first part.
    public internal(set) var rest: Link?
    /// How long ago the server last confirmed the first page, if the cache still has it; nil for other pages.
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
    /// True if the request follows a link of the server or one made from a post, or asks for changes since a
    /// token. A server may refuse these for good (``PageFailure/refusesLink``).
    public var followsLink: Bool {
        switch target {
        case .link(.token), .link(.below), .link(.above): true
        case .delta: rest == nil
        case .link, .position, .page, .around, .snapshot, .bodies: false
        }
    }

    /// The key of the request in a recording.
    var identity: String {
        let parameters = parameters.sorted { $0.key < $1.key }
            .map { "\($0.key.debugDescription): \($0.value.debugDescription)" }
        let part = rest.map { "\(target.text), part \(Request.Target.link($0).text)" } ?? target.text
        return "\(feed.debugDescription) \(part) limit \(limit) "
            + "until \(until?.description.debugDescription ?? "-") [\(parameters.joined(separator: ", "))]"
    }
}

extension Request.Target {
    /// The target on one line. Text from a server is quoted, so it cannot control a terminal.
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

/// The response of a source, or of an interceptor instead.
public struct PageResponse: Sendable {
    /// The content of a response.
    public enum Content: Sendable {
        /// A page.
        case page(Answer)
        /// The first page is still the one that the request's validators stand for (HTTP 304).
        case notModified
        /// There was no request, because the cached first page is fresh enough. For interceptors.
        case fresh
    }

    /// The page, or why there is none.
    public var content: Content
    /// Validators to send with the next request for this page.
    public var validators: Validators?
    /// How long the first page stays fresh; nil: as the pager's options say.
    public var lifetime: Duration?
    /// The pause that the server asks for: Stack Exchange's `backoff`, `Retry-After`.
    public var pause: Duration?
    /// The number of requests that the server still permits; nil if it does not say.
    public var quota: Quota?
    /// True if the page has no posts, and the server sends such a page at the end of the list, but also if
    /// the post is gone that the link of the request names. The pager forgets the link and goes on from
    /// further up (R32); if the link comes again, and its page is empty again, that is the end. It means
    /// nothing if the request follows no link (``PageRequest/followsLink``).
    public var mayRefuseLink = false
    /// How many posts the whole list has, as the server says; nil: as the answer says
    /// (``Quire/Answer/total``). It is only shown (``Pager/total``, ``FeedExtent``): servers estimate it, and
    /// count posts that they do not show. The total of an answer ends a list that is paged by number (R26.7);
    /// this one never does.
    public var total: Int?
    /// First pages of other feeds in the response. They are taken in if the page is.
    public var embedded: [EmbeddedPage] = []

    /// Creates a response with what the server said about further requests.
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

    /// Creates a response with a page only.
    public init(_ answer: Answer) { self.init(.page(answer)) }
}

/// Values by which a server recognises a version of a page.
public struct Validators: Sendable, Hashable, Codable {
    /// The entity tag as the server wrote it, with quotes and `W/`, to send as `If-None-Match`.
    public var etag: String?
    /// The date as the server wrote it, to send as `If-Modified-Since`. It has only whole seconds, so prefer
    /// the entity tag if the server sends both.
    public var lastModified: String?

    /// Creates validators; nil for what the server did not send.
    public init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }
}

/// The number of requests that a server still permits.
public struct Quota: Sendable, Hashable {
    /// The number of requests left.
    public var remaining: Int
    /// The time until there are new ones; nil if the server does not say, which counts as a day.
    public var renewsIn: Duration?

    /// Creates a quota.
    public init(remaining: Int, renewsIn: Duration? = nil) {
        self.remaining = remaining
        self.renewsIn = renewsIn
    }
}

/// A failed request, thrown by a source.
public struct PageFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What failed, as a sentence.
    public var message: String
    /// True if the same request may succeed later: after a lost connection, HTTP 429, 502, 503.
    public var isTransient: Bool
    /// The pause that the server asks for: `Retry-After`, `backoff`.
    public var pause: Duration?
    /// The number of requests that the server still permits; nil if it does not say.
    public var quota: Quota?
    /// True if the server refuses the link of the request for good: a cursor has expired, or names a post
    /// that is gone. The pager forgets the link and goes on from further up, in the same call (R32). It
    /// means nothing if the failure is transient, or the request follows no link
    /// (``PageRequest/followsLink``).
    public var refusesLink: Bool

    /// Creates a failure with what the server said about further requests.
    public init(
        _ message: String, isTransient: Bool, pause: Duration? = nil, quota: Quota? = nil,
        refusesLink: Bool = false
    ) {
        self.message = message
        self.isTransient = isTransient
        self.pause = pause
        self.quota = quota
        self.refusesLink = refusesLink
    }

    public var description: String { message }
}
