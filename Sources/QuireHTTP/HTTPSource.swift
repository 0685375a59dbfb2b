import Foundation
import Quire
import QuireDumps
import QuirePaging

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests pages over HTTP. A template turns a request into an address, and a profile says where things are
/// in the response (Docs/profiles.md).
///
///     let source = try HTTPSource(
///         "https://api.stackexchange.com/2.3/questions?site={site}&page={page}&pagesize={limit}",
///         profile: .named("stackexchange")!)
///     let feed = try cache.feed(
///         named: "questions", parameters: ["site": "stackoverflow"], options: source.profile.options)
///     let pager = Pager(feed, source: source)
///
/// | place | holds |
/// |---|---|
/// | `{limit}` | how many posts to ask for |
/// | `{page}`, `{offset}` | where the page begins, in feeds whose pages are computed |
/// | `{token}` | the server's words for the page |
/// | `{below}`, `{above}`, `{around}`, `{until}` | the id of a post |
/// | `{since}` | the token with which a server is asked what has changed |
/// | `{ids}` | the ids whose bodies are wanted, joined by commas |
/// | any other | the feed's parameter of that name |
///
/// Links that are addresses (`Link` headers), or parameters made from a post (`max_id=7`), need no place. A
/// link to another server is never followed. One with `http` in the place of the template's `https`, or the
/// other way round, is asked for with the template's.
///
/// A profile with a body for requests (GraphQL) makes them POST; the body has the same places as the address.
///
/// A value that you can use from any thread, and for several feeds that are requested in the same way.
public struct HTTPSource: PagingSource {
    /// The profile for reading the server's responses.
    public let profile: Profile
    private let pages: RequestTemplate
    private let bodies: (template: RequestTemplate, profile: Profile)?
    private let limit: Int
    private let prepare: @Sendable (inout URLRequest) async throws -> Void
    private let connections: Connections
    private let first: FirstResponse?
    private let readsSyndication: Bool

    /// Creates a source from an address template. Nothing is asked for yet.
    /// - Parameters:
    ///   - pages: The template of the requests for pages; in feeds of ids, of the request for the list of
    ///     ids.
    ///   - profile: Where posts, ids and links are in the responses.
    ///   - bodies: The template of the requests for bodies in feeds of ids, and the profile of their answers.
    ///   - limit: The largest size of a response in bytes, decompressed.
    ///   - timeout: How long the server may send nothing.
    ///   - first: What an ``HTTPProbe`` brought. It answers the first request for the head, which is then not
    ///     sent; nil: every request is sent.
    ///   - readsSyndication: True if responses may also be RSS or Atom. The profile then reads JSON Feed.
    ///   - prepare: Changes each request before it is sent: a token in a header, a `User-Agent`. Only
    ///     `User-Agent` and `Accept` go along to another server after a redirection.
    /// - Throws: ``HTTPSourceError`` if a template is not well formed.
    public init(
        _ pages: String, profile: Profile, bodies: (template: String, profile: Profile)? = nil,
        limit: Int = PageParser.defaultLimit, timeout: Duration = .seconds(30),
        first: RawResponse? = nil, readsSyndication: Bool = false,
        prepare: @escaping @Sendable (inout URLRequest) async throws -> Void = { _ in }
    ) throws(HTTPSourceError) {
        self.profile = profile
        self.pages = try RequestTemplate(pages)
        if let (template, profile) = bodies {
            self.bodies = (try RequestTemplate(template), profile)
        } else {
            self.bodies = nil
        }
        self.limit = limit
        self.prepare = prepare
        connections = Connections(timeout: timeout)
        self.first = first.map(FirstResponse.init)
        self.readsSyndication = readsSyndication
    }

