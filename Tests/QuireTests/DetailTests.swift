import Testing

@testable import Quire

/// A body never gives way to one of less detail, and says when it is outdated (R31).
@Suite struct DetailTests {
    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache() }

    private struct Shown: Equatable, CustomStringConvertible {
        var body: String
        var detail = Detail.full
        var version: Int64?
        var isOutdated = false

        var description: String {
            "\(body) \(detail.rawValue) \(version ?? -1)\(isOutdated ? " outdated" : "")"
        }
    }

    private struct Sent {
        let body: String
        var version: Int64?
        var detail = Detail.full
    }

    @discardableResult
    private func refresh(_ feed: Feed, _ posts: [(PostID, Sent)]) throws -> Outcome {
        let request = try #require(try feed.plan(.head).request)
        return try feed.ingest(answer(posts), for: request.ticket)
    }

    private func answer(_ posts: [(PostID, Sent)]) -> Answer {
        var answer = Answer(next: .token("n"))
        for (id, sent) in posts {
            answer.append(id: id, version: sent.version, detail: sent.detail, body: Array(sent.body.utf8))
        }
        return answer
    }

    private func shown(_ id: PostID, in feed: Feed) throws -> Shown? {
        try feed.cache.withSnapshot { snapshot in
            guard let row = try snapshot.find(id, in: feed) else { return nil }
            let body = try snapshot.body(of: row).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            return Shown(body: body, detail: row.detail, version: row.version, isOutdated: row.isOutdated)
        }
    }

    @Test func aListDoesNotReplaceAFullBody() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [(1, Sent(body: "full", version: 5))])
        #expect(try refresh(feed, [(1, Sent(body: "s", version: 5, detail: .summary))]).updated == 0)
        #expect(try shown(1, in: feed) == Shown(body: "full", version: 5))
        try refresh(feed, [(1, Sent(body: "s", detail: .summary))])  // says nothing of its age
        #expect(try shown(1, in: feed) == Shown(body: "full", version: 5))
        let generation = try cache.withSnapshot { try $0.generation }
        try refresh(feed, [(1, Sent(body: "s", version: 7, detail: .summary))])
        #expect(try shown(1, in: feed) == Shown(body: "full", version: 5, isOutdated: true))
        let changes = try cache.withSnapshot { try $0.changes(since: generation) }
        #expect(changes?.contains { $0.changes.contains(.updated(1)) } == true)
        try storage.reopen()
        let same = try cache.feed(named: "f")
        #expect(try shown(1, in: same)?.isOutdated == true)
        #expect(try cache.withSnapshot { try $0.post(1)?.isOutdated } == true)
        try refresh(same, [(1, Sent(body: "full 6", version: 6))])  // newer, not the newest
        #expect(try shown(1, in: same) == Shown(body: "full 6", version: 6, isOutdated: true))
        try refresh(same, [(1, Sent(body: "full 7", version: 7))])
        #expect(try shown(1, in: same) == Shown(body: "full 7", version: 7))
        #expect(try cache.check().isEmpty)
    }

    /// No body is less than each: the old one stays, under its own version, and what comes late still counts.
    @Test func aPostWithoutABodyOutdatesTheStoredOne() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [(1, Sent(body: "one", version: 1))])
        try refresh(feed, [(1, Sent(body: "", version: 5))])
        #expect(try shown(1, in: feed) == Shown(body: "one", version: 1, isOutdated: true))
        #expect(try feed.plan(.bodies([1])).request?.target == .bodies([1]))
        try refresh(feed, [(1, Sent(body: "three", version: 3))])
        #expect(try shown(1, in: feed) == Shown(body: "three", version: 3, isOutdated: true))
        try refresh(feed, [(1, Sent(body: "five", version: 5))])
        #expect(try shown(1, in: feed) == Shown(body: "five", version: 5))
        guard case .refused(.end) = try feed.plan(.bodies([1])) else { return #expect(Bool(false)) }
        #expect(try cache.check().isEmpty)
    }

    @Test func aBodyOlderThanWhatWasSeenIsOutdatedFromTheBeginning() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [(1, Sent(body: "", version: 5))])
        #expect(try shown(1, in: feed) == Shown(body: "", version: 5))
        try refresh(feed, [(1, Sent(body: "three", version: 3))])
        #expect(try shown(1, in: feed) == Shown(body: "three", version: 3, isOutdated: true))
        try refresh(feed, [(1, Sent(body: "five", version: 5))])
        #expect(try shown(1, in: feed) == Shown(body: "five", version: 5))
        #expect(try cache.check().isEmpty)
    }

    /// Page 1 is `5 4 3`. While page 2 is on its way, 3 is edited, and page 2 is `3 2 1`: it stands above the
    /// border, and is not placed.
    @Test(
        arguments: [.stable, .bump, .keyless, .appendOnly, .ranked] as [OrderClass],
        [nil, (1, 2), (2, 1), (1, 1)] as [(Int64, Int64)?])
    func anOverlapBringsTheNewerBody(_ order: OrderClass, _ versions: (Int64, Int64)?) throws {
        let feed = try cache.feed(named: "f", options: FeedOptions(order: order))
        func page(_ ids: ClosedRange<UInt64>, _ body: String, _ version: Int64?, _ next: Link) -> Answer {
            var answer = Answer(next: next)
            for id in ids.reversed() {
                let key = order.hasKeys ? Int64(id) : nil
                answer.append(id: PostID(id), key: key, version: version, body: Array("\(body) \(id)".utf8))
            }
            return answer
        }
        let first = try #require(try feed.plan(.head).request)
        _ = try feed.ingest(page(3...5, "old", versions?.0, .token("2")), for: first.ticket)
        let second = try #require(try feed.plan(.tail).request)
        let outcome = try feed.ingest(page(1...3, "new", versions?.1, .end), for: second.ticket)
        let isNew = versions.map { $0.1 >= $0.0 } ?? true
        #expect(outcome.verdict == .ok && outcome.updated == (isNew ? 1 : 0), "\(outcome)")
        #expect(try shown(3, in: feed)?.body == (isNew ? "new 3" : "old 3"))
        #expect(try shown(4, in: feed)?.body == "old 4")
        #expect(try cache.check().isEmpty)
    }

    /// Two requests for the head are on their way. The older answer comes last, and says no versions.
    @Test func anOlderAnswerBringsNoBodyOfWhatItDoesNotPlace() throws {
        let feed = try cache.feed(named: "f", options: FeedOptions(order: .keyless))
        try refresh(feed, [(5, Sent(body: "old")), (4, Sent(body: "old"))])
        let below = try #require(try feed.plan(.tail).request)
        try refresh(feed, [(5, Sent(body: "new")), (4, Sent(body: "new"))])
        let late = answer([(4, Sent(body: "old")), (3, Sent(body: "x"))])
        let outcome = try feed.ingest(late, for: below.ticket)
        #expect(outcome.updated == 0, "\(outcome)")
        #expect(try shown(4, in: feed)?.body == "new")
    }

    /// A sticky post stands outside the sequence, and has a body all the same.
    @Test func aStickyPostHasItsBody() throws {
        let feed = try cache.feed(named: "f", options: FeedOptions(sticky: [9]))
        try refresh(feed, [(9, Sent(body: "one")), (5, Sent(body: "x"))])
        #expect(try shown(9, in: feed)?.body == "one")
        try refresh(feed, [(9, Sent(body: "two")), (5, Sent(body: "x"))])
        #expect(try shown(9, in: feed)?.body == "two")
        #expect(try cache.check().isEmpty)
    }

    /// What is shown of a post that an answer repeats does not depend on which row came first.
    @Test func theBestOfARepeatedPostIsShown() throws {
        let sent = [
            Sent(body: "one", version: 1), Sent(body: "two", version: 2),
            Sent(body: "s", version: 3, detail: .summary), Sent(body: "two", version: 2),
        ]
        for (n, order) in [sent, sent.reversed(), [sent[1], sent[2], sent[0]]].enumerated() {
            let feed = try cache.feed(named: "\(n)", options: FeedOptions(collection: "\(n)"))
            let outcome = try refresh(feed, order.map { (1, $0) } + [(2, Sent(body: "x"))])
            #expect(outcome.new == [1, 2] && outcome.duplicatesInPage == order.count - 1)
            #expect(outcome.updated == 0)
            #expect(try shown(1, in: feed) == Shown(body: "two", version: 2))
        }
        #expect(try cache.withSnapshot { try $0.statistics().posts } == 6)
        #expect(try cache.check().isEmpty)
    }

    @Test func moreDetailReplacesLess() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [(1, Sent(body: "s", version: 7, detail: .summary))])
        #expect(try shown(1, in: feed) == Shown(body: "s", detail: .summary, version: 7))
        let more = Detail(rawValue: 100)
        try refresh(feed, [(1, Sent(body: "m", version: 6, detail: more))])
        #expect(try shown(1, in: feed) == Shown(body: "m", detail: more, version: 6, isOutdated: true))
        try refresh(feed, [(1, Sent(body: "full"))])  // of no version: taken for the newest
        #expect(try shown(1, in: feed) == Shown(body: "full", version: 7))
        try refresh(feed, [(2, Sent(body: "same", version: 1, detail: .summary))])
        try refresh(feed, [(2, Sent(body: "same", version: 1))])
        #expect(try shown(2, in: feed) == Shown(body: "same", version: 1))
        #expect(try cache.check().isEmpty)
    }

    /// What is known in the end does not depend on what came first.
    @Test func theOrderOfArrivalDoesNotMatter() throws {
        let sent = [
            Sent(body: "s1", version: 1, detail: .summary), Sent(body: "s4", version: 4, detail: .summary),
            Sent(body: "f2", version: 2), Sent(body: "f3", version: 3),
            Sent(body: "m5", version: 5, detail: Detail(rawValue: 100)),
        ]
        var orders = [[Int]]([[]])
        for _ in sent.indices {
            orders = orders.flatMap { order in
                sent.indices.filter { !order.contains($0) }.map { order + [$0] }
            }
        }
        let feed = try cache.feed(named: "f")
        try cache.batch { batch in
            for (number, order) in orders.enumerated() {
                for at in order {
                    let ticket = try batch[feed].plan(.head).request!.ticket
                    let page = answer([(PostID(UInt64(number)), sent[at])])
                    _ = try batch[feed].ingest(page, for: ticket)
                }
            }
        }
        for number in orders.indices {
            let expected = Shown(body: "f3", version: 3, isOutdated: true)
            // each page without the post before opens a gap above it; it stays
            #expect(try shown(PostID(UInt64(number)), in: feed) == expected, "\(orders[number])")
        }
        #expect(try cache.check().isEmpty)
    }

    @Test func feedsOfACollectionKnowTheSame() throws {
        let list = try cache.feed(named: "list")
        let ids = try cache.feed(named: "ids", options: FeedOptions(paging: .ids))
        try refresh(
            list, [(1, Sent(body: "full", version: 1)), (2, Sent(body: "s", version: 1, detail: .summary))])
        try refresh(ids, [(1, Sent(body: "")), (2, Sent(body: "")), (3, Sent(body: ""))])
        #expect(try shown(2, in: ids) == Shown(body: "s", detail: .summary, version: 1))
        try refresh(list, [(1, Sent(body: "s", version: 2, detail: .summary))])
        #expect(try shown(1, in: ids) == Shown(body: "full", version: 1, isOutdated: true))
        #expect(try cache.update(2, body: Array("new".utf8), version: 2, detail: .summary) == .changed)
        #expect(try cache.update(2, body: Array("full".utf8), version: 1) == .changed)
        #expect(try cache.update(2, body: Array("s".utf8), version: 3, detail: .summary) == .stale)
        for feed in [list, ids] where try shown(2, in: feed) != nil {
            #expect(try shown(2, in: feed) == Shown(body: "full", version: 1, isOutdated: true))
        }
        try ids.evict([2])  // its place stays
        #expect(try shown(2, in: ids) == Shown(body: ""))
        #expect(try cache.check().isEmpty)
    }

    @Test func aFeedOfIDsAsksForWhatIsNotFull() throws {
        let feed = try cache.feed(named: "f", options: FeedOptions(paging: .ids))
        try refresh(
            feed, [(1, Sent(body: "")), (2, Sent(body: "")), (3, Sent(body: "")), (4, Sent(body: ""))])
        let first = try #require(try feed.plan(.bodies([1, 2, 3])).request)
        let summary = Sent(body: "s", version: 1, detail: .summary)
        _ = try feed.ingest(
            answer([(1, Sent(body: "full", version: 1)), (2, summary), (3, Sent(body: "full", version: 1))]),
            for: first.ticket)
        _ = try cache.update(3, body: Array("s".utf8), version: 2, detail: .summary)
        let request = try #require(try feed.plan(.bodies([1, 2, 3, 4])).request)
        #expect(request.target == .bodies([2, 3, 4]))
        let full = Sent(body: "full", version: 2)
        _ = try feed.ingest(answer([(2, full), (3, full), (4, full)]), for: request.ticket)
        #expect(try shown(3, in: feed) == Shown(body: "full", version: 2))
        #expect(try feed.plan(.bodies([1, 2, 3, 4])).request == nil)
        #expect(try cache.check().isEmpty)
    }

    /// The answer changes bodies: not the rows, nor what is proven of them.
    @Test func aListAsksForItsBodies() throws {
        let feed = try cache.feed(named: "f")
        #expect(try feed.plan(.bodies([1])).request == nil)
        let rows = (1...4).map { (PostID(UInt64($0)), Sent(body: "s\($0)", version: 1, detail: .summary)) }
        var crawl = Crawl(startingAt: .head(page: 1))
        for (page, part) in [rows[..<2], rows[2...]].enumerated() {
            _ = try feed.ingest(answer(Array(part)), page: page + 1, of: &crawl)
        }
        let before = try cache.withSnapshot { try $0.info(of: feed) }
        #expect(before.unverifiedJoins == 1)
        let request = try #require(try feed.plan(.bodies([2, 3, 9])).request)
        #expect(request.target == .bodies([2, 3]))
        let tail = try #require(try feed.plan(.tail).request)
        let full = Sent(body: "full", version: 1)
        // 3 is not among them, which does not say that it is gone; 4 and 8 were not asked for
        let outcome = try feed.ingest(answer([(8, full), (2, full), (4, full)]), for: request.ticket)
        #expect(outcome.verdict == .ok && outcome.updated == 1)
        #expect(outcome.duplicates == [2] && outcome.ignored == [8, 4] && outcome.page == nil)
        #expect(try shown(2, in: feed) == Shown(body: "full", version: 1))
        #expect(try shown(3, in: feed)?.detail == .summary && shown(8, in: feed) == nil)
        var after = try cache.withSnapshot { try $0.info(of: feed) }
        #expect(after.unverifiedJoins == 1 && after.posts == 4 && after.pages == before.pages)
        #expect(try feed.ingest(answer([(2, full)]), for: request.ticket).verdict == .stale)
        #expect(try feed.ingest(answer([(5, full)]), for: tail.ticket).verdict == .ok)
        let both = try #require(try feed.plan(.bodies([1, 3, 4])).request)
        let all = try feed.ingest(answer([(4, full), (3, full), (1, full)]), for: both.ticket)
        #expect(all.updated == 3 && all.ignored.isEmpty)
        _ = try cache.update(3, body: Array("s".utf8), version: 2, detail: .summary)
        let second = try #require(try feed.plan(.bodies([3])).request)
        #expect(try feed.ingest(Answer(), for: second.ticket).verdict == .empty)
        let third = try #require(try feed.plan(.bodies([3])).request)
        try feed.reset()
        #expect(try feed.ingest(answer([(3, full)]), for: third.ticket).verdict == .stale)
        after = try cache.withSnapshot { try $0.info(of: feed) }
        #expect(after.posts == 0)
        #expect(try feed.plan(.bodies([1])).request == nil)
        #expect(try cache.check().isEmpty)
    }

    @Test func anOutdatedBodyThatIsNotIsFound() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [(1, Sent(body: "full", version: 5))])
        try cache.environment.write { transaction in
            let reader = RowReader(transaction: transaction, feed: feed.number)
            let position = try reader.chunks.firstPosition()!
            var chunk = try transaction.chunk(at: position, of: feed.number)
            chunk.entries[0].newest = 5
            try transaction.put(.chunks(of: feed.number), NumberKey(position), chunk.encoded())
        }
        #expect(try cache.check().map(\.code) == [.body])
    }

    @Test func repairKeepsWhatIsKnown() throws {
        let feed = try cache.feed(named: "f")
        try refresh(
            feed, [(1, Sent(body: "full", version: 5)), (2, Sent(body: "s", version: 5, detail: .summary))])
        try refresh(feed, [(1, Sent(body: "s", version: 7, detail: .summary))])
        let path = storage.folder + "/copy.quire"
        try cache.copy(to: path)
        try storage.damage(path)
        #expect(try !Cache.repair(at: path).isSound)
        let repaired = try Cache(at: path).feed(named: "f")
        #expect(try shown(1, in: repaired) == Shown(body: "full", version: 5, isOutdated: true))
        #expect(try shown(2, in: repaired) == Shown(body: "s", detail: .summary, version: 5))
        #expect(try repaired.cache.check().isEmpty)
    }

    /// R31.6: a value that was set before the body's version is in the body already.
    @Test func valuesThatTheBodyIsNewerThanAreNotShown() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [(1, Sent(body: "full", version: 5)), (2, Sent(body: "full"))])
        for id in [1, 2] as [PostID] {
            #expect(try cache.update(id, fields: ["old": [3]], version: 3) == .changed)
            #expect(try cache.update(id, fields: ["new": [7]], version: 7) == .changed)
        }
        let fields = try cache.withSnapshot { snapshot in
            try snapshot.rows(of: feed, limit: 9).compactMap(\.post).map {
                try snapshot.fields(of: $0, in: feed)
            }
        }
        #expect(fields == [["new": [7]], ["old": [3], "new": [7]]])
    }
}
