import Foundation
import Testing

@testable import Quire

/// The engine's API beyond the rules: snapshots, bodies, updates, batches, many threads.
@Suite struct CacheTests {
    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache() }

    private func answer(_ ids: [UInt64], _ next: Link, _ text: String = "body") -> Answer {
        var answer = Answer(next: next)
        for id in ids { answer.append(id: PostID(id), body: Array("\(text) \(id)".utf8)) }
        return answer
    }

    @discardableResult
    private func refresh(_ feed: Feed, _ ids: [UInt64], _ text: String = "body") throws -> Outcome {
        let request = try #require(try feed.plan(.head).request)
        return try feed.ingest(answer(ids, .token("n"), text), for: request.ticket)
    }

    private func body(_ id: PostID, in feed: Feed) throws -> String? {
        try cache.withSnapshot { snapshot in
            guard let row = try snapshot.find(id, in: feed) else { return nil }
            let span = try snapshot.body(of: row)
            return span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
    }

    // MARK: Pruning

    /// Received when the clock was wrong, they would stay until that time comes.
    @Test func pagesFromTheFutureBeginToAge() throws {
        let feed = try cache.feed(named: "f")
        var page = answer([3, 2, 1], .token("n"))
        page.fetchedAt = 1_000_000
        _ = try feed.ingest(page, for: try #require(try feed.plan(.head).request).ticket)
        var policy = PrunePolicy()
        policy.maximumAge = 100
        for (now, leaving) in [(500, 0), (599, 0), (600, 3)] as [(Int64, Int)] {
            policy.now = now
            #expect(try feed.prune(policy).posts == leaving)
        }
    }

    // MARK: Feeds

    @Test func feedsKeepTheirOptions() throws {
        let options = FeedOptions(
            order: .bump, paging: .page, trustsEnd: true, pageSize: 30, minimumRun: 3,
            sticky: ["x", 7], firstPage: 0, isStrict: true)
        _ = try cache.feed(named: "ünï", options: options)
        try storage.reopen()
        #expect(try cache.feed(named: "ünï").options == options)
        #expect(try cache.feeds().map(\.name) == ["ünï"])
        #expect(throws: QuireError.self) {
            try cache.feed(named: "ünï", options: FeedOptions(order: .ranked))
        }
        #expect(throws: QuireError.self) { try cache.feed(named: "") }
        #expect(throws: QuireError.self) {
            try cache.feed(named: String(repeating: "n", count: 256))
        }
        #expect(try cache.existingFeed(named: "none") == nil)
    }

    @Test func feedsRemember() throws {
        let feed = try cache.feed(named: "f")
        try feed.setAttribute("key", to: Array("score".utf8))
        try feed.setAttribute("gone", to: [1])
        try feed.setAttribute("gone", to: nil)
        try feed.reset()
        try storage.reopen()
        let same = try cache.feed(named: "f")
        func attribute(_ name: String) throws -> [UInt8]? {
            try cache.withSnapshot { try $0.attribute(name, of: same) }
        }
        #expect(try attribute("key") == Array("score".utf8))
        #expect(try attribute("gone") == nil)
        let tooMuch = [UInt8](repeating: 0, count: 65_537)
        #expect(throws: QuireError.self) { try same.setAttribute("key", to: tooMuch) }
        #expect(throws: QuireError.self) { try same.setAttribute("", to: []) }
        #expect(try cache.check().isEmpty)
    }

    // MARK: Posts

    @Test func postsAreStoredOnceAndShared() throws {
        let (a, b) = (try cache.feed(named: "a"), try cache.feed(named: "b"))
        try refresh(a, [1, 2, 3])
        let size = try cache.withSnapshot { try $0.statistics().bodyBytes }
        try refresh(b, [3, 2, 1])
        #expect(try cache.withSnapshot { try $0.statistics().bodyBytes } == size)
        #expect(try cache.withSnapshot { try $0.post(2)?.feeds } == 2)
        // a newer body shows in every feed
        #expect(try refresh(b, [3, 2, 1], "new").updated == 3)
        #expect(try body(2, in: a) == "new 2")
        try a.reset()
        #expect(try body(2, in: b) == "new 2")
        try b.reset()
        let statistics = try cache.withSnapshot { try $0.statistics() }
        #expect(statistics.posts == 0 && statistics.bodyBytes == 0)
        #expect(try cache.check().isEmpty)
    }

    @Test func idsAreBytes() throws {
        let feed = try cache.feed(named: "f")
        let long = String(repeating: "a", count: 5_000)
        let ids =
            [
                "0", "007", "-1", "18446744073709551615", "18446744073709551616", "../../x", "a\u{1B}b",
                long, long + "b", String(repeating: "z", count: 200), String(repeating: "z", count: 201),
            ].map { PostID($0)! } + [PostID(bytes: [0xFF, 0, 0x80])!]
        var answer = Answer(next: .end)
        for (i, id) in ids.enumerated() { answer.append(id: id, body: [UInt8(i)]) }
        _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
        try storage.reopen()
        let same = try cache.feed(named: "f")
        let rows = try cache.withSnapshot { try $0.rows(of: same, limit: .max) }
        #expect(rows.compactMap(\.post?.id) == ids)
        #expect(
            try cache.withSnapshot { try $0.contains(ids + ["none"], in: same) }
                == ids.map { _ in true } + [false])
        #expect(try cache.check().isEmpty)
        let empty = ""
        #expect(PostID(empty) == nil && PostID(bytes: Array(repeating: 1, count: 65_537)) == nil)
        #expect(PostID("42") == PostID(42))
    }

    @Test func olderVersionsNeverWin() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [1])
        #expect(try cache.update(1, body: [5], version: 5) == .changed)
        #expect(try cache.update(1, body: [4], version: 4) == .stale)
        #expect(try cache.update(1, body: [5], version: 6) == .same)
        #expect(try cache.update(1, body: [5, 5], version: 5) == .stale)
        #expect(try cache.update(2, body: [1]) == .missing)
        var old = Answer(next: .token("n"))
        old.append(id: 1, version: 3, body: [3])
        _ = try feed.ingest(old, for: feed.plan(.head).request!.ticket)
        #expect(try body(1, in: feed) == "\u{5}")
        #expect(try cache.check().isEmpty)
    }

    @Test func deadBodiesAreReclaimed() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, Array(1...20))
        for id in 1...18 as ClosedRange<UInt64> {
            _ = try cache.update(PostID(id), body: Array("shorter".utf8))
        }
        let dead = try cache.withSnapshot { try $0.statistics().deadBodyBytes }
        #expect(dead > 0)
        #expect(try cache.reclaim() == Int(dead))
        #expect(try cache.reclaim() == 0)
        #expect(try cache.withSnapshot { try $0.statistics().deadBodyBytes } == 0)
        #expect(try body(19, in: feed) == "body 19")
        #expect(try cache.check().isEmpty)
    }

    // MARK: Snapshots and batches

    @Test func aSnapshotSeesOneState() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [2, 1])
        try cache.withSnapshot { snapshot in
            let before = try snapshot.rows(of: feed, limit: 10)
            _ = try cache.update(1, body: [])
            try feed.delete(2)
            #expect(try snapshot.rows(of: feed, limit: 10) == before)
        }
        #expect(try cache.withSnapshot { try $0.rows(of: feed, limit: 10).count } == 1)
    }

    @Test func rowsAreReadInPartsBothWays() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [3, 2, 1])
        try refresh(feed, [9, 8, 7])
        try cache.withSnapshot { snapshot in
            let all = try snapshot.rows(of: feed, limit: .max)
            #expect(all.count == 7 && all[3].gap != nil)
            for limit in 1...8 {
                var down: [FeedRow] = []
                while true {
                    let part = try snapshot.rows(of: feed, after: down.last?.position, limit: limit)
                    if part.isEmpty { break }
                    down += part
                }
                #expect(down == all)
                var up: [FeedRow] = []
                while true {
                    let part = try snapshot.rows(of: feed, before: up.last?.position, limit: limit)
                    if part.isEmpty { break }
                    up += part
                }
                #expect(up == all.reversed())
            }
        }
    }

    /// A position may be of a row that has left since: what is above and below its place is read all the
    /// same.
    @Test func anyPositionDividesTheRows() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [3, 2, 1])
        try refresh(feed, [9, 8, 7])
        try cache.withSnapshot { snapshot in
            let all = try snapshot.rows(of: feed, limit: .max)
            let chunks = Set(all.map(\.position.chunk)).flatMap { [$0 - 1, $0, $0 + 1] }
            for chunk in chunks {
                for slot in -1...4 {
                    let at = RowPosition(chunk: chunk, slot: slot)
                    let above = try snapshot.rows(of: feed, before: at, limit: .max)
                    let below = try snapshot.rows(of: feed, after: at, limit: .max)
                    #expect(above.reversed() + all.filter { $0.position == at } + below == all)
                    for limit in 0...all.count {
                        let nearest = try snapshot.rows(of: feed, before: at, limit: limit)
                        #expect(nearest == Array(above.prefix(limit)))
                    }
                }
            }
        }
    }

    @Test func aFailedBatchChangesNothing() throws {
        struct Stop: Error {}
        let feed = try cache.feed(named: "f")
        let generation = try cache.withSnapshot { try $0.generation }
        #expect(throws: Stop.self) {
            try cache.batch { batch in
                let request = try batch[feed].plan(.head).request!
                _ = try batch[feed].ingest(answer([1], .end), for: request.ticket)
                throw Stop()
            }
        }
        #expect(try cache.withSnapshot { try $0.rows(of: feed, limit: 1).isEmpty })
        #expect(try cache.withSnapshot { try $0.generation } == generation)
    }

    @Test func aWriteInsideAWriteIsRefused() throws {
        let feed = try cache.feed(named: "f")
        try cache.batch { _ in
            do {
                _ = try feed.plan(.head)
                Issue.record("it did not throw")
            } catch let error as QuireError {
                #expect(error.code == .wouldDeadlock)
            }
        }
    }

    @Test func aBodyOutsideItsAnswerIsRefused() throws {
        let feed = try cache.feed(named: "f")
        let ticket = try feed.plan(.head).request!.ticket
        let bad = Answer(posts: [Post(id: 1, body: 0..<10)], bytes: [1, 2])
        #expect(throws: QuireError.self) { try feed.ingest(bad, for: ticket) }
        #expect(try feed.ingest(answer([1], .end), for: ticket).new == [1])
    }

    @Test func theLogReachesBackSoFar() throws {
        let feed = try cache.feed(named: "f")
        let start = try cache.withSnapshot { try $0.generation }
        try refresh(feed, [1])
        try cache.withSnapshot { snapshot in
            let changes = try #require(try snapshot.changes(since: start))
            #expect(changes.flatMap(\.changes) == [.inserted(.post(1), below: nil)])
            let future = try snapshot.generation + 1
            #expect(try snapshot.changes(since: future) == nil)
        }
        for _ in 0...ChangeLog.length { _ = try cache.feed(named: "f").pin(1) }
        #expect(try cache.withSnapshot { try $0.changes(since: start) } == nil)
        #expect(try cache.check().isEmpty)
    }

    // MARK: Many at once

    /// Eight tasks write to one feed each, four read: every snapshot is whole pages.
    @Test func writersTakeTurnsAndReadersSeeWholePages() async throws {
        let cache = self.cache
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 as Range<UInt64> {
                group.addTask {
                    let feed = try cache.feed(named: "feed \(writer)")
                    for page in 0..<25 as Range<UInt64> {
                        var answer = Answer(next: .token("n\(page)"))
                        for post in 0..<4 as Range<UInt64> {
                            let id = PostID(writer * 1000 + page * 4 + post)
                            answer.append(id: id, body: Array(repeating: 1, count: 300))
                        }
                        let place: Place = page == 0 ? .head : .tail
                        let request = try feed.plan(place).request!
                        #expect(try feed.ingest(answer, for: request.ticket).new.count == 4)
                    }
                }
            }
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<50 {
                        for feed in try cache.feeds() {
                            let rows = try cache.withSnapshot {
                                try $0.rows(of: feed, limit: .max).count
                            }
                            #expect(rows % 4 == 0)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try cache.check().isEmpty)
        #expect(try cache.withSnapshot { try $0.statistics().posts } == 800)
    }
}

extension FeedRow {
    fileprivate var position: RowPosition {
        switch self {
        case .post(let row): row.position
        case .gap(let row): row.position
        }
    }
}
