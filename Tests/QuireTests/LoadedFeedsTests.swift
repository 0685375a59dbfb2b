import Foundation
import Testing

@_spi(Unstable) @testable import Quire
@_spi(Unstable) @testable import TestSupport

/// What a write has loaded of a feed stays for the next one, and no write can tell.
@Suite struct LoadedFeedsTests {
    private static let variable = "QUIRE_LOADED_FEEDS"

    /// `[a b c] |T`; another process loads `[d e]` below; then what is below e comes.
    @Test func whatAnotherProcessWritesIsSeen() throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let cache = try Cache(at: folder + "/shared.quire")
        let feed = try cache.feed(named: "f", options: FeedOptions(order: .keyless))
        try load(["a", "b", "c"], .head, of: feed)
        try TestChild.run("LoadedFeedsTests/child", [Self.variable: folder])
        try load(["f", "g"], .tail, of: feed)
        #expect(try shown(feed) == "a b c d e f g")
        #expect(try feed.cache.check().isEmpty)
    }

    /// Writes that change nothing. LMDB gives their number to the next commit, of any process.
    enum IdleWrite: CaseIterable {
        case planAgain, cancelUsed, answerUsed, evictNothing, pruneNothing, refusedPlan, batch

        func run(on feed: Feed, used: Ticket) throws {
            switch self {
            case .planAgain: _ = try feed.plan(.tail)
            case .cancelUsed: try feed.cancel(used)
            case .answerUsed: #expect(try feed.ingest(Answer(), for: used).verdict == .stale)
            case .evictNothing: try feed.evict([])
            case .pruneNothing: _ = try feed.prune(PrunePolicy())
            case .refusedPlan: #expect(try feed.plan(.gap(GapID(77))).request == nil)
            case .batch: try feed.cache.batch { _ in }
            }
        }
    }

    /// `[a b c] |T`; a write that changes nothing; another process loads `[d e]` below, in one commit; then
    /// what is below e comes.
    @Test(arguments: IdleWrite.allCases) func aWriteThatChangesNothingHidesNoOthers(idle: IdleWrite) throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let cache = try Cache(at: folder + "/shared.quire")
        let feed = try cache.feed(named: "f", options: FeedOptions(order: .keyless))
        let used = try #require(try feed.plan(.head).request).ticket
        #expect(try feed.ingest(answer(["a", "b", "c"]), for: used).verdict == .ok)
        _ = try feed.plan(.tail)
        try idle.run(on: feed, used: used)
        try TestChild.run("LoadedFeedsTests/child", [Self.variable: folder])
        try load(["f", "g"], .tail, of: feed)
        #expect(try shown(feed) == "a b c d e f g")
        #expect(try cache.check().isEmpty)
    }

    /// Is not a test unless a parent started it.
    @Test func child() throws {
        guard let folder = ProcessInfo.processInfo.environment[Self.variable] else { return }
        let feed = try #require(try Cache(at: folder + "/shared.quire").existingFeed(named: "f"))
        try load(["d", "e"], .tail, of: feed)
    }

    /// `[a b c] |T`; a batch that loads `[d e]` is undone, then `[d e]` comes. `[x y]` is only tried.
    @Test func whatIsUndoneWasNeverLoaded() throws {
        struct Failure: Error {}
        let storage = try TemporaryCache()
        let feed = try storage.cache.feed(named: "f", options: FeedOptions(order: .keyless))
        try load(["a", "b", "c"], .head, of: feed)
        #expect(throws: Failure.self) {
            try storage.cache.batch { batch in
                try load(["d", "e"], .tail, of: batch[feed])
                throw Failure()
            }
        }
        try load(["d", "e"], .tail, of: feed)
        try storage.cache.dryRun { try load(["x", "y"], .tail, of: $0[feed]) }
        try load(["f", "g"], .tail, of: feed)
        #expect(try shown(feed) == "a b c d e f g")
        #expect(try storage.cache.check().isEmpty)
    }

    /// Random operations of all kinds, each in a commit of its own: into a cache that stays open, and into
    /// one that is opened anew for each. Both files have the same records: ``CacheRecords``.
    @Test(arguments: 0..<UInt64(48)) func whatIsLoadedChangesNothing(seed: UInt64) throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var chaos = try OperationChaos(seed: seed, Tuning(), isWide: !seed.isMultiple(of: 3))
        let log = try OperationLog(chaos.storage.cache)
        let openings = try OperationLog.openings(of: chaos.storage.cache)
        for _ in 0..<80 { try chaos.step(log) }
        var options = CacheOptions(durability: .relaxed, mapSize: 1 << 28)
        options.tuning = seed.isMultiple(of: 2) ? .cramped : Tuning()
        func open(_ name: String) throws -> Cache {
            try Cache(at: "\(folder)/\(name).quire", options: options)
        }
        _ = try open("kept")
        try FileManager.default.copyItem(atPath: folder + "/kept.quire", toPath: folder + "/anew.quire")
        let kept = try open("kept")
        for (i, entry) in (openings + log.entries).enumerated() {
            let results = try [kept, open("anew")].map {
                try OperationLog.replay([entry], into: $0, most: 1, seed: seed)
            }
            #expect(results[0] == results[1], "seed \(seed), operation \(i)")
        }
        if let difference = try CacheRecords.difference(kept, open("anew")) {
            Issue.record("seed \(seed): \(difference)")
        }
        #expect(try kept.check().isEmpty, "seed \(seed)")
    }

    private func load(_ ids: [PostID], _ place: Place, of feed: Feed) throws {
        let request = try #require(try feed.plan(place).request)
        #expect(try feed.ingest(answer(ids), for: request.ticket).verdict == .ok)
    }

    private func answer(_ ids: [PostID]) -> Answer {
        var answer = Answer(next: .token("below \(ids.last!)"))
        for id in ids { answer.append(id: id, body: Array("\(id)".utf8)) }
        return answer
    }

    private func shown(_ feed: Feed) throws -> String {
        try feed.cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
            .compactMap { $0.post?.id.description }.joined(separator: " ")
    }
}
