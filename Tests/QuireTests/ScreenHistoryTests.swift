import QuireSimulator
import Testing

@_spi(Unstable) @testable import Quire
@_spi(Unstable) @testable import TestSupport

/// Screens over a cache with a budget, with views, beside other processes. Random histories, judged after
/// each step: a window is a slice of the rows and never jumps, a view is the filter of the rows, the cache is
/// within its budget by what one commit may do, nothing visible, pinned or local leaves; at the end all that
/// left is fetched again.
///
///     make histories              100,000 operations
@Suite struct ScreenHistoryTests {
    /// Steps of a history.
    private static let steps = 150

    @Test func everythingAtOnce() async throws {
        let count = UInt64(Specification.number("QUIRE_HISTORIES") ?? 10)
        var (operations, processes) = (0, 0)
        var views = (current: 0, waiting: 0)
        for seed in 0..<count {
            let history = try ScreenHistory(seed: seed)
            for step in 0..<Self.steps {
                let what = "seed \(seed), step \(step)"
                if history.random.chance(0.01) {
                    let other = history.otherProcess()
                    await #expect(processExitsWith: .success) { [other = other as OtherProcess] in
                        try other.run()
                    }
                    try history.judge(what)
                    processes += 1
                } else if let mistake = try history.step(what) {
                    Issue.record("\(what): \(mistake)")
                    return
                }
                if step % 25 == 0 { #expect(try history.world.cache.check() == [], "\(what)") }
            }
            operations += history.operations
            views.current += history.views.current
            views.waiting += history.views.waiting
            if let missing = try history.end() {
                Issue.record("seed \(seed): \(missing)")
                return
            }
        }
        #expect(views.current > 0 && views.waiting > 0, "\(views)")
        print("\(count) histories, \(operations) operations, \(processes) other processes, \(views) views")
    }
}

