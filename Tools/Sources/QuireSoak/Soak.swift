import Foundation
import Quire
import QuireSimulator

/// The state shared by all threads of a soak.
final class Soak: Sendable {
    let path: String
    let end: Date
    private let lock = NSLock()
    nonisolated(unsafe) private var counts: [String: Int] = [:]
    nonisolated(unsafe) private var mistakes: [String] = []

    init(path: String, seconds: Double) { (self.path, end) = (path, Date() + seconds) }

    func count(_ name: String, _ number: Int = 1) { lock.withLock { counts[name, default: 0] += number } }
    func report(_ mistake: String) { lock.withLock { mistakes.append(mistake) } }
    var totals: [String: Int] { lock.withLock { counts } }
    var found: [String] { lock.withLock { mistakes } }
    private var goesOn: Bool { Date() < end && found.isEmpty }

    /// Runs the body repeatedly on a thread of its own. An error ends the soak.
    func thread(_ name: String, seed: UInt64, _ body: @escaping @Sendable (inout SplitMix64) throws -> Void)
        -> Thread
    {
        let thread = Thread { [self] in
            var random = SplitMix64(seed: seed)
            while goesOn {
                do {
                    try body(&random)
                    count(name)
                } catch {
                    report("\(name): \(error)")
                }
            }
        }
        thread.stackSize = 8 << 20
        thread.start()
        return thread
    }

    // MARK: Writing

    static let feeds = ["one", "two", "three"]
    /// How many posts a feed keeps when it is pruned, so that the soak's file does not grow.
    private static let most = 200

    /// Writes a page from a server whose posts are all numbers up to a growing one, or a change by the user.
    /// Writers of several threads share commits.
    func write(_ cache: Cache, _ random: inout SplitMix64) throws {
        let feed = try cache.feed(named: random.pick(Self.feeds), options: FeedOptions(order: .stable))
        let id = PostID(UInt64(totals["writes", default: 0] + 100 - random.below(60)))
        switch random.below(14) {
        case 0: try feed.delete(id)
        case 1: try feed.evict([id, PostID(UInt64(totals["writes", default: 0] + 80))])
        case 2: _ = try cache.update(id, body: Self.body(of: id, random.below(700)))
        case 3: _ = try cache.update(id, fields: ["likes": [UInt8(random.below(9) + 48)]], version: 1)
        case 4:
            let local = PostID("local \(random.below(4))")!
            if try !feed.insertLocal(local, body: Self.body(of: local, 30)) {
                _ = try feed.removeLocal(local)
            }
        case 5:
            var policy = PrunePolicy()
            policy.maximumPosts = Self.most
            _ = try feed.prune(policy)
        case 6: _ = try cache.reclaim()
        default: try fetch(feed, random.pick([Place.head, .head, .tail]), &random)
        }
    }

    private func fetch(_ feed: Feed, _ place: Place, _ random: inout SplitMix64) throws {
        guard let request = try feed.plan(place).request else { return }
        var top = totals["writes", default: 0] + 100
        if case .link(.token(let word)) = request.target { top = Int(word) ?? top }
        let low = max(1, top - random.number(in: 5...12))
        var answer = Answer(next: low > 1 ? .token("\(low - 1)") : .end)
        for id in (low...max(low, top)).reversed() {
            let id = PostID(UInt64(id))
            answer.append(id: id, key: Int64(id.description), body: Self.body(of: id, random.below(700)))
        }
        _ = try feed.ingest(answer, for: request.ticket)
    }

    private static func body(of id: PostID, _ count: Int) -> [UInt8] {
        Array("\(id)|".utf8) + [UInt8](repeating: UInt8(count & 0x7F), count: count)
    }

    // MARK: Reading

    struct Mistake: Error { let what: String }

    /// Reads posts. A reader must see whole bodies of the requested posts, however long it takes.
    func read(_ cache: Cache, _ random: inout SplitMix64) throws {
        try cache.withSnapshot { snapshot in
            for feed in try cache.feeds() {
                for row in try snapshot.rows(of: feed, limit: 60) {
                    guard case .post(let post) = row, !post.isDetached else { continue }
                    let body = try snapshot.body(of: post)
                    let prefix = Array("\(post.id)|".utf8)
                    if body.byteCount < prefix.count { throw Mistake(what: "\(post.id) has no body") }
                    for (i, byte) in prefix.enumerated()
                    where body.unsafeLoad(fromByteOffset: i, as: UInt8.self) != byte {
                        throw Mistake(what: "the body of \(post.id) is another's")
                    }
                }
            }
            if random.chance(0.05) { usleep(20_000) }
        }
        if random.chance(0.02), let finding = try cache.check().first { throw Mistake(what: "\(finding)") }
    }

    /// Observes a feed. Its rows must follow from the changes alone.
    func observe(_ cache: Cache, _ mirror: inout Mirror) throws {
        try cache.withSnapshot { snapshot in
            guard let feed = try cache.existingFeed(named: Self.feeds[0]) else { return }
            let now = try snapshot.rows(of: feed, limit: .max).map(Mirror.Name.init)
            if let log = try mirror.generation.flatMap({ try snapshot.changes(since: $0) }) {
                for (_, number, changes) in log where number == feed.number { mirror.apply(changes) }
                if mirror.rows != now { throw Mistake(what: "the changes do not give the rows") }
            }
            mirror.rows = now
            mirror.generation = try snapshot.generation
        }
    }

    /// Opens and closes caches: this one, and each time another new one.
    func open(_ random: inout SplitMix64) throws {
        _ = try Cache(at: path).feeds()
        let other = path + ".other-\(random.below(2))"
        let cache = try Cache(at: other, options: CacheOptions(durability: .relaxed, mapSize: 1 << 18))
        for _ in 0..<random.below(4) { try write(cache, &random) }
        if random.chance(0.2), let finding = try cache.check().first { throw Mistake(what: "\(finding)") }
    }
}
