@_spi(Unstable) import TestSupport
import Testing

@_spi(Unstable) @testable import Quire

/// Caches that apply the same encoded operations become equal, to one another and to a cache that is written
/// by the methods of the API: whatever their tuning, and however many operations make a commit.
@Suite struct DeterminismTests {
    /// 10,000 is the long run.
    static let count = Specification.number("QUIRE_LOGS") ?? 300

    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    /// Unlike the others: chunks of five entries, a few gaps loaded, and room for few pages.
    private static let narrow: Tuning = {
        var tuning = Tuning()
        (tuning.chunkLimit, tuning.outerStride, tuning.innerStride, tuning.gapLimit) = (5, 64, 8, 2)
        return tuning
    }()

    /// Applies a log to three caches, made anew, and compares them with the one it was written by.
    static func compare(
        _ log: OperationLog, with plain: Cache, seed: UInt64, _ make: (Tuning) throws -> TemporaryCache
    ) throws {
        let contents = try CacheContents(plain)
        for (number, (tuning, most)) in [(Tuning(), 12), (.cramped, 64), (narrow, 3)].enumerated() {
            let storage = try make(tuning)
            let results = try OperationLog.replay(log.entries, into: storage.cache, most: most, seed: seed)
            for (i, (mine, expected)) in zip(results, log.results).enumerated() where mine != expected {
                throw Difference(
                    description: "cache \(number), operation \(i): \(mine)\n   instead of\n\(expected)")
            }
            if let difference = try CacheContents(storage.cache).difference(from: contents) {
                throw Difference(description: "cache \(number): \(difference)")
            }
            let findings = try storage.cache.check()
            if !findings.isEmpty { throw Difference(description: "cache \(number): \(findings)") }
        }
    }

    // MARK: Histories

    @Test func everyScenario() throws { try Self.play(ScenarioTests.cases()) }

    /// Histories of the specification's model.
    @Test(arguments: [["fuzz.py"], ["fuzz.py", "--hard"], ["fuzz_sizes.py"]])
    func historiesOfTheModel(_ program: [String]) throws {
        let (chunk, count) = (90, Specification.number("QUIRE_HISTORIES") ?? 90)
        for start in stride(from: 0, to: count, by: chunk) {
            try Self.play(HistoryTests.emit(program, chunk, from: HistoryTests.start + start) ?? [])
        }
    }

