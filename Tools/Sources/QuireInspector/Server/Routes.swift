import Foundation
import Quire

/// What the server answers, apart from HTTP itself.
struct Routes: Sendable {
    let caches: [InspectedCache]

    /// What an address says after `?`. Anything that is no number there is not given.
    struct Query: Sendable {
        let values: [String: String]

        func number(_ name: String) -> Int? { values[name].flatMap { Int($0) } }
    }

    enum Reply: Sendable {
        case file([UInt8], type: String)
        case json([UInt8])
        case notFound(String)
    }

    /// The largest part of a body that one answer brings.
    static let bodyLimit = 1 << 18
    private static let rowLimit = 500
    private static let barLimit = 4_000
    private static let logLimit = 200

    func reply(to path: String, _ query: Query) throws -> Reply {
        switch path {
        case "": return .file(Page.live(), type: "text/html; charset=utf-8")
        case "style.css": return .file(Page.style, type: "text/css; charset=utf-8")
        case "api/feeds": return .json(try Page.json(caches.map { try $0.feeds() }))
        case "api/map", "api/rows", "api/rank", "api/body", "api/log":
            guard let number = query.number("cache"), caches.indices.contains(number) else {
                return .notFound("no such cache")
            }
            return try reply(to: path, caches[number], query)
        default:
            if let script = Page.scripts.first(where: { $0.name == path }) {
                return .file(script.text, type: "text/javascript; charset=utf-8")
            }
            return .notFound("no such page")
        }
    }

    private func reply(to path: String, _ cache: InspectedCache, _ query: Query) throws -> Reply {
        let number = query.number("feed").flatMap { UInt32(exactly: $0) }
        if path == "api/log" { return .json(try Page.json(cache.log(of: number, limit: Self.logLimit))) }
        guard let number else { return .notFound("no such feed") }
        switch path {
        case "api/map":
            var range: Range<Int>?
            if let from = query.number("from"), let to = query.number("to"), from < to { range = from..<to }
            let bars = min(Self.barLimit, max(1, query.number("bars") ?? 1_000))
            return .json(try Page.json(cache.map(of: number, range, limits: MapFigures.Limits(bars: bars))))
        case "api/rows":
            let limit = min(Self.rowLimit, max(1, query.number("limit") ?? 100))
            return .json(
                try Page.json(cache.rows(of: number, from: max(0, query.number("from") ?? 0), limit: limit)))
        case "api/rank":
            guard let id = query.values["id"].flatMap(IDText.decoded) else {
                return .notFound("no such post")
            }
            return .json(try Page.json(["rank": cache.rank(of: id, in: number)]))
        default:
            let limit = min(Self.bodyLimit, max(0, query.number("limit") ?? Self.bodyLimit))
            guard let id = query.values["id"].flatMap(IDText.decoded),
                let text = try cache.body(of: id, in: number, limit: limit)
            else { return .notFound("the feed does not hold this post any more") }
            return .json(try Page.json(text))
        }
    }

    /// The commits that each cache has seen.
    func generations() throws -> [UInt64] { try caches.map { try $0.generation } }
}
