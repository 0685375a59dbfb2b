import Quire

/// How operations on one feed grow with their number in one batch. Costs are those of one operation.
struct BatchGrowth {
    private let cache: Cache
    private let pages: NumberedFeed
    private let gaps: NumberedFeed
    private let locals: NumberedFeed

    private static let samples = 3
    /// More take minutes.
    static let limit = 1_000

    init(in folder: String) throws {
        cache = try Cache(at: folder + "/batch.quire")
        let options = FeedOptions(order: .stable)
        pages = try NumberedFeed("pages", in: cache, salt: 5, options)
        gaps = try NumberedFeed("gaps", in: cache, salt: 6, options)
        locals = try NumberedFeed("locals", in: cache, salt: 7, options)
    }

    func measure(_ count: Int, into result: inout GrowthResult) throws {
        let size = NumberedFeed.pageSize
        let end = try pages.fill(100 * size)
        _ = try locals.fill(100 * size)
        func add(_ operation: String, _ body: (borrowing Batch, Int) throws -> Void) throws {
            var meter = GrowthMeter()
            for sample in 0..<Self.samples {
                try meter.measureUnits {
                    try cache.batch { for n in 0..<count { try body($0, sample * count + n) } }
                    return count
                }
            }
            result.add(meter.cost, to: operation, by: .batch, at: count)
        }
        try add("page-committed") { batch, n in
            let first = end + n * size
            let answer = pages.answer(first..<first + size, following: "page=\(first)")
            try pages.require(try NumberedFeed.take(answer, at: .tail, of: pages.feed, in: batch), .ok)
        }
        try add("refresh") { batch, n in
            let answer = gaps.answer(-20 * n..<5 - 20 * n, following: "refresh=\(n)")
            _ = try NumberedFeed.take(answer, at: .head, of: gaps.feed, in: batch)
        }
        try add("local-added") { batch, n in
            try batch[locals.feed].insertLocal(PostID("local-\(n)")!, body: [1, 2, 3])
        }
    }
}
