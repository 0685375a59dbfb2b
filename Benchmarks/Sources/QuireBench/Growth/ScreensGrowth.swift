import Quire

/// What screens read, and what it costs to keep it, as the posts of the cache grow: a feed with two views
/// beside one without, eight feeds as one list, and a cache that is as large as its budget.
struct ScreensGrowth {
    private let folder: String
    private let size: Int
    private let seed: UInt64

    private static let samples = 200
    private static let feeds = 8
    private static let rows = 20

    init(in folder: String, posts: Int, seed: UInt64) {
        (self.folder, size, self.seed) = (folder, posts, seed)
    }

    func measure(into result: inout GrowthResult) throws {
        func add(_ operation: String, _ cost: GrowthCost) {
            result.add(cost, to: operation, by: .posts, at: size)
        }
        try measureViews(add)
        try merge(add)
        try measureBudget(add)
    }

    // MARK: Views

    /// Half of the posts of a feed, once in its order and once by keys, in a hundred sections.
    private func measureViews(_ add: (String, GrowthCost) -> Void) throws {
        let cache = try Cache(at: folder + "/views.quire")
        let plain = try NumberedFeed("plain", in: cache, salt: 8, FeedOptions(order: .stable))
        let viewed = try NumberedFeed("viewed", in: cache, salt: 9, FeedOptions(order: .stable))
        let end = try plain.fill(size / 2)
        _ = try viewed.fill(size / 2)
        let (inFeed, byKeys) = (try open(.feed, viewed), try open(.keys, viewed))
        let posts = try cache.withSnapshot { try $0.info(of: inFeed).posts }
        try sample(cache, "view-opened", add) { try Self.total($0.rows(of: inFeed, limit: Self.rows), $0) }
        var random = SplitMix64(seed: seed)
        try sample(cache, "view-by-rank", add) {
            try Self.total($0.rows(of: inFeed, from: random.below(posts - Self.rows), limit: Self.rows), $0)
        }
        try sample(cache, "view-by-keys", add) { try Self.total($0.rows(of: byKeys, limit: Self.rows), $0) }
        add("page-unviewed", try append(to: plain, from: end))
        add("page-viewed", try append(to: viewed, from: end))
    }

    private func open(_ order: StoredViewOrder, _ feed: NumberedFeed) throws -> StoredView {
        try feed.feed.cache.view(named: "\(order)", of: feed.feed, order: order) { post in
            guard let key = post.key, key % 2 == 0, post.body.byteCount > 0 else { return nil }
            return StoredViewEntry(
                section: [UInt8(key.magnitude / 2 % 100)], key: StoredViewEntry.descending(key))
        }
    }

    // MARK: Merged feeds

    private func merge(_ add: (String, GrowthCost) -> Void) throws {
        let cache = try Cache(at: folder + "/merged.quire")
        let feeds = try (0..<Self.feeds).map { number in
            let salt = UInt64(20 + number)
            let feed = try NumberedFeed("\(number)", in: cache, salt: salt, FeedOptions(order: .stable))
            _ = try feed.fill(size / Self.feeds)
            return feed.feed
        }
        try sample(cache, "merged-opened", add) { snapshot in
            let merged = try snapshot.mergedRows(of: feeds, limit: Self.rows)
            return try Self.total(merged.rows.compactMap { $0.post.map { .post($0) } }, snapshot)
        }
    }

    // MARK: A full budget

    private func measureBudget(_ add: (String, GrowthCost) -> Void) throws {
        for isFull in [false, true] {
            var options = CacheOptions()
            if isFull {
                var budget = CacheBudget()
                budget.cache.posts = size
                options.budget = budget
            }
            let cache = try Cache(at: folder + "/budget-\(isFull).quire", options: options)
            let feed = try NumberedFeed("feed", in: cache, salt: 10, FeedOptions(order: .stable))
            let end = try feed.fill(size)
            let cost = try append(to: feed, from: end)
            add(isFull ? "page-full-budget" : "page-no-budget", cost)
            let posts = try cache.withSnapshot { try $0.info(of: feed.feed).posts }
            guard (posts <= size) == isFull else { throw EngineFailure("\(posts) posts of \(size)") }
        }
    }

    // MARK: Helpers

    /// Pages at the tail, each in its own commit.
    private func append(to feed: NumberedFeed, from number: Int) throws -> GrowthCost {
        var meter = GrowthMeter()
        for sample in 0..<Self.samples {
            let first = number + sample * NumberedFeed.pageSize
            let answer = feed.answer(first..<first + NumberedFeed.pageSize, following: "page=\(first)")
            let outcome = try meter.measure { try feed.fetch(.tail, answer) }
            try feed.require(outcome, .ok)
        }
        return meter.cost
    }

    private func sample(
        _ cache: Cache, _ operation: String, _ add: (String, GrowthCost) -> Void,
        _ body: (borrowing Snapshot) throws -> Int
    ) throws {
        var meter = GrowthMeter(isWriting: false)
        for _ in 0..<2_000 {
            let count = try meter.measure { try cache.withSnapshot { try body($0) } }
            guard count == Self.rows else { throw EngineFailure("\(operation): \(count) posts") }
        }
        add(operation, meter.cost)
    }

    /// Returns how many posts there are with a body, which it reads.
    private static func total(_ rows: [FeedRow], _ snapshot: borrowing Snapshot) throws -> Int {
        var count = 0
        for post in rows.compactMap(\.post) where try snapshot.body(of: post).byteCount > 0 { count += 1 }
        return count
    }
}
