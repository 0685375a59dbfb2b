import QuireSimulator
import Synchronization
import Testing

@_spi(Unstable) @testable import Quire
@_spi(Unstable) @testable import TestSupport

/// Views, against the filter of the feed's rows.
@Suite struct ViewTests {
    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache(.cramped) }

    /// Even numbers, or a body that begins with a letter above m; by the first letter of the body.
    private static let chosen = ViewJudge(name: "chosen", order: .feed) { id, _, body in
        (number(id) ?? 1) % 2 == 0 || body.first ?? 0 > 109
            ? StoredViewEntry(section: Array(body.prefix(1))) : nil
    }
    /// All but one in four, by the last byte of the body, in sections of three keys.
    private static let sorted = ViewJudge(name: "sorted", order: .keys) { id, key, body in
        (number(id) ?? 3) % 4 == 0
            ? nil
            : StoredViewEntry(
                section: key.map { StoredViewEntry.descending($0 / 3) } ?? [0, 0],
                key: body.suffix(1) + [0] + Array(repeating: 7, count: Int((number(id) ?? 1) % 120)))
    }

    private static func number(_ id: PostID) -> UInt64? {
        UInt64("\(id)".drop { !$0.isNumber }.prefix(9))
    }

    private func makeFeed() throws -> Feed {
        try cache.feed(named: "f", options: FeedOptions(order: .stable, paging: .keyset, pageSize: 3))
    }

    private func take(_ feed: Feed, _ place: Place, _ ids: [UInt64], next: Link, body: UInt8 = 97) throws {
        var answer = Answer(next: next)
        for id in ids {
            answer.append(id: PostID(id), key: Int64(id), body: [body, UInt8(truncatingIfNeeded: id)])
        }
        _ = try feed.ingest(answer, for: try #require(try feed.plan(place).request).ticket)
    }

    private func picture(_ view: StoredView, from rank: Int? = nil) throws -> String {
        try cache.withSnapshot { snapshot in
            let rows = try rank.map { try snapshot.rows(of: view, from: $0, limit: .max) }
            return try (rows ?? snapshot.rows(of: view, limit: .max))
                .map { $0.post.map { "\($0.id)" } ?? "~" }.joined(separator: " ")
        }
    }

    private func info(_ view: StoredView) throws -> StoredViewInfo {
        try cache.withSnapshot { try $0.info(of: view) }
    }

    // MARK: Pictures

    @Test func showsTheGapsOfTheFeed() throws {
        let feed = try makeFeed()
        let view = try Self.chosen.open(feed)
        #expect(try picture(view) == "" && info(view).isCurrent && !info(view).isComplete)
        try take(feed, .head, [6, 5, 4], next: .token("a"))
        #expect(try picture(view) == "6 4")
        try take(feed, .head, [15, 13, 11], next: .token("b"))
        #expect(try picture(view) == "~ 6 4")
        try take(feed, .head, [26, 25, 23], next: .token("c"))
        // two gaps lie between 26 and 6, and no post of the view
        #expect(try picture(view) == "26 ~ 6 4" && picture(view, from: 1) == "6 4")
        let gap = try #require(try cache.withSnapshot { try $0.rows(of: view, limit: 2) }[1].gap)
        #expect(try gap == cache.withSnapshot { try $0.gaps(of: feed) }[0])
        _ = try cache.update(13, body: Array("z".utf8))
        #expect(try picture(view) == "26 ~ 13 ~ 6 4")
        // loading at the gap of the view loads the feed
        try take(feed, .gap(gap.id), [22, 15], next: .token("d"))
        #expect(try picture(view) == "26 22 13 ~ 6 4")
        try take(feed, .tail, [2, 1], next: .end)
        let below = try cache.withSnapshot { try $0.gaps(of: feed) }[0]
        try take(feed, .gap(below.id), [10, 6], next: .token("e"))
        #expect(try picture(view) == "26 22 13 10 6 4 2" && info(view).isComplete)
        #expect(try cache.check() == [])
    }

    @Test func sectionsAndOrders() throws {
        let feed = try makeFeed()
        let byBody = ViewJudge(name: "by body", order: .keys) { _, _, body in
            StoredViewEntry(section: Array(body.prefix(1)), key: Array(body.dropFirst()))
        }
        let view = try byBody.open(feed)
        try take(feed, .head, [9, 8, 7], next: .token("a"), body: 98)
        try take(feed, .tail, [3, 2, 1], next: .token("b"), body: 97)
        #expect(try picture(view) == "1 2 3 7 8 9")
        let sections = try cache.withSnapshot { try $0.sections(of: view) }
        #expect(sections.map(\.name) == [[97], [98]] && sections.map(\.rank) == [0, 3])
        #expect(try picture(view, from: 4) == "8 9" && info(view).posts == 6)
        _ = try cache.update(2, body: [99])
        #expect(try picture(view) == "1 3 7 8 9 2")
        try feed.delete(7)
        #expect(try picture(view) == "1 3 8 9 2")
        let place = try cache.withSnapshot { try $0.place(of: 9, in: view) }
        #expect(place?.rank == 3 && place?.section == [98])
        #expect(try cache.check() == [])
    }

    @Test func anotherVersionIsMadeAnew() throws {
        let feed = try makeFeed()
        try take(feed, .head, [6, 5, 4, 3], next: .end)
        _ = try Self.chosen.open(feed)
        let odd = ViewJudge(name: "chosen", order: .feed, version: 2) { id, _, _ in
            Self.number(id)! % 2 == 1 ? StoredViewEntry() : nil
        }
        let view = try odd.open(feed)
        #expect(try picture(view) == "5 3" && info(view).version == 2)
        let byKeys = ViewJudge(name: "chosen", order: .keys, version: 2, choose: odd.choose)
        #expect(try picture(byKeys.open(feed)) == "3 5")
        #expect(try cache.check() == [])
        // the function of an older version keeps it no longer
        cache.environment.views.set({ _ in StoredViewEntry() }, version: 1, of: feed.number, "chosen")
        try feed.delete(5)
        #expect(try info(view).isCurrent == false)
        #expect(try picture(view) == "3", "another chunk")
        #expect(try picture(byKeys.open(feed)) == "3" && info(view).isCurrent)
        #expect(
            try cache.removeView(named: "chosen", of: feed) && !cache.removeView(named: "chosen", of: feed))
        #expect(throws: QuireError.self) { try picture(view) }
        #expect(try cache.views(of: feed).isEmpty && cache.check() == [])
    }

    /// Does something when it goes.
    private final class Last: Sendable {
        private let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        deinit { body() }
    }

    @Test("What a function has captured may use the views of the cache when it goes")
    func functionsThatGo() throws {
        let (cache, feed) = (cache, try makeFeed())
        let gone = Atomic(0)
        func openOuter() throws {
            let last = Last {
                _ = try? cache.view(named: "inner", of: feed) { _ in nil }
                gone.add(1, ordering: .relaxed)
            }
            _ = try cache.view(named: "outer", of: feed) { _ in
                withExtendedLifetime(last) { StoredViewEntry() }
            }
        }
        try openOuter()
        _ = try cache.view(named: "outer", of: feed) { _ in nil }
        #expect(gone.load(ordering: .relaxed) == 1)
        #expect(try cache.views(of: feed).map(\.name).sorted() == ["inner", "outer"])
        try openOuter()
        #expect(try cache.removeView(named: "outer", of: feed))
        #expect(gone.load(ordering: .relaxed) == 2)
        #expect(try cache.views(of: feed).map(\.name) == ["inner"] && cache.check() == [])
    }

    @Test func aFeedHas255Views() throws {
        let feed = try makeFeed()
        try take(feed, .head, [2, 1], next: .end)
        for number in 1...255 {
            _ = try ViewJudge(name: "\(number)", order: .feed, choose: { _, _, _ in nil }).open(feed)
        }
        let failure = #expect(throws: QuireError.self) { try Self.chosen.open(feed) }
        #expect(failure?.code == .badArgument)
        #expect(throws: QuireError.self) {
            try ViewJudge(name: "", order: .feed, choose: { _, _, _ in nil }).open(feed)
        }
        try cache.removeView(named: "7", of: feed)
        #expect(try picture(Self.chosen.open(feed)) == "2" && cache.check() == [])
        try feed.drop()
        let left = try cache.environment.read {
            try $0.count(.views(of: feed.number)) + $0.count(.viewData(of: feed.number))
        }
        #expect(try left == 0 && cache.check() == [])
    }

    // MARK: A small world

    private enum Step: CaseIterable {
        case head, tail, fill, delete, update, evict, local, restart, open
    }

    /// Each history of three steps behind two segments.
    @Test func everyHistory() throws {
        var histories: [[Step]] = [[]]
        for _ in 0..<3 { histories = histories.flatMap { history in Step.allCases.map { history + [$0] } } }
        for history in histories {
            let world = try ViewTests()
            var next: UInt64 = 40
            _ = try world.makeFeed()
            for step in [.open, .head, .tail, .head] + history + [.open] {
                try world.take(step, &next)
                try world.judge("\(history) at \(step)", mayWait: step != .open)
            }
        }
    }

    private func take(_ step: Step, _ next: inout UInt64) throws {
        if step == .restart { return try storage.reopen() }  // a feed that is held keeps the functions known
        let feed = try #require(try cache.existingFeed(named: "f"))
        let rows = try cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
        let posts = rows.compactMap { $0.post?.id }
        switch step {
        case .head:
            next += 10
            try take(feed, .head, [next + 2, next + 1, next], next: .token("t\(next)"))
        case .tail:
            guard let last = posts.last.flatMap(Self.number), last > 4 else { return }
            try take(feed, .tail, [last - 2, last - 3], next: .token("t\(last - 3)"))
        case .fill:
            guard let gap = rows.compactMap(\.gap).first, let at = rows.firstIndex(of: .gap(gap)) else {
                return
            }
            guard let below = rows[(at + 1)...].lazy.compactMap(\.post).first?.id else { return }
            try take(feed, .gap(gap.id), [Self.number(below)! + 1, Self.number(below)!], next: .token("f"))
        case .delete: if let id = posts.first { try feed.delete(id) }
        case .update:
            for id in posts.prefix(2) { _ = try cache.update(id, body: [120, UInt8(posts.count)]) }
        case .evict: try feed.evict(Array(posts.dropFirst().prefix(3)))
        case .local: _ = try feed.insertLocal(PostID("local\(next)")!, body: [122])
        case .restart: break
        case .open: for judge in [Self.chosen, Self.sorted] { _ = try judge.open(feed) }
        }
    }

    private func judge(_ what: String, mayWait: Bool) throws {
        let feed = try #require(try cache.existingFeed(named: "f"))
        let views = try cache.views(of: feed)
        try cache.withSnapshot { snapshot in
            for view in views {
                let judge = view.name == "chosen" ? Self.chosen : Self.sorted
                try judge.require(view, in: snapshot, mayWait: mayWait, what)
            }
        }
        try #require(try cache.check() == [], "\(what)")
    }

    // MARK: Random histories

    /// Servers that insert, delete and reorder, pages in any order, prunes, restarts, and processes that do
    /// not know the functions.
    @Test(arguments: OracleMode.allCases) func isTheFilterAfterEachChange(mode: OracleMode) throws {
        var waits = 0
        for seed in 0..<UInt64(Specification.number("QUIRE_SEEDS") ?? 12) {
            var tuning = Tuning()
            if seed % 2 == 1 { tuning.chunkLimit = 3 }
            let history = try OracleHistory(mode: mode, tuning: tuning)
            var random = SplitMix64(seed: seed &+ 99)
            var knows = false
            for (step, event) in OracleEvent.history(seed: seed, steps: 70).enumerated() {
                let what = "\(mode), seed \(seed), step \(step), \(event.kind)"
                if random.chance(knows ? 0.02 : 0.2) {
                    knows = true
                    for judge in [Self.chosen, Self.sorted] { _ = try judge.open(history.feed) }
                }
                try history.run([event])
                if event.kind == .reopen { knows = false }
                try update(history, &random)
                let feed = history.feed
                let views = try feed.cache.views(of: feed)
                try feed.cache.withSnapshot { snapshot in
                    for view in views {
                        let judge = view.name == "chosen" ? Self.chosen : Self.sorted
                        if try !snapshot.info(of: view).isCurrent { waits += 1 }
                        try judge.require(view, in: snapshot, mayWait: !knows, what)
                    }
                }
                if step % 10 == 0 { try #require(try feed.cache.check() == [], "\(what)") }
            }
        }
        #expect(waits > 0, "no process was without the functions")
    }

    /// Sometimes another body comes for a post, without a page.
    private func update(_ history: OracleHistory, _ random: inout SplitMix64) throws {
        guard random.chance(0.2), !history.view.entries.isEmpty else { return }
        let id = random.pick(history.view.entries)
        _ = try history.feed.cache.update(id, body: [UInt8(random.below(128)), UInt8(random.below(256))])
        try history.look()
    }
}