private final class ScreenHistory {
    let world: BudgetWorld
    var random: SplitMix64
    private(set) var operations = 0
    /// The screen of each feed: the window, and the list that its differences have made.
    private var screens: [String: (window: FeedWindow, list: [RowID])] = [:]
    private static let even = ViewJudge(name: "even", order: .feed) { id, _, body in
        (body.first ?? 0) % 2 == 0 ? StoredViewEntry(section: Array("\(id)".utf8.suffix(1))) : nil
    }
    private static let sorted = ViewJudge(name: "sorted", order: .keys) { id, _, body in
        (body.last ?? 0) % 3 == 0 ? nil : StoredViewEntry(key: body.suffix(2) + [])
    }
    /// The feeds whose views this process keeps.
    private var kept: Set<String> = []

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        var budget = CacheBudget()
        switch seed % 4 {
        case 0: budget.cache.posts = 30
        case 1: budget.feed.posts = 12
        case 2: budget.cache.bodyBytes = 2_000
        default: (budget.cache.posts, budget.collection.posts, budget.feed.bodyBytes) = (25, 15, 700)
        }
        world = try BudgetWorld(budget, feeds: ["a": "", "b": "x", "c": "x"], posts: 40, pageSize: 3)
    }

    func otherProcess() -> OtherProcess {
        let name = random.pick(world.names)
        return OtherProcess(
            path: world.temporary.path, feed: name, posts: world.servers[name]!.ids.count,
            pageSize: world.pageSize, seed: random.next())
    }

    // MARK: Steps

    /// Returns what is wrong.
    func step(_ what: String) throws -> String? {
        operations += 1
        let name = random.pick(world.names)
        let held = try world.rows(name).compactMap(\.self)
        let place = try world.place(name, &random)
        var (came, inUse): (Set<PostID>, String?) = ([], nil)
        let lost = try world.lostVisible {
            switch random.below(20) {
            case 0...6: came = Set(try world.load(name, place))
            case 7: for _ in 0..<4 { came = Set(try world.load(name, .tail)) }
            case 8:
                try world.plan(name, place)
                inUse = name
            case 9: came = Set(try world.answerOldest())
            case 10: if !held.isEmpty { try world.pin(name, random.pick(held)) }
            case 11: try world.unpinAll(name)
            case 12: try world.insertLocal(name)
            case 13: if random.chance(0.3) { try restart() } else { try world.read(name) }
            case 14:
                if !held.isEmpty { _ = try world.update(name, random.pick(held), [UInt8(random.below(256))]) }
            case 15: if random.chance(0.4) { try keepViews(of: name) }
            case 16, 17: try scroll(name)
            default: world.grow(name)
            }
        }
        if !lost.isEmpty { return "visible posts left: \(lost)" }
        if let excess = try world.excess(came: came, inUse: inUse) { return excess }
        try judge(what)
        return try world.mistake()
    }

    private func keepViews(of name: String) throws {
        let feed = try world.feed(name)
        for judge in [Self.even, Self.sorted] { _ = try judge.open(feed) }
        kept.insert(name)
    }

    /// Opens the screen of a feed, or moves the reader's eyes. What the window holds is visible.
    private func scroll(_ name: String) throws {
        let feed = try world.feed(name)
        try world.cache.withSnapshot { snapshot in
            guard var screen = screens[name], !screen.window.rows.isEmpty else {
                let rank = random.below(max(1, try snapshot.rowCount(of: feed)))
                let window = try snapshot.window(
                    of: feed, at: .rank(rank), above: random.below(3), below: random.below(4))
                screens[name] = (window, window.rows.map(\.name))
                return
            }
            screen.window.look(
                at: random.chance(0.1) ? nil : random.pick(screen.window.rows).name, above: random.below(3),
                below: random.below(4))
            screens[name] = screen
        }
    }

    /// The program ends and begins again at the saved places.
    private func restart() throws {
        let saved = screens.mapValues { ($0.window.anchor, $0.window.nearestPosts) }
        (screens, kept) = ([:], [])
        try world.restart()
        for (name, (anchor, posts)) in saved {
            let feed = try world.feed(name)
            let window = try world.cache.withSnapshot {
                try $0.window(of: feed, at: anchor == nil ? .head : .nearest(posts), above: 2, below: 2)
            }
            if case .post(let id)? = anchor, try world.rows(name).contains(id) {
                #expect(window.anchor == anchor, "another place after the restart")
            }
            screens[name] = (window, window.rows.map(\.name))
        }
    }

    // MARK: Judging

    func judge(_ what: String) throws {
        for name in world.names {
            try judgeScreen(name, what)
            let feed = try world.feed(name)
            let known = try world.cache.views(of: feed)
            try world.cache.withSnapshot { snapshot in
                for view in known {
                    let judge = view.name == "even" ? Self.even : Self.sorted
                    // another process may have written since
                    try judge.require(view, in: snapshot, mayWait: true, what)
                    if try snapshot.info(of: view).isCurrent {
                        views.current += 1
                    } else {
                        views.waiting += 1
                    }
                }
            }
        }
    }

    /// How many of the views that were judged were current, and how many waited for a function.
    private(set) var views = (current: 0, waiting: 0)

    private func judgeScreen(_ name: String, _ what: String) throws {
        guard var (window, list) = screens[name] else { return }
        let before = window
        try world.cache.withSnapshot { snapshot in
            let difference = try window.update(to: snapshot)
            let all = try world.rowNames(name)
            let rows = window.rows.map(\.name)
            list = difference.applied(to: list) { rows[$0] }
            try #require(list == rows, "\(what): the differences give other rows")
            try #require(rows == Array(all[window.rank...].prefix(rows.count)), "\(what): not the slice")
            guard let anchor = before.anchor else { return }
            // nothing moves in these feeds, so what stays stays the anchor
            let stayed = before.rows.map(\.name).filter(all.contains)
            try #require(!stayed.contains(anchor) || window.anchor == anchor, "\(what): leaves \(anchor)")
            try #require(window.anchor.map(stayed.contains) ?? stayed.isEmpty, "\(what): jumps")
        }
        screens[name] = (window, list)
        try world.show(name, Set(window.rows.compactMap { $0.post?.id }))
    }

    /// Fetches all that is missing; then views opened anew are the filter of the whole feed.
    func end() throws -> String? {
        screens = [:]
        if let missing = try world.missingAfterRefill() { return missing }
        for name in world.names {
            try keepViews(of: name)
            let feed = try world.feed(name)
            let views = try world.cache.views(of: feed)
            try world.cache.withSnapshot { snapshot in
                for view in views {
                    let judge = view.name == "even" ? Self.even : Self.sorted
                    try judge.require(view, in: snapshot, mayWait: false, "at the end")
                    try #require(try snapshot.info(of: view).isComplete, "\(view.name) at the end")
                }
            }
        }
        #expect(try world.cache.check() == [])
        return nil
    }
}
