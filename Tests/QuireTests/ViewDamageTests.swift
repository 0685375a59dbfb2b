import Testing

@_spi(Unstable) @testable import Quire

/// I33: a view that is not as the engine keeps it is found.
@Suite struct ViewDamageTests {
    private static let feed: UInt32 = 1
    /// Of all posts, in the order of the feed.
    private static let inFeed: UInt8 = 1
    /// Of all posts, by keys.
    private static let byKeys: UInt8 = 2

    /// Makes a feed of two chunks with two views, damages it, and returns what a check says.
    private func codes(after damage: (Transaction) throws -> Void) throws -> Set<Finding.Code> {
        let storage = try TemporaryCache()
        let feed = try storage.cache.feed(named: "f", options: FeedOptions(order: .stable, paging: .keyset))
        for order in [StoredViewOrder.feed, .keys] {
            _ = try storage.cache.view(named: "\(order)", of: feed, order: order) { post in
                StoredViewEntry(
                    section: post.id.number! > 5 ? [1] : [0], key: [post.id.number! % 2 == 0 ? 0 : 1])
            }
        }
        for (place, ids) in [(Place.head, [9, 8, 7]), (.tail, [4, 3, 2])] as [(Place, [UInt64])] {
            var answer = Answer(next: .token("\(ids)"))
            for id in ids { answer.append(id: PostID(id), key: Int64(id), body: [1]) }
            _ = try feed.ingest(answer, for: try #require(try feed.plan(place).request).ticket)
        }
        #expect(try storage.cache.check() == [])
        try storage.cache.environment.write(damage)
        return Set(try storage.cache.check().map(\.code))
    }

    private func change(_ view: UInt8, _ edit: @escaping (inout ViewRecord) -> Void) -> (Transaction) throws
        -> Void
    {
        { transaction in
            var record = try #require(try transaction.views(of: Self.feed).first { $0.number == view }).record
            edit(&record)
            try transaction.put(.views(of: Self.feed), [view], record)
        }
    }

    private func chunk(_ transaction: Transaction) throws -> UInt64 {
        try #require(try ChunkReader(transaction: transaction, feed: Self.feed).firstPosition())
    }

    @Test func countsAndSums() throws {
        for view in [Self.inFeed, Self.byKeys] {
            #expect(try codes(after: change(view) { $0.posts += 1 }).contains(.count))
            #expect(try codes(after: change(view) { $0.pending += 1 }).contains(.count))
            #expect(try codes(after: change(view) { $0.built = 0 }).contains(.ahead))
            #expect(try codes { try $0.deleteAll(of: .sections(of: Self.feed, view: view)) } == [.count])
        }
        #expect(try codes { try $0.deleteAll(of: .viewRanks(of: Self.feed, view: Self.inFeed)) } == [.index])
        #expect(
            try codes { try $0.deleteAll(of: .places(of: Self.feed, view: Self.byKeys)) } == [.index, .count])
    }

    @Test func whatIsShown() throws {
        let matches = Table.matches(of: Self.feed, view: Self.inFeed)
        let extra = ViewMatches([ViewMatch(slot: 0, section: [1])])
        #expect(try codes { try $0.put(matches, NumberKey(1), extra) }.contains(.orphan))
        #expect(
            try codes {
                var known = try $0.matches(of: Self.feed, view: Self.inFeed, at: chunk($0))
                known.all[2].slot = 77
                try $0.put(matches, NumberKey(chunk($0)), known)
            }.contains(.missing))
        // all sums are right, but the function says something else
        #expect(
            try codes {
                var known = try $0.matches(of: Self.feed, view: Self.inFeed, at: chunk($0))
                known.all.removeLast()
                try $0.put(matches, NumberKey(chunk($0)), known)
                try $0.put(.sections(of: Self.feed, view: Self.inFeed), [1] as [UInt8]) { $0.number(2) }
                try RankIndex.store(
                    [RankChange(position: chunk($0), rows: -1)],
                    .viewRanks(of: Self.feed, view: Self.inFeed), in: $0)
                try change(Self.inFeed) { $0.posts -= 1 }($0)
            } == [.count])
    }

    @Test func whatWaitsAndWhatIsOfNoView() throws {
        #expect(
            try codes {
                let table = Table.pending(of: Self.feed, view: Self.inFeed)
                try $0.put(table, NumberKey(chunk($0)), ByteWriter().sealed())
            } == [.count, .ahead])
        #expect(try codes { try $0.delete(.views(of: Self.feed), [Self.byKeys]) }.contains(.orphan))
        #expect(
            try codes {
                var record = try $0.feed(Self.feed)
                record.hasViews = false
                try $0.put(.record(of: Self.feed), NoKey(), record)
            } == [.count])
        #expect(
            try codes {
                let table = Table.sections(of: Self.feed, view: Self.inFeed)
                try $0.put(table, [UInt8](repeating: 1, count: 49)) { $0.number(1) }
            }.contains(.unreadable))
    }

    /// What reads a damaged view throws, and does not crash.
    @Test func readingADamagedView() throws {
        let storage = try TemporaryCache()
        let feed = try storage.cache.feed(named: "f")
        let view = try storage.cache.view(named: "v", of: feed) { _ in StoredViewEntry() }
        var answer = Answer(next: .end)
        for id in [3, 2, 1] as [UInt64] { answer.append(id: PostID(id), key: nil, body: []) }
        _ = try feed.ingest(answer, for: try #require(try feed.plan(.head).request).ticket)
        let wrong = ViewMatches([ViewMatch(slot: 1 << 40, section: [])])
        try storage.cache.environment.write {
            let table = Table.matches(of: feed.number, view: 1)
            try $0.put(
                table, NumberKey(ChunkReader(transaction: $0, feed: feed.number).firstPosition()!), wrong)
        }
        for read in [
            { try $0.rows(of: view, limit: 5) }, { try $0.rows(of: view, from: 2, limit: 5) },
        ] as [(borrowing Snapshot) throws -> [FeedRow]] {
            let failure = #expect(throws: QuireError.self) { try storage.cache.withSnapshot { try read($0) } }
            #expect(failure?.code == .corrupt)
        }
    }
}
