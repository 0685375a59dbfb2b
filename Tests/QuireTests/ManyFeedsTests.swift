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

    /// `[a b c d e]` in 20 feeds. One feed shows another version of c, then another one does; then one has
    /// lost its chunk. A check that remembers what the feeds show, one that has no room for that, and one
    /// with room for three posts find it.
    @Test(arguments: [1, 4, 1 << 18]) func oneFeedShowsAnotherBody(atOnce: Int) throws {
        let feeds = try (0..<20).map {
            try storage.cache.feed(named: "feed \($0)", options: FeedOptions(order: .stable))
        }
        for feed in feeds { try load(feed) }
        func findings() throws -> [Finding] {
            try storage.cache.check(.full, atOnce: atOnce) { _ in true }.findings
        }
        #expect(try findings().isEmpty)
        try change(ids[2], in: feeds[7]) { $0.version = 9 }
        let other = try findings()
        #expect(other.contains { $0.code == .body && $0.location == "feed feed 7" })
        #expect(other.allSatisfy { $0.code == .body && $0.message.contains("another body") }, "\(other)")
        try change(ids[2], in: feeds[7]) { $0.version = nil }
        #expect(try findings().isEmpty)
        // what the feed checked first shows is what the others are compared with
        try change(ids[2], in: feeds[0]) { $0.version = 9 }
        #expect(try findings().contains { $0.code == .body })
        try change(ids[2], in: feeds[0]) { $0.version = nil }
        try storage.cache.write { session in
            let position = try position(in: feeds[11], session)
            try session.transaction.delete(.chunks(of: feeds[11].number), position)
        }
        let lost = "feed number \(feeds[11].number)"
        #expect(try findings().contains { $0.code == .index && $0.location == lost })
    }

    private func position(in feed: Feed, _ session: WriteSession) throws -> NumberKey {
        try session.transaction.withCursor(.chunks(of: feed.number)) {
            try #require(try $0.first().flatMap { NumberKey($0.key) })
        }
    }

    private func change(_ id: PostID, in feed: Feed, _ body: (inout Entry) -> Void) throws {
        try storage.cache.write { session in
            let position = try position(in: feed, session)
            var chunk = try session.transaction.chunk(at: position.number, of: feed.number)
            body(&chunk.entries[try #require(Array(chunk.ids).firstIndex(of: id))])
            try session.transaction.put(.chunks(of: feed.number), position, chunk.encoded())
        }
    }

    /// A post with many ids takes another one, and is looked up by any of them. The name has them all.
    @Test func aPostHasManyIDs() throws {
        let feed = try storage.cache.feed(named: "f", options: FeedOptions(order: .stable))
        let other = try storage.cache.feed(named: "g", options: FeedOptions(collection: "other"))
        try load(feed)
        try load(other)
        for number in 100..<400 {
            #expect(try storage.cache.addAlias(PostID(UInt64(number)), of: ids[0]) == .noted)
        }
        #expect(try storage.cache.addAlias("text", of: PostID(399)) == .noted)
        #expect(try storage.cache.addAlias(ids[1], of: "text") == .united)
        try storage.cache.write { session in
            let (mine, others) = (feed.collection, other.collection)
            let record = try #require(try session.transaction.aliasRecord(ids[0], in: mine))
            #expect(record.others == (100..<400).map { PostID(UInt64($0)) } + ["text", ids[1]])
            #expect(try session.transaction.name(of: ids[1], in: mine) == ids[0])
            #expect(try session.transaction.name(of: ids[1], in: others) == ids[1])
        }
        #expect(try storage.cache.check().isEmpty)
        #expect(try storage.cache.addAlias(ids[0], of: ids[4]) == .united)
        try storage.cache.write { session in
            let name = try session.transaction.name(of: 250, in: feed.collection)
            let record = try session.transaction.aliasRecord(ids[4], in: feed.collection)
            #expect(name == ids[4] && record?.others.count == 303)
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
