import FlyingFox
import Foundation
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging

/// How the servers of these tests speak: the address of a request, the JSON of an answer.
struct WireFeed: Sendable {
    let options: FeedOptions
    let hasKeys: Bool

    init(_ options: FeedOptions) {
        self.options = options
        hasKeys = [.stable, .bump].contains(options.order)
    }

    /// Where the server counts, it only says whether there is more.
    private var isCounted: Bool { [.page, .offset].contains(options.paging) }

    var profile: Profile {
        get throws {
            let next = isCounted ? #"{"more":"more"}"# : #"{"path":"next","end":"end","absent":"unknown"}"#
            let key = hasKeys ? #""key":{"path":"key","type":"integer"},"# : ""
            let json = """
                {"name":"wire","items":"posts","post":"body","id":{"path":"id","type":"string"},\(key)
                "version":{"path":"version","type":"integer"},"next":\(next),
                "previous":{"path":"previous","end":"end","absent":"unknown"},
                "quota":{"header":"X-Quota"},"quota_renewal":{"header":"X-Quota-Renewal"},
                "error":{"path":"error","message":"message"},
                "order":"\(options.order.rawValue)","paging":"\(options.paging.rawValue)"}
                """
            return try Profile(json: Array(json.utf8), name: "wire")
        }
    }

    private static let places = [
        "limit", "page", "offset", "token", "below", "above", "around", "until", "call",
    ]

    func source(
        _ address: String, limit: Int = PageParser.defaultLimit, timeout: Duration = .seconds(60)
    ) throws -> HTTPSource {
        let query = Self.places.map { "\($0)={\($0)}" }.joined(separator: "&")
        return try HTTPSource(
            "\(address)/list?\(query)", profile: profile,
            bodies: ("\(address)/bodies?ids={ids}&call={call}", profile), limit: limit, timeout: timeout)
    }

    /// The query that a request for this must have, without `limit` and `call`.
    func query(_ target: Request.Target, until: PostID?) -> [String: String] {
        var query: [String: String] =
            switch target {
            case .link(.token(let token)): ["token": token]
            case .link(.below(let id)): ["below": id.description]
            case .link(.above(let id)): ["above": id.description]
            case .link, .snapshot: [:]
            case .position(let offset, _): ["offset": "\(offset)"]
            case .page(let number, _): ["page": "\(number)"]
            case .around(let id): ["around": id.description]
            case .delta(let since): ["since": since]
            case .bodies(let ids): ["ids": ids.map(\.description).joined(separator: ",")]
            }
        query["until"] = until?.description
        return query
    }

    /// The target that a query names.
    func target(of request: HTTPRequest) -> Request.Target {
        let query = request.query
        let limit = query["limit"].flatMap { Int($0) } ?? options.pageSize
        func id(_ name: String) -> PostID? { query[name].flatMap { PostID($0) } }
        if let ids = query["ids"] {
            return .bodies(ids.split(separator: ",").compactMap { PostID(String($0)) })
        }
        if let token = query["token"] { return .link(.token(token)) }
        if let id = id("below") { return .link(.below(id)) }
        if let id = id("above") { return .link(.above(id)) }
        if let id = id("around") { return .around(id) }
        if let offset = query["offset"].flatMap({ Int($0) }) {
            return .position(offset: offset, limit: limit)
        }
        if let page = query["page"].flatMap({ Int($0) }) {
            return .page(number: page, limit: limit)
        }
        return options.paging == .ids ? .snapshot : .link(.head)
    }

    func json(_ answer: Answer) -> String {
        let posts = answer.posts.map { post in
            let body = String(decoding: answer.bytes[post.body], as: UTF8.self)
            return """
                {"id":"\(post.id)","key":\(post.key.map(String.init) ?? "null"),\
                "version":\(post.version.map(String.init) ?? "null"),"body":\(body.isEmpty ? "{}" : body)}
                """
        }
        var fields = [#""posts":[\#(posts.joined(separator: ","))]"#]
        if isCounted {
            if answer.next != .unknown { fields.append(#""more":\#(answer.next == .more)"#) }
        } else if answer.next != .unknown {
            fields.append(#""next":"\#(answer.next)""#)
        }
        if answer.previous != .unknown { fields.append(#""previous":"\#(answer.previous)""#) }
        return "{\(fields.joined(separator: ","))}"
    }
}
