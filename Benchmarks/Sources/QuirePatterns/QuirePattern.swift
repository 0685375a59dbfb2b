import Foundation
import Quire

/// Quire, without its pager, so that the same few requests are made as by the others.
struct QuirePattern: Pattern {
    static let title = "Quire"
    static let options = FeedOptions(order: .stable, pageSize: Server.pageSize)
    let meter = Meter()
    private let cache: Cache
    private let feed: Feed
    private let path: String

    init(folder: URL) throws {
        path = folder.appendingPathComponent("cache.quire").path
        cache = try Cache(at: path, options: CacheOptions(durability: .relaxed))
        feed = try cache.feed(named: "timeline", options: Self.options)
    }

    func refresh(_ server: Server) throws { _ = try ask(.head, server) }

    func loadMore(_ server: Server) throws -> Bool { try ask(.tail, server) }

    func fill(_ gap: GapID, _ server: Server) throws { _ = try ask(.gap(gap), server) }

    private func ask(_ place: Place, _ server: Server) throws -> Bool {
        guard let request = try feed.plan(place).request else { return false }
        let answer = try server.page(request.target, Self.options)
        _ = try meter.commit(answer) { try feed.ingest(answer, for: request.ticket) }
        return true
    }

    func rows() throws -> [ShownRow] {
        try cache.withSnapshot { snapshot in
            try snapshot.rows(of: feed, limit: .max).map { row in
                switch row {
                case .post(let post): .post(post.id)
                case .gap(let gap): .gap(gap.id)
                }
            }
        }
    }

    func size() throws -> Int { try FileManager.default.attributesOfItem(atPath: path)[.size] as! Int }
}
