import QuireSimulator
@_spi(Unstable) import TestSupport
import Testing

@_spi(Unstable) @testable import Quire

/// How much of the body records is in use, against a model that knows only what was answered and which
/// posts the feeds show.
///
///     record 7   | a     | b        | c  |      b replaced, a evicted everywhere: live c, dead a and b
///                  dead    dead       live      below a quarter: reclaim moves c; nothing: it goes
@Suite struct BodySpaceTests {
    @Test(arguments: 0..<12 as Range<UInt64>) func equalsTheModel(_ seed: UInt64) throws {
        var history = try SpaceHistory(seed: seed)
        do {
            for _ in 0..<25 {
                try history.commit()
                try history.compare()
            }
            try history.reclaim()
            try history.leave()
        } catch {
            Issue.record("seed \(seed): \(error)")
        }
    }

    // MARK: One case each

    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache() }

    /// The body records: the posts whose bodies they hold, and in parentheses how many bytes no post uses.
    ///
    ///     |1 (4) 3 4|      post 2 had 4 bytes between 1 and 3
    private func picture() throws -> String {
        let feeds = try cache.feeds()
        var bodies: [UInt64: [UInt32: (id: PostID, length: UInt32)]] = [:]
        try cache.withSnapshot { snapshot in
            for row in try feeds.flatMap({ try snapshot.rows(of: $0, limit: .max) }).compactMap(\.post)
            where row.body.length > 0 {
                bodies[row.body.record, default: [:]][row.body.offset] = (row.id, row.body.length)
            }
        }
        return try cache.environment.read { transaction in
            try bodies.sorted { $0.key < $1.key }.map { number, bodies in
                let size = BodyStore.contents(try BodyStore(transaction: transaction).record(number))!.payload
                var (words, at) = ([String](), 0)
                for (offset, body) in bodies.sorted(by: { $0.key < $1.key }) {
                    if Int(offset) > at { words.append("(\(Int(offset) - at))") }
                    words.append("\(body.id)")
                    at = Int(offset) + Int(body.length)
                }
                if size > at { words.append("(\(size - at))") }
                return "|" + words.joined(separator: " ") + "|"
            }.joined(separator: " ")
        }
    }

    /// A post's body stays as long as one feed shows the post, and goes with the last. Two lists of ids show
    /// the post, too.
    @Test(arguments: [["feed", "ids", "list"], ["ids", "feed", "list"], ["list", "ids", "feed"]])
    func aPlaceholderHoldsNoBody(evicting names: [String]) throws {
        let feed = try cache.feed(named: "feed")
        var answer = Answer(next: .token("n"))
        answer.append(id: 1, body: [1, 2, 3])
        _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
        for name in ["ids", "list"] {
            let list = try cache.feed(named: name, options: FeedOptions(paging: .ids))
            _ = try list.ingest(Answer(posts: [Post(id: 1)]), for: list.plan(.head).request!.ticket)
        }
        for (name, left) in zip(names, ["|1|", "|1|", ""]) {
            #expect(try cache.existingFeed(named: name)!.evict([1]) == 1)
            #expect(try picture() == left)
            #expect(try cache.check().isEmpty)
        }
        #expect(try cache.environment.read { try $0.count(.bodies) } == 0)
        // The lists still know the post, and its body comes back.
        #expect(try cache.withSnapshot { try $0.statistics().posts } == 1)
        #expect(try cache.update(1, body: [4, 5]) == .changed)
        #expect(try picture() == "|1|")
        #expect(try cache.check().isEmpty)
    }

    /// `body-use` has a record only where part of a body record is out of use.
    @Test func useIsNotedWhereItDiffers() throws {
        let feed = try cache.feed(named: "feed")
        func noted() throws -> Int { try cache.environment.read { try $0.count(.bodyUse) } }
        var answer = Answer(next: .token("n"))
        for id in 1...4 as ClosedRange<UInt64> { answer.append(id: PostID(id), body: [1, 2, 3, 4]) }
        _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
        #expect(try picture() == "|1 2 3 4|" && noted() == 0)
        try feed.evict([2])
        #expect(try picture() == "|1 (4) 3 4|" && noted() == 1)
        #expect(try cache.reclaim() == 0)  // more than a quarter of it is in use
        #expect(try cache.update(3, body: [5]) == .changed)
        #expect(try picture() == "|1 (8) 4| |3|")
        try feed.evict([1, 3, 4])
        #expect(try picture() == "" && noted() == 0)
        #expect(try cache.check().isEmpty)
    }
}

/// A random history and what it must leave in the body records.
private struct SpaceHistory {
    private let storage: TemporaryCache
    private let feeds: [Feed]
    private var random: SplitMix64

    private struct Body {
        var bytes: [UInt8]
        var record: Int
    }
    private struct Record {
        var live = 0
        var total = 0
    }
    private var bodies: [PostID: Body] = [:]
    private var records: [Int: Record] = [:]
    private var lastRecord = 0
    /// The record that this commit adds to.
    private var open: Int?

