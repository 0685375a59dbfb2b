import ClusterTesting
import Foundation
import Quire
import QuireSimulator
import Synchronization
import Testing

@testable import QuireCluster

/// Each guard against a log that loses, alone.
@Suite struct GuardTests {
    private func world(_ order: OrderClass = .keyless) throws -> ClusterWorld {
        try ClusterWorld(seed: 3, faults: LyingLog.Faults(), order: order)
    }

    /// A request for the tail gets a ticket, and the log loses it. In the history that stays the same number
    /// is the ticket of a gap. The answer to the lost request would close the gap without what belongs there.
    @Test(arguments: [0, 1, 2]) func anAnswerToALostRequestIsStale(node: Int) async throws {
        let world = try world()
        let feed = try #require(try await world.opened(through: 0))
        // the newest posts, a gap, older ones, more below
        let old = try #require(try await world.plan(.head, limit: 3, of: feed, through: 0))
        #expect(try await world.deliver(old, through: 0)?.verdict == .ok)
        await world.insertOnTop(20)
        let new = try #require(try await world.plan(.head, limit: 3, of: feed, through: 0))
        #expect(try await world.deliver(new, through: 0)?.verdict == .gap)
        let gap = try #require(try ClusterWorld.rows(of: feed).compactMap { $0.gap?.id }.first)

        var lost = try #require(try await world.plan(.tail, limit: 3, of: feed, through: 0))
        lost.answer = await world.answer(to: lost)
        world.log.fork(losing: 1)
        let other = try #require(try await world.feed(of: 1, after: { try await $0.advance() }))
        let kept = try #require(try await world.plan(.gap(gap), limit: 3, of: other, through: 1))
        #expect(kept.ticket == lost.ticket && kept.issuer != lost.issuer)

        #expect(try await world.deliver(lost, through: node)?.verdict == .stale)
        for node in 0..<3 { try await world.requireNoHole(node) }
        #expect(try await world.deliver(kept, through: node)?.verdict == .gap)
        try await world.settle()
    }

    /// Both nodes have a ticket of the same number and the same issuer's place; the writer's base tells them
    /// apart.
    @Test func whatAWriterOfALostHistoryAppendsHasNoEffect() async throws {
        let world = try world()
        let node = await world.nodes[0].shard
        _ = try await world.write([.setAttribute("a", to: [1])], through: 0)
        let lost = await node.position
        world.log.fork(losing: 1)
        _ = try await world.write([.setAttribute("a", to: [2])], through: 1)
        // it had applied the lost entry, and had not noticed yet
        let entry = OperationEntry(
            base: lost, id: 9, writer: 8, counter: 1, operations: [.setAttribute("a", to: [3])])
        _ = try await world.log.append(entry.encoded)
        try await world.settle()
        for node in await world.nodes {
            let cache = node.shard.cache
            #expect(try cache.withSnapshot { try $0.attribute("a") } == [2])
        }
        #expect(await world.nodes.map(\.shard.status.refused).contains(1))
        // only the node that had it was made anew, and says what is lost
        #expect(await world.nodes.map { $0.shard.status.rebuilds } == [1, 0, 0])
        #expect(await world.nodes.map { $0.shard.status.lost } == [1, 0, 0])
    }

    /// While a replica is made anew, the log loses what was read of it already, and goes on with others.
    @Test func aLogThatLosesItsEndDuringAReplayIsNoticed() async throws {
        let (world, folder) = (try world(), ScratchFolder())
        var options = await world.nodes[2].options
        options.lossesBelieved = 1
        let log = world.log.view(0)
        let shard = try ClusterShard("0", log, in: folder.path + "/other", options)
        _ = try await world.write([.setAttribute("a", to: [1])], through: 0)
        #expect(try await shard.advance())
        world.log.fork(losing: 1)
        for i in 0..<70 as Range<UInt8> {
            _ = try await world.write([.setAttribute("a", to: [i])], through: 1)
        }
        // the first read shows that another history counts; the second one begins the replay
        let reads = Mutex(0)
        log.afterRead = { entries in
            guard entries.count == 65 else { return false }
            let isReplay = reads.withLock { reads in
                reads += 1
                return reads == 2
            }
            guard isReplay else { return false }
            world.log.fork(losing: 10)
            for i in 0..<12 as Range<UInt8> { world.log.appendForeign([i]) }
            return true
        }
        for _ in 0..<10 { _ = try? await shard.advance() }
        let model = try await Model(of: world.log, in: folder.path)
        #expect(await shard.position == model.position)
        #expect(log.afterRead == nil)
    }

