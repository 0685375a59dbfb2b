import Quire

/// How operations grow with the posts of the cache: one feed of stable order and one whose posts rise, each
/// with half of the posts. Whatever is changed lies in the middle of a feed.
struct PostsGrowth {
    private let cache: Cache
    private let stable: NumberedFeed
    private let bump: NumberedFeed
    private let size: Int
    private let seed: UInt64

    private static let samples = 40

    init(in folder: String, posts: Int, seed: UInt64) throws {
        cache = try Cache(at: folder + "/posts.quire")
        stable = try NumberedFeed("stable", in: cache, salt: 1, FeedOptions(order: .stable))
        bump = try NumberedFeed("bump", in: cache, salt: 2, FeedOptions(order: .bump))
        (size, self.seed) = (posts, seed)
    }

    func measure(into result: inout GrowthResult) throws {
        func add(_ operation: String, _ cost: GrowthCost) {
            result.add(cost, to: operation, by: .posts, at: size)
        }
        let count = try stable.fill(size / 2)
        let end = try bump.fill(size / 2)
        try read(count, add)
        add("local-added", try addLocalPosts())
        add("contradiction-around", try contradictAround(end))
        add("contradiction-far", try contradictFar(end))
        add("contradiction-tail", try contradictAtTail(end))
        add("rise", try rise(end))
        add("post-deleted", try deletePosts(count))
        add("post-evicted", try evictPosts(count))
        let pages = try evictPages(count, add)
        add("page-filled", try fill(pages))
        add("page-committed", try append(from: end))
        add("page-pruned", try prune())
        add("page-committed-pruned", try append(from: end + Self.samples * NumberedFeed.pageSize))
    }

    // MARK: Reading

    private func read(_ count: Int, _ add: (String, GrowthCost) -> Void) throws {
        let (feed, pages) = (stable.feed, count / NumberedFeed.pageSize)
        func sample(_ operation: String, _ body: (borrowing Snapshot, Int) throws -> Bool) throws {
            var random = SplitMix64(seed: seed)
            var meter = GrowthMeter(isWriting: false)
            for _ in 0..<2_000 {
                let number = random.below(count)
                let isRight = try meter.measure { try cache.withSnapshot { try body($0, number) } }
                if !isRight { throw EngineFailure("\(operation): a wrong answer for number \(number)") }
            }
            add(operation, meter.cost)
        }
        try sample("page-by-index") { try $0.page(at: $1 % pages, of: feed)?.index == $1 % pages }
        try sample("row-by-rank") {
            try $0.rows(of: feed, from: $1, limit: 1).first?.post?.id == stable.id($1)
        }
        try sample("window-opened") { snapshot, number in
            let window = try snapshot.window(of: feed, at: .rank(number), above: 0, below: 19)
            var bytes = 0
            for post in window.rows.compactMap(\.post) { bytes += try snapshot.body(of: post).byteCount }
            return window.rows.first?.post?.id == stable.id(number) && bytes > 0
        }
        try sample("rank-of-post") { try $0.rank(of: stable.id($1), in: feed) == $1 }
        try sample("rank-of-key") { try $0.rank(ofKey: stable.key($1), in: feed) == $1 }
    }

    // MARK: Writing

    /// Numbers in a part of a feed, evenly spread, one for each sample. Thirds of the middle half have no
    /// page in common.
    private func spread(_ count: Int, third: Int) -> [Int] {
        let (part, page) = (count / 6, NumberedFeed.pageSize)
        let (first, length) = (count / 4 + part * third + page, part - 2 * page)
        return (0..<Self.samples).map { first + length * $0 / Self.samples }
    }

    private func addLocalPosts() throws -> GrowthCost {
        let ids = (0..<Self.samples).map { PostID("local-\($0)")! }
        var meter = GrowthMeter()
        for id in ids { _ = try meter.measure { try stable.feed.insertLocal(id, body: [1, 2, 3]) } }
        for id in ids { try stable.feed.removeLocal(id) }
        return meter.cost
    }

    /// A page around a post shows two neighbours the other way round, with their old keys.
    private func contradictAround(_ count: Int) throws -> GrowthCost {
        var meter = GrowthMeter()
        for middle in spread(count, third: 0) {
            let half = NumberedFeed.pageSize / 2
            var answer = bump.answer(middle - half..<middle + half, following: "around")
            answer.posts.swapAt(half - 4, half + 4)
            let outcome = try meter.measure { try bump.fetch(.around(bump.id(middle)), answer) }
            if outcome.disorder.isEmpty { throw EngineFailure("no contradiction: \(outcome)") }
        }
        return meter.cost
    }

