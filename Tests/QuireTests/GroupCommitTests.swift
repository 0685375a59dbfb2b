import CLMDB
import Foundation
import Synchronization
import Testing

@testable import Quire

/// Writers that wait at the same time share one transaction, without any visible effect.
@Suite(.timeLimit(.minutes(10))) struct GroupCommitTests {
    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache() }

    private struct Stop: Error, Equatable { var number = 0 }

    /// What threads did, by their numbers.
    private final class Notes<Value: Sendable>: Sendable {
        private let values = Mutex<[Int: Value]>([:])
        var all: [Int: Value] { values.withLock { $0 } }
        func set(_ number: Int, _ value: Value) { values.withLock { $0[number] = value } }
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }

    /// A thread each: the tasks of Swift share too few.
    private func start(_ body: @escaping @Sendable () -> Void) -> DispatchGroup {
        let done = DispatchGroup()
        done.enter()
        Thread.detachNewThread {
            body()
            done.leave()
        }
        return done
    }

    private func transactions() -> Int {
        var info = MDB_envinfo()
        mdb_env_info(cache.environment.handle, &info)
        return info.me_last_txnid
    }

    private func generation() throws -> UInt64 { try cache.withSnapshot { try $0.generation } }

    private func posts(of feed: Feed) throws -> [PostID] {
        try cache.withSnapshot { try $0.rows(of: feed, limit: .max).compactMap(\.post?.id) }
    }

    /// Leads a commit that `count` threads wait to follow, in their order; returns when all are done.
    @discardableResult
    private func together<R>(
        _ count: Int, in other: Cache? = nil, _ follow: @escaping @Sendable (Int) -> Void,
        lead: (borrowing Batch) throws -> R
    ) throws -> R {
        let cache = other ?? self.cache
        var threads: [DispatchGroup] = []
        defer { for thread in threads { thread.wait() } }
        return try cache.batch { batch in
            while threads.count < count {
                let number = threads.count
                threads.append(start { follow(number) })
                while cache.environment.queue.waitingCount <= number { sched_yield() }
            }
            return try lead(batch)
        }
    }

    // MARK: One commit

    @Test func writersThatWaitTogetherShareATransaction() throws {
        let timeline = try Timeline(cache)
        let (before, generations) = (transactions(), try generation())
        timeline.play(
            """
            A      | B    | C    | D    | E
            -------|------|------|------|-----
            +9     | +0 … |      |      |
                   |      | +0 … |      |
                   |      |      | +1 … |
                   |      |      |      | +1 …
            commit | yes  | no   | yes  | no
            """)
        #expect(transactions() == before + 1)
        #expect(try generation() == generations + 3)
        #expect(try posts(of: timeline.f) == [1, 0, 9])
        #expect(try cache.check().isEmpty)
    }

    @Test func aCommitIsBounded() throws {
        let feed = try cache.feed(named: "f")
        let before = transactions()
        try together(WriteQueue.groupLimit + 10) { number in
            _ = try? feed.insertLocal(PostID(UInt64(number)), body: [])
        } lead: { _ in
        }
        #expect(transactions() == before + 2)
        #expect(try posts(of: feed).count == WriteQueue.groupLimit + 10)
    }

    @Test func aLoneWriterSharesWithNobody() throws {
        let feed = try cache.feed(named: "f")
        let before = transactions()
        for number in 0..<5 as Range<UInt64> { try feed.insertLocal(PostID(number), body: []) }
        #expect(transactions() == before + 5)
        #expect(cache.environment.queue.waitingCount == 0)
    }

    // MARK: Failures

    @Test func aWriterThatFailsBeforeWritingFailsAlone() throws {
        let timeline = try Timeline(cache)
        let before = transactions()
        timeline.play(
            """
            A      | B    | C      | D         | E
            -------|------|--------|-----------|-----
            +9     | +0 … |        |           |
                   |      | stop … |           |
                   |      |        | missing … |
                   |      |        |           | +1 …
            commit | yes  | stop   | not-found | yes
            """)
        #expect(transactions() == before + 1)
        #expect(try posts(of: timeline.f) == [1, 0, 9])
        #expect(try cache.check().isEmpty)
    }

    /// The leader and those before the failure run again, each in a commit of its own; the others share one.
    @Test func whatAFailedWriterWroteIsGoneAndOthersLoseNothing() throws {
        let timeline = try Timeline(cache)
        let (before, generations) = (transactions(), try generation())
        timeline.play(
            """
            A         | B      | C           | D    | E
            ----------|--------|-------------|------|-----
            +9        | +0 …   |             |      |
                      |        | g+77 stop … |      |
                      |        |             | +1 … |
                      |        |             |      | +2 …
            commit x2 | yes x2 | stop x2     | yes  | yes
            """)
        #expect(try posts(of: timeline.f) == [2, 1, 0, 9])
        #expect(try posts(of: timeline.g).isEmpty)
        #expect(try generation() == generations + 4)
        #expect(transactions() == before + 3)
        #expect(try cache.check().isEmpty)
    }

    @Test func aLeaderThatFailsRunsOnceAndTheOthersGoOn() throws {
        let timeline = try Timeline(cache)
        let before = transactions()
        timeline.play(
            """
            A    | B    | C    | D
            -----|------|------|-----
            +9   | +0 … |      |
                 |      | +1 … |
                 |      |      | +2 …
            stop | yes  | yes  | yes
            """)
        #expect(try posts(of: timeline.f) == [2, 1, 0])
        #expect(transactions() == before + 1)
        #expect(try cache.check().isEmpty)
    }

    @Test func aCommitThatFailsIsEverybodysFailure() throws {
        var timeline = try Timeline(cache)
        var descriptor: mdb_filehandle_t = -1
        mdb_env_get_fd(cache.environment.handle, &descriptor)
        let (file, full) = (dup(descriptor), open("/dev/full", O_RDWR))
        try #require(full >= 0)
        defer { for open in [file, full] { close(open) } }
        timeline.actions["fillDisk"] = { [descriptor] in dup2(full, descriptor) }
        timeline.play(
            """
            A                | B         | C
            -----------------|-----------|----------
            +9               | +0 …      |
                             |           | +1 …
            fillDisk         |           |
            commit disk-full | disk-full | disk-full
            """)
        dup2(file, descriptor)
        #expect(try posts(of: timeline.f).isEmpty)
        try timeline.f.insertLocal(1, body: [])
        #expect(try posts(of: timeline.f) == [1])
        #expect(try cache.check().isEmpty)
    }

    @Test func aWriteInsideAWriteIsRefusedForFollowersToo() throws {
        let timeline = try Timeline(cache)
        timeline.play(
            """
            A                     | B              | C
            ----------------------|----------------|---------------
            outside               | outside +0 …   |
                                  |                | outside +1 …
            commit would-deadlock | would-deadlock | would-deadlock
            """)
        #expect(try posts(of: timeline.f) == [1, 0])
    }

    // MARK: A map that is full

    private func smallCache() throws -> Cache {
        try Cache(
            at: storage.folder + "/small.quire",
            options: CacheOptions(durability: .relaxed, mapSize: 1 << 20))
    }

    @Test func aSmallMapGrowsUnderManyWriters() throws {
        let cache = try smallCache()
        let feed = try cache.feed(named: "f")
        let threads = (0..<8 as Range<UInt64>).map { thread in
            start {
                for number in 0..<10 as Range<UInt64> {
                    let body = [UInt8](repeating: UInt8(thread), count: 50_000)
                    let id = PostID(thread * 100 + number)
                    #expect((try? feed.insertLocal(id, body: body)) == true)
                }
            }
        }
        for thread in threads { thread.wait() }
        let statistics = try cache.withSnapshot { try $0.statistics() }
        #expect(statistics.posts == 80 && statistics.bodyBytes == 4_000_000)
        #expect(try cache.check().isEmpty)
    }

    /// The map moves only when no snapshot is open: who waits with one must get its turn first.
    @Test func aWriterWithASnapshotDoesNotKeepTheMapFromGrowing() throws {
        let cache = try smallCache()
        let feed = try cache.feed(named: "f")
        let large = [UInt8](repeating: 2, count: 3_000_000)
        let errors = Notes<any Error>()
        for leadsLarge in [true, false] {
            try together(2, in: cache) { number in
                do {
                    if number == 1 && !leadsLarge {
                        try feed.insertLocal(22, body: large + large)
                    } else {
                        try cache.withSnapshot { _ in
                            _ = try cache.update(1, body: [UInt8(number)])
                        }
                    }
                } catch {
                    errors.set(number, error)
                }
            } lead: { batch in
                try batch[feed].insertLocal(leadsLarge ? 2 : 1, body: leadsLarge ? large : [])
            }
        }
        #expect(errors.all.isEmpty)
        #expect(try cache.withSnapshot { try $0.contains([1, 2, 22], in: feed) } == [true, true, true])
        #expect(try cache.check().isEmpty)
    }

    /// LMDB gives up a transaction that was full, whether or not the body noticed.
    @Test func aFullMapIsNotOverlooked() throws {
        let cache = try smallCache()
        let feed = try cache.feed(named: "f")
        try together(1, in: cache) { _ in
            try? cache.batch { batch in
                let body = [UInt8](repeating: 2, count: 3_000_000)
                _ = try? batch[feed].insertLocal(2, body: body)
            }
        } lead: { batch in
            try batch[feed].insertLocal(1, body: [1])
        }
        #expect(try cache.withSnapshot { try $0.contains([1, 2], in: feed) } == [true, true])
        #expect(try cache.check().isEmpty)
    }

    // MARK: Many at once

    @Test func sixteenThreadsLoseNothing() throws {
        let cache = self.cache
        let generations = try generation()
        let threads = (0..<16 as Range<UInt64>).map { thread in
            start {
                do {
                    let feed = try cache.feed(named: "feed \(thread)")
                    for page in 0..<50 as Range<UInt64> {
                        var answer = Answer(next: .token("n\(page)"))
                        let id = PostID(thread * 1000 + page)
                        answer.append(id: id, body: Array(repeating: 1, count: 200))
                        // Now and then a writer fails after half of its work.
                        if page % 10 == thread % 10 {
                            let lost = answer
                            #expect(throws: Stop.self) {
                                try cache.batch { batch in
                                    let ticket = try batch[feed].plan(.head).request!.ticket
                                    _ = try batch[feed].ingest(lost, for: ticket)
                                    throw Stop()
                                }
                            }
                        }
                        let place: Place = page == 0 ? .head : .tail
                        let request = try #require(try feed.plan(place).request)
                        #expect(try feed.ingest(answer, for: request.ticket).new == [id])
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        for thread in threads { thread.wait() }
        #expect(try cache.check().isEmpty)
        #expect(try cache.withSnapshot { try $0.statistics().posts } == 800)
        for thread in 0..<16 as Range<UInt64> {
            let feed = try #require(try cache.existingFeed(named: "feed \(thread)"))
            #expect(try posts(of: feed) == (0..<50).map { PostID(thread * 1000 + $0) })
        }
        // One generation for each write, however many shared a commit.
        #expect(try generation() == generations + 16 * (1 + 50 * 2))
    }
}
