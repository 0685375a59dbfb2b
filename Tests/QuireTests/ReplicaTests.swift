import Foundation
import Testing

@_spi(Unstable) @testable import Quire

/// Files that only the follower of a log may write, and commits without a flush.
@Suite struct ReplicaTests {
    private let storage: TemporaryCache
    private var path: String { storage.path + "-replica" }

    init() throws { storage = try TemporaryCache() }

    private func fill(_ replica: Replica) throws {
        try replica.batch { batch in
            guard case .feed(let feed) = try batch.apply(.open(name: "f")) else { return }
            guard case .plan(let plan, _) = try batch.apply(.feed(feed, .plan(.head))) else { return }
            let ticket = plan.request!.ticket
            let operation = FeedOperation.ingest(OperationTests.answer([3, 2, 1]), for: ticket)
            _ = try batch.apply(.feed(feed, operation))
            try batch.setAttribute("~applied", to: [1])
        }
    }

    private static func code(_ body: () throws -> Void) -> QuireError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? QuireError)?.code
        }
    }

    @Test func onlyTheLogWrites() throws {
        let replica = try Replica(at: path)
        try fill(replica)
        let cache = replica.cache
        let feed = try #require(try cache.existingFeed(named: "f"))
        let writes: [() throws -> Void] = [
            { _ = try feed.plan(.head) }, { try cache.batch { _ in } }, { _ = try cache.feed(named: "g") },
            { _ = try cache.update(1, body: [1]) }, { try feed.setAttribute("a", to: [1]) },
            { _ = try feed.prune(PrunePolicy()) },
        ]
        for write in writes { #expect(Self.code(write) == .noPermission) }
        // also through the file alone, and what a batch would do may be asked
        #expect(Self.code { try Cache(at: path).batch { _ in } } == .noPermission)
        #expect(try cache.dryRun { try $0[feed].evict([2]) } == 1)
        #expect(try cache.withSnapshot { try $0.info(of: feed).posts } == 3)
        #expect(try cache.reclaim() == 0)
        #expect(try cache.check() == [])
    }

    @Test func aCacheOfItsOwnIsNoReplica() throws {
        #expect(Self.code { _ = try Replica(at: storage.path) } == .optionsDiffer)
        let path = path
        try fill(try Replica(at: path))
        let copy = path + "-copy"
        try Cache(at: path).copy(to: copy)
        #expect(try Cache(at: copy).isReplica)
        #expect(!storage.cache.isReplica)
    }

    @Test func attributesOfTheCacheAreNoFeed() throws {
        do {
            let replica = try Replica(at: path)
            try fill(replica)
            #expect(try replica.cache.feeds().map(\.name) == ["f"])
            #expect(try replica.cache.withSnapshot { try $0.statistics() }.feeds == 1)
            #expect(try replica.cache.check() == [])
            #expect(
                Self.code { try replica.batch { _ = try $0.apply(.setAttribute("~applied", to: nil)) } }
                    == .badArgument)
        }
        #expect(try Cache.verify(at: path) == [])
        _ = try Cache.compact(at: path)
        let copy = path + "-copy"
        try Cache(at: path).copy(to: copy)
        for path in [path, copy] {
            #expect(try Cache(at: path).withSnapshot { try $0.attribute("~applied") } == [1])
        }
    }

    @Test func aRepairMakesACacheOfItsOwn() throws {
        let path = path
        do {
            let replica = try Replica(at: path, options: storage.options)
            try fill(replica)
            try replica.batch { try $0.setAttribute("app", to: [2]) }
            try replica.cache.environment.write { try $0.delete(.counters, NoKey()) }
        }
        _ = try Cache.repair(at: path)
        #expect(Self.code { _ = try Replica(at: path) } == .optionsDiffer)
        let cache = try Cache(at: path)
        #expect(try cache.check() == [])
        #expect(try cache.withSnapshot { try $0.attribute("app") } == [2])
        #expect(try cache.withSnapshot { try $0.attribute("~applied") } == nil)
    }

    // MARK: Without a flush

    private var mark: [UInt8] {
        get throws {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            return Array(bytes[UnflushedMark.offset..<UnflushedMark.offset + UnflushedMark.size])
        }
    }

    /// Makes it the mark of another boot.
    private func stopMachine() throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64(UnflushedMark.offset + UnflushedMark.size - 1))
        try file.write(contentsOf: [try mark.last! ^ 1])
    }

    @Test func theMarkIsThereUntilTheLastClose() throws {
        do {
            let replica = try Replica(at: path)
            try fill(replica)
            #expect(try mark.starts(with: Array("quire-unflushed".utf8)))
            try replica.cache.copy(to: path + "-copy")
        }
        #expect(try mark == Array(repeating: 0, count: UnflushedMark.size))
        #expect(try Cache(at: path).check() == [])
        #expect(try Cache(at: path + "-copy").check() == [])
    }

    @Test func aPowerCutIsNoticed() throws {
        let before = path + "-before"
        do {
            let replica = try Replica(at: path)
            try fill(replica)
            try FileManager.default.copyItem(atPath: path, toPath: before)
        }
        // as after kill -9: the mark of this boot
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: before, toPath: path)
        #expect(try Replica(at: path).cache.check() == [])
        #expect(try mark == Array(repeating: 0, count: UnflushedMark.size))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: before, toPath: path)
        try stopMachine()
        #expect(Self.code { _ = try Replica(at: path) } == .unclean)
        #expect(Self.code { _ = try Cache(at: path) } == .unclean)
        #expect(Self.code { _ = try Cache(at: path, options: CacheOptions(isReadOnly: true)) } == .unclean)
        #expect(Self.code { _ = try Cache.verify(at: path) } == .unclean)
        #expect(Self.code { _ = try Cache.repair(at: path) } == .unclean)
        #expect(Self.code { _ = try Cache.compact(at: path) } == .unclean)
    }
}
