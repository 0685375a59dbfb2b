import QuireSimulator

@_spi(Unstable) @testable import Quire

/// A history at random, step by step in whatever sessions it is given: the same seed takes the same
/// steps as long as the feeds are the same.
struct SessionChaos {
    let storage: TemporaryCache
    private let feeds: [Feed]
    private var random: SplitMix64
    private var tickets: [(feed: Feed, ticket: Ticket)] = []
    private var run = Crawl(startingAt: .head(page: 1))
    /// Each step and what came of it.
    private(set) var log: [String] = []
    private static let ids =
        (1...13).map { PostID(UInt64($0)) }
        + ["x", "y", PostID(String(repeating: "z", count: 300))!]

    init(seed: UInt64, _ tuning: Tuning) throws {
        random = SplitMix64(seed: seed)
        storage = try TemporaryCache(tuning)
        var feeds: [Feed] = []
        for name in ["a", "b"] {
            let options = FeedOptions(
                order: random.pick(OrderClass.allCases), paging: random.pick(Paging.allCases),
                trustsEnd: random.chance(0.2), pageSize: random.number(in: 1...5),
                sticky: random.chance(0.2) ? ["x"] : [], isStrict: random.chance(0.2),
                collection: seed.isMultiple(of: 4) ? name : "")
            feeds.append(try storage.cache.feed(named: name, options: options))
        }
        self.feeds = feeds
    }

    mutating func step(_ session: WriteSession) throws {
        let feed = random.pick(feeds)
        let (what, result) = try step(feed, session)
        log.append("\(feed.name): \(what.prefix(300)): \(result.prefix(2000))")
    }

    private mutating func step(_ feed: Feed, _ session: WriteSession) throws -> (String, String) {
        let number = feed.number
        switch random.number(in: 0...23) {
        case 0...4:
            let gaps = try KnownGaps(session.transaction, feed: number).all.map(\.record.gap.id)
            let gap = random.pick(gaps + [GapID(99)])
            let place = random.pick([Place.head, .head, .tail, .tail, .gap(gap), .aboveGap(gap), .openHead])
            let plan = try session.plan(
                place, limit: nil, isBounded: random.chance(0.2), link: nil, in: number)
            if let request = plan.request { tickets.append((feed, request.ticket)) }
            return ("plan \(place)", "\(plan)")
        case 5...11:
            guard let (feed, ticket) = tickets.isEmpty ? nil : random.pick(tickets.suffix(6)) else { break }
            let answer = answer()
            let outcome = try session.ingest(answer, for: ticket, in: feed.number)
            return ("answer \(ticket.number) of \(feed.name): \(Self.text(answer))", "\(outcome)")
        case 12...13 where feed.options.paging != .ids:
            let answer = answer()
            let (outcome, step) = try session.ingest(answer, page: nil, of: run, in: feed.number)
            run.note(step)
            return ("record \(Self.text(answer))", "\(outcome)")
        case 14:
            let id = random.pick(Self.ids)
            try session.delete(id, in: number)
            return ("delete \(id)", "")
        case 15...16:
            let ids = Self.ids.filter { _ in random.chance(0.3) }
            return ("evict \(ids)", "\(try session.evict(ids, in: number))")
        case 17...19:
            let id = random.pick(Self.ids)
            let body = body()
            return (
                "update \(id) \(body)",
                "\(try session.update(id, body: body, version: version(), detail: random.pick([.summary, .full]), in: feed.options.collection))"
            )
        case 20:
            let id = random.pick(Self.ids)
            let fields = ["f": body(), "g": [1]]
            return (
                "fields of \(id)",
                "\(try session.update(id, fields: fields, version: 1, in: feed.options.collection))"
            )
        case 21: return try local(number, session)
        case 22:
            var policy = PrunePolicy()
            policy.dropsOutOfSequence = random.chance(0.4)
            policy.maximumPosts = random.chance(0.5) ? random.number(in: 0...6) : nil
            policy.budget = random.pick([1, 5, 1000])
            return ("prune", "\(try session.prune(number, policy))")
        default:
            if random.chance(0.2) {
                try session.reset(number)
                return ("reset", "")
            }
            try session.setAttribute("a", to: random.chance(0.7) ? [1, 2] : nil, of: number)
        }
        return ("nothing", "")
    }

    private mutating func local(_ feed: UInt32, _ session: WriteSession) throws -> (String, String) {
        let id = random.pick(Self.ids)
        switch random.below(4) {
        case 0: return ("local \(id)", "\(try session.insertLocal(id, body: [1, 2, 3], in: feed))")
        case 1: return ("no local \(id)", "\(try session.removeLocal(id, in: feed))")
        default: return ("pin \(id)", "\(try session.setPinned(id, random.chance(0.6), in: feed))")
        }
    }

    private mutating func version() -> Int64? {
        random.chance(0.4) ? Int64(random.number(in: 0...3)) : nil
    }

    private mutating func body() -> [UInt8] {
        [UInt8](repeating: UInt8(random.below(2)), count: random.pick([0, 1, 5, 5, 40]))
    }

    private static func text(_ answer: Answer) -> String {
        answer.posts.map { post in
            "\(post.id):\(post.key ?? -1)v\(post.version ?? -1)"
                + (answer.bytes[post.body].map { "\($0)" }.joined())
        }.joined(separator: " ") + " \(answer.next)"
    }

    private mutating func answer() -> Answer {
        let links: [Link] = [.unknown, .end, .more, .token("t"), .token("u"), .token("page=3")]
        var answer = Answer(next: random.pick(links), previous: random.pick(links))
        var key = Int64(random.number(in: 20...40))
        for _ in 0..<random.number(in: 0...7) {
            key -= Int64(random.number(in: 0...3))
            answer.append(
                id: random.pick(Self.ids), key: random.chance(0.85) ? key : nil, version: version(),
                detail: random.pick([.summary, .full]), body: body())
        }
        return answer
    }
}
