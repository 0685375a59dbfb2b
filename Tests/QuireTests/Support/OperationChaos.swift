import QuireSimulator

@_spi(Unstable) @testable import Quire

/// A history at random, operation by operation for whatever target it is given: the same seed takes the same
/// operations as long as the feeds are the same.
struct OperationChaos {
    let storage: TemporaryCache
    /// True if there are operations of all kinds: feeds come and go, some operations are refused. Else there
    /// are two feeds, and those that are frequent.
    private let isWide: Bool
    private var feeds: [(name: String, number: UInt32, options: FeedOptions)] = []
    private var random: SplitMix64
    private var tickets: [(feed: UInt32, ticket: Ticket, issuer: UInt64)] = []
    private var run = Crawl(startingAt: .head(page: 1))
    private let sharesPosts: Bool
    /// Each operation and what came of it, for people.
    private(set) var log: [String] = []
    private(set) var replies: [CacheReply] = []
    static let ids =
        (1...13).map { PostID(UInt64($0)) }
        + ["x", "y", PostID(String(repeating: "z", count: 300))!]

    init(seed: UInt64, _ tuning: Tuning, isWide: Bool = false) throws {
        random = SplitMix64(seed: seed)
        storage = try TemporaryCache(tuning)
        self.isWide = isWide
        sharesPosts = !seed.isMultiple(of: 4)
        if isWide { return }
        for name in ["a", "b"] {
            let feed = try storage.cache.feed(named: name, options: options(of: name))
            feeds.append((name, feed.number, feed.options))
        }
    }

    private mutating func options(of name: String) -> FeedOptions {
        FeedOptions(
            order: random.pick(OrderClass.allCases), paging: random.pick(Paging.allCases),
            trustsEnd: random.chance(0.2), pageSize: random.number(in: 1...5),
            sticky: random.chance(0.2) ? isWide ? ["x", "y", 5] : ["x"] : [], isStrict: random.chance(0.2),
            collection: sharesPosts ? "" : name)
    }

    mutating func step(_ target: some OperationTarget) throws {
        let operation: CacheOperation
        if isWide && (feeds.isEmpty || random.chance(0.4)) {
            operation = rare()
        } else {
            let (_, number, options) = random.pick(feeds)
            guard let chosen = try frequent(number, options, target) else { return }
            operation = chosen
        }
        let issuer = isWide ? UInt64(random.below(3)) : 0
        let what = "\(operation)".prefix(1000)
        do {
            let reply = try target.apply(operation, issuer: issuer)
            try note(operation, reply, target)
            replies.append(reply)
            log.append("\(what): \("\(reply)".prefix(2000))")
        } catch let error as QuireError where isWide && error.isDeterministic {
            log.append("\(what): refused, \(error)")
        }
    }

    private mutating func note(
        _ operation: CacheOperation, _ reply: CacheReply, _ target: some OperationTarget
    ) throws {
        switch (operation, reply) {
        case (.open(let name, _), .feed(let number)):
            if !feeds.contains(where: { $0.number == number }) {
                feeds.append((name, number, try target.read { try $0.feed(number).options }))
            }
        case (.feed(let feed, _), .plan(.request(let request), let issuer)):
            tickets.append((feed, request.ticket, issuer))
        case (_, .crawled(_, let crawl)): run = crawl
        case (.feed(let feed, .drop), _): feeds.removeAll { $0.number == feed }
        case (.feed(let old, .setOptions(let options)), .feed(let number)):
            for i in feeds.indices where feeds[i].number == old {
                (feeds[i].number, feeds[i].options) = (number, options)
            }
        case (.feed(let feed, .rename(let name)), _):
            for i in feeds.indices where feeds[i].number == feed { feeds[i].name = name }
        default: break
        }
    }

    // MARK: Operations

