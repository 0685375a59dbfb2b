import Testing

@testable import Quire

/// An open looks at its file with a few reads, however large it is, and however much of it is free.
@Suite struct OpeningReadsTests {
    private static func fill(_ cache: Cache, pages: Int) throws {
        let feed = try cache.feed(named: "f", options: FeedOptions(order: .stable))
        try cache.batch { batch in
            for number in 0..<pages {
                let request = try batch[feed].plan(number == 0 ? .head : .tail).request!
                var answer = Answer(next: .token("p\(number + 1)"))
                for key in stride(from: -10 * number, to: -10 * (number + 1), by: -1) {
                    let body = [UInt8](repeating: 7, count: 90)
                    answer.append(id: PostID("p\(-key)")!, key: Int64(key), body: body)
                }
                _ = try batch[feed].ingest(answer, for: request.ticket)
            }
        }
    }

    /// How often an open reads. The counter itself is read, too.
    private static func reads(opening storage: TemporaryCache) throws -> Int {
        let first = try ThreadIO.count("syscr")
        let second = try ThreadIO.count("syscr")
        try storage.reopen()
        return try ThreadIO.count("syscr") - second - (second - first)
    }

    @Test(.enabled(if: ThreadIO.isCounted, "needs /proc/thread-self/io")) func anOpenReadsAFewTimes() throws {
        // an empty cache beside it is opened, too, each time
        let empty = try TemporaryCache()
        _ = try Self.reads(opening: empty)
        let ofEmpty = try Self.reads(opening: empty) / 2

        let small = try TemporaryCache()
        try Self.fill(small.cache, pages: 2)
        let large = try TemporaryCache()
        try Self.fill(large.cache, pages: 3_000)
        let ofSmall = try Self.reads(opening: small) - ofEmpty
        let ofLarge = try Self.reads(opening: large) - ofEmpty
        var policy = PrunePolicy()
        (policy.maximumPosts, policy.budget) = (10, .max)
        #expect(try large.cache.existingFeed(named: "f")?.prune(policy).pages == 2_999)
        let ofPruned = try Self.reads(opening: large) - ofEmpty
        print("reads of an open: empty \(ofEmpty), small \(ofSmall), large \(ofLarge), pruned \(ofPruned)")
        // eight of Quire and two of LMDB
        #expect(max(ofSmall, ofLarge, ofPruned) <= 10)
    }
}
