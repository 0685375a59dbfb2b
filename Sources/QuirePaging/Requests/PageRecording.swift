import Foundation
import Quire
import Synchronization

/// Recorded exchanges with a source, in order; see ``Interceptor/recording(into:)`` and
/// ``Interceptor/replaying(_:)``. Any thread may use it.
public final class PageRecording: Sendable {
    private let exchanges = Mutex<[Exchange]>([])
    /// How many responses to each request were replayed.
    private let replayed = Mutex<[String: Int]>([:])

    /// Creates an empty recording.
    public init() {}

    /// Reads what ``lines()`` wrote.
    /// - Throws: ``PageFailure`` that names the line.
    public convenience init(lines: String) throws {
        self.init()
        var read: [Exchange] = []
        for (number, line) in lines.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty {
            do {
                read.append(try JSONDecoder().decode(Exchange.self, from: Data(line.utf8)))
            } catch {
                throw PageFailure("recording: line \(number + 1): \(error)", isTransient: false)
            }
        }
        exchanges.withLock { [read] in $0 = read }
    }

    /// Returns one JSON object for each exchange, on a line of its own.
    public func lines() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try exchanges.withLock { $0 }
            .map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }.joined()
    }

    func add(_ response: PageResponse, to request: PageRequest) {
        let exchange = Exchange(request: request.identity, response: Exchange.Response(response))
        exchanges.withLock { $0.append(exchange) }
    }

    func response(to request: PageRequest) throws -> PageResponse {
        let identity = request.identity
        let responses = exchanges.withLock { $0.filter { $0.request == identity }.map(\.response) }
        let number = replayed.withLock { replayed in
            defer { replayed[identity, default: 0] += 1 }
            return replayed[identity, default: 0]
        }
        guard number < responses.count else {
            throw PageFailure(
                "recording: no response number \(number + 1) to \(identity)", isTransient: false)
        }
        return try responses[number].pageResponse
    }
}

/// One exchange in its stored form.
private struct Exchange: Codable {
    struct Response: Codable {
        /// Nil means not modified, or fresh.
        var page: Page?
        var isFresh: Bool
        var validators: Validators?
        var lifetime, pause: Int64?
        var quota: Int?
        var quotaRenewsIn: Int64?
        /// Nil means no.
        var mayRefuseLink: Bool?
        var total: Int?
    }

    struct Page: Codable {
        var posts: [Post]
        var bytes: Data
        var opaqueRows: Int
        var next, previous: LinkText
        var fetchedAt: Int64
        var total: Int?
        var since: String?
        var deleted: [Data]?
    }

    struct Post: Codable {
        var id: Data
        var key, version: Int64?
        /// Nil means full.
        var detail: UInt8?
        var start, end: Int
    }

    struct LinkText: Codable {
        var kind: String
        var token: String?
        var id: Data?
    }

    var request: String
    var response: Response
}

extension Exchange.Response {
    init(_ response: PageResponse) {
        if case .page(let answer) = response.content { page = Exchange.Page(answer) }
        if case .fresh = response.content { isFresh = true } else { isFresh = false }
        validators = response.validators
        lifetime = response.lifetime?.milliseconds
        pause = response.pause?.milliseconds
        quota = response.quota?.remaining
        quotaRenewsIn = response.quota?.renewsIn?.milliseconds
        mayRefuseLink = response.mayRefuseLink ? true : nil
        total = response.total
    }

    var pageResponse: PageResponse {
        get throws {
            var response = PageResponse(
                try page.map { .page(try $0.answer) } ?? (isFresh ? .fresh : .notModified),
                validators: validators, lifetime: lifetime.map { .milliseconds($0) },
                pause: pause.map { .milliseconds($0) },
                quota: quota.map {
                    Quota(remaining: $0, renewsIn: quotaRenewsIn.map { .milliseconds($0) })
                })
            response.mayRefuseLink = mayRefuseLink ?? false
            response.total = total
            return response
        }
    }
}

extension Exchange.Page {
    init(_ answer: Answer) {
        posts = answer.posts.map {
            Exchange.Post(
                id: Data($0.id.bytes), key: $0.key, version: $0.version,
                detail: $0.detail == .full ? nil : $0.detail.rawValue, start: $0.body.lowerBound,
                end: $0.body.upperBound)
        }
        bytes = Data(answer.bytes)
        opaqueRows = answer.opaqueRows
        (next, previous) = (Exchange.LinkText(answer.next), Exchange.LinkText(answer.previous))
        fetchedAt = answer.fetchedAt
        total = answer.total
        since = answer.since
        if !answer.deleted.isEmpty { deleted = answer.deleted.map { Data($0.bytes) } }
    }

    var answer: Answer {
        get throws {
            let posts = try posts.map { post in
                guard let id = PostID(bytes: post.id), post.start <= post.end else {
                    throw PageFailure("recording: a post without id or body", isTransient: false)
                }
                return Post(
                    id: id, key: post.key, version: post.version,
                    detail: post.detail.map(Detail.init(rawValue:)) ?? .full, body: post.start..<post.end)
            }
            var answer = Answer(
                posts: posts, bytes: Array(bytes), next: try next.link, previous: try previous.link,
                opaqueRows: opaqueRows, fetchedAt: fetchedAt)
            answer.total = total
            answer.since = since
            answer.deleted = try (deleted ?? []).map { bytes in
                guard let id = PostID(bytes: bytes) else {
                    throw PageFailure("recording: a deleted post without id", isTransient: false)
                }
                return id
            }
            return answer
        }
    }
}

extension Exchange.LinkText {
    init(_ link: Link) {
        switch link {
        case .token(let text): self.init(kind: "token", token: text)
        case .below(let id): self.init(kind: "below", id: Data(id.bytes))
        case .above(let id): self.init(kind: "above", id: Data(id.bytes))
        case .unknown, .end, .confirmEnd, .head, .more: self.init(kind: link.description)
        }
    }

    var link: Link {
        get throws {
            switch (kind, token, id.flatMap { PostID(bytes: $0) }) {
            case ("token", let text?, _): return .token(text)
            case ("below", _, let id?): return .below(id)
            case ("above", _, let id?): return .above(id)
            default: break
            }
            for link in [Link.unknown, .end, .confirmEnd, .head, .more] where link.description == kind {
                return link
            }
            throw PageFailure("recording: unknown kind of link \(kind.debugDescription)", isTransient: false)
        }
    }
}
