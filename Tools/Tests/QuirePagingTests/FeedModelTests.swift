import Observation
import Quire
import QuireSimulator
import Testing

@testable import QuirePaging
@testable import TestSupport

/// What a screen shows and what it makes the pager ask. `…` is a row for what lies beyond an end, `~` a gap,
/// `?` a post without body.
@MainActor @Suite(.timeLimit(.minutes(10))) struct FeedModelTests {
    private typealias Model = FeedModel<[UInt8]>

    private func model(_ pager: Pager, reach: Int = 2) throws -> Model {
        try FeedModel(pager, formats: [WireFormat("bytes", recognises: { _ in true }) { $0 }], reach: reach)
    }

    /// A model whose server answers the n-th request, from 1 on, with what `page` returns.
    private func model(
        _ fixture: PagerFixture, reach: Int = 2, answering page: @escaping @Sendable (Int) -> PageResponse
    ) throws -> (model: Model, asked: Notes) {
        let asked = Notes()
        let source = Scripted { request in
            asked.write("\(request.place)")
            return page(asked.lines.count)
        }
        return (try model(fixture.pager(source), reach: reach), asked)
    }

    private func picture(_ model: Model) -> String {
        model.rows.map { row in
            switch row {
            case .post(let post): (post.row.isPlaceholder ? "?" : "") + "\(post.id)"
            case .gap: "~"
            case .more: "…"
            }
        }.joined(separator: " ")
    }

    /// A reader before a server's list, whose first page is here.
    private struct Scene {
        let fixture: PagerFixture
        let server: ListServer
        let pager: Pager
        let model: Model
    }

    private func scene(_ count: Int) async throws -> Scene {
        let fixture = try PagerFixture()
        let server = ListServer(posts: count, options: fixture.feed.options)
        let pager = fixture.pager(server)
        let scene = Scene(fixture: fixture, server: server, pager: pager, model: try model(pager))
        await scene.model.refresh()
        return scene
    }

    // MARK: Views

    /// A view is drawn anew when what it has read changes, and not for anything else.
    @Test func viewsLearnOfRowsAndStates() async throws {
        let scene = try await scene(8)
        let (model, drawn) = (scene.model, Notes())
        func watch(_ what: String, _ read: () -> Void) {
            withObservationTracking(read) { drawn.write(what) }
        }
        watch("rows") { _ = model.rows.count }
        watch("state of the tail") { _ = model.state(at: .tail).isLoading }
        watch("extent") { _ = model.extent.held }
        await model.loadMore(near: .post(8))
        #expect(drawn.lines == [], "nothing is missing there")
        await model.loadMore(near: .post(6))
        #expect(drawn.lines.sorted() == ["extent", "rows", "state of the tail"])
    }

    // MARK: Scrolling

    @Test func aReaderWhoScrollsAsksForEachPageOnce() async throws {
        let scene = try await scene(8)
        let (server, model) = (scene.server, scene.model)
        #expect(picture(model) == "8 7 6 …")
        await model.loadMore(near: .post(9))
        #expect(server.requests.count == 1, "9 is not shown")
        await model.loadMore(near: .post(8))
        #expect(picture(model) == "8 7 6 …", "two rows below 8 nothing is missing")
        await model.loadMore(near: .post(7))
        #expect(picture(model) == "8 7 6 5 4 3 …")
        await model.loadMore(near: .post(7))
        #expect(server.requests.count == 2)
        await model.loadMore(near: .post(3))
        #expect(picture(model) == "8 7 6 5 4 3 2 1")
        #expect("\(model.state(at: .tail))" == "end")
        for row in model.rows { await model.loadMore(near: row.id) }
        #expect(server.requests.map(\.place) == [.head, .tail, .tail])
        for need in [Pager.RefreshNeed.always, .ifStale] {
            await model.refresh(need)
            #expect("\(model.state(at: .tail))" == "end" && picture(model) == "8 7 6 5 4 3 2 1")
        }
    }

    /// Small pages: one row that comes into view may need several.
    @Test func pagesAreAddedUntilNothingIsMissingInReach() async throws {
        let fixture = try PagerFixture(FeedOptions(order: .stable, pageSize: 1))
        let server = ListServer(posts: 9, options: fixture.feed.options)
        let model = try model(fixture.pager(server), reach: 3)
        await model.refresh()
        await model.loadMore(near: .post(9))
        #expect(picture(model) == "9 8 7 6 …")
        #expect(server.requests.count == 4)
    }

    @Test func rowsThatComeIntoViewTogetherShareRequests() async throws {
        let fixture = try PagerFixture()
        let source = Switchboard()
        let pager = fixture.pager(source)
        let model = try model(pager)
        async let refresh: Void = model.refresh()
        try await until { model.state(at: .head).isLoading }
        try source.answer(await source.next(), .page([9, 8, 7], next: .token("a")))
        await refresh
        #expect("\(model.state(at: .head)) \(model.state(at: .tail))" == "idle idle")
        async let first: Void = model.loadMore(near: .post(8))
        async let second: Void = model.loadMore(near: .post(7))
        async let third: Void = model.loadMore(near: .more(.tail))
        try await until { await pager.flights[.tail]?.waiting.count == 3 }
        #expect(model.state(at: .tail).isLoading)
        try source.answer(await source.next(), .page([6, 5, 4], next: .token("b")))
        _ = await (first, second, third)
        #expect(picture(model) == "9 8 7 6 5 4 …" && source.count == 2)
        #expect("\(model.state(at: .tail))" == "idle")
    }

    /// Many callers make as many requests as one reader who scrolls as far.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func callsAtRandomAskNoMoreThanNeeded(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let scene = try await scene(60)
        let (server, model) = (scene.server, scene.model)
        var lowest = 0
        for _ in 0..<12 {
            var calls: [Task<Void, Never>] = []
            for _ in 0..<random.number(in: 1...5) {
                let index = random.below(model.rows.count)
                lowest = max(lowest, min(index, model.rows.count - 2))
                let row = model.rows[index].id
                calls.append(Task { await model.loadMore(near: row) })
                for _ in 0..<random.below(40) { await Task.yield() }
            }
            for call in calls { await call.value }
            // Three posts a page, and two rows below the lowest row in view.
            let posts = min(60, (lowest + 1 + 2 + 2) / 3 * 3)
            #expect(model.rows.count { $0.post != nil } == posts, "seed \(seed)")
            #expect(server.requests.count == posts / 3, "seed \(seed)")
        }
    }

    @Test func aGapIsFilledWhenItComesIntoReach() async throws {
        let scene = try await scene(3)
        let (server, model) = (scene.server, scene.model)
        server.insert(12)
        await model.refresh()
        #expect(picture(model) == "15 14 13 ~ 3 2 1")
        #expect(model.rows[3].missing == .gap(GapID(1)))
        await model.loadMore(near: .post(15))
        #expect(picture(model) == "15 14 13 ~ 3 2 1", "it is three rows away")
        await model.loadMore(near: .post(14))
        #expect(picture(model) == "15 14 13 12 11 10 ~ 3 2 1")
        await model.loadMore(near: .post(3))
        #expect(picture(model) == "15 14 13 12 11 10 9 8 7 6 5 4 3 2 1")
        #expect(
            server.requests.map(\.place) == [
                .head, .head, .gap(GapID(1)), .gap(GapID(1)), .gap(GapID(1)), .gap(GapID(1)),
            ])
        #expect(try scene.fixture.picture == "[15 14 13 12 11 10 9 8 7 6 5 4 3 2 1] |end")
    }

    @Test func anOpenHeadIsContinuedWhenItComesIntoReach() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 11, options: fixture.feed.options)
        let pager = fixture.pager(server)
        try await pager.jump(to: 5)
        let model = try model(pager, reach: 1)
        #expect(picture(model) == "… 6 5 4 …")
        await model.loadMore(near: .post(6))
        #expect(picture(model) == "… 9 8 7 6 5 4 …")
        await model.loadMore(near: .post(9))
        #expect(picture(model) == "11 10 9 8 7 6 5 4 …")
        #expect(server.requests.map(\.place) == [.around(5), .openHead, .openHead])
    }

    @Test func whatIsCachedIsShownPieceByPieceWithoutAsking() async throws {
        let scene = try await scene(200)
        let (server, pager) = (scene.server, scene.pager)
        while case .loaded = try await pager.append() {}
        #expect(scene.model.rows.count == 4)
        let asked = server.requests.count
        let model = try model(pager)
        #expect(model.rows.count == 51)
        await model.loadMore(near: model.rows[40].id)
        #expect(model.rows.count == 51)
        await model.loadMore(near: model.rows[49].id)
        #expect(model.rows.count == 101)
        await model.loadMore(near: .more(.tail))
        #expect(model.rows.count == 151)
        while case .more? = model.rows.last { await model.loadMore(near: model.rows.last!.id) }
        #expect(server.requests.count == asked)
        #expect(model.rows.count == 200)
    }

    @Test func bodiesAreFetchedWithTheirNeighbours() async throws {
        let fixture = try PagerFixture(FeedOptions(order: .ranked, paging: .ids, pageSize: 4))
        let server = ListServer(posts: 12, options: fixture.feed.options)
        let model = try model(fixture.pager(server), reach: 1)
        await model.refresh()
        #expect(picture(model) == "?12 ?11 ?10 ?9 ?8 ?7 ?6 ?5 ?4 ?3 ?2 ?1")
        await model.loadMore(near: .post(6))
        #expect(picture(model) == "?12 ?11 ?10 ?9 ?8 7 6 5 4 ?3 ?2 ?1")
        #expect(server.requests.count == 2)
        await model.loadMore(near: .post(5))
        #expect(server.requests.count == 2)
        await model.loadMore(near: .post(1))
        #expect(picture(model) == "?12 ?11 ?10 ?9 ?8 7 6 5 4 3 2 1")
    }

    // MARK: Failures

    @Test func aFailureIsTheStateOfItsPlace() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 8, options: fixture.feed.options)
        let isDown = Notes()
        let asked = Notes()
        let pager = fixture.pager(
            Scripted { request in
                asked.write("\(request.place)")
                if isDown.lines.count % 2 == 0 { return try await server.page(for: request) }
                throw PageFailure("down", isTransient: false)
            })
        let model = try model(pager)
        await model.refresh()
        isDown.write("yes")
        for _ in 0..<3 { await model.loadMore(near: .post(6)) }
        #expect(model.state(at: .tail).error as? PageFailure == PageFailure("down", isTransient: false))
        #expect(picture(model) == "8 7 6 …" && asked.lines.count == 2)
        await model.retry(.tail)
        await model.refresh()
        #expect("\(model.state(at: .head)) \(model.state(at: .tail))" == #"failed: "down" failed: "down""#)
        #expect(picture(model) == "8 7 6 …" && asked.lines.count == 4)
        isDown.write("no")
        await model.retry(.tail)
        #expect(picture(model) == "8 7 6 5 4 3 …")
        #expect("\(model.state(at: .head)) \(model.state(at: .tail))" == #"failed: "down" idle"#)
        isDown.write("yes")
        await model.loadMore(near: .post(3))
        isDown.write("no")
        await model.refresh()
        #expect("\(model.state(at: .head)) \(model.state(at: .tail))" == "idle idle")
        await model.loadMore(near: .post(3))
        #expect(picture(model) == "8 7 6 5 4 3 2 1")
    }

    @Test func aStalePageSaysWhyItIsStale() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 3, options: fixture.feed.options)
        let model = try model(fixture.pager(server))
        await model.refresh()
        fixture.clock.advance(.seconds(301))
        let isDown = fixture.pager(Scripted { _ in throw PageFailure("down", isTransient: false) })
        let other = try self.model(isDown)
        await other.refresh(.ifStale)
        #expect(other.state(at: .head).error as? PageFailure == PageFailure("down", isTransient: true))
        #expect(picture(other) == "3 2 1")
    }

    @Test func aServerThatGoesRoundInCirclesIsLeft() async throws {
        let fixture = try PagerFixture(FeedOptions(order: .keyless, pageSize: 3))
        let (model, asked) = try model(fixture) { .page([3, 2, 1], next: .token("link \($0)")) }
        await model.refresh()
        for _ in 0..<10 { await model.loadMore(near: .post(1)) }
        #expect(asked.lines.count <= 4, "\(asked.lines)")
        #expect("\(model.state(at: .tail))".hasPrefix("stopped: "))
        let count = asked.lines.count
        await model.retry(.tail)
        #expect(asked.lines.count == count + 1)
    }

    /// 8 rose to 15, into the gap above it, so that what follows it is not below 9.
    @Test func aBorderThatRoseIsReachedThroughTheGapAbove() async throws {
        let fixture = try PagerFixture(FeedOptions(order: .bump, pageSize: 2))
        let (model, asked) = try model(fixture, reach: 1) { number in
            switch number {
            case 1: .page([5, 4], next: .end)
            case 2: .page([9, 8], next: .token("below 8"))
            case 3: .page([30, 29], next: .token("below 29"))
            case 4: .page([14, 13], next: .token("below 13"))
            default: .page([20, 19], next: .token("below 19"))
            }
        }
        for _ in 0..<3 { await model.refresh() }
        #expect(picture(model) == "30 29 ~ 9 8 ~ 5 4")
        let lower = model.rows[5].id
        await model.loadMore(near: lower)
        #expect(picture(model) == "30 29 20 19 ~ 9 8 ~ 5 4")
        #expect(asked.lines.count == 5)
        await model.loadMore(near: lower)
        #expect(asked.lines.count == 5, "it is not asked again by itself")
    }

    @Test func aReaderWhoLeavesChangesNothing() async throws {
        let fixture = try PagerFixture()
        let source = Switchboard()
        let model = try model(fixture.pager(source))
        async let refresh: Void = model.refresh()
        try source.answer(await source.next(), .page([9, 8, 7], next: .token("a")))
        await refresh
        let leaving = Task { await model.loadMore(near: .post(7)) }
        let call = try await source.next()
        leaving.cancel()
        await leaving.value
        #expect("\(model.state(at: .tail))" == "idle" && picture(model) == "9 8 7 …")
        source.answer(call, .page([6, 5, 4], next: .end))
        async let staying: Void = model.loadMore(near: .post(7))
        try source.answer(await source.next(), .page([6, 5], next: .end))
        await staying
        #expect(picture(model) == "9 8 7 6 5")
    }

    // MARK: Changes

    @Test func nothingJumpsWhenPostsArrive() async throws {
        let scene = try await scene(9)
        let (server, model) = (scene.server, scene.model)
        await model.loadMore(near: .post(7))
        let before = model.rows.map(\.id)
        server.insert(2)
        server.delete(5)
        await model.refresh()
        #expect(picture(model) == "11 10 9 8 7 6 5 4 …")
        #expect(Array(model.rows.map(\.id).dropFirst(2)) == before)
    }

    @Test(.enabled(if: Compiler.modules != nil, "needs the build's modules"))
    func whatAnotherProcessChangesIsShown() async throws {
        let scene = try await scene(3)
        let model = scene.model
        let following = Task { try await model.follow() }
        let output = try Compiler.buildAndRun(
            """
            import Quire
            let cache = try Cache(at: "\(scene.fixture.feed.cache.path)")
            let feed = try cache.existingFeed(named: "main")!
            try feed.insertLocal(70, body: [7])
            _ = try cache.update(2, body: [2, 2])
            try feed.delete(3)
            """)
        #expect(output == "")
        try await until { self.picture(model) == "70 2 1" && model.rows[1].post?.bytes == [2, 2] }
        following.cancel()
        await #expect(throws: CancellationError.self) { try await following.value }
    }

    /// The rows are the first rows of the feed, with their bodies, whatever happens.
    @Test(arguments: OracleMode.allCases)
    func randomChangesAreFollowed(mode: OracleMode) async throws {
        for seed in UInt64(0)..<4 {
            var random = SplitMix64(seed: seed)
            let history = try OracleHistory(mode: mode)
            let feed = history.feed
            let silent = Pager(feed, source: Scripted { _ in throw PageFailure("no", isTransient: false) })
            let model = try model(silent, reach: 0)
            for event in OracleEvent.history(seed: seed, steps: 60) where event.kind != .reopen {
                try history.run([event])
                if random.chance(0.6) { continue }
                try model.update()
                let shown = model.rows.filter { if case .more = $0 { false } else { true } }
                let rows = try feed.posts(as: [UInt8].self, formats: []).rows(limit: shown.count)
                let isAll = shown.count >= 50
                let count = try feed.cache.withSnapshot { try $0.rows(of: feed, limit: .max).count }
                try #require(isAll || shown.count == count, "\(mode), seed \(seed)")
                for (row, expected) in zip(shown, rows) {
                    try #require(row.post?.id == expected.post?.id, "\(mode), seed \(seed)")
                    try #require(row.post?.bytes == expected.post?.bytes, "\(mode), seed \(seed)")
                    try #require(
                        row.post?.row.isPlaceholder == expected.post?.row.isPlaceholder,
                        "\(mode), seed \(seed)")
                    if case .gap(let gap) = row { try #require(gap.id == expected.gap?.id) }
                }
            }
        }
    }
}
