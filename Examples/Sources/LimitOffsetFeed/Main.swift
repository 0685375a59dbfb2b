import Foundation
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Stage

/// Limit and offset, lists of ids, differences and validators behind one facade. Posts come and go while the
/// reader pages; none is shown twice and none is missing.
@main struct LimitOffsetFeed {
    /// All that a screen needs. How the server pages is known here and nowhere else.
    struct Facade {
        let feed: Feed
        let pager: Pager

        func loadNext() async throws { try await pager.append() }
        func update() async throws -> PageResult { try await pager.refresh() }
        func reload() async throws {
            try feed.reset()
            try await pager.refresh()
        }

        /// What the server says has changed since the last time: no page is fetched for it.
        func apply(deleted: [PostID], likes: [PostID: Int]) throws {
            try feed.cache.batch { batch in
                for id in deleted { try batch[feed].delete(id) }
                for (id, count) in likes {
                    _ = try batch.update(id, fields: ["likes": Array("\(count)".utf8)], version: Int64(count))
                }
            }
        }
    }

    struct Blog: Sendable {
        var posts = Array((1...40).reversed())
        var hidden: Set<Int> = [63]

        func reply(_ question: Question) -> Reply {
            switch question.path {
            case "/posts":
                let (offset, limit) = (question.number("offset") ?? 0, question.number("limit") ?? 10)
                let items = posts.dropFirst(offset).prefix(limit).map { #"{"id":\#($0)}"# }
                let more = offset + limit < posts.count
                return Reply(#"{"posts":[\#(items.joined(separator: ","))],"more":\#(more)}"#)
            case "/cast":
                let etag = "\"\(posts.hashValue)\""
                if question.headers["if-none-match"] == etag { return Reply("", status: 304) }
                return Reply("\(posts)", headers: ["ETag": etag])
            default:
                let wanted = (question.query["ids"] ?? "").split(separator: ",").compactMap { Int($0) }
                let found = wanted.filter { !hidden.contains($0) }.sorted()  // in an order of its own
                return Reply("[\(found.map { #"{"id":\#($0)}"# }.joined(separator: ","))]")
            }
        }
    }

    static let offsets = Data(
        #"{"name":"blog","items":"posts","id":{"path":"id"},"next":{"more":"more"},"paging":"offset"}"#.utf8)
    static let cast = Data(#"{"name":"cast","id":{},"paging":"ids","order":"ranked"}"#.utf8)
    static let bodies = Data(#"{"name":"bodies","id":{"path":"id"}}"#.utf8)

    static func main() async throws {
        let blog = Shared(Blog())
        let server = try await LocalServer.start { blog.value.reply($0) }
        try await withCache { path in
            let cache = try Cache(at: path)
            try await offsets(cache, server, blog)
            try await ids(cache, server, blog)
        }
    }

    private static func offsets(_ cache: Cache, _ server: LocalServer, _ blog: Shared<Blog>) async throws {
        let profile = try Profile(json: Array(offsets), name: "blog")
        let source = try HTTPSource("\(server.address)/posts?offset={offset}&limit={limit}", profile: profile)
        let feed = try cache.feed(named: "posts", options: profile.options)
        let screen = Facade(
            feed: feed, pager: Pager(feed, source: source, options: PagerOptions(pageSize: 10)))

        try await screen.reload()
        print("first page:              ", try feed.picture)
        blog.change { $0.posts.insert(contentsOf: (41...55).reversed(), at: 0) }
        try await screen.loadNext()
        print("15 more above, next page:", try feed.picture)
        blog.change { $0.posts.removeFirst(12) }
        try await screen.loadNext()
        print("12 deleted, next page:   ", try feed.picture)
        _ = try await screen.update()
        for _ in 0..<20 { try await screen.loadNext() }
        print("to the end:              ", try feed.picture)

        try screen.apply(deleted: [42], likes: [41: 7])
        let likes = try cache.withSnapshot { try $0.post(41)?.fields["likes"] } ?? []
        print("a difference applied:    ", try feed.picture)
        print("likes of 41:             ", String(decoding: likes, as: UTF8.self))
    }

    private static func ids(_ cache: Cache, _ server: LocalServer, _ blog: Shared<Blog>) async throws {
        let profile = try Profile(json: Array(cast), name: "cast")
        let source = try HTTPSource(
            "\(server.address)/cast", profile: profile,
            bodies: ("\(server.address)/some?ids={ids}", try Profile(json: Array(bodies), name: "bodies")))
        let feed = try cache.feed(named: "cast", options: profile.options)
        let pager = Pager(feed, source: source, options: PagerOptions(pageSize: 20))
        let screen = Facade(feed: feed, pager: pager)

        blog.change { $0.posts = Array((60...66).reversed()) }
        try await screen.reload()
        print("ids first:               ", try feed.picture)
        try await screen.loadNext()
        print("bodies, one is gone:     ", try feed.picture)
        print("nothing new:             ", try await screen.update())
        blog.change { $0.posts = [66, 67, 65, 61] }
        _ = try await screen.update()
        print("ranked anew:             ", try feed.picture)
    }
}
