import Foundation
import Quire
import QuireSimulator
import Testing

@testable import QuirePaging
@testable import TestSupport

/// What observers hear, and windows that stay put.
@Suite(.timeLimit(.minutes(10))) struct ObservationTests {
    /// The rows of a feed as an observer follows them.
    private struct Observer {
        let feed: Feed
        var rows: [RowID] = []
        var resyncs = 0
        private var iterator: FeedChanges.Iterator

        init(_ fixture: PagerFixture, _ feed: Feed) throws {
            self.feed = feed
            let clock = fixture.clock.pagerClock()
            let generation = try Self.read(feed, into: &rows)
            iterator = feed.changes(since: generation, clock: clock).makeAsyncIterator()
        }

        private static func read(_ feed: Feed, into rows: inout [RowID]) throws -> UInt64 {
            try feed.cache.withSnapshot { snapshot in
                rows = try snapshot.rows(of: feed, limit: .max).map(\.name)
                return try snapshot.generation
            }
        }

        /// Waits for something to change and follows it.
        mutating func follow(_ fixture: PagerFixture) async throws {
            switch try await iterator.next() {
            case .changed(let changes, _): rows.apply(changes)
            case .resync, nil:
                resyncs += 1
                let generation = try Self.read(feed, into: &rows)
                let clock = fixture.clock.pagerClock()
                iterator = feed.changes(since: generation, clock: clock).makeAsyncIterator()
            }
        }

        func rowsInCache() throws -> [RowID] {
            try feed.cache.withSnapshot { try $0.rows(of: feed, limit: .max).map(\.name) }
        }
    }

    @Test func changesGiveTheRowsWithTheirGaps() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 3, options: fixture.feed.options)
        let pager = fixture.pager(server)
        var observer = try Observer(fixture, fixture.feed)
        try await pager.refresh()
        try await observer.follow(fixture)
        #expect(observer.rows == [.post(3), .post(2), .post(1)])
        server.insert(5)
        try await pager.refresh()
        try await pager.fill(GapID(1))
        try await observer.follow(fixture)  // two commits at once
        #expect(
            observer.rows
                == [.post(8), .post(7), .post(6), .post(5), .post(4), .post(3), .post(2), .post(1)])
    }

    @Test func nothingIsHeardOfOtherFeeds() async throws {
        let fixture = try PagerFixture()
        let other = try fixture.feed.cache.feed(named: "other")
        var observer = try Observer(fixture, fixture.feed)
        try other.insertLocal(7, body: [])
        try fixture.feed.insertLocal(1, body: [])
        try other.insertLocal(8, body: [])
        try await observer.follow(fixture)
        #expect(observer.rows == [.post(1)])
    }

    @Test func whoFellBehindIsToldToReadAgain() async throws {
        let fixture = try PagerFixture()
        var observer = try Observer(fixture, fixture.feed)
        try fixture.feed.insertLocal(1, body: [])
        for number in 0..<1_100 { try fixture.feed.setAttribute("n", to: [UInt8(number % 256)]) }
        try await observer.follow(fixture)
        #expect(try observer.resyncs == 1 && observer.rows == observer.rowsInCache())
        try fixture.feed.reset()
        try await observer.follow(fixture)
        #expect(observer.resyncs == 2 && observer.rows.isEmpty)
    }

    @Test(arguments: [OracleMode.stable, .keyless, .bump, .ranked, .offset])
    func randomCommitsAreFollowed(mode: OracleMode) async throws {
        for seed in UInt64(0)..<3 {
            var random = SplitMix64(seed: seed)
            let history = try OracleHistory(mode: mode)
            let fixture = try PagerFixture()
            var observer = try Observer(fixture, history.feed)
            for event in OracleEvent.history(seed: seed, steps: 60) where event.kind != .reopen {
                try history.run([event])
                let isDue = random.chance(0.4)
                if try isDue && observer.rows != observer.rowsInCache() { try await observer.follow(fixture) }
                if isDue { try #require(try observer.rows == observer.rowsInCache(), "seed \(seed)") }
            }
        }
    }

    @Test(.enabled(if: Compiler.modules != nil, "needs the build's modules"))
    func changesOfAnotherProcessArrive() async throws {
        let fixture = try PagerFixture()
        try fixture.feed.insertLocal(1, body: [])
        var observer = try Observer(fixture, fixture.feed)
        let output = try Compiler.buildAndRun(
            """
            import Quire
            let cache = try Cache(at: "\(fixture.feed.cache.path)")
            try cache.existingFeed(named: "main")!.insertLocal(2, body: [])
            """)
        #expect(output == "")
        try await observer.follow(fixture)
        #expect(observer.rows == [.post(2), .post(1)])
    }

    @Test func anObserverEndsWithItsTask() async throws {
        let fixture = try PagerFixture()
        let feed = fixture.feed
        let task = Task {
            for try await _ in feed.changes(every: .milliseconds(1)) {}
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // MARK: Windows

    private func window(_ feed: Feed, at start: FeedWindow.Start, _ above: Int, _ below: Int) throws
        -> FeedWindow
    {
        try feed.cache.withSnapshot { try $0.window(of: feed, at: start, above: above, below: below) }
    }

    private func names(afterUpdate window: inout FeedWindow) throws -> String {
        _ = try window.feed.cache.withSnapshot { try window.update(to: $0) }
        return names(window)
    }

    @Test func aWindowStaysPutWhenPostsArriveAbove() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 9, options: fixture.feed.options)
        let pager = fixture.pager(server)
        try await pager.refresh()
        try await pager.append()
        var window = try window(fixture.feed, at: .post(6), 2, 2)
        #expect(names(window) == "8 7 6 5 4")
        server.insert(2)
        try await pager.refresh()
        #expect(try names(afterUpdate: &window) == "8 7 6 5 4")
        server.insert(9)
        try await pager.refresh()
        #expect(names(try self.window(fixture.feed, at: .post(11), 2, 2)) == "18 ~ 11 10 9")
        #expect(names(try self.window(fixture.feed, at: .head, 2, 2)) == "20 19 18")
    }

    @Test func anAnchorThatLeavesHandsOnToItsNeighbour() async throws {
        let fixture = try PagerFixture()
        let pager = fixture.pager(ListServer(posts: 9, options: fixture.feed.options))
        try await pager.refresh()
        for _ in 0..<2 { try await pager.append() }
        var window = try window(fixture.feed, at: .post(5), 1, 1)
        try fixture.feed.delete(5)
        #expect(try names(afterUpdate: &window) == "6 4 3")
        try fixture.feed.delete(4)
        #expect(try names(afterUpdate: &window) == "6 3 2")
        try fixture.feed.reset()
        #expect(try names(afterUpdate: &window) == "")
        #expect(throws: QuireError.self) { try self.window(fixture.feed, at: .post(5), 1, 1) }
    }

    private func names(_ window: FeedWindow) -> String {
        window.rows.map { $0.post?.id.description ?? "~" }.joined(separator: " ")
    }
}
