import Quire
import QuireSimulator
import Synchronization
import Testing

@testable import QuirePaging
@testable import TestSupport

/// Where a screen opens, how it scrolls in both directions, what it says of itself, and what it asks for
/// again.
@MainActor @Suite(.timeLimit(.minutes(10))) struct FeedModelScreenTests {
    private typealias Model = FeedModel<[UInt8]>

    private func model(
        _ pager: Pager, at start: FeedWindow.Start = .head, reach: Int = 2, holds: Int = 1_000
    ) throws -> Model {
        let format = WireFormat<[UInt8]>("bytes", recognises: { _ in true }) { $0 }
        return try FeedModel(pager, formats: [format], at: start, reach: reach, holds: holds)
    }

    /// All posts of a server's list, cached.
    private func cached(_ count: Int) async throws -> (PagerFixture, ListServer, Pager) {
        let fixture = try PagerFixture(FeedOptions(order: .stable, pageSize: 30))
        let server = ListServer(posts: count, options: fixture.feed.options)
        let pager = fixture.pager(server)
        try await pager.refresh()
        while case .loaded = try await pager.append() {}
        return (fixture, server, pager)
    }

    private func posts(_ model: Model) -> [PostID] { model.rows.compactMap { $0.post?.id } }

    // MARK: Opening

    /// 40 new posts above and a gap between: the reader is where he was, and scrolls up through all of them.
    @Test func opensWhereTheReaderStopped() async throws {
        let (fixture, server, _) = try await cached(60)
        try await fixture.feed.reading.setPosition(20, offset: 3)
        server.insert(40)
        try fixture.subject.reopen()
        let again = fixture.pager(server)
        try await again.refresh()
        let start = try #require(try again.feed.reading.start())
        let model = try model(again, at: start)
        #expect(model.anchor == .post(20))
        #expect(posts(model).contains(20) && posts(model).count { $0 == 20 } == 1)
        var asked = server.requests.count
        await model.loadMore(near: .post(20))
        #expect(server.requests.count == asked, "nothing is missing near the reader")
        // the gap is 10 posts wide, below the 30 new ones of the first page
        asked = server.requests.count
        var row = PostID(20)
        while let index = model.rows.firstIndex(where: { $0.id == .post(row) }),
            let above = model.rows[..<index].last(where: { $0.post != nil })?.post?.id
        {
            row = above
            await model.loadMore(near: .post(row))
            #expect(posts(model).contains(row), "what the reader sees stays")
        }
        #expect(posts(model) == (1...100).reversed().map { PostID($0 as UInt64) })
        #expect(server.requests.count == asked + 1 && server.requests.last?.place == .gap(GapID(1)))
    }

    @Test func opensAtADateAndAtARank() async throws {
        let (fixture, server, pager) = try await cached(400)
        defer { withExtendedLifetime(fixture) {} }
        let asked = server.requests.count
        let key = try fixture.feed.cache.withSnapshot { try $0.find(100, in: fixture.feed)?.key }
        let model = try model(pager, at: .key(try #require(key)))
        #expect(model.anchor == .post(100))
        #expect(posts(model) == (51...150).reversed().map { PostID($0 as UInt64) })
        #expect(model.rows.first?.missing == .openHead && model.rows.last?.missing == .tail)
        #expect(model.extent.above == 250 && model.extent.held == 100 && model.extent.below == 50)
        await model.open(at: .rank(0))
        #expect(model.rows.first?.id == .post(400) && model.extent.above == 0)
        await model.open(at: .rank(399))
        #expect(model.rows.last?.id == .post(1) && model.extent.below == 0)
        #expect(server.requests.count == asked)
    }

    @Test func aPostThatIsNotHereIsAskedFor() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 30, options: fixture.feed.options)
        let pager = fixture.pager(server)
        let model = try model(pager)
        await model.refresh()
        #expect(throws: QuireError.self) { try self.model(pager, at: .post(12)) }
        #expect(await model.open(at: .post(12)))
        #expect(model.anchor == .post(12) && server.requests.map(\.place) == [.head, .around(12)])
        #expect(model.rows.map(\.missing).contains(.gap(GapID(1))))
        #expect(await !model.open(at: .post(99)), "the server does not know it")
        #expect(model.anchor == .post(12) && model.state(at: .around(99)).error != nil)
    }

    // MARK: Scrolling

    @Test func scrollsInBothDirectionsWithoutAsking() async throws {
        let (fixture, server, pager) = try await cached(600)
        defer { withExtendedLifetime(fixture) {} }
        let asked = server.requests.count
        let model = try model(pager, at: .rank(300), holds: 150)
        var random = SplitMix64(seed: 5)
        var isDown = true
        for _ in 0..<80 {
            if random.chance(0.2) { isDown.toggle() }
            let shown = posts(model)
            let row = isDown ? shown[shown.count - 1 - random.below(3)] : shown[random.below(3)]
            await model.loadMore(near: .post(row))
            let now = posts(model)
            #expect(now.contains(row) && now.count <= 151)
            #expect(
                now
                    == Array(
                        (1...600).reversed().map { PostID($0 as UInt64) }[model.extent.above...].prefix(
                            now.count)))
        }
        #expect(server.requests.count == asked)
    }

    /// A reader at post 200 of a long feed, three rows below a gap.
    private func belowAGap(
        _ paging: Paging, posts: Int = 4_000, _ interceptors: [Interceptor] = [],
        answering: (@Sendable (PageRequest) throws -> Void)? = nil
    ) async throws -> (PagerFixture, Notes, Model) {
        let fixture = try PagerFixture(FeedOptions(order: .stable, paging: paging, pageSize: 20))
        let (server, asked) = (ListServer(posts: posts, options: fixture.feed.options), Notes())
        let source = Scripted { request in
            asked.write("\(request.place)")
            try answering?(request)
            var answer = server.answer(to: request)
            if paging == .cursor { answer.previous = .unknown }
            return PageResponse(answer)
        }
        let model = try model(fixture.pager(source, interceptors), reach: 10)
        await model.refresh()
        #expect(await model.open(at: .post(200)))
        #expect(asked.lines == ["head", "around(200)"])
        return (fixture, asked, model)
    }

    @Test func aGapAboveTheReaderIsFilledFromBelow() async throws {
        let (fixture, asked, model) = try await belowAGap(.keyset)
        defer { withExtendedLifetime(fixture) {} }
        let gap = GapID(1)
        await model.loadMore(near: .post(207))
        #expect(asked.lines.dropFirst(2) == ["aboveGap(g1)"])
        #expect(posts(model).contains(230) && !posts(model).contains(231))
        // the gap's own row comes into view, above the reader
        await model.loadMore(near: .gap(gap))
        #expect(asked.lines.dropFirst(2) == ["aboveGap(g1)", "aboveGap(g1)"])
        #expect(posts(model).contains(250) && model.anchor == .post(230))
        await model.retry(.gap(gap))
        #expect(posts(model).contains(270))
        // a reader above it
        await model.open(at: .head)
        await model.loadMore(near: .post(3_985))
        #expect(asked.lines.last == "gap(g1)")
    }

    /// Only the far side has a link, so nothing comes nearer before the gap is closed.
    @Test func aCallAsksFewPagesAtTheFarSideOfAGap() async throws {
        let (fixture, asked, model) = try await belowAGap(.cursor, posts: 480)
        defer { withExtendedLifetime(fixture) {} }
        await model.loadMore(near: .post(205))
        #expect(asked.lines.dropFirst(2) == Array(repeating: "gap(g1)", count: 10)[...])
        #expect("\(model.state(at: .gap(GapID(1))))" == "idle")
        await model.loadMore(near: .post(195))
        #expect(asked.lines.dropFirst(12) == ["tail"], "the other side has requests of its own")
        await model.loadMore(near: .post(206))
        #expect(asked.lines.dropFirst(13).allSatisfy { $0 == "gap(g1)" } && asked.lines.count < 20)
        #expect(posts(model) == (170...480).reversed().map { PostID($0 as UInt64) })
    }

    /// What the far side brings is forgotten at once, again and again.
    @Test func aCallEndsBesideAPrune() async throws {
        let feed = Mutex<Feed?>(nil)
        let pruning = Interceptor(observe: { _, _ in
            guard let feed = feed.withLock({ $0 }) else { return }
            var policy = PrunePolicy()
            (policy.maximumPosts, policy.visible) = (60, [207])
            do { _ = try feed.prune(policy) } catch { Issue.record(error) }
        })
        let (fixture, asked, model) = try await belowAGap(.cursor, [pruning])
        feed.withLock { $0 = fixture.feed }
        await model.loadMore(near: .post(207))
        #expect(asked.lines.dropFirst(2) == Array(repeating: "gap(g1)", count: 10)[...])
        #expect(try fixture.feed.cache.withSnapshot { try $0.info(of: fixture.feed).posts } <= 60)
        #expect(posts(model).contains(207))
    }

    @Test func aSourceNeedNotKnowWhatIsAboveAPost() async throws {
        let (fixture, asked, model) = try await belowAGap(
            .keyset, posts: 300,
            answering: { request in
                if case .aboveGap = request.place { throw PageFailure("no", isTransient: false) }
            })
        defer { withExtendedLifetime(fixture) {} }
        await model.loadMore(near: .post(207))
        #expect(asked.lines.dropFirst(2) == ["aboveGap(g1)", "gap(g1)", "gap(g1)", "gap(g1)", "gap(g1)"])
        #expect(posts(model) == (190...300).reversed().map { PostID($0 as UInt64) })
    }

    @Test func rowsThatComeAboveMoveNothing() async throws {
        let (fixture, server, pager) = try await cached(300)
        defer { withExtendedLifetime(fixture) {} }
        let model = try model(pager, at: .rank(150))
        let before = model.rows.map(\.id)
        for _ in 0..<5 {
            server.insert(7)
            await model.refresh()
            #expect(model.rows.map(\.id) == before)
        }
        #expect(model.extent.above == 135 && model.anchor == .post(150))
    }

    // MARK: What it says

    @Test func theExtentCountsWhatTheServerHas() async throws {
        let fixture = try PagerFixture(FeedOptions(order: .keyless, paging: .offset, pageSize: 3))
        let pager = fixture.pager(
            Scripted { request in
                guard case .position(let offset, _) = request.plan.target else {
                    return PageResponse(Answer())
                }
                var answer = Answer(next: .more, total: 100)
                for row in offset..<offset + 3 { answer.append(id: PostID(UInt64(row) + 1), body: [1]) }
                return PageResponse(answer)
            })
        let model = try model(pager)
        #expect(model.extent == FeedExtent())
        await model.refresh()
        #expect(model.extent.total == 100 && model.extent.missing == 97 && model.extent.missingAt == .tail)
        await model.loadMore(near: .post(3))
        #expect(model.extent.held > 3 && model.extent.missing == 100 - model.extent.held)
        let missing = try #require(model.extent.missing)
        try pager.feed.evict([3])
        try model.update()
        #expect(model.extent.missing == missing + 1 && model.extent.missingAt == nil, "a gap, and the tail")
    }

    @Test func thePagerKnowsWhatIsVisible() async throws {
        let (fixture, _, pager) = try await cached(90)
        defer { withExtendedLifetime(fixture) {} }
        let model = try model(pager)
        #expect(try await pager.prune(PrunePolicy()) == nil, "it is not known what is visible")
        let view = Task { await model.appear(.post(40)) }
        try await until { try! await pager.prune(PrunePolicy()) != nil }
        var policy = PrunePolicy()
        policy.maximumPosts = 0
        try await until { !model.telling.isUnderWay }
        _ = try await pager.prune(policy)
        let held = try pager.feed.cache.withSnapshot { try $0.find(40, in: pager.feed) }
        #expect(held != nil)
        view.cancel()
        await view.value
        #expect(model.visible.isEmpty)
        await model.see([.post(90), .post(89)])
        #expect(Set(model.visible.keys) == [.post(90), .post(89)])
    }

    @Test func whatOneModelShowsTheOthersDoNotHide() async throws {
        let (fixture, _, pager) = try await cached(300)
        func held(_ ids: PostID...) async throws -> [Bool] {
            var policy = PrunePolicy()
            policy.maximumPosts = 0
            while let result = try await pager.prune(policy), !result.isDone {}
            return try fixture.feed.cache.withSnapshot { snapshot in
                try ids.map { try snapshot.find($0, in: fixture.feed) != nil }
            }
        }
        let upper = try model(pager)
        var lower: Model? = try model(pager, at: .post(100))
        await lower?.see([.post(100)])
        await upper.see([.post(299)])
        try await pager.setVisible([200])
        try await until { lower?.telling.isUnderWay == false && !upper.telling.isUnderWay }
        #expect(try await held(299, 200, 100, 20) == [true, true, true, false])
        lower = nil
        #expect(try await held(299, 200, 100) == [true, true, false])
        await upper.see([])
        try await until { !upper.telling.isUnderWay }
        #expect(try await held(299, 200) == [false, true])
    }

    // MARK: Freshness

    @Test func whatIsVisibleIsAskedForAgainWhenItIsStale() async throws {
        let fixture = try PagerFixture(FeedOptions(order: .stable, pageSize: 30))
        let server = ListServer(posts: 300, options: fixture.feed.options)
        let pager = fixture.pager(
            Scripted { request in
                var response = try await server.page(for: request)
                if case .page(var answer) = response.content {
                    answer.fetchedAt = 0  // now, by the clock of the pager
                    response = PageResponse(answer)
                }
                return response
            })
        try await pager.refresh()
        while case .loaded = try await pager.append() {}
        let model = try model(pager, at: .rank(150))
        let asked = server.requests.count
        await model.refreshVisible()
        #expect(server.requests.count == asked, "it is fresh")
        fixture.clock.advance(.seconds(301))
        server.delete(149, 10)
        await model.refreshVisible()
        #expect(server.requests.count == asked + 1)
        #expect(server.requests.last?.place == .around(150))
        #expect(!posts(model).contains(149) && posts(model).contains(150))
        let isFar = try pager.feed.cache.withSnapshot { try $0.find(10, in: pager.feed) != nil }
        #expect(isFar, "what is elsewhere was not asked for")
        await model.refreshVisible()
        #expect(server.requests.count == asked + 1, "it is fresh now")
        await model.open(at: .head)
        await model.refreshVisible()
        #expect(server.requests.last?.place == .head)
    }

    // MARK: Random histories

    /// The rows are those of the feed from some rank on, with their bodies, whatever happens.
    @Test(arguments: OracleMode.allCases)
    func randomChangesAreFollowedAnywhere(mode: OracleMode) async throws {
        for seed in UInt64(0)..<6 {
            let what = "\(mode), seed \(seed)"
            var random = SplitMix64(seed: seed)
            let history = try OracleHistory(mode: mode)
            let feed = history.feed
            let silent = Pager(feed, source: Scripted { _ in throw PageFailure("no", isTransient: false) })
            let model = try model(silent, reach: random.below(3), holds: 0)
            for event in OracleEvent.history(seed: seed, steps: 80) where event.kind != .reopen {
                try history.run([event])
                if random.chance(0.5) { continue }
                try model.update()
                let all = try feed.posts(as: [UInt8].self, formats: []).rows(limit: .max)
                let shown = model.rows.filter { if case .more = $0 { false } else { true } }
                let expected = all[model.extent.above...].prefix(shown.count)
                try #require(shown.count == expected.count && model.extent.held == shown.count, "\(what)")
                try #require(model.extent.below == all.count - model.extent.above - shown.count, "\(what)")
                for (row, truth) in zip(shown, expected) {
                    try #require(row.post?.id == truth.post?.id, "\(what)")
                    try #require(row.post?.bytes == truth.post?.bytes, "\(what)")
                    try #require(row.post?.row.isPlaceholder == truth.post?.row.isPlaceholder, "\(what)")
                    if case .gap(let gap) = row { try #require(gap.id == truth.gap?.id, "\(what)") }
                }
                guard !all.isEmpty, random.chance(0.3) else { continue }
                let rank = random.below(all.count)
                await model.open(at: random.chance(0.2) ? .head : .rank(rank))
            }
        }
    }
}