    struct Mistake: Error { let what: String }

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        storage = try TemporaryCache(seed % 2 == 0 ? Tuning.cramped : Tuning())
        let options = FeedOptions(order: .ranked, minimumRun: 1)
        feeds = try ["a", "b"].map { [storage] in try storage.cache.feed(named: $0, options: options) }
    }

    // MARK: The model

    /// Bodies that one operation stores lie together, in the open record if there is room.
    private mutating func store(_ fresh: [(PostID, [UInt8])]) {
        if fresh.isEmpty { return }
        let size = fresh.reduce(0) { $0 + $1.1.count }
        if let open, records[open]!.total > 0, records[open]!.total + size > 1 << 17 { self.open = nil }
        if open == nil {
            lastRecord += 1
            (open, records[lastRecord]) = (lastRecord, Record())
        }
        for (id, bytes) in fresh {
            drop(id)
            bodies[id] = Body(bytes: bytes, record: open!)
            records[open!]!.live += bytes.count
            records[open!]!.total += bytes.count
        }
    }

    private mutating func drop(_ id: PostID) {
        guard let body = bodies.removeValue(forKey: id) else { return }
        records[body.record]!.live -= body.bytes.count
    }

    /// Posts that no feed shows any longer take their bodies along.
    private mutating func dropLost(_ session: WriteSession) throws {
        var shown: Set<PostID> = []
        for feed in feeds {
            let reader = RowReader(transaction: session.transaction, feed: feed.number)
            shown.formUnion(try reader.rows(after: nil, limit: .max).compactMap(\.post?.id))
        }
        for id in bodies.keys where !shown.contains(id) { drop(id) }
    }

    private mutating func endCommit() {
        open = nil
        records = records.filter { $1.live > 0 }
    }

    // MARK: The history

    mutating func commit() throws {
        try storage.cache.write { session in
            for _ in 0..<random.pick([1, 1, 3, 8]) {
                try step(session)
                try dropLost(session)
            }
        }
        endCommit()
    }

    private mutating func body() -> [UInt8] {
        let size = random.chance(0.03) ? random.pick([50_000, 200_000]) : random.pick([1, 2, 10, 300])
        return [UInt8](repeating: UInt8(random.below(3)), count: size)
    }

    private mutating func step(_ session: WriteSession) throws {
        let feed = random.pick(feeds).number
        let some = (1...24).filter { _ in random.chance(0.25) }.map { PostID(UInt64($0)) }
        switch random.below(12) {
        case 0...5: try ingest(some, feed, session)
        case 6, 7: _ = try session.evict(some, in: feed)
        case 8: try session.delete(random.pick(some + [1]), in: feed)
        case 9, 10:
            let id = random.pick(some + [1])
            let bytes = body()
            if try session.update(id, body: bytes, version: nil) == .changed { store([(id, bytes)]) }
        default: if random.chance(0.3) { try session.reset(feed) }
        }
    }

    private mutating func ingest(_ ids: [PostID], _ feed: UInt32, _ session: WriteSession) throws {
        var ids = ids
        random.shuffle(&ids)
        var answer = Answer(next: .token("n"))
        for id in ids { answer.append(id: id, body: body()) }
        let place = random.pick([Place.head, .head, .tail])
        let plan = try session.plan(place, limit: nil, isBounded: false, link: nil, in: feed)
        guard let ticket = plan.request?.ticket else { return }
        if try session.ingest(answer, for: ticket, in: feed).isUnchanged { return }
        // which posts the answer placed is the business of the rules: they show its body now
        let rows = try RowReader(transaction: session.transaction, feed: feed).rows(after: nil, limit: .max)
        let shown = Dictionary(uniqueKeysWithValues: rows.compactMap(\.post).map { ($0.id, $0.body) })
        var found: WriteSession.FoundBodies?
        store(
            try answer.posts.filter { post in
                guard let body = shown[post.id] else { return false }
                return try session.isEqual(body, answer.bytes[post.body], &found)
            }
            .map { ($0.id, Array(answer.bytes[$0.body])) }
            .filter { bodies[$0.0]?.bytes != $0.1 })
    }

    // MARK: Comparing

    func compare() throws {
        let findings = try storage.cache.check()
        if !findings.isEmpty { throw Mistake(what: "\(findings)") }
        let live = records.values.reduce(0) { $0 + $1.live }
        let dead = records.values.reduce(0) { $0 + $1.total - $1.live }
        try storage.cache.withSnapshot { snapshot in
            let statistics = try snapshot.statistics()
            if statistics.bodyBytes != live || statistics.deadBodyBytes != dead {
                let said = "\(statistics.bodyBytes) in use and \(statistics.deadBodyBytes) dead"
                throw Mistake(what: "\(said), there are \(live) and \(dead)")
            }
            for (id, body) in bodies {
                guard let post = try snapshot.post(id) else { throw Mistake(what: "no post \(id)") }
                let span = try snapshot.body(of: post)
                if !span.withUnsafeBytes({ $0.elementsEqual(body.bytes) }) {
                    throw Mistake(what: "post \(id) has another body")
                }
            }
        }
        let stored = try storage.cache.environment.read { try $0.count(.bodies) }
        if stored != records.count { throw Mistake(what: "\(stored) records, not \(records.count)") }
    }

    /// Until nothing is left to do; each time frees what the model says.
    mutating func reclaim() throws {
        while true {
            var expected = 0
            for number in records.keys.sorted() {
                let record = records[number]!
                if record.live >= record.total / 4 { continue }
                expected += record.total - record.live
                let moved = bodies.filter { $1.record == number }.map { ($0, $1.bytes) }
                store(moved)
            }
            endCommit()
            let freed = try storage.cache.reclaim(budget: .max)
            if freed != expected { throw Mistake(what: "\(freed) bytes freed, not \(expected)") }
            try compare()
            if freed == 0 { return }
        }
    }

    /// Without posts there are no bodies.
    mutating func leave() throws {
        for feed in feeds { try feed.reset() }
        (bodies, records) = ([:], [:])
        try compare()
    }
}
