import ClusterTesting
import Foundation
import Quire
import QuireClusterPaging
import QuirePaging
import QuireSimulator
import Synchronization
import Testing

@testable import QuireCluster

/// Pagers that write through the log: of two nodes, with real servers, and with a log that lies.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClusterPagerTests {
    private let folder = ScratchFolder()
    private static let options = FeedOptions(order: .keyless)

    /// Asks a simulated server for pages of three posts.
    private final class Source: PagingSource {
        private struct State {
            var server = SimulatedServer()
            var requests = 0
        }
        private let state = Mutex(State())
        /// Called before each answer.
        let wait: @Sendable () async -> Void

        init(_ posts: Int, wait: @escaping @Sendable () async -> Void = {}) {
            self.wait = wait
            insert(posts)
        }

        func insert(_ posts: Int) {
            state.withLock { state in for _ in 0..<posts { state.server.insertOnTop() } }
        }

        var requests: Int { state.withLock(\.requests) }

        func page(for request: PageRequest) async throws -> PageResponse {
            state.withLock { $0.requests += 1 }
            await wait()
            let answer = state.withLock {
                $0.server.answer(to: request.target, limit: 3, options: ClusterPagerTests.options)
            }
            return PageResponse(answer)
        }
    }

    private func node(_ name: String, _ log: any SharedLog) throws -> ClusterCache {
        var options = ClusterOptions()
        options.checkpointInterval = 0
        options.timeout = .seconds(60)
        options.patience = .seconds(600)
        options.pause = { await Task.yield() }
        return try ClusterCache([("0", log)], folder: "\(folder.path)/\(name)", options: options)
    }

    private func rows(_ feed: ClusterFeed) throws -> [FeedRow] {
        let feed = feed.feed
        return try feed.cache.withSnapshot { try $0.rows(of: feed, limit: 1000) }
    }

    /// A pager refreshes, appends and fills a gap, another one on another node sees it, and so do reading
    /// states.
    private func page(_ first: ClusterCache, _ second: ClusterCache) async throws {
        let source = Source(12)
        let here = try await first.feed(named: "f", options: Self.options)
        let pager = Pager(here, source: source)
        #expect(try await pager.refresh().verdict == .ok)
        #expect(try await pager.append().verdict == .ok)
        source.insert(6)
        #expect(try await pager.refresh().verdict == .gap)
        let gap = try #require(try rows(here).compactMap { $0.gap?.id }.first)
        #expect(try await pager.fill(gap, pages: 3).verdict == .joined)
        #expect(try rows(here).count == 12 && rows(here).allSatisfy { $0.gap == nil })
        let ids = try rows(here).compactMap { $0.post?.id }
        try await here.reading.setMarker(ids[4])
        try await here.reading.mark([ids[1]])

        try await second.wait(for: first.applied().number)
        let there = try await second.feed(named: "f")
        #expect(try rows(there) == rows(here))
        #expect(try there.reading.unread().count == 4)
        #expect(try there.reading.areRead([ids[1], ids[2]]) == [true, false])
        let asked = source.requests
        // what one node's pager knows of the first page, the other's knows, too
        #expect(try await Pager(there, source: source).refresh(.ifStale) == .fresh)
        #expect(source.requests == asked)
        while case .loaded = try await Pager(there, source: source).append() {}
        #expect(try rows(there).count == 18)
        try await first.wait(for: second.applied().number)
        #expect(try Model.dump(first.local()) == Model.dump(second.local()))
        #expect(try first.local().check() == [] && second.local().check() == [])
    }

    @Test func pagersOfTwoNodesShareAFeed() async throws {
        let log = LyingLog(seed: 1, in: folder.path)
        try await page(try node("a", log), try node("b", log))
    }

    @Test(.enabled(if: NATSServers.program != nil, "nats-server is not installed"))
    func pagersWriteThroughServers() async throws {
        let servers = try NATSServers(3, in: folder.path)
        var nodes: [ClusterCache] = []
        for name in ["a", "b"] {
            var options = ClusterOptions()
            options.timeout = .seconds(60)
            nodes.append(
                try await ClusterCache.open(
                    NATSOptions(servers: servers.addresses), folder: "\(folder.path)/\(name)", cache: "test",
                    options: options))
        }
        try await page(nodes[0], nodes[1])
        for node in nodes { await node.close() }
    }

    /// Acknowledgements are dropped, entries are delayed and come twice: a pager gets its pages, each once.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func aPagerIsNotDisturbedByALogThatLies(seed: UInt64) async throws {
        var faults = LyingLog.Faults.some
        (faults.forks, faults.forgets, faults.diverges) = (0, 0, 0)
        let log = LyingLog(seed: seed, faults: faults, in: folder.path)
        try await page(try node("a", log), try node("b", log))
    }

    /// Both pagers want the first page at the same time: it is asked for once.
    @Test func aPageIsAskedForOnce() async throws {
        let log = LyingLog(seed: 1, in: folder.path)
        let (first, second) = (try node("a", log), try node("b", log))
        let (planned, isWaiting) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let source = Source(12) {
            planned.continuation.yield()
            for await _ in isWaiting.stream { break }
        }
        let here = try await first.feed(named: "f", options: Self.options)
        let refresh = Task { try await Pager(here, source: source).refresh() }
        for await _ in planned.stream { break }
        try await second.wait(for: first.applied().number)
        let there = try await second.feed(named: "f")
        let cancelled = Task { try await Pager(there, source: source).refresh() }
        let other = Task { try await Pager(there, source: source).refresh() }
        // both plans share the ticket
        let end = try first.applied().number + 2
        while try second.applied().number < end {
            try Task.checkCancellation()
            await Task.yield()
        }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        isWaiting.continuation.finish()
        #expect(try await refresh.value.verdict == .ok)
        #expect(try await other.value.verdict == .ok)
        #expect(source.requests == 1)
        #expect(try rows(there) == rows(here) && rows(here).count == 3)
    }
}

extension PageResult {
    fileprivate var verdict: Outcome.Verdict? {
        if case .loaded(let outcome) = self { outcome.verdict } else { nil }
    }
}
