import QuireSimulator
@_spi(Unstable) import TestSupport
import Testing

@_spi(Unstable) @testable import Quire

/// What many operations do in one commit is what they do in one commit each.
///
///     commit  commit  commit  commit          commit
///     ┌────┐  ┌────┐  ┌────┐  ┌────┐          ┌──────────────┐
///     │ op │  │ op │  │ op │  │ op │    ==    │ op op op op  │
///     └────┘  └────┘  └────┘  └────┘          └──────────────┘
@Suite struct BatchTests {
    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache() }

    // MARK: Histories

    @Test(arguments: [Tuning(), Tuning.cramped])
    func everyScenarioInOneCommit(_ tuning: Tuning) throws {
        for scenario in try ScenarioTests.cases() {
            let name = "\(scenario["id"]!.text!) \(scenario["title"]!.text!)"
            let steps = scenario["steps"]!.list!
            let single = try ScenarioPlayer(scenario, tuning: tuning)
            for step in steps {
                try single.storage.cache.write {
                    try single.play(step, BatchTarget($0, single.storage.cache))
                }
            }
            let whole = try ScenarioPlayer(scenario, tuning: tuning)
            var mirror = Mirror()
            try mirror.follow(whole.storage.cache)
            try whole.storage.cache.write { session in
                for step in steps { try whole.play(step, BatchTarget(session, whole.storage.cache)) }
            }
            #expect(whole.results == single.results, "\(name)")
            let expected = try CacheContents(single.storage.cache)
            let contents = try CacheContents(whole.storage.cache)
            if let difference = contents.difference(from: expected) {
                Issue.record("\(name): \(difference)")
            }
            #expect(try whole.storage.cache.check().isEmpty, "\(name)")
            try mirror.follow(whole.storage.cache)
        }
    }

    /// Random histories of two feeds that share posts; every third one in a single commit.
    @Test(arguments: [Tuning(), Tuning.cramped]) func randomHistories(_ tuning: Tuning) throws {
        for seed in 0..<UInt64(Specification.number("QUIRE_SEEDS") ?? 120) {
            do {
                try Self.compare(seed, tuning)
            } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
        }
    }

    private struct Mistake: Error, CustomStringConvertible {
        let what: String
        let log: [String]
        var description: String { ([what] + log).joined(separator: "\n   ") }
    }

    private static func compare(_ seed: UInt64, _ tuning: Tuning) throws {
        let steps = 40
        var single = try OperationChaos(seed: seed, tuning)
        for _ in 0..<steps {
            let cache = single.storage.cache
            try cache.write { try single.step(BatchTarget($0, cache)) }
            let findings = try single.storage.cache.check()
            if !findings.isEmpty { throw Mistake(what: "\(findings), one by one", log: single.log) }
        }
        var grouped = try OperationChaos(seed: seed, tuning)
        var sizes = SplitMix64(seed: ~seed)
        var mirror = Mirror()
        try mirror.follow(grouped.storage.cache)
        var done = 0
        while done < steps {
            let count = seed % 3 == 0 ? steps : sizes.number(in: 1...min(12, steps - done))
            try grouped.storage.cache.write { session in
                for _ in 0..<count { try grouped.step(BatchTarget(session, grouped.storage.cache)) }
            }
            done += count
            try mirror.follow(grouped.storage.cache)
            let findings = try grouped.storage.cache.check()
            if !findings.isEmpty { throw Mistake(what: "\(findings)", log: grouped.log) }
        }
        for (a, b) in zip(single.replies, grouped.replies) where a != b {
            throw Mistake(what: "\(b)\n   instead of\n\(a)", log: grouped.log)
        }
        let expected = try CacheContents(single.storage.cache)
        if let difference = try CacheContents(grouped.storage.cache).difference(from: expected) {
            throw Mistake(what: difference, log: grouped.log)
        }
    }

    // MARK: One case each

    private func answer(_ ids: ClosedRange<UInt64>, _ text: String) -> Answer {
        var answer = Answer(next: .token("n"))
        for id in ids.reversed() {
            answer.append(id: PostID(id), key: Int64(id), body: Array("\(text)\(id)".utf8))
        }
        return answer
    }

    private func refresh(_ batch: borrowing Batch, _ feed: Feed, _ answer: Answer) throws -> Outcome {
        try batch[feed].ingest(answer, for: try batch[feed].plan(.head).request!.ticket)
    }

    private func feed(_ name: String) throws -> Feed {
        try cache.feed(named: name, options: FeedOptions(order: .stable))
    }

    private func bodies(_ feed: Feed) throws -> [String] {
        try cache.withSnapshot { snapshot in
            var bodies: [String] = []
            for row in try snapshot.rows(of: feed, limit: .max) {
                guard let post = row.post else { continue }
                let span = try snapshot.body(of: post)
                bodies.append(span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
            }
            return bodies
        }
    }

    /// Bytes in use and out of use, and how many records hold them.
    private func space() throws -> [Int] {
        let statistics = try cache.withSnapshot { try $0.statistics() }
        let records = try cache.environment.read { try $0.count(.bodies) }
        return [Int(statistics.bodyBytes), Int(statistics.deadBodyBytes), records]
    }

    @Test func updateOfAPostOfTheSameBatch() throws {
        let feed = try feed("a")
        try cache.batch { batch in
            _ = try refresh(batch, feed, answer(1...3, "x"))
            #expect(try batch.update(2, body: Array("y2".utf8)) == .changed)
            #expect(try batch.update(2, body: Array("new".utf8), version: 4) == .changed)
            #expect(try batch.update(2, body: Array("new".utf8), version: 5) == .same)
            #expect(try batch.update(2, body: Array("old".utf8), version: 4) == .stale)
            #expect(try batch.update(3, fields: ["likes": [1]], version: 1) == .changed)
            #expect(try batch.update(3, fields: ["likes": [2]], version: 1) == .changed)
            #expect(try batch.update(4, body: [1]) == .missing)
        }
        #expect(try bodies(feed) == ["x3", "new", "x1"])
        #expect(try space() == [7, 4, 1])  // x2 and y2 are dead
        #expect(try cache.withSnapshot { try $0.post(3)?.fields } == ["likes": [2]])
        #expect(try cache.withSnapshot { try $0.post(2)?.version } == 5)
        #expect(try cache.check().isEmpty)
    }

    /// A body replaced by an answer, by an update and by an answer again.
    @Test func replacedTwice() throws {
        let feed = try feed("a")
        try cache.batch { batch in
            _ = try refresh(batch, feed, answer(1...3, "x"))
            #expect(try refresh(batch, feed, answer(1...3, "y")).updated == 3)
            #expect(try batch.update(2, body: Array("zzz".utf8)) == .changed)
            #expect(try refresh(batch, feed, answer(1...3, "w")).updated == 3)
            #expect(try refresh(batch, feed, answer(1...3, "w")).updated == 0)
        }
        #expect(try bodies(feed) == ["w3", "w2", "w1"])
        #expect(try space() == [6, 15, 1])  // x, y and zzz are dead
        #expect(try cache.check().isEmpty)
    }

    @Test func comesAndGoes() throws {
        let feed = try feed("a")
        try cache.batch { batch in
            _ = try refresh(batch, feed, answer(10...29, "x"))
            #expect(try batch[feed].evict((10...29).map { PostID($0) }) == 20)
        }
        #expect(try space() == [0, 0, 0])
        #expect(try cache.withSnapshot { try $0.statistics().posts } == 0)
        // and comes again
        try cache.batch { batch in
            _ = try refresh(batch, feed, answer(10...29, "x"))
            _ = try batch[feed].evict([12, 13])
            try batch[feed].reset()
            _ = try refresh(batch, feed, answer(12...13, "x"))
        }
        #expect(try bodies(feed) == ["x13", "x12"])
        #expect(try space() == [6, 60, 1])
        #expect(try cache.check().isEmpty)
    }

    /// A body that another answer of the batch brought is not stored again.
    ///
    ///     feed a: 3 2 1      record: x3 x2 x1  +  y4 of feed b
    ///     feed b: 4 3 2
    @Test func oneBodyForTwoFeeds() throws {
        let (a, b) = try (feed("a"), feed("b"))
        try cache.batch { batch in
            _ = try refresh(batch, a, answer(1...3, "x"))
            #expect(try refresh(batch, b, answer(2...4, "x")).updated == 0)
            #expect(try refresh(batch, a, answer(1...3, "x")).updated == 0)
        }
        #expect(try space() == [8, 0, 1])
        #expect(try cache.withSnapshot { try $0.post(3)?.feeds } == 2)
        // one feed brings another body: both show it
        try cache.batch { batch in
            _ = try refresh(batch, a, answer(1...3, "x"))
            #expect(try refresh(batch, b, answer(3...4, "yy")).updated == 2)
            #expect(try refresh(batch, a, answer(3...3, "yy")).updated == 0)
            _ = try batch[a].evict([1, 2])
        }
        #expect(try bodies(a) == ["yy3"])
        #expect(try bodies(b) == ["yy4", "yy3", "x2"])
        #expect(try space() == [8, 6, 2])
        #expect(try cache.check().isEmpty)
    }

    /// Bodies of a batch share records of 128 KiB; those of one answer are never torn apart.
    @Test func moreThanOneRecord() throws {
        let feed = try feed("a")
        var total = 0
        try cache.batch { batch in
            for page in 0..<12 as Range<UInt64> {
                var answer = Answer(next: .token("n\(page)"))
                let size = page == 7 ? 90_000 : 9_000
                for id in (0..<4).map({ 1000 - page * 4 - $0 }) {
                    let body = [UInt8](repeating: UInt8(truncatingIfNeeded: id), count: size)
                    answer.append(id: PostID(id), key: Int64(id), body: body)
                    total += size
                }
                let place: Place = page == 0 ? .head : .tail
                let ticket = try batch[feed].plan(place).request!.ticket
                #expect(try batch[feed].ingest(answer, for: ticket).new.count == 4)
            }
        }
        // 3 pages, 3 pages, page 6, the large one, 3 pages, page 11
        #expect(try space() == [total, 0, 6])
        try cache.withSnapshot { snapshot in
            for row in try snapshot.rows(of: feed, limit: .max) {
                let span = try snapshot.body(of: row.post!)
                let byte = UInt8(truncatingIfNeeded: Int(row.post!.id.description)!)
                #expect(span.withUnsafeBytes { $0.allSatisfy { $0 == byte } && !$0.isEmpty })
            }
        }
        #expect(try cache.check().isEmpty)
    }

    @Test func aBatchThatThrowsChangesNothing() throws {
        struct Stop: Error {}
        let (a, b) = try (feed("a"), feed("b"))
        try cache.batch { _ = try refresh($0, a, answer(1...40, "x")) }
        let before = try CacheContents(cache)
        let statistics = try cache.withSnapshot { try $0.statistics() }
        #expect(throws: Stop.self) {
            try cache.batch { batch in
                _ = try refresh(batch, a, answer(30...50, "y"))
                _ = try refresh(batch, b, answer(1...60, "z"))
                _ = try batch.update(1, body: [UInt8](repeating: 1, count: 1 << 17))
                try batch[a].delete(35)
                _ = try batch[b].evict([40])
                try batch[a].setAttribute("x", to: [1])
                try batch[b].reset()
                throw Stop()
            }
        }
        #expect(try CacheContents(cache).difference(from: before) == nil)
        #expect(try cache.withSnapshot { try $0.statistics() } == statistics)
        #expect(try cache.check().isEmpty)
        try cache.batch { _ = try refresh($0, a, answer(35...45, "y")) }
        #expect(try bodies(a).count == 45)
        #expect(try cache.check().isEmpty)
    }

    /// A feed of a batch that is kept writes nothing afterwards.
    @Test func aFeedOfABatchEndsWithIt() throws {
        let feed = try cache.feed(named: "a")
        let kept = try cache.batch { batch in
            #expect(try batch[feed].insertLocal(1, body: [1]))
            try batch[feed].setAttribute("x", to: [7])
            #expect(try batch[feed].attribute("x") == [7] && feed.attribute("x") == nil)
            return batch[feed]
        }
        #expect(throws: QuireError.self) { try kept.insertLocal(2, body: [2]) }
        #expect(throws: QuireError.self) {
            try cache.batch { _ in try kept.insertLocal(2, body: [2]) }
        }
        #expect(try feed.attribute("x") == [7] && feed.insertLocal(2, body: [2]))
        #expect(try cache.check().isEmpty)
    }
}
