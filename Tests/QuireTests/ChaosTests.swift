import QuireSimulator
@_spi(Unstable) import TestSupport
import Testing

@_spi(Unstable) @testable import Quire

/// A server that keeps no promise and a caller without a plan: whatever comes, nothing crashes, every
/// invariant holds, the change log tells the truth, and a refused answer changes no row.
@Suite struct ChaosTests {
    @Test func nothingCrashes() throws {
        let first = UInt64(Specification.number("QUIRE_FIRST_SEED") ?? 0)
        for seed in first..<first + UInt64(Specification.number("QUIRE_SEEDS") ?? 40) * 5 {
            do {
                var chaos = try Chaos(seed: seed)
                try chaos.run(steps: 40)
            } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
        }
    }
}

struct Chaos {
    private let storage: TemporaryCache
    private let feeds: [Feed]
    private var random: SplitMix64
    private var tickets: [(feed: Feed, ticket: Ticket)] = []
    private var runs: [Crawl] = []
    private var mirror = Mirror()
    private var log: [String] = []
    /// Few posts, so that everything collides; one of them needs a hash.
    private static let ids =
        (1...13).map { PostID(UInt64($0)) }
        + ["x", "y", PostID(String(repeating: "z", count: 300))!]

    struct Mistake: Error { let what: String, log: [String] }

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        storage = try TemporaryCache(seed % 2 == 0 ? Tuning.cramped : Tuning())
        var feeds: [Feed] = []
        for name in ["a", "b"] {
            let options = FeedOptions(
                order: random.pick(OrderClass.allCases), paging: random.pick(Paging.allCases),
                trustsEnd: random.chance(0.2), pageSize: random.number(in: 1...5),
                minimumRun: random.number(in: 1...3), sticky: random.chance(0.2) ? ["x"] : [],
                firstPage: random.number(in: 0...1), isStrict: random.chance(0.2))
            feeds.append(try storage.cache.feed(named: name, options: options))
        }
        self.feeds = feeds
    }

    mutating func run(steps: Int) throws {
        log = feeds.map { "\($0.name): \($0.options.order) \($0.options.paging)" }
        if Specification.number("QUIRE_TRACE") != nil { print(log) }
        for _ in 0..<steps {
            let feed = random.pick(feeds)
            let before = try Picture.show(feed)
            let outcome = try step(feed)
            let after = try Picture.show(feed)
            log.append("   \(after)")
            if Specification.number("QUIRE_TRACE") != nil { print(log.suffix(2)) }
            if let outcome, outcome.isUnchanged, before != after {
                throw Mistake(what: "\(outcome.verdict) changed the feed", log: log)
            }
            let findings = try storage.cache.check()
            if !findings.isEmpty { throw Mistake(what: "\(findings)", log: log) }
            try mirror.follow(storage.cache)
        }
    }

    private mutating func step(_ feed: Feed) throws -> Outcome? {
        switch random.number(in: 0...19) {
        case 0...4: try plan(feed)
        case 5...10: return try answer()
        case 11...13: return try record(feed)
        case 14: try local(feed)
        case 15: try prune(feed)
        case 16:
            let id = random.pick(Self.ids)
            log.append("\(feed.name): delete \(id)")
            try feed.delete(id)
        case 17:
            let ids = Self.ids.filter { _ in random.chance(0.3) }
            log.append("\(feed.name): evict \(ids)")
            try feed.evict(ids)
        case 18:
            let body = [UInt8](repeating: 1, count: random.number(in: 0...50))
            log.append("update")
            _ = try storage.cache.update(random.pick(Self.ids), body: body, version: version())
        default:
            log.append("\(feed.name): reclaim, perhaps reset")
            try storage.cache.reclaim()
            if random.chance(0.2) { try feed.reset() }
        }
        return nil
    }

    private mutating func plan(_ feed: Feed) throws {
        let gaps = try feed.cache.withSnapshot { try $0.gaps(of: feed).map(\.id) } + [GapID(99)]
        let gap = random.pick(gaps)
        let place = random.pick([
            Place.head, .head, .tail, .tail, .gap(gap), .gap(gap), .aboveGap(gap), .openHead,
            .around(random.pick(Self.ids)),
        ])
        log.append("\(feed.name): plan \(place)")
        let plan = try feed.plan(
            place, limit: random.chance(0.5) ? random.number(in: -1...4) : nil,
            isBounded: random.chance(0.3))
        if let request = plan.request { tickets.append((feed, request.ticket)) }
    }

    private mutating func answer() throws -> Outcome? {
        guard !tickets.isEmpty else { return nil }
        let (feed, ticket) = random.pick(tickets)
        let answer = randomAnswer()
        log.append(
            "\(feed.name): answer \(ticket.number): \(answer.posts.map { "\($0.id):\($0.key ?? -1)" }.joined(separator: " ")) \(answer.next)"
        )
        if random.chance(0.1) { return try feed.fail(ticket, reason: "http 500") }
        return try feed.ingest(answer, for: ticket)
    }

    private mutating func record(_ feed: Feed) throws -> Outcome? {
        if feed.options.paging == .ids { return nil }
        if runs.isEmpty || random.chance(0.2) {
            runs.append(
                Crawl(
                    startingAt: random.pick([
                        .head(page: random.number(in: 0...2)), .tail, .gap(GapID(1)),
                    ])))
        }
        let at = random.number(in: 0...runs.count - 1)
        let answer = randomAnswer()
        let page = random.chance(0.7) ? random.number(in: 0...5) : nil
        log.append("\(feed.name): record \(page ?? -1): \(answer.posts.map(\.id)) \(answer.next)")
        return try feed.ingest(answer, page: page, of: &runs[at])
    }

    private mutating func randomAnswer() -> Answer {
        let links: [Link] = [
            .unknown, .end, .more, .head, .confirmEnd, .token("page=3"), .token("t"), .token(""),
            .below(random.pick(Self.ids)), .above(random.pick(Self.ids)),
        ]
        var answer = Answer(
            next: random.pick(links), previous: random.pick(links),
            opaqueRows: random.chance(0.1) ? 1 : 0,
            fetchedAt: random.pick([0, 1000, .max, .min]))
        let descending = random.chance(0.6)
        var key = Int64(random.number(in: 20...40))
        for _ in 0..<random.number(in: 0...7) {
            key = descending ? key - Int64(random.number(in: 0...3)) : Int64(random.number(in: 0...40))
            let id = random.pick(Self.ids)
            let body = [UInt8](repeating: 2, count: random.number(in: 0...40))
            answer.append(id: id, key: random.chance(0.85) ? key : nil, version: version(), body: body)
        }
        return answer
    }

    private mutating func version() -> Int64? {
        random.chance(0.5) ? Int64(random.number(in: 0...3)) : nil
    }

    private mutating func local(_ feed: Feed) throws {
        let id = random.pick(Self.ids)
        log.append("\(feed.name): local or pin \(id)")
        switch random.number(in: 0...3) {
        case 0: _ = try feed.insertLocal(id, body: [1, 2, 3])
        case 1: _ = try feed.removeLocal(id)
        case 2: _ = try feed.pin(id)
        default: _ = try feed.unpin(id)
        }
    }

    private mutating func prune(_ feed: Feed) throws {
        var policy = PrunePolicy()
        policy.dropsOutOfSequence = random.chance(0.4)
        policy.maximumPosts = random.chance(0.5) ? random.number(in: -1...6) : nil
        policy.maximumPages = random.chance(0.3) ? random.number(in: 0...3) : nil
        policy.maximumBytes = random.chance(0.3) ? random.number(in: 0...200) : nil
        policy.maximumAge = random.chance(0.3) ? random.pick([0, 5, .max, .min]) : nil
        policy.now = random.pick([0, 1000, .max, .min])
        policy.visible = random.chance(0.5) ? [random.pick(Self.ids)] : []
        policy.budget = random.pick([-1, 0, 1, 5, 1000])
        log.append("\(feed.name): prune \(policy)")
        _ = try feed.prune(policy)
    }
}