    /// Requests a page.
    /// - Throws: ``PageFailure``, transient for lost connections, timeouts, answers that are not JSON and
    ///   statuses that mean "later", lasting for other statuses, error documents and responses that do not
    ///   match the profile. Status 400, 404, 410 or 422 of a request by a link, and an error that the profile
    ///   calls expired, refuse the link. ``HTTPSourceError`` for a request that the template cannot express.
    public func page(for request: PageRequest) async throws -> PageResponse {
        let (url, body, profile) = try question(Question(request))
        if request.place == .head, let received = first?.take() {
            return try response(received, from: url, to: request, profile)
        }
        var asked = URLRequest(url: url)
        asked.ask(for: readsSyndication ? HTTPProbe.everything : "application/json", body)
        if let etag = request.validators?.etag {
            asked.setValue(etag, forHTTPHeaderField: "If-None-Match")
        } else if let date = request.validators?.lastModified {
            asked.setValue(date, forHTTPHeaderField: "If-Modified-Since")
        }
        try await prepare(&asked)
        do {
            let received = try await connections.load(asked, limit: limit)
            return try response(received, from: url, to: request, profile)
        } catch var failure as PageFailure {
            failure.message = "\(Self.name(url)): \(failure.message)"
            throw failure
        }
    }

    /// Returns the address without its query, which may contain keys.
    static func name(_ url: URL) -> String { server(url) + url.path() }

    private static func server(_ url: URL) -> String {
        "\(url.scheme ?? "")://\(url.host() ?? "")\(url.port.map { ":\($0)" } ?? "")"
    }

    // MARK: Requests

    /// Returns the address that would be asked for, before `prepare` has changed anything.
    /// - Parameters:
    ///   - plan: What the engine plans.
    ///   - limit: How many posts to ask for, unless the plan says.
    ///   - parameters: The parameters of the feed's name.
    /// - Throws: ``HTTPSourceError`` for a request that the template cannot express.
    public func address(
        of plan: Request, limit: Int, parameters: [String: String] = [:]
    ) throws(HTTPSourceError) -> String {
        let question = Question(
            target: plan.target, until: plan.until, rest: nil, limit: limit, parameters: parameters)
        return try self.question(question).url.absoluteString
    }

    /// True if the template or the body of requests has a place of this name.
    private func hasPlace(_ name: String) -> Bool {
        pages.places.contains(name) || (profile.requestBody?.places.contains(name) ?? false)
    }

    /// What of a request makes its address.
    fileprivate struct Question {
        let target: Request.Target
        let until: PostID?
        /// The link of the previous part of a delta.
        let rest: Link?
        let limit: Int
        let parameters: [String: String]
    }

    /// What is sent: an address, and a body for a POST.
    private typealias Sent = (url: URL, body: [UInt8]?)

    private func question(
        _ request: Question
    ) throws(HTTPSourceError) -> (url: URL, body: [UInt8]?, Profile) {
        if case .bodies(let ids) = request.target {
            guard let (template, profile) = bodies else {
                throw HTTPSourceError("the source has no template for bodies")
            }
            let list = ids.map(\.description).joined(separator: ",")
            return (try address(template, ["ids": list], for: request), nil, profile)
        }
        let (url, body) = try pageAddress(request)
        return (url, body, profile)
    }

    private func pageAddress(_ request: Question) throws(HTTPSourceError) -> Sent {
        switch request.target {
        case .link(.head), .snapshot: try page([:], for: request)
        case .link(.token(let token)) where hasPlace("token"):
            try page(["token": token], for: request)
        case .link(.token(let token)): try follow(token, for: request)
        case .link(.below(let id)): try page(["below": id.description], for: request)
        case .link(.above(let id)): try page(["above": id.description], for: request)
        case .position(let offset, let limit):
            try page(Self.values("offset", offset, limit), for: request)
        case .page(let number, let limit):
            try page(Self.values("page", number, limit), for: request)
        case .delta(let since): try deltaAddress(since, for: request)
        case .around(let id): try page(["around": id.description], for: request)
        case .link, .bodies: throw HTTPSourceError("this link cannot be requested")
        }
    }

    /// Returns the address of a delta's next part. Each part links to the next one, like pages.
    private func deltaAddress(_ since: String, for request: Question) throws(HTTPSourceError) -> Sent {
        guard case .token(let token) = request.rest else {
            return try page(["since": since], for: request)
        }
        return hasPlace("token")
            ? try page(["token": token], for: request) : try follow(token, for: request)
    }

