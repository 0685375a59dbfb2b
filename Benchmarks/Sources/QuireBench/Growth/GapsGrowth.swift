import Quire

/// How operations grow with the gaps of one feed: each refresh has shown five posts far above those before.
struct GapsGrowth {
    private let cache: Cache
    private let feed: NumberedFeed

    private static let page = 5
    /// Keys from one refresh to the next; those between are of posts that are not cached.
    private static let step = 20
    private static let samples = 40

    init(in folder: String) throws {
        cache = try Cache(at: folder + "/gaps.quire")
        let options = FeedOptions(order: .stable, paging: .keyset)
        feed = try NumberedFeed("gaps", in: cache, salt: 4, options)
    }

    func measure(_ depth: Int, into result: inout GrowthResult) throws {
        let measured = min(Self.samples, depth / 2)
        for refresh in 0...depth - measured { try feed.fetch(.head, page(refresh)) }
        var meter = GrowthMeter()
        for refresh in depth - measured + 1...depth {
            let outcome = try meter.measure { try feed.fetch(.head, page(refresh)) }
            guard outcome.gapsOpened == 1 else { throw EngineFailure("no gap: \(outcome)") }
        }
        func add(_ operation: String, _ cost: GrowthCost) {
            result.add(cost, to: operation, by: .gaps, at: depth)
        }
        add("refresh", meter.cost)
        add("page-top-gap", try fill(depth, isLow: false))
        add("page-low-gap", try fill(depth, isLow: true))
        add("page-committed", try append())
        let middle = depth / 4..<depth - depth / 4
        add("post-deleted", try take(1, of: middle) { try feed.feed.delete($0) })
        add("post-evicted", try take(3, of: middle) { _ = try feed.feed.evict([$0]) })
    }

    private func page(_ refresh: Int) -> Answer {
        let last = -refresh * Self.step
        return feed.answer(last - Self.page + 1...last, following: "refresh=\(refresh)")
    }

    /// A page of one post below the border of one of four gaps, the highest or the lowest. The gaps stay
    /// open.
    private func fill(_ depth: Int, isLow: Bool) throws -> GrowthCost {
        let (choice, rounds) = (min(4, depth / 2), Self.samples / 4)
        var meter = GrowthMeter()
        for round in 0..<rounds {
            let gaps = try cache.withSnapshot { try $0.gaps(of: feed.feed) }
            guard gaps.count == depth else { throw EngineFailure("\(gaps.count) gaps") }
            for i in 0..<choice {
                let at = isLow ? depth - 1 - i : i
                let above = -(depth - at) * Self.step  // the lowest post above the gap
                let answer = feed.answer([above + 1 + round], following: "gap=\(round)")
                let outcome = try meter.measure { try feed.fetch(.gap(gaps[at].id), answer) }
                guard outcome.new.count == 1 else { throw EngineFailure("nothing new in a gap: \(outcome)") }
            }
        }
        return meter.cost
    }

    private func append() throws -> GrowthCost {
        var meter = GrowthMeter()
        for sample in 1...Self.samples {
            let answer = feed.answer([sample], following: "tail=\(sample)")
            let outcome = try meter.measure { try feed.fetch(.tail, answer) }
            try feed.require(outcome, .ok)
        }
        return meter.cost
    }

    /// Takes a post out of each of these refreshes, its place in the page given.
    private func take(_ place: Int, of refreshes: Range<Int>, _ body: (PostID) throws -> Void) throws
        -> GrowthCost
    {
        var meter = GrowthMeter()
        for refresh in refreshes.prefix(Self.samples) {
            try meter.measure { try body(feed.id(-refresh * Self.step - place)) }
        }
        return meter.cost
    }
}
