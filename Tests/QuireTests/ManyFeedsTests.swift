import Testing

@testable import Quire

/// Posts that are in many feeds of one collection: saved searches, trending lists.
@Suite struct ManyFeedsTests {
    private let storage: TemporaryCache
    private let ids = (1...5).map { PostID(UInt64($0)) }

    init() throws { storage = try TemporaryCache() }

    /// `[a b c d e]` in 60 feeds; then c leaves every third of them, and comes back in every sixth.
    @Test func aPostIsOnceInEachFeed() throws {
        let feeds = try (0..<60).map {
            try storage.cache.feed(
                named: "feed \($0)", options: FeedOptions(order: .stable, collection: "all"))
        }
        for feed in feeds { try load(feed) }
        for feed in stride(from: 0, to: 60, by: 3) { try feeds[feed].delete(ids[2]) }
        for feed in stride(from: 0, to: 60, by: 6) { try load(feeds[feed]) }
        try storage.cache.withSnapshot { snapshot in
            for (i, id) in ids.enumerated() {
                #expect(try snapshot.post(id, in: "all")?.feeds == (i == 2 ? 50 : 60))
            }
            let merged = try snapshot.mergedRows(of: feeds, limit: 1_000, pastFrontiers: true)
            let shown = merged.rows.compactMap { row in row.post.map { ($0.id, row.source) } }
            #expect(shown.map(\.0) == ids)
            #expect(shown.map(\.1) == [0, 0, 0, 0, 0])
        }
        #expect(try storage.cache.check().isEmpty)
        #expect(try feeds[1].evict(ids) == 5)
        try storage.cache.write { session in
            let index = try PostIndex(session.transaction, of: feeds[0].collection)
            for (i, id) in ids.enumerated() {
                let holders = index.positions(of: id).map(\.feed).sorted()
                #expect(holders == index.places(of: [id]).map(\.feed).sorted())
                #expect(Set(holders).count == holders.count && holders.count == (i == 2 ? 49 : 59))
            }
            let places = index.places(of: ids)
            #expect(places.count == 49 + 4 * 59)
        }
        #expect(try storage.cache.check().isEmpty)
    }

    private func load(_ feed: Feed) throws {
        var answer = Answer(next: .end)
        for id in ids { answer.append(id: id, key: -Int64(id.description)!, body: Array("\(id)".utf8)) }
        let request = try #require(try feed.plan(.head).request)
        #expect(try feed.ingest(answer, for: request.ticket).verdict == .ok)
    }
}