    private mutating func frequent(
        _ feed: UInt32, _ options: FeedOptions, _ target: some OperationTarget
    ) throws -> CacheOperation? {
        switch random.number(in: 0...23) {
        case 0...4:
            let gaps = try target.read { try KnownGaps($0, feed: feed).all.map(\.record.gap.id) }
            let gap = random.pick(gaps + [GapID(99)])
            let place = random.pick([Place.head, .head, .tail, .tail, .gap(gap), .aboveGap(gap), .openHead])
            return .feed(feed, .plan(place, isBounded: random.chance(0.2)))
        case 5...11:
            guard let (feed, ticket, issuer) = tickets.isEmpty ? nil : random.pick(tickets.suffix(6)) else {
                return nil
            }
            return .feed(feed, ingest(ticket, issuer))
        case 12...13 where options.paging != .ids:
            return .feed(feed, .crawl(answer(), page: nil, of: run))
        case 14: return .feed(feed, .delete(id()))
        case 15...16: return .feed(feed, .evict(Self.ids.filter { _ in random.chance(0.3) }))
        case 17...19:
            return .updateBody(
                id(), body(), version: version(), detail: random.pick([.summary, .full]),
                collection: options.collection)
        case 20:
            return .updateFields(
                id(), ["f": body(), "g": [1]], version: 1, collection: options.collection)
        case 21:
            switch random.below(4) {
            case 0: return .feed(feed, .insertLocal(id(), body: [1, 2, 3]))
            case 1: return .feed(feed, .removeLocal(id()))
            default: return .feed(feed, random.chance(0.6) ? .pin(id()) : .unpin(id()))
            }
        case 22:
            var policy = PrunePolicy()
            policy.dropsOutOfSequence = random.chance(0.4)
            policy.maximumPosts = random.chance(0.5) ? random.number(in: 0...6) : nil
            policy.budget = random.pick([1, 5, 1000])
            return .feed(feed, .prune(policy))
        default:
            if random.chance(0.2) { return .feed(feed, .reset) }
            return .feed(feed, .setAttribute("a", to: random.chance(0.7) ? [1, 2] : nil))
        }
    }

    private mutating func ingest(_ ticket: Ticket, _ issuer: UInt64) -> FeedOperation {
        if !isWide { return .ingest(answer(), for: ticket) }
        if random.chance(0.1) { return .cancel(ticket) }
        if random.chance(0.1) { return .dropLink(of: ticket, issuer: random.pick([0, issuer, 1])) }
        let embedded = random.chance(0.15) ? (0...random.below(2)).map { _ in page() } : []
        return .ingest(
            answer(), for: ticket, issuer: random.pick([0, issuer, issuer, 1]), embedded: embedded,
            note: random.chance(0.3) ? PageNote("n", body()) : nil)
    }

    /// The others. Names, feeds and ids need not exist.
    private mutating func rare() -> CacheOperation {
        switch random.number(in: 0...11) {
        case 0...3 where feeds.count < 3, 0:
            let name = random.pick(["a", "b", "c", "\u{e9}"])
            return .open(name: name, options: random.chance(0.8) ? options(of: name) : nil)
        case 1: return .embed(page())
        case 2:
            return .addAlias(
                id(), of: id(), collection: random.pick(feeds.map(\.options.collection) + [""]))
        case 3: return .setAttribute(random.pick(["c", "~d"]), to: random.chance(0.6) ? body() : nil)
        case 4:
            let fields = (0..<random.below(6)).map { _ in ("f\(random.below(9))", body()) }
            return .updateFields(
                id(), Dictionary(fields) { $1 }, version: Int64(random.below(3)),
                collection: random.pick(feeds.map(\.options.collection) + [""]))
        default:
            let (number, operation) = (random.pick(feeds.map(\.number) + [1, 9]), rareOfFeed())
            // R24 says nothing of crawls in feeds of ids
            let paging = feeds.first { $0.number == number }?.options.paging
            if case .crawl = operation, paging == nil || paging == .ids { return .feed(number, .endLive) }
            return .feed(number, operation)
        }
    }

