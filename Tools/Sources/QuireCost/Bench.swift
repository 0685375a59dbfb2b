import Quire

/// The cache before an operation is measured.
final class Bench {
    let path: String
    private var opened: Cache?
    private(set) var feeds: [Feed] = []
    var workload = Workload()
    /// A sum over everything that was read, so that the compiler cannot skip a read.
    var sum: UInt64 = 0

    /// Uses a map that fits on any machine. A larger one might first fail and be tried again.
    static let options = CacheOptions(durability: .relaxed, mapSize: 1 << 28)

    /// Fills the cache in the folder, or uses one that an earlier run has filled and leaves it closed if
    /// `isStart`.
    init(folder: String, isStart: Bool) throws {
        path = folder + "/cost.quire"
        if isStart { return }
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

    /// Opens the file again with a budget.
    func reopen(_ budget: CacheBudget) throws {
        let names = feeds.map(\.name)
        close()
        var options = Self.options
        options.budget = budget
        let cache = try Cache(at: path, options: options)
        opened = cache
        feeds = try names.map { try cache.feed(named: $0) }
    }

    /// Closes the file, so that it can be opened again.
    func close() { (opened, feeds) = (nil, []) }

    /// Ingests pages at the tails of their feeds, or at the head of empty ones, in one commit.
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

    /// Adds every byte of a body to the sum.
    func touch(_ body: RawSpan) {
        body.withUnsafeBytes { bytes in
            var at = 0
            while at + 8 <= bytes.count {
                sum &+= bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                at += 8
            }
            for byte in bytes[at...] { sum &+= UInt64(byte) }
        }
    }
}

/// An operation did not do what the workload expects, so its cost would have no meaning.
struct Unexpected: Error {
    let what: String
}