    /// Histories in which a chunk that was not loaded had an entry that is no row of the server any more: a
    /// shift of the positions moved it, which it did not where the chunk was loaded.
    @Test(arguments: [(["fuzz.py"], 1_001_732), (["fuzz.py", "--hard"], 1_001_598)])
    func detachedEntriesDoNotMove(_ program: [String], _ seed: Int) throws {
        try Self.play(#require(try HistoryTests.emit(program, 1, from: seed)))
    }

    private static func play(_ scenarios: [JSON]) throws {
        for scenario in scenarios {
            let name = "\(scenario["id"]!.text!) \(scenario["title"]?.text ?? "")"
            let player = try ScenarioPlayer(scenario, tuning: .cramped)
            let log = try OperationLog(player.storage.cache)
            for step in scenario["steps"]!.list! { try player.play(step, log) }
            do {
                try compare(log, with: player.storage.cache, seed: UInt64(log.entries.count)) {
                    try ScenarioRunner(scenario, tuning: $0).storage
                }
            } catch {
                Issue.record("\(name): \(error)")
                return
            }
        }
    }

    /// All kinds of operations at random, of which some are refused.
    @Test(arguments: [0, 1]) func randomHistories(_ half: Int) throws {
        for seed in stride(from: UInt64(half), to: UInt64(Self.count), by: 2) {
            var chaos = try OperationChaos(seed: seed, seed % 3 == 0 ? .cramped : Tuning(), isWide: true)
            do {
                let log = try OperationLog(chaos.storage.cache)
                for _ in 0..<60 { try chaos.step(log) }
                try Self.compare(log, with: chaos.storage.cache, seed: seed, TemporaryCache.init)
            } catch {
                Issue.record("seed \(seed): \(error)\n\(chaos.log.joined(separator: "\n"))")
                return
            }
        }
    }

    // MARK: One case each

    /// A log that is written by hand. The feed has the number 1.
    private final class Trial {
        let storage: TemporaryCache
        let log: OperationLog

        init(_ options: FeedOptions = FeedOptions(order: .stable)) throws {
            storage = try TemporaryCache()
            log = try OperationLog(storage.cache)
            _ = try self(.open(name: "f", options: options))
        }

        func callAsFunction(_ operation: CacheOperation, issuer: UInt64 = 0) throws -> OperationResult {
            _ = try? log.apply(operation, issuer: issuer)
            return try #require(log.results.last)
        }

        func feed(_ operation: FeedOperation, issuer: UInt64 = 0) throws -> OperationResult {
            try self(.feed(1, operation), issuer: issuer)
        }

        func ticket(_ place: Place, issuer: UInt64 = 0) throws -> Ticket {
            guard case .reply(.plan(.request(let request), _)) = try feed(.plan(place), issuer: issuer) else {
                throw Difference(description: "no plan at \(place)")
            }
            return request.ticket
        }

        func refresh(_ ids: [UInt64], next: Link = .token("n")) throws -> Outcome? {
            let ticket = try ticket(.head)
            return try feed(.ingest(OperationTests.answer(ids, next: next), for: ticket)).outcome
        }

        func compare() throws {
            try DeterminismTests.compare(log, with: storage.cache, seed: 1, TemporaryCache.init)
        }
    }

    @Test func anAnswerToTheTicketOfAnotherIsStale() throws {
        let trial = try Trial()
        let ticket = try trial.ticket(.head, issuer: 7)
        // the ticket is shared, and stays that of the first
        guard case .reply(.plan(.request(let shared), let issuer)) = try trial.feed(.plan(.head), issuer: 8)
        else {
            return #expect(Bool(false))
        }
        #expect(shared.ticket == ticket && issuer == 7)
        let answer = OperationTests.answer([3, 2, 1])
        let wrong = try trial.feed(.ingest(answer, for: ticket, issuer: 8)).outcome
        #expect(wrong?.verdict == .stale && wrong?.reason == "issuer")
        #expect(try trial.feed(.ingest(answer, for: ticket, issuer: 7)).outcome?.verdict == .ok)
        #expect(try trial.feed(.ingest(answer, for: ticket, issuer: 8)).outcome?.reason == "used")
        try trial.compare()
    }

    @Test func embeddedPagesAndNotesComeWithTheAnswer() throws {
        let trial = try Trial()
        let ids = FeedOptions(paging: .ids, collection: "c")
        let page = EmbeddedPage(
            of: "child", options: ids, OperationTests.answer([9, 8]), note: PageNote("n", [1]))
        let answer = OperationTests.answer([3, 2, 1])
        _ = try trial.feed(
            .ingest(answer, for: trial.ticket(.head), embedded: [page, page], note: PageNote("n", [2])))
        // of an answer that changes nothing, nothing is taken
        _ = try trial.feed(
            .ingest(Answer(), for: trial.ticket(.head), embedded: [page], note: PageNote("m", [])))
        _ = try trial(.embed(page))
        let cache = trial.storage.cache
        let (feed, child) = (try cache.feed(named: "f"), try cache.feed(named: "child"))
        #expect(try feed.attribute("n") == [2, 1, 0, 0, 0, 0, 0, 0, 0, 1] && feed.attribute("m") == nil)
        #expect(try child.attribute("n")?.count == 10)
        #expect(try cache.withSnapshot { try $0.info(of: child).posts } == 2)
        try trial.compare()
    }

    @Test func attributes() throws {
        let trial = try Trial()
        #expect(try trial.feed(.setAttribute("a", to: [1])) == .reply(.done))
        #expect(try trial.feed(.exchangeAttribute("a", from: [2], to: [3])) == .reply(.flag(false)))
        #expect(try trial.feed(.exchangeAttribute("a", from: [1], to: [3])) == .reply(.flag(true)))
        #expect(try trial.feed(.exchangeAttribute("b", from: nil, to: [])) == .reply(.flag(true)))
        #expect(try trial.feed(.setAttribute("", to: [])) == .refused(.badArgument))
        #expect(try trial(.setAttribute("~log", to: [])) == .refused(.badArgument))
        #expect(try trial(.setAttribute("of the cache", to: [5])) == .reply(.done))
        #expect(try trial.storage.cache.feed(named: "f").attribute("a") == [3])
        try trial.compare()
    }

    @Test func updatesAliasesAndLocalPosts() throws {
        let trial = try Trial()
        _ = try trial.refresh([3, 2, 1])
        #expect(try trial(.updateBody(3, [7], version: 2)) == .reply(.update(.changed)))
        #expect(try trial(.updateFields(2, ["b": [1], "a": [2]], version: 1)) == .reply(.update(.changed)))
        #expect(try trial(.updateBody(99, [])) == .reply(.update(.missing)))
        #expect(try trial(.updateBody(1, [], collection: "c")) == .reply(.update(.missing)))
        #expect(try trial.feed(.insertLocal("l", body: [4])) == .reply(.flag(true)))
        #expect(try trial.feed(.pin("l")) == .reply(.flag(true)))
        #expect(try trial.feed(.confirmLocal("l", as: 4)) == .reply(.alias(.united)))
        #expect(try trial(.addAlias("two", of: 2)) == .reply(.alias(.noted)))
        _ = try trial.feed(.ingest(OperationTests.answer([4, 3]), for: trial.ticket(.head)))
        #expect(try trial.feed(.evict(["two", "l"])) == .reply(.count(1)))
        try trial.compare()
    }

    @Test func forgetting() throws {
        let trial = try Trial()
        _ = try trial.refresh([9, 8, 7])
        for ids in [[6, 5, 4], [3, 2, 1]] as [[UInt64]] {
            _ = try trial.feed(
                .ingest(OperationTests.answer(ids, next: .token("n\(ids[0])")), for: trial.ticket(.tail)))
        }
        #expect(try trial.feed(.evictPage(at: 1)) == .reply(.count(3)))
        #expect(try trial.feed(.evictPage(at: 9)) == .refused(.notFound))
        var policy = PrunePolicy()
        (policy.maximumAge, policy.now, policy.visible) = (1, 1_700_000_000_002, [8])
        #expect(try trial.feed(.prune(policy)) == .reply(.pruned(PruneResult(pages: 1, posts: 3))))
        let ticket = try trial.ticket(.head)
        #expect(try trial.feed(.cancel(ticket)) == .reply(.done))
        #expect(try trial.feed(.ingest(OperationTests.answer([10, 9]), for: ticket)).outcome?.verdict == .ok)
        try trial.compare()
    }

    @Test func pushesAndDeltas() throws {
        let trial = try Trial()
        var first = OperationTests.answer([3, 2], next: .end)
        first.since = "s1"
        _ = try trial.feed(.ingest(first, for: trial.ticket(.head)))
        _ = try trial.feed(.beginLive(after: 4))
        #expect(try trial.feed(.push(OperationTests.answer([4]), number: 5)).outcome?.new == [4])
        #expect(try trial.feed(.push(OperationTests.answer([6]), follows: 4)).outcome?.gapsOpened == 0)
        _ = try trial.feed(.endLive)
        #expect(try trial.feed(.push(OperationTests.answer([9]), number: 7)).outcome?.gapsOpened == 1)
        var delta = OperationTests.answer([10], next: .end)
        (delta.since, delta.deleted) = ("s2", [2])
        let outcome = try trial.feed(.ingest(delta, for: trial.ticket(.delta))).outcome
        #expect(outcome?.removed == [2])
        try trial.compare()
    }

    @Test func feedsComeAndGo() throws {
        let trial = try Trial()
        _ = try trial.refresh([3, 2, 1])
        let late = try trial.ticket(.head)
        #expect(try trial(.open(name: "f")) == .reply(.feed(1)))
        #expect(try trial(.open(name: "f", options: FeedOptions(order: .ranked))) == .refused(.optionsDiffer))
        #expect(try trial(.open(name: "g", options: FeedOptions(collection: "c"))) == .reply(.feed(2)))
        #expect(try trial.feed(.rename(to: "g")) == .refused(.badArgument))
        #expect(try trial.feed(.setOptions(FeedOptions(order: .ranked))) == .refused(.optionsDiffer))
        #expect(try trial(.feed(2, .setOptions(FeedOptions(order: .bump)))) == .reply(.feed(3)))
        #expect(try trial(.feed(2, .pin(1))) == .refused(.notFound))
        #expect(try trial.feed(.rename(to: "h")) == .reply(.done))
        #expect(try trial.feed(.drop) == .reply(.done))
        #expect(try trial.feed(.ingest(Answer(), for: late)).outcome?.verdict == .stale)
        #expect(try trial.feed(.reset) == .refused(.notFound))
        #expect(try trial(.open(name: "f")) == .reply(.feed(4)))
        try trial.compare()
    }
}

extension OperationResult {
    var outcome: Outcome? {
        if case .reply(.outcome(let outcome)) = self { outcome } else { nil }
    }
}