    private mutating func rareOfFeed() -> FeedOperation {
        switch random.number(in: 0...18) {
        case 0...2: return .plan(.delta)
        case 3:
            let ids = (0...random.below(4)).map { _ in id() }
            return .plan(
                random.pick([
                    .around(id()), .page(random.number(in: -1...4)), .join(above: id()), .bodies(ids),
                ]),
                limit: random.pick([nil, 0, 3]), link: random.pick([nil, .token("t")]))
        case 4...6:
            return .push(
                answer(), number: random.chance(0.5) ? UInt64(random.below(9)) : nil,
                follows: random.chance(0.5) ? id() : nil)
        case 7: return .beginLive(after: random.pick([nil, 3]))
        case 8: return .endLive
        case 9: return .confirmLocal(id(), as: id())
        case 10: return .evictPage(at: random.number(in: -1...4))
        case 11: return prune()
        case 12: return .setAttribute(random.pick(["a", ""]), to: body())
        case 13...14:
            return .exchangeAttribute(
                "a", from: random.pick([nil, [1, 2], [3]]), to: random.pick([nil, [1, 2], [3]]))
        case 15: return random.chance(0.3) ? .drop : .rename(to: random.pick(["a", "b", "d"]))
        case 16: return .setOptions(options(of: "a"))
        case 17:
            let start = random.pick([Crawl(startingAt: .tail), Crawl(startingAt: .gap(GapID(1))), run])
            return .crawl(answer(), page: random.pick([nil, 1, 2, 3, 1 << 60]), of: start)
        default: return random.chance(0.2) ? .reset : .insertLocal(id(), body: body())
        }
    }

    private mutating func prune() -> FeedOperation {
        var policy = PrunePolicy()
        policy.visible = Set(Self.ids.filter { _ in random.chance(0.2) })
        policy.maximumAge = random.pick([nil, 0, 20, 50])
        policy.now = Int64(random.number(in: 0...100))
        policy.maximumPages = random.pick([nil, nil, 1, 2])
        policy.maximumBytes = random.pick([nil, nil, 0, 30])
        policy.budget = random.pick([1, 4, 1000])
        return .prune(policy)
    }

    // MARK: Their parts

    private mutating func id() -> PostID { random.pick(Self.ids) }

    private mutating func version() -> Int64? {
        random.chance(0.4) ? Int64(random.number(in: 0...3)) : nil
    }

    private mutating func body() -> [UInt8] {
        [UInt8](repeating: UInt8(random.below(2)), count: random.pick([0, 1, 5, 5, 40]))
    }

    private mutating func page() -> EmbeddedPage {
        let name = random.pick(["a", "b", "e"])
        let known = feeds.first { $0.name == name }?.options
        return EmbeddedPage(
            of: name, options: known ?? options(of: name), answer(),
            note: random.chance(0.5) ? PageNote("paging", body()) : nil)
    }

    private mutating func answer() -> Answer {
        let links: [Link] = [.unknown, .end, .more, .token("t"), .token("u"), .token("page=3")]
        var answer = Answer(next: random.pick(links), previous: random.pick(links))
        var key = Int64(random.number(in: 20...40))
        for _ in 0..<random.number(in: 0...7) {
            key -= Int64(random.number(in: 0...3))
            answer.append(
                id: id(), key: random.chance(0.85) ? key : nil, version: version(),
                detail: random.pick([.summary, .full]), body: body())
        }
        if !isWide { return answer }
        answer.fetchedAt = Int64(random.number(in: 0...100))
        answer.since = random.chance(0.5) ? "s\(random.below(3))" : nil
        answer.total = random.chance(0.2) ? random.below(12) : nil
        answer.opaqueRows = random.pick([0, 0, 0, 0, 2, -1])
        answer.deleted = Self.ids.filter { _ in random.chance(0.05) }
        return answer
    }
}
