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

/// Asks for one address and keeps the response as it came. So the profile and the order of a list can be found
/// before there is a feed for it. A pager of a feed that is thrown away asks with it, and retries and waits as
/// for a page:
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
    static let everything =
        "application/json, application/feed+json, application/atom+xml, "
        + "application/rss+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1"
    private let received = Mutex<RawResponse?>(nil)

    /// Creates a probe. Nothing is asked for yet.
    /// - Parameters:
    ///   - address: The address, without places.
    ///   - body: The body of a POST; nil: the request is a GET.
    ///   - limit: The largest size of a response in bytes, decompressed.
    ///   - timeout: How long the server may send nothing.
    ///   - prepare: Changes the request before it is sent.
    /// - Throws: ``HTTPSourceError`` if it is not an HTTP address.
    public init(
        _ address: String, body: [UInt8]? = nil, limit: Int = PageParser.defaultLimit,
        timeout: Duration = .seconds(30),
        prepare: @escaping @Sendable (inout URLRequest) async throws -> Void = { _ in }
    ) throws(HTTPSourceError) {
        guard let url = URL(string: try RequestTemplate(address).address([:])) else {
            throw HTTPSourceError("\(address.debugDescription) is not an HTTP address")
        }
        (self.url, self.limit, self.prepare) = (url, limit, prepare)
        self.body = body
        connections = Connections(timeout: timeout)
    }

    /// The last response with a status from 200 to 299; nil if there was none.
    public var response: RawResponse? { received.withLock { $0 } }

    /// Requests the address, whatever the place. The result is ``PageResponse/Content/fresh``: no page is taken
    /// in.
    /// - Throws: ``PageFailure`` for lost connections, timeouts and other statuses, with the server's words if
    ///   a built-in profile can read them.
    public func page(for request: PageRequest) async throws -> PageResponse {
        var asked = URLRequest(url: url)
        asked.ask(for: Self.everything, body)
        try await prepare(&asked)
        do {
            let response = try await connections.load(asked, limit: limit)
            guard 200..<300 ~= response.status else { throw failure(response) }
            received.withLock { $0 = response }
            return PageResponse(.fresh)
        } catch var failure as PageFailure {
            failure.message = "\(HTTPSource.name(url)): \(failure.message)"
            throw failure
        }
    }

    private func failure(_ response: RawResponse) -> PageFailure {
        let words = response.words(from: url, limit: limit) ?? "HTTP \(response.status)"
        return PageFailure(words, status: response.status, headers: response.headers)
    }
}

extension RawResponse {
    /// Returns what an error document says, by the built-in profile that reads most of it.
    func words(from url: URL, limit: Int) -> String? {
        let envelope = envelope(of: url.absoluteString)
        let messages = Profile.builtIn.compactMap { profile -> String? in
            do throws(DumpError) {
                _ = try PageParser(profile: profile, limit: limit)
                    .read(body, envelope: envelope, name: "response")
                return nil
            } catch { return error.message }
        }
        return messages.max { $0.count < $1.count }
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
