import Testing

@testable import Quire

/// R9: where the posts go that a page of a crawl, which removes nothing, does not show. A letter is a post,
/// the number its key.
@Suite struct KeptEntryTests {
    private struct World: Sendable, CustomTestStringConvertible {
        let before: String
        let page: String
        let after: String
        var testDescription: String { "[\(before)], then [\(page)]" }
    }

    private static let worlds = [
        // by their keys, above the first that is lower
        World(before: "a9 k6 m7", page: "a9 m7 n5", after: "a m k n"),
        World(before: "a9 k8 m7", page: "a9 m7 n5", after: "a k m n"),
        // one with the key of the page's last post goes above it
        World(before: "a9 k5 m7", page: "a9 m7 n5", after: "a m k n"),
        // two between the same posts keep the order of their keys
        World(before: "a9 k6 l6 j8 m7", page: "a9 m7 n5", after: "a j m l k n"),
        World(before: "a9 k6 j8 l7 m7", page: "a9 m7 n5", after: "a j m l k n"),
        // no post has a lower key: below the post above
        World(before: "a9 k4 m7", page: "a9 m7 n5", after: "a k m n"),
        World(before: "a9 k4 l3 m7", page: "a9 m7 n5", after: "a k l m n"),
        World(before: "a9 l6 k4 m7", page: "a9 m7 n5", after: "a l k m n"),
    ]

    @Test(arguments: worlds)
    private func goesWhereItBelongs(world: World) throws {
        let temporary = try TemporaryCache()
        let feed = try temporary.cache.feed(named: "f", options: FeedOptions(order: .bump))
        var crawl = Crawl(startingAt: .head(page: 1))
        for posts in [world.before, world.page] {
            var answer = Answer(next: .token("more"))
            for post in posts.split(separator: " ") {
                answer.append(id: PostID(String(post.prefix(1)))!, key: Int64(post.dropFirst())!)
            }
            _ = try feed.ingest(answer, page: 1, of: &crawl)
        }
        let rows = try feed.cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
        #expect(rows.compactMap { $0.post?.id.description }.joined(separator: " ") == world.after)
        #expect(try temporary.cache.check().isEmpty)
    }
}