    /// A page around a post shows among its neighbours one that stands far below, with its old key.
    private func contradictFar(_ count: Int) throws -> GrowthCost {
        var meter = GrowthMeter()
        for middle in spread(count, third: 1) {
            let half = NumberedFeed.pageSize / 2
            let far = middle + count / 2 - count / 5
            let line = Array(middle - half..<middle) + [far] + Array(middle..<middle + half)
            let answer = bump.answer(line, following: "far")
            let outcome = try meter.measure { try bump.fetch(.around(bump.id(middle)), answer) }
            if outcome.disorder != [bump.id(far)] { throw EngineFailure("no contradiction: \(outcome)") }
        }
        return meter.cost
    }

    /// A page below the last post shows a post again that stands far above.
    private func contradictAtTail(_ count: Int) throws -> GrowthCost {
        var meter = GrowthMeter()
        for known in spread(count, third: 1) {
            let answer = bump.answer([count - 1, known, count, count + 1], following: "tail")
            let outcome = try meter.measure { try bump.fetch(.tail, answer) }
            try bump.require(outcome, .contradiction)
        }
        return meter.cost
    }

    /// A refresh shows ten posts of the middle on top, and the post that was on top.
    private func rise(_ count: Int) throws -> GrowthCost {
        var meter = GrowthMeter()
        let samples = Self.samples / 2
        var (top, topRise) = (0, Int64(0))
        for sample in 0..<samples {
            let first = count / 2 + sample
            let risen = (0..<10).map { first + count / 3 * $0 / 10 / samples * samples }
            let rise = Int64(count) * Int64(sample + 1)
            var answer = bump.answer(risen + [top], rise: rise, following: "head")
            answer.posts[10].key = bump.key(top) + topRise
            let outcome = try meter.measure { try bump.fetch(.head, answer) }
            guard outcome.moved.count == 10 else { throw EngineFailure("not ten rose: \(outcome)") }
            (top, topRise) = (risen[0], rise)
        }
        return meter.cost
    }

    private func deletePosts(_ count: Int) throws -> GrowthCost {
        var meter = GrowthMeter()
        for number in spread(count, third: 0) {
            try meter.measure { try stable.feed.delete(stable.id(number)) }
        }
        return meter.cost
    }

    private func evictPosts(_ count: Int) throws -> GrowthCost {
        var meter = GrowthMeter()
        for number in spread(count, third: 1) {
            let gone = try meter.measure { try stable.feed.evict([stable.id(number)]) }
            guard gone == 1 else { throw EngineFailure("\(gone) posts evicted") }
        }
        return meter.cost
    }

    /// Evicts whole pages from below upwards, so that the indices of those above stay, and returns them.
    private func evictPages(_ count: Int, _ add: (String, GrowthCost) -> Void) throws -> [Int] {
        let pages = Set(spread(count, third: 2).map { $0 / NumberedFeed.pageSize }).sorted()
            .enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        var meter = GrowthMeter()
        for page in pages.reversed() {
            let gone = try meter.measure { try stable.feed.evictPage(at: page) }
            guard gone == NumberedFeed.pageSize else {
                throw EngineFailure("\(gone) posts of a page evicted")
            }
        }
        add("page-evicted", meter.cost)
        return pages
    }

    /// Fills the lowest gaps of the feed with the pages that left, down to the post below.
    private func fill(_ pages: [Int]) throws -> GrowthCost {
        let gaps = try cache.withSnapshot { try $0.gaps(of: stable.feed) }.suffix(pages.count)
        var meter = GrowthMeter()
        for (page, gap) in zip(pages, gaps) {
            let first = page * NumberedFeed.pageSize
            let answer = stable.answer(first...first + NumberedFeed.pageSize, following: "filled")
            let outcome = try meter.measure { try stable.fetch(.gap(gap.id), answer) }
            try stable.require(outcome, .joined)
        }
        return meter.cost
    }

    private func append(from number: Int) throws -> GrowthCost {
        var meter = GrowthMeter()
        for sample in 0..<Self.samples {
            let first = number + sample * NumberedFeed.pageSize
            let answer = bump.answer(first..<first + NumberedFeed.pageSize, following: "page=\(first)")
            let outcome = try meter.measure { try bump.fetch(.tail, answer) }
            try bump.require(outcome, .ok)
        }
        return meter.cost
    }

    /// Prunes one of the two feeds down to a single page, and measures the cost of each page that leaves.
    private func prune() throws -> GrowthCost {
        var policy = PrunePolicy()
        policy.maximumPages = 1
        var meter = GrowthMeter()
        var isDone = false
        while !isDone {
            try meter.measureUnits {
                let result = try stable.feed.prune(policy)
                isDone = result.isDone
                return result.pages
            }
        }
        return meter.cost
    }
}
