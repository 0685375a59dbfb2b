import Quire

/// How operations grow with the local posts on top of one feed.
struct LocalPostsGrowth {
    private let cache: Cache
    private let feed: NumberedFeed
    private let seed: UInt64

    private static let posts = 3_000
    private static let samples = 60

    init(in folder: String, seed: UInt64) throws {
        cache = try Cache(at: folder + "/locals.quire")
        feed = try NumberedFeed("locals", in: cache, salt: 3, FeedOptions(order: .stable))
        self.seed = seed
    }

    func measure(_ depth: Int, into result: inout GrowthResult) throws {
        let end = try feed.fill(Self.posts)
        try cache.batch { batch in
            for n in 0..<depth { try batch[feed.feed].insertLocal(id(n), body: [1, 2, 3]) }
        }
        var (added, removed) = (GrowthMeter(), GrowthMeter())
        var (refreshed, appended) = (GrowthMeter(), GrowthMeter())
        var random = SplitMix64(seed: seed)
        var held = Array(0..<depth)
        for sample in 0..<Self.samples {
            _ = try added.measure { try feed.feed.insertLocal(id(depth + sample), body: [1, 2, 3]) }
            held.append(depth + sample)
            let gone = id(held.remove(at: random.below(held.count)))
            let isHeld = try removed.measure { try feed.feed.removeLocal(gone) }
            guard isHeld else { throw EngineFailure("no local post \(gone)") }

            let size = NumberedFeed.pageSize
            let top = feed.answer(-(sample + 1) * (size - 1)...(-sample * (size - 1)), following: "head")
            try feed.require(try refreshed.measure { try feed.fetch(.head, top) }, .ok)
            let first = end + sample * size
            let bottom = feed.answer(first..<first + size, following: "page=\(first)")
            try feed.require(try appended.measure { try feed.fetch(.tail, bottom) }, .ok)
        }
        for (operation, meter) in [
            ("local-added", added), ("local-removed", removed), ("refresh", refreshed),
            ("page-committed", appended),
        ] { result.add(meter.cost, to: operation, by: .locals, at: depth) }
    }

    private func id(_ number: Int) -> PostID { PostID("local-\(number)")! }
}