    /// The log loses an entry after its effect was seen, and before its writer heard of it.
    @Test func anEffectInALostHistoryIsNotTold() async throws {
        let world = try world()
        _ = try await world.write([.setAttribute("a", to: [1])], through: 0)
        let node = await world.nodes[0].shard
        await node.pretendToWait(for: 99)
        world.log.fork(losing: 1)
        try await world.settle()
        #expect(await node.knowsEffect(of: 99) == false)
    }

    /// Nothing follows what was lost, so no entry speaks against it.
    @Test func aLogThatLosesItsEndIsNoticed() async throws {
        let world = try world()
        _ = try await world.write([.setAttribute("a", to: [1])], through: 0)
        _ = try await world.write([.setAttribute("a", to: [2])], through: 0)
        world.log.fork(losing: 1)
        try await world.settle()
        let cache = await world.nodes[0].shard.cache
        #expect(try cache.withSnapshot { try $0.attribute("a") } == [1])
    }

    /// A lost entry that comes once more, late, may get its old number, after others than before.
    @Test func theSameBytesUnderTheSameNumberAreAnotherEntry() async throws {
        let world = try world()
        _ = try await world.write([.setAttribute("a", to: [1])], through: 0)
        _ = try await world.write([.setAttribute("b", to: [1])], through: 0)
        let bytes = world.log.content.map(\.bytes)
        world.log.fork(losing: 2)
        world.log.appendForeign([1])
        world.log.appendForeign(bytes[1])
        try await world.settle()
        #expect(await world.nodes[0].shard.status.rebuilds == 1)
    }

    /// Else all nodes would be built anew from it.
    @Test func aLostHistoryIsNoCheckpoint() async throws {
        let world = try world()
        _ = try await world.write([.setAttribute("a", to: [1])], through: 0)
        world.log.fork(losing: 1)
        _ = try await world.write([.setAttribute("a", to: [2])], through: 1)
        await #expect(throws: LogError.self) { try await world.nodes[0].shard.checkpoint() }
        #expect(try await world.log.newestCheckpoint() == nil)
        try await world.nodes[1].shard.checkpoint()
        #expect(try await world.log.newestCheckpoint()?.position.number == 1)
        try await world.settle()
    }

    /// What failed has had its turn: its writer was told.
    @Test func whatFailedDoesNotTakeEffectLater() async throws {
        let world = try world()
        func append(_ counter: UInt64, _ operations: [CacheOperation]) async throws {
            let id = UInt64.random(in: 0 ... .max)
            let entry = OperationEntry(
                base: .beginning, id: id, writer: 7, counter: counter, operations: operations)
            _ = try await world.log.append(entry.encoded)
        }
        let operation = CacheOperation.feed(1, .setAttribute("n", to: [1]))
        try await append(1, [operation])
        try await append(2, [.open(name: "f")])
        try await append(1, [operation])
        try await world.settle()
        let feed = try #require(try await world.feed(of: 2))
        #expect(try feed.attribute("n") == nil)
    }

    @Test func anOperationTakesEffectOnce() async throws {
        let world = try world()
        func entry(_ counter: UInt64, _ old: UInt8?, _ new: UInt8) throws -> [UInt8] {
            try OperationEntry(
                base: .beginning, id: .random(in: 0 ... .max), writer: 7, counter: counter,
                operations: [
                    .open(name: "f"), .feed(1, .exchangeAttribute("n", from: old.map { [$0] }, to: [new])),
                    .setAttribute("a", to: [UInt8(counter)]),
                ]
            ).encoded
        }
        // the second comes first, the first twice, and much later
        for bytes in [
            try entry(2, nil, 1), try entry(1, 1, 2), try entry(2, 2, 3), try entry(1, 2, 3),
            try entry(90, 2, 4), try entry(1, 4, 5), try entry(89, 4, 6), try entry(89, 6, 7),
        ] { _ = try await world.log.append(bytes) }
        try await world.settle()
        let feed = try #require(try await world.feed(of: 1))
        #expect(try feed.attribute("n") == [6])
        #expect(try feed.cache.withSnapshot { try $0.attribute("a") } == [89])
    }

