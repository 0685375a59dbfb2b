import Dispatch
import Testing

@testable import Quire

/// A feed is dropped, renamed, and begun anew with other options.
@Suite struct FeedLifetimeTests {
    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache() }

    private func refresh(_ feed: Feed, _ ids: [PostID]) throws {
        var answer = Answer(next: .token("n"))
        for id in ids { answer.append(id: id, body: Array("\(feed.name) \(id)".utf8)) }
        _ = try feed.ingest(answer, for: try #require(try feed.plan(.head).request).ticket)
    }

    private func code(_ body: () throws -> Void) -> QuireError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? QuireError)?.code
        }
    }

    @Test func aDroppedFeedLeavesNothing() throws {
        let keyset = FeedOptions(paging: .keyset, collection: "C")
        let (a, b) = (
            try cache.feed(named: "a", options: keyset), try cache.feed(named: "b", options: keyset)
        )
        try refresh(a, [5, 4, 3])
        try refresh(a, [9, 8])  // a gap
        try refresh(b, [4, 3])
        try a.setAttribute("x", to: [1])
        try a.delete(5)
        try a.insertLocal("local", body: [1])
        _ = try cache.update(8, fields: ["f": [1]], version: 1, in: "C")
        let ticket = try #require(try a.plan(.tail).request).ticket
        let generation = try cache.withSnapshot { try $0.generation }
        try a.drop()
        #expect(try cache.feeds().map(\.name) == ["b"])
        #expect(try cache.check().isEmpty)
        let changed = try cache.withSnapshot { try $0.changes(since: generation)?.map(\.feed) }
        #expect(changed == [a.number])
        #expect(try cache.withSnapshot { try $0.statistics().posts } == 2)
        #expect(try cache.withSnapshot { try $0.post(8, in: "C") } == nil)
        #expect(try cache.withSnapshot { try $0.rows(of: a, limit: 9) }.isEmpty)
        #expect(try cache.withSnapshot { try $0.contains([4], in: a) } == [false])
        #expect(try a.ingest(Answer(), for: ticket).verdict == .stale)
        #expect(code { _ = try a.plan(.head) } == .notFound)
        #expect(code { try a.drop() } == .notFound)
        #expect(code { try cache.withSnapshot { _ = try $0.info(of: a) } } == .notFound)
        let again = try cache.feed(named: "a")
        #expect(again.number > b.number && again.options.collection == "")
        try b.drop()
        try again.drop()
        try storage.reopen()
        #expect(try cache.feeds().isEmpty)
        #expect(try cache.withSnapshot { try $0.statistics().bodyBytes } == 0)
        #expect(try cache.check().isEmpty)
        let path = storage.folder + "/copy.quire"
        try cache.copy(to: path)
        #expect(try Cache.verify(at: path).isEmpty)
    }

    /// The record of a feed that was dropped is gone, and the name with it. A ``Feed`` value knows it.
    @Test func errorsNameADroppedFeed() throws {
        let feed = try cache.feed(named: "news", options: FeedOptions(order: .bump))
        try feed.drop()
        func message(_ body: () throws -> Void) -> String? {
            do { try body() } catch { return (error as? QuireError)?.message }
            return nil
        }
        let expected = "\(cache.path): feed news was dropped"
        #expect(message { _ = try feed.plan(.head) } == expected)
        #expect(message { try cache.batch { try $0[feed].reset() } } == expected)
        #expect(message { try cache.withSnapshot { _ = try $0.info(of: feed) } } == expected)
        #expect(message { try cache.withSnapshot { _ = try $0.rank(ofKey: 1, in: feed) } } == expected)
        #expect(message { _ = try cache.view(named: "v", of: feed) { _ in nil } } == expected)
    }

    /// The list of feeds is that of one commit: a feed that is renamed meanwhile is in it once.
    @Test func aFeedIsListedWhileItIsRenamed() throws {
        let (cache, feed) = (cache, try cache.feed(named: "a"))
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            #expect(throws: Never.self) {
                for round in 1...1_000 {
                    if thread == 0 {
                        try feed.rename(to: round % 2 == 0 ? "a" : "b")
                    } else {
                        #expect(try cache.feeds().count == 1)
                    }
                }
            }
        }
    }

    /// R2. Each feed numbered its tickets from 1 on, and a feed that an older version made goes on so.
    @Test func aTicketOfAnotherFeedIsStale() throws {
        let (a, b) = (try cache.feed(named: "a"), try cache.feed(named: "b"))
        for feed in [a, b] { try refresh(feed, [3, 2]) }
        let ticket = try #require(try a.plan(.tail).request).ticket
        _ = try b.plan(.tail)
        let answer = Answer(next: .end)
        for outcome in [try b.dropLink(of: ticket), try b.ingest(answer, for: ticket)] {
            #expect((outcome.verdict, outcome.reason) == (.stale, "other-feed"))
        }
        #expect(try b.plan(.tail).request?.target == .link(.token("n")))
        #expect(try a.dropLink(of: ticket).verdict == .replan)
        #expect(try a.dropLink(of: ticket).reason == "used")
        #expect(try a.dropLink(of: Ticket(1)).reason == "other-feed")
    }

    /// In the batch that made it, and filled it.
    @Test func aFeedCanBeDroppedInItsFirstBatch() throws {
        try cache.batch { batch in
            let feed = try batch.feed(named: "a", options: FeedOptions(collection: "C"))
            var answer = Answer()
            answer.append(id: 1, body: [1])
            _ = try batch[feed].ingest(answer, for: try batch[feed].plan(.head).request!.ticket)
            _ = try batch[feed].plan(.tail)
            try batch[feed].drop()
            _ = try batch.feed(named: "a", options: FeedOptions(order: .stable))
        }
        #expect(try cache.feed(named: "a").options == FeedOptions(order: .stable))
        #expect(try cache.check().isEmpty)
    }

    @Test func aRenamedFeedIsTheSameFeed() throws {
        let a = try cache.feed(named: "a", options: FeedOptions(collection: "a"))
        _ = try cache.feed(named: "b")
        try refresh(a, [2, 1])
        let ticket = try #require(try a.plan(.tail).request).ticket
        #expect(code { try a.rename(to: "b") } == .badArgument)
        #expect(code { try a.rename(to: "") } == .badArgument)
        #expect(code { try a.rename(to: String(repeating: "n", count: 256)) } == .badArgument)
        #expect(try a.rename(to: "a").name == "a")
        let c = try a.rename(to: "c")
        #expect(c.name == "c" && c.number == a.number && c.options.collection == "a")
        var answer = Answer(next: .end)
        answer.append(id: 0, body: [0])
        #expect(try a.ingest(answer, for: ticket).verdict == .ok)
        try storage.reopen()
        #expect(try cache.existingFeed(named: "a") == nil)
        let same = try cache.feed(named: "c")
        #expect(try cache.withSnapshot { try $0.info(of: same).name } == "c")
        #expect(try cache.withSnapshot { try $0.contains([2, 1, 0], in: same) } == [true, true, true])
        #expect(try cache.feed(named: "a").number != same.number)
        #expect(try cache.check().isEmpty)
    }

    @Test func optionsThatDifferAreNamed() throws {
        _ = try cache.feed(named: "a", options: FeedOptions(order: .bump, sizes: .fixed(30)))
        #expect {
            try cache.feed(named: "a", options: FeedOptions(order: .bump, pageSize: 50, sticky: ["s"]))
        } throws: {
            "\($0)".hasSuffix(
                "feed a was created with page size 20, not 50; sizes fixed(30), not unknown; "
                    + "sticky posts [], not [\"s\"]")
        }
    }

    @Test func onlyAnEmptyFeedTakesOtherOptions() throws {
        let a = try cache.feed(named: "a", options: FeedOptions(collection: "one"))
        try refresh(a, [2, 1])
        let other = FeedOptions(order: .stable, collection: "two")
        #expect(code { _ = try a.setOptions(other) } == .optionsDiffer)
        try a.reset()
        let ticket = try #require(try a.plan(.head).request).ticket
        let b = try a.setOptions(other)
        #expect(b.options == other)
        #expect(try a.ingest(Answer(), for: ticket).verdict == .stale)
        #expect(try b.ingest(Answer(), for: ticket).verdict == .stale)
        try storage.reopen()
        #expect(try cache.feed(named: "a", options: other).options == other)
        #expect(try cache.check().isEmpty)
    }
}