    /// Returns the values of a position. Without a limit they name no size, so the server chooses it (R26).
    private static func values(_ name: String, _ position: Int, _ limit: Int?) -> [String: String] {
        var values = [name: "\(position)"]
        if let limit { values["limit"] = "\(limit)" }
        return values
    }

    /// Returns a request for a page. Every value must have a place in its address or its body, or the server
    /// would answer another question.
    private func page(_ values: [String: String], for request: Question) throws(HTTPSourceError) -> Sent {
        let others = profile.requestBody?.places ?? []
        let url = try address(pages, values, others, for: request)
        return (url, profile.requestBody?.filled(Self.completed(values, for: request)))
    }

    private static func completed(_ values: [String: String], for request: Question) -> [String: String] {
        var values = values
        if let until = request.until { values["until"] = until.description }
        values.merge(request.parameters) { own, _ in own }
        if values["limit"] == nil { values["limit"] = "\(request.limit)" }
        return values
    }

    /// - Parameter others: Places that the body has.
    private func address(
        _ template: RequestTemplate, _ values: [String: String], _ others: Set<String> = [],
        for request: Question
    ) throws(HTTPSourceError) -> URL {
        let values = Self.completed(values, for: request)
        let places = template.places.union(others)
        for name in values.keys.sorted() where name != "limit" && !places.contains(name) {
            throw HTTPSourceError(missing: name)
        }
        guard let url = URL(string: try template.address(values)) else {
            throw HTTPSourceError("the values of the request do not make a valid address")
        }
        return url
    }

    /// Returns the address for a link: the link itself, or the first page's with these parameters replaced.
    private func follow(_ token: String, for request: Question) throws(HTTPSourceError) -> Sent {
        let (first, body) = try page([:], for: request)
        let url = try LinkAddress(token).url(from: first)
        // A server behind a proxy that ends TLS takes http for its scheme.
        let isBehindProxy =
            url.host()?.lowercased() == first.host()?.lowercased() && url.scheme != first.scheme
            && (url.port == nil || url.port == first.port)
        let isOwn = url.isSameServer(as: first) || isBehindProxy
        guard isOwn, let own = url.moved(to: first) else {
            throw HTTPSourceError(otherServer: Self.server(url))
        }
        return (own, body)
    }

    // MARK: Responses

    /// The statuses of a request by a link that say that the link is of no use any more.
    private static let deadLink: Set<Int> = [400, 404, 410, 422]

    private func response(
        _ received: RawResponse, from url: URL, to request: PageRequest, _ profile: Profile
    ) throws -> PageResponse {
        let (status, headers) = (received.status, received.headers)
        if status == 304 && request.validators == nil {
            throw PageFailure(
                "HTTP 304: \"not modified\", although nothing was said that it could be compared with",
                isTransient: true)
        }
        let envelope = received.envelope(of: url.absoluteString)
        let parser = PageParser(profile: profile, limit: limit)
        let page: Response
        do {
            page =
                status == 304
                ? parser.advice(in: envelope)
                : try read(received.body, envelope, request.target, parser)
        } catch {
            let advice = parser.advice(in: envelope)
            // A profile whose items are the document finds no words in an object.
            let hasWords = !error.words.hasSuffix("HTTP \(status)")
            let words = hasWords ? nil : received.words(from: url, limit: limit)
            var failure = PageFailure(words ?? error.words, status: status, headers: headers)
            failure.pause = advice.pause(atLeast: failure.pause)
            failure.quota = advice.allowance ?? failure.quota
            // GraphQL says in an answer with status 200 that the quota is used up, other servers with 403.
            // An answer that was cut, or a proxy's page, has status 200 too.
            let isSuccess = 200..<300 ~= status
            if error.kind == .later || isSuccess && error.kind == .syntax {
                failure.isTransient = true
            } else if isSuccess || status == 403, failure.saysWhenToAsk {
                failure.isTransient = true
            }
            let isDead = error.kind == .expired || Self.deadLink.contains(status)
            failure.refusesLink = isDead && !failure.isTransient && request.followsLink
            throw failure
        }
        var answer = page.answer
        if request.target == .snapshot {
            for index in answer.posts.indices { answer.posts[index].body = 0..<0 }
        }
        if !hasPlace("token"), let list = try? self.page([:], for: Question(request)).url {
            answer.next = answer.next.stored(from: url, of: list)
            answer.previous = answer.previous.stored(from: url, of: list)
        }
        if page.isEndDoubtful, !request.followsLink { answer.next = .end }
        var response = PageResponse(answer, status: status, headers: headers)
        response.mayRefuseLink = page.isEndDoubtful
        response.total = page.total(for: request.target)
        response.pause = page.pause(atLeast: response.pause)
        response.quota = page.allowance ?? response.quota
        return response
    }
}

