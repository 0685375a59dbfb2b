import QuireSimulator
import Testing

@_spi(Unstable) @testable import Quire

/// The budget of a cache, kept in ordinary commits: Docs/budget.md.
@Suite struct BudgetTests {
    private static func budget(_ change: (inout CacheBudget) -> Void) -> CacheBudget {
        var budget = CacheBudget()
        change(&budget)
        return budget
    }

    // MARK: A small world

    private enum Step: CaseIterable {
        case head, tail, other, planTail, answer, pinLast, showMiddle, local, readOther, restart
    }

    /// Each history of three steps. The cache may hold six posts; pages have two.
    @Test func everyHistory() throws {
        var histories: [[Step]] = [[]]
        for _ in 0..<3 { histories = histories.flatMap { history in Step.allCases.map { history + [$0] } } }
        for (i, history) in histories.enumerated() {
            let world = try BudgetWorld(Self.budget { $0.cache.posts = 6 }, posts: 9, pageSize: 2)
            for step in [.head, .tail, .tail] + history {
                if let mistake = try Self.take(step, world) {
                    Issue.record("\(history) at \(step): \(mistake)")
                    return
                }
            }
            #expect(try world.cache.check() == [], "\(history)")
            if i % 10 == 0, let missing = try world.missingAfterRefill() {
                Issue.record("\(history): \(missing)")
                return
            }
        }
    }

    private static func take(_ step: Step, _ world: BudgetWorld) throws -> String? {
        var came: Set<PostID> = []
        let lost = try world.lostVisible {
            switch step {
            case .head:
                world.grow("a")
                came = Set(try world.load("a", .head))
            case .tail: came = Set(try world.load("a", .tail))
            case .other: came = Set(try world.load("b", .head))
            case .planTail: try world.plan("a", .tail)
            case .answer: try world.answerOldest()
            case .pinLast:
                if let last = try world.rows("a").last ?? nil, world.pinned["a"] == nil {
                    try world.pin("a", last)
                }
            case .showMiddle:
                let rows = try world.rows("a").compactMap(\.self)
                if !rows.isEmpty { try world.show("a", [rows[rows.count / 2]]) }
            case .local: if world.local["a"] == nil { try world.insertLocal("a") }
            case .readOther: try world.read("b")
            case .restart: try world.restart()
            }
        }
        if !lost.isEmpty { return "visible posts left: \(lost)" }
        let rows = try world.rows("a").compactMap(\.self) + world.rows("b").compactMap(\.self)
        if !came.isSubset(of: rows) { return "the page that came has left: \(came) of \(rows)" }
        if let excess = try world.excess(came: came, inUse: step == .planTail ? "a" : nil) { return excess }
        return try world.mistake()
    }

    // MARK: Random histories