    /// What fails on one node fails on all, and the operations before it in the entry are undone.
    @Test func anEntryIsWholeOrNothing() async throws {
        let world = try world()
        await #expect(throws: QuireError.self) {
            try await world.nodes[0].shard.submit([.setAttribute("a", to: [1]), .feed(9, .reset)])
        }
        try await world.settle()
        let cache = await world.nodes[1].shard.cache
        #expect(try cache.withSnapshot { try $0.attribute("a") } == nil)
        #expect(await world.nodes[1].shard.position.number == 1)
    }

    @Test func aNewerEntryStopsTheNode() async throws {
        let world = try world()
        var bytes = try OperationEntryTests.entry.encoded
        bytes[1] += 1
        bytes = Array(bytes.dropLast(8))
        var writer = LittleEndianWriter(bytes: bytes)
        writer.add(Digest.of(bytes))
        _ = try await world.log.append(writer.bytes)
        let node = await world.nodes[0].shard
        for _ in 0..<2 {
            let error = await #expect(throws: LogError.self) { try await node.advance() }
            #expect(error?.description.contains("rules") == true)
        }
        #expect(await node.position == .beginning)
        let trouble = try #require(node.status.trouble)
        #expect(trouble.contains("entry 1 of shard 0"))
    }

    /// The log is away: reading goes on, a write says whether it may have happened.
    @Test func withoutTheLogReadingGoesOn() async throws {
        let world = try world()
        _ = try await world.write([.setAttribute("a", to: [1])], through: 0)
        var faults = LyingLog.Faults()
        faults.fails = 1
        world.log.set(faults)
        let node = await world.nodes[0].shard
        do {
            _ = try await node.submit([.setAttribute("a", to: [2])])
            Issue.record("written without a log")
        } catch LogError.unavailable {}
        (faults.fails, faults.delays) = (0, 1)
        world.log.set(faults)
        do {
            _ = try await node.submit([.setAttribute("a", to: [2])])
            Issue.record("written without a log")
        } catch LogError.unknown {}
        #expect(try node.cache.withSnapshot { try $0.attribute("a") } == [1])
        try await world.settle()
        #expect(try node.cache.withSnapshot { try $0.attribute("a") } == [2])
    }

    @Test func aNodeBehindTheTrimBeginsAtTheCheckpoint() async throws {
        let world = try world()
        for i in 0..<20 { _ = try await world.write([.setAttribute("a", to: [UInt8(i)])], through: 0) }
        try await world.nodes[0].shard.checkpoint()
        #expect(try await world.log.bounds() == LogBounds(first: 17, last: 20))
        _ = try await world.write([.setAttribute("a", to: [99])], through: 0)
        try await world.settle()
        #expect(await world.nodes.map { $0.shard.status.rebuilds } == [0, 1, 1])
    }

    /// A file that cannot be used is made anew from the log, and the program hears of it.
    @Test func aDamagedFileIsMadeAnew() async throws {
        let (log, folder) = (LyingLog(seed: 1, in: ScratchFolder().path), ScratchFolder())
        var options = ClusterOptions()
        let events = Mutex<[ClusterEvent]>([])
        options.onEvent = { event in events.withLock { $0.append(event) } }
        let path: String
        do {
            let shard = try ClusterShard("0", log, in: folder.path, options)
            _ = try await shard.submit([.setAttribute("a", to: [5])])
            path = shard.cache.path
            await shard.close()
        }
        try Data(repeating: 7, count: 9000).write(to: URL(fileURLWithPath: path))
        let shard = try ClusterShard("0", log, in: folder.path, options)
        while try await shard.advance() {}
        #expect(try shard.cache.withSnapshot { try $0.attribute("a") } == [5])
        let file = events.withLock { events in
            events.contains { if case .rebuilt("0", .file, lost: 0) = $0 { true } else { false } }
        }
        #expect(file)
    }

    /// Writers come and go; what is remembered of them does not grow for ever.
    @Test func writersAreForgottenInTheOrderOfTheirLastEntry() throws {
        let folder = ScratchFolder()
        let replica = try FollowingReplica(
            at: "\(folder.path)/a.quire", options: CacheOptions(durability: .deferred))
        func append(_ writer: UInt64, _ counter: UInt64) throws -> FollowingReplica.Effect {
            let number = replica.last.position.number + 1
            let bytes = try OperationEntry(
                base: replica.last.position, id: number, writer: writer, counter: counter,
                operations: [.setAttribute("a", to: nil)]
            ).encoded
            return try replica.apply(LogEntry(number: number, stamp: number, bytes: bytes), isTrue: false)
                .effect
        }
        for writer in 1...UInt64(Writers.limit) { _ = try append(writer, 1) }
        _ = try append(1, 2)
        _ = try append(5000, 1)
        // the second one has left, the first has not
        guard case .repeated = try append(1, 1), case .applied = try append(2, 1) else {
            Issue.record("another writer was forgotten")
            return
        }
        let names = try replica.replica.cache.withSnapshot { try $0.attribute(HistoryNames.writers) }
        #expect(names?.count == 8 * Writers.limit)
        // digests are forgotten, too
        let oldest = DigestBlocks.oldest(at: replica.last.position.number)
        #expect(oldest > 0)
        #expect(try replica.digest(after: oldest) != nil)
        #expect(try replica.digest(after: oldest - 1) == nil)
    }

    /// A node that names other shards would look for feeds where the others do not put them.
    @Test func nodesNameTheSameShards() async throws {
        let (folder, files) = (ScratchFolder(), ScratchFolder())
        let logs = ["x", "y", "z"].map { ($0, LyingLog(seed: 1, in: files.path)) }
        let first = try ClusterCache(logs.map { ($0, $1) }, folder: "\(folder.path)/a")
        for i in 0..<9 { _ = try await first.feed(named: "f\(i)") }
        #expect(Set((0..<9).map { first.shard(ofFeed: "f\($0)") }).count == 3)
        let second = try ClusterCache(logs.prefix(2).map { ($0, $1) }, folder: "\(folder.path)/b")
        for shard in second.shardNames { try await second.wait(for: 1, in: shard) }
        let error = await #expect(throws: LogError.self) { try await second.feed(named: "new") }
        guard case .misconfigured? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await first.close()
        await second.close()
        // the folder is free again, a closed node says so
        _ = try ClusterCache(logs.map { ($0, $1) }, folder: "\(folder.path)/a")
        await #expect(throws: LogError.self) {
            try await first.submit([.setAttribute("a", to: nil)], to: "x")
        }
    }

    /// One program follows the log in a folder.
    @Test func aFolderHasOneFollower() async throws {
        let world = try world()
        let node = await world.nodes[0]
        let error = #expect(throws: QuireError.self) {
            try ClusterShard("0", world.log, in: node.folder, node.options)
        }
        #expect(error?.code == .busy)
    }
}

extension ClusterShard {
    fileprivate func pretendToWait(for counter: UInt64) {
        waiting[counter] = .replies([.done], following.last.position)
    }

    fileprivate func knowsEffect(of counter: UInt64) -> Bool { (waiting[counter] ?? nil) != nil }
}

extension FeedRow {
    fileprivate var gap: GapRow? { if case .gap(let gap) = self { gap } else { nil } }
}

extension ClusterWorld {
    fileprivate func insertOnTop(_ count: Int) { for _ in 0..<count { insert() } }

    fileprivate func feed(of node: Int, after body: (ClusterShard) async throws -> Bool) async throws -> Feed?
    {
        _ = try await body(nodes[node].shard)
        return try feed(of: node)
    }
}