extension HTTPSource {
    private func read(
        _ body: [UInt8], _ envelope: Envelope, _ target: Request.Target, _ parser: PageParser
    ) throws(DumpError) -> Response {
        if readsSyndication, body.isXML {
            var page = try SyndicationParser.read(body, envelope: envelope, limit: limit, name: "response")
            // Most feeds say nothing of what follows. But a feed in pages is followed by its links, and the
            // page without one is the last (RFC 5005).
            if case .link(.token) = target, page.answer.next == .unknown { page.answer.next = .end }
            return page
        }
        let start = body.firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? body.endIndex
        // A body that is asked for by itself is one object, or null if there is none.
        if case .bodies = target, (200..<300).contains(envelope.status ?? 200), start < body.endIndex {
            if body[start] == UInt8(ascii: "{"), parser.profile.readsItemsAlone {
                let list = [UInt8(ascii: "[")] + body + [UInt8(ascii: "]")]
                return try parser.read(list, envelope: envelope, name: "response")
            }
            if body[start...].starts(with: "null".utf8) {
                var response = try parser.read(Array("[]".utf8), envelope: envelope, name: "response")
                response.answer.opaqueRows = 1  // so this is an answer: the server does not know the post
                return response
            }
        }
        return try parser.read(body, envelope: envelope, name: "response")
    }
}

extension DumpError {
    /// The message; a status without words is said by itself.
    var words: String {
        let status = message.trimmingPrefix("response: error document: ")
        return status.hasPrefix("HTTP ") && !status.contains(":") ? String(status) : message
    }
}

extension [UInt8] {
    /// True if the first character of a document is that of XML.
    var isXML: Bool {
        let document = starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...]
        return document.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "<")
    }
}

extension HTTPSource.Question {
    fileprivate init(_ request: PageRequest) {
        self.init(
            target: request.target, until: request.until, rest: request.rest, limit: request.limit,
            parameters: request.parameters)
    }
}

extension Response {
    /// The number of posts in the whole list. Where a request begins below a post, or asks for posts or
    /// changes, servers count what answers that. Beyond the end some count nothing.
    fileprivate func total(for target: Request.Target) -> Int? {
        let isEmpty = answer.posts.isEmpty && answer.opaqueRows == 0
        return switch target {
        case .link(.head): total.flatMap { $0 > 0 || isEmpty ? $0 : nil }
        case .link(.token), .page, .position, .snapshot: total.flatMap { $0 > 0 ? $0 : nil }
        case .link, .around, .bodies, .delta: nil
        }
    }

    fileprivate func pause(atLeast pause: Duration?) -> Duration? {
        [pause, backoff.map(Self.duration)].compactMap(\.self).max()
    }

    fileprivate var allowance: Quota? {
        quota.map { Quota(remaining: $0, renewsIn: quotaRenewal.map(Self.duration)) }
    }

    /// Limits a duration to a century.
    private static func duration(_ seconds: Double) -> Duration { .seconds(min(seconds, 3_155_760_000)) }
}

extension URL {
    /// Returns the URL at the scheme and port of another one.
    fileprivate func moved(to server: URL) -> URL? {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        (parts.scheme, parts.port) = (server.scheme, server.port)
        return parts.url
    }
}