    @Test(arguments: 1...12)
    func randomHistories(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let budget = Self.budget {
            switch seed % 6 {
            case 0: $0.cache.posts = 30
            case 1: $0.cache.bodyBytes = 2_000
            case 2: $0.feed.posts = 10
            case 3: $0.collection = .init(posts: 14, bodyBytes: 1_500)
            case 4: ($0.cache.posts, $0.collection.posts, $0.feed.bodyBytes) = (25, 15, 700)
            default:
                ($0.feeds["b"], $0.collections["x"], $0.cache.posts) = (.init(posts: 4), .init(posts: 9), 40)
            }
        }
        let feeds = ["a": "", "b": "x", "c": "x", "d": "", "e": "y"]
        let world = try BudgetWorld(budget, feeds: feeds, posts: 40, pageSize: 3)
        for step in 0..<150 {
            if let mistake = try Self.step(world, &random) {
                Issue.record("seed \(seed), step \(step): \(mistake)")
                return
            }
            if step % 10 == 0 { #expect(try world.cache.check() == [], "seed \(seed), step \(step)") }
        }
        if let missing = try world.missingAfterRefill() { Issue.record("seed \(seed): \(missing)") }
    }

    private static func step(_ world: BudgetWorld, _ random: inout SplitMix64) throws -> String? {
        let name = random.pick(world.names)
        let rows = try world.rows(name)
        let held = rows.compactMap(\.self)
        let place = try world.place(name, &random)
        var (came, inUse): (Set<PostID>, String?) = ([], nil)
        let lost = try world.lostVisible {
            switch random.below(16) {
            case 0...6: came = Set(try world.load(name, place))
            case 7: for _ in 0..<4 { came = Set(try world.load(name, .tail)) }
            case 8:
                try world.plan(name, place)
                inUse = name
            case 9: came = Set(try world.answerOldest())
            case 10: if !held.isEmpty { try world.pin(name, random.pick(held)) }
            case 11: try world.unpinAll(name)
            case 12: try world.show(name, held.isEmpty ? [] : [random.pick(held)])
            case 13: try world.insertLocal(name)
            case 14: random.chance(0.3) ? try world.restart() : try world.read(name)
            default: world.grow(name)
            }
        }
        if !lost.isEmpty { return "visible posts left: \(lost)" }
        if let excess = try world.excess(came: came, inUse: inUse) { return excess }
        return try world.mistake()
    }

    // MARK: Which feeds, which pages

    @Test func theLeastRecentlyUsedFeedGives() throws {
        let feeds = ["a": "", "b": "", "c": ""]
        let world = try BudgetWorld(Self.budget { $0.cache.posts = 12 }, feeds: feeds, posts: 20, pageSize: 4)
        for name in ["a", "b", "c"] { try world.load(name, .head) }
        try world.read("a")
        try world.load("c", .tail)
        #expect(try ["a", "b", "c"].map { try world.info($0).posts } == [4, 0, 8])
        // reads are noted with the next commit, and so outlive the process
        try world.load("b", .head)
        #expect(try ["a", "b", "c"].map { try world.info($0).posts } == [0, 4, 8])
        try world.load("a", .head)
        try world.read("b")
        try world.pin("a", world.servers["a"]!.ids[0])
        try world.restart()
        try world.load("a", .tail)
        #expect(try ["a", "b", "c"].map { try world.info($0).posts } == [8, 4, 0])
    }

    /// `[a1 … a8]` is read, and the next commit notes that. A later one takes four of its posts, which is no
    /// use of it: the note stays.
    @Test func whatGivesKeepsTheNoteOfItsUse() throws {
        let feeds = ["a": "", "b": "", "c": ""]
        let world = try BudgetWorld(Self.budget { $0.cache.posts = 16 }, feeds: feeds, posts: 20, pageSize: 4)
        func use() throws -> UInt64 {
            let number = try world.feed("a").number
            return try world.cache.environment.read { try $0.feed(number).used }
        }
        for place in [Place.head, .tail] { try world.load("a", place) }
        for name in ["b", "c"] { try world.load(name, .head) }
        let loaded = try use()
        try world.read("a")
        try world.load("c", .tail)
        let read = try use()
        #expect(read > loaded)
        try world.load("c", .tail)
        #expect(try ["a", "b", "c"].map { try world.info($0).posts } == [4, 0, 12])
        #expect(try use() == read)
    }

    @Test func whatIsFarFromTheFocusLeavesFirst() throws {
        let world = try BudgetWorld(Self.budget { $0.feed.posts = 8 }, posts: 40, pageSize: 2)
        let list = world.servers["a"]!.ids
        try world.load("a", .head)
        for _ in 0..<9 { try world.load("a", .tail) }
        // the reader scrolls down: the window follows
        #expect(try world.rows("a") == Array(list[12..<20]))
        // the screen shows the lower end, then the upper one
        try world.show("a", [list[12]])
        try world.load("a", .tail)
        #expect(try world.rows("a") == Array(list[12..<18]) + [nil] + Array(list[20..<22]))
    }

    @Test func aRequestUnderWayKeepsItsFeed() throws {
        let world = try BudgetWorld(CacheBudget(), posts: 20, pageSize: 2)
        for place in [Place.head, .tail, .tail] { try world.load("a", place) }
        world.budget.cache.posts = 2
        try world.restart()
        try world.plan("a", .tail)
        #expect(try world.info("a").posts == 6)
        try world.answerOldest()
        #expect(try world.rows("a") == Array(world.servers["a"]!.ids[6..<8]))
    }

    @Test func emptyFeedsStopNothing() throws {
        var feeds = ["a": "", "z": ""]
        for i in 10..<50 { feeds["empty \(i)"] = "" }
        let world = try BudgetWorld(Self.budget { $0.cache.posts = 6 }, feeds: feeds, posts: 20, pageSize: 2)
        for place in [Place.head, .tail, .tail] { try world.load("z", place) }
        try world.restart()
        for place in [Place.head, .tail, .tail, .tail, .tail] { try world.load("a", place) }
        #expect(try world.info("a").posts == 6 && world.info("z").posts == 0)
    }

    @Test func manyPinnedPagesStopNothing() throws {
        let world = try BudgetWorld(CacheBudget(), posts: 800, pageSize: 2)
        try world.load("a", .head)
        for _ in 0..<380 { try world.load("a", .tail) }
        for id in world.servers["a"]!.ids[100..<760] { try world.pin("a", id) }
        world.budget.cache.posts = 100
        try world.restart()
        for _ in 0..<40 {
            world.grow("b")
            try world.load("b", .head)
        }
        #expect(try world.info("a").posts == 660)
        #expect(try world.mistake() == nil)
        #expect(try world.cache.check() == [])
    }

    // MARK: Limits

    @Test func collectionsAreKeptEachByItself() throws {
        let feeds = ["a": "x", "b": "x", "c": "y", "d": ""]
        let world = try BudgetWorld(
            Self.budget {
                $0.collection.posts = 6
                $0.collections["y"] = .init(posts: 10)
            }, feeds: feeds, posts: 30, pageSize: 2)
        for place in [Place.head, .tail, .tail, .tail, .tail, .tail, .tail] {
            for name in world.names { try world.load(name, place) }
            #expect(try world.info("a").posts + world.info("b").posts <= 6)
            #expect(try world.info("c").posts <= 10 && world.info("d").posts <= 6)
        }
        #expect(try world.info("c").posts == 10 && world.info("d").posts == 6)
        #expect(try world.cache.check() == [])
        let evicted: UInt64 = 14 * 4 - 6 - 10 - 6
        #expect(try world.statistics.evictions.collection.posts == evicted)
        #expect(try world.missingAfterRefill() == nil)
    }

    @Test func feedsHaveLimitsByName() throws {
        let world = try BudgetWorld(
            Self.budget {
                $0.feed.bodyBytes = 400
                $0.feeds["b"] = .init(posts: 20)
            }, posts: 60, pageSize: 2)
        try world.load("a", .head)
        try world.load("b", .head)
        for _ in 0..<15 {
            try world.load("a", .tail)
            try world.load("b", .tail)
            #expect(try world.info("a").bodyBytes <= 400 && world.info("b").posts <= 20)
        }
        #expect(try world.info("b").posts == 20)
    }

    @Test func oldPagesLeave() throws {
        let world = try BudgetWorld(Self.budget { $0.cache.age = 50 }, posts: 60, pageSize: 2)
        try world.load("a", .head)
        for _ in 0..<4 {
            world.time += 20
            try world.load("a", .tail)
        }
        // fetched at 1000, 1020, 1040, 1060, 1080
        #expect(try world.rows("a") == Array(world.servers["a"]!.ids[4..<10]))
        // another feed's answer lets them go, too
        world.time = 1_200
        for _ in 0..<3 {
            world.grow("b")
            try world.load("b", .head)
        }
        #expect(try world.info("a").posts == 0)
        #expect(try world.statistics.evictions.age.pages == 5)
    }

    @Test func theFileIsKept() throws {
        let world = try BudgetWorld(CacheBudget(), posts: 4_000, pageSize: 20)
        try world.load("a", .head)
        for _ in 0..<60 { try world.load("a", .tail) }
        let limit = Int(try world.statistics.usedBytes)
        world.budget.fileBytes = limit
        try world.restart()
        for _ in 0..<120 {
            try world.load("a", .tail)
            #expect(try Int(world.statistics.usedBytes) <= limit + 64 * 1_024)
        }
        #expect(try world.info("a").posts >= 200)
        #expect(try world.statistics.evictions.file.posts > 1_000)
        #expect(try world.cache.check() == [])
    }

    // MARK: What it says

    @Test func hitsAndMissesAreCounted() throws {
        let world = try BudgetWorld(Self.budget { $0.feed.posts = 4 }, posts: 20, pageSize: 2)
        for place in [Place.head, .tail, .tail, .tail] { try world.load("a", place) }
        for _ in 0..<3 { try world.read("a") }
        var evictions = try world.statistics.evictions
        #expect(evictions.feed == .init(pages: 2, posts: 4, bodyBytes: evictions.feed.bodyBytes))
        #expect(evictions.all == evictions.feed && evictions.hits == 3 && evictions.misses == 0)
        try world.load("a", .head)
        try world.restart()
        evictions = try world.statistics.evictions
        #expect(evictions.hits == 3 && evictions.misses == 1)
    }

    @Test func readingWritesNothing() throws {
        let world = try BudgetWorld(Self.budget { $0.cache.posts = 4 }, posts: 20, pageSize: 2)
        try world.load("a", .head)
        let before = try world.statistics.generation
        try world.read("a")
        try world.show("a", [1])
        #expect(try world.cache.batch { _ in } == ())
        #expect(try world.statistics.generation == before)
    }

    @Test func aReplicaKeepsNoBudget() throws {
        let temporary = try TemporaryCache()
        var options = CacheOptions(budget: Self.budget { $0.cache.posts = 0 })
        options.durability = .deferred
        let replica = try Replica(at: temporary.folder + "/replica.quire", options: options)
        #expect(replica.cache.environment.budget == nil)
    }

    @Test func aDryRunTakesNothing() throws {
        let world = try BudgetWorld(Self.budget { $0.cache.posts = 2 }, posts: 20, pageSize: 2)
        try world.load("a", .head)
        let feed = try world.feed("b")
        try world.cache.dryRun { batch in
            var answer = Answer(next: .end)
            answer.append(id: 1, body: [1])
            let request = try #require(try batch[feed].plan(.head).request)
            _ = try batch[feed].ingest(answer, for: request.ticket)
        }
        #expect(try world.info("a").posts == 2)
    }
}
