import Foundation
import Quire
import QuireDumps
import QuirePaging
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A response as it came, decompressed, before any profile has read it.
public struct RawResponse: Sendable {
    /// The status of the response.
    public let status: Int
    /// Its headers by name, as the server wrote them.
    public let headers: [String: String]
    /// Its body.
    public let body: [UInt8]

    /// True if the body looks like XML: RSS, Atom, or a page for people.
    public var isXML: Bool { body.isXML }

    /// Returns what came with the body, for `ProfileFit` and `PageParser`.
    /// - Parameter address: The address that was asked for.
    public func envelope(of address: String) -> Envelope {
        var envelope = Envelope(request: address, status: status)
        for (name, value) in headers { envelope.add(name, value) }
        return envelope
    }
}

/// Asks for one address and keeps the response as it came. So the profile and the order of a list can be
/// found before there is a feed for it. A pager of a feed that is thrown away asks with it, and retries and
/// waits as for a page:
///
///     let probe = try HTTPProbe("https://api.example.com/issues")
///     try await Pager(scratch, source: probe).refresh()
///     let fits = ProfileFit.of(Profile.builtIn, to: probe.response!.body, envelope: …)
///
/// You can use it from any thread.
public final class HTTPProbe: PagingSource {
    private let url: URL
    private let limit: Int
    private let prepare: @Sendable (inout URLRequest) async throws -> Void
    private let connections: Connections
    private let body: [UInt8]?
    private let profile: Profile?
    static let everything =
        "application/json, application/feed+json, application/atom+xml, "
        + "application/rss+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1"
    private let received = Mutex<RawResponse?>(nil)

    /// Creates a probe. Nothing is asked for yet.
    /// - Parameters:
    ///   - address: The address, without places.
    ///   - body: The body of a POST; nil: the request is a GET.
    ///   - profile: The profile of the answers; nil: any of the built-in ones. It reads errors.
    ///   - limit: The largest size of a response in bytes, decompressed.
    ///   - timeout: How long the server may send nothing.
    ///   - prepare: Changes the request before it is sent.
    /// - Throws: ``HTTPSourceError`` if it is not an HTTP address.
    public init(
        _ address: String, body: [UInt8]? = nil, profile: Profile? = nil,
        limit: Int = PageParser.defaultLimit,
        timeout: Duration = .seconds(30),
        prepare: @escaping @Sendable (inout URLRequest) async throws -> Void = { _ in }
    ) throws(HTTPSourceError) {
        guard let url = URL(string: try RequestTemplate(address).address([:])) else {
            throw HTTPSourceError("\(address.debugDescription) is not an HTTP address")
        }
        (self.url, self.limit, self.prepare) = (url, limit, prepare)
        (self.body, self.profile) = (body, profile)
        connections = Connections(timeout: timeout)
    }

    /// The last response with a status from 200 to 299; nil if there was none.
    public var response: RawResponse? { received.withLock { $0 } }

    /// Requests the address, whatever the place. The result is ``PageResponse/Content/fresh``: no page is
    /// taken in.
    /// - Throws: ``PageFailure`` for lost connections, timeouts and other statuses, with the server's words
    ///   if a profile can read them. So for an error document with status 200 that means "later", and for an
    ///   answer that was cut or is a page for people.
    public func page(for request: PageRequest) async throws -> PageResponse {
        var asked = URLRequest(url: url)
        asked.ask(for: Self.everything, body)
        try await prepare(&asked)
        do {
            let response = try await connections.load(asked, limit: limit)
            if let failure = failure(response) { throw failure }
            received.withLock { $0 = response }
            return PageResponse(.fresh)
        } catch var failure as PageFailure {
            failure.message = "\(HTTPSource.name(url)): \(failure.message)"
            throw failure
        }
    }

    /// The largest document that is taken for an error with status 200.
    private static let errorLimit = 1 << 16

    private func failure(_ response: RawResponse) -> PageFailure? {
        let isSuccess = 200..<300 ~= response.status
        if isSuccess, let words = foreignness(of: response) {
            var failure = PageFailure(words, status: response.status, headers: response.headers)
            failure.isTransient = true
            return failure
        }
        if isSuccess && response.body.count > Self.errorLimit { return nil }
        let errors = response.errors(from: url, profile.map { [$0] } ?? Profile.builtIn, limit: limit)
        let later = errors.first { $0.kind == .later }
        if isSuccess && later == nil { return nil }
        let words = later ?? errors.max { $0.words.count < $1.words.count }
        var failure = PageFailure(
            words?.words ?? "HTTP \(response.status)", status: response.status, headers: response.headers)
        if later != nil { failure.isTransient = true }
        return failure
    }

    /// Why a response is not even a document of the kind that is asked for, which a proxy or a broken
    /// connection makes of a good one; nil if it is.
    private func foreignness(of response: RawResponse) -> String? {
        do throws(DumpError) {
            if profile == nil && response.isXML {
                _ = try SyndicationParser.read(response.body, limit: limit, name: "response")
            } else {
                let profile = profile ?? Profile.builtIn[0]
                _ = try PageParser(profile: profile, limit: limit).read(
                    response.body, envelope: nil, name: "response")
            }
        } catch { return error.kind == .syntax ? error.message : nil }
        return nil
    }
}

extension RawResponse {
    /// Returns what an error document says, by the built-in profile that reads most of it.
    func words(from url: URL, limit: Int) -> String? {
        errors(from: url, Profile.builtIn, limit: limit).map(\.words).max { $0.count < $1.count }
    }

    /// Returns why these profiles do not read the response.
    fileprivate func errors(from url: URL, _ profiles: [Profile], limit: Int) -> [DumpError] {
        let envelope = envelope(of: url.absoluteString)
        return profiles.compactMap { profile in
            do throws(DumpError) {
                _ = try PageParser(profile: profile, limit: limit)
                    .read(body, envelope: envelope, name: "response")
                return nil
            } catch { return error }
        }
    }
}

/// The response that answers the first request for the head.
final class FirstResponse: Sendable {
    private let response: Mutex<RawResponse?>

    init(_ response: RawResponse) { self.response = Mutex(response) }

    /// Returns the response, once.
    func take() -> RawResponse? {
        response.withLock { response in
            defer { response = nil }
            return response
        }
    }
}
