import Quire

/// The cache as it is before an operation is measured.
final class Bench {
    let path: String
    private var opened: Cache?
    private(set) var feeds: [Feed] = []
    var workload = Workload()
    /// Added up from everything that was read, so that nothing read can be left out.
    var sum: UInt64 = 0

    /// A map that fits wherever the program runs; a larger one would be tried in vain first.
    static let options = CacheOptions(durability: .relaxed, mapSize: 1 << 28)

    /// Fills the cache in the folder, or takes the one that an earlier run has filled there.
    init(folder: String) throws {
        path = folder + "/cost.quire"
        let cache = try Cache(at: path, options: Self.options)
        opened = cache
        let isFilled = try !cache.feeds().isEmpty
        for feed in 0..<Workload.feeds {
            let options = FeedOptions(order: Workload.order(of: feed), pageSize: Workload.pageSize)
            feeds.append(try cache.feed(named: "feed-\(feed)", options: options))
        }
        for _ in 0..<Workload.pages / Workload.batch {
            let pages = (0..<Workload.batch).map { _ in workload.nextPage() }
            if !isFilled { try ingest(pages) }
        }
    }

    /// The open cache.
    var cache: Cache { opened! }

    /// Lets the file be opened anew.
    func close() { (opened, feeds) = (nil, []) }

    /// Pages at the tails of their feeds, or at the head of those that are empty, in one commit.
    func ingest(_ arrivals: [Workload.Arrival]) throws {
        try cache.batch { batch in
            for (feed, answer) in arrivals {
                try take(answer, at: .tail, of: feeds[feed], in: batch)
            }
        }
    }

    func take(_ answer: Answer, at place: Place, of feed: Feed, in batch: borrowing Batch) throws {
        var plan = try batch[feed].plan(place)
        if plan == .refused(.empty) { plan = try batch[feed].plan(.head) }
        guard let request = plan.request else { throw Unexpected(what: "\(place): \(plan)") }
        let outcome = try batch[feed].ingest(answer, for: request.ticket)
        if outcome.verdict != .ok { throw Unexpected(what: "\(place): \(outcome)") }
    }

    /// Adds up every byte of these bodies.
    func touch(_ rows: [PostRow], in snapshot: borrowing Snapshot) throws {
        for row in rows {
            try snapshot.body(of: row).withUnsafeBytes { bytes in
                var at = 0
                while at + 8 <= bytes.count {
                    sum &+= bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                    at += 8
                }
                for byte in bytes[at...] { sum &+= UInt64(byte) }
            }
        }
    }
}

/// An operation did something else than the workload asks for; its cost would mean nothing.
struct Unexpected: Error {
    let what: String
}
