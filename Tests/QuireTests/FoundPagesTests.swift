import QuireSimulator
import Testing

@_spi(Unstable) @testable import Quire

/// Pages that are read by their numbers are found once in a commit. What was found shows what a search shows.
@Suite struct FoundPagesTests {
    /// Random pages, evictions and prunes of three feeds. After each, in snapshots one after the other and
    /// one inside of another, random pages are read several times, also such as are gone.
    @Test(arguments: 0..<8 as Range<UInt64>) func randomPages(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let storage = try TemporaryCache()
        let feeds = try (0..<3).map {
            try storage.cache.feed(named: "\($0)", options: FeedOptions(order: .keyless, paging: .cursor))
        }
        var next: UInt64 = 1
        for step in 0..<120 {
            let feed = random.pick(feeds)
            let pages = try storage.cache.withSnapshot { try $0.info(of: feed).pages }
            switch random.below(8) {
            case 0..<5:
                var answer = Answer(next: .token("\(step)"))
                for _ in 0...random.below(40) {
                    let body = [UInt8](repeating: UInt8(next & 255), count: random.below(90))
                    answer.append(id: PostID(next), body: body)
                    next += 1
                }
                let request = try feed.plan(pages == 0 ? .head : .tail).request
                if let request { _ = try feed.ingest(answer, for: request.ticket) }
            case 5: try feed.evict((0..<20).map { _ in PostID(UInt64(random.below(Int(next)))) })
            case 6: if pages > 0 { try feed.evictPage(at: random.below(pages)) }
            default:
                var policy = PrunePolicy()
                policy.maximumPosts = 20 + random.below(400)
                _ = try feed.prune(policy)
            }
            try storage.cache.withSnapshot { outer in
                let place = "seed \(seed), step \(step)"
                for _ in 0..<2 {
                    try storage.cache.withSnapshot { try compare($0, feeds, &random, place) }
                }
                try compare(outer, feeds, &random, place)
            }
        }
    }

    /// Far more pages than the table has room for: what it returns was noted last.
    @Test func aFullTableForgetsAndMixesNothing() throws {
        var random = SplitMix64(seed: 1)
        var (table, noted, hits) = (FoundPages(), [[UInt64]: UInt64](), 0)
        defer { table.free() }
        for start in 1...200_000 as ClosedRange<UInt64> {
            let (number, feed) = (UInt64(random.below(50_000)), UInt32(1 + random.below(3)))
            if let page = table[number, feed] {
                hits += 1
                try #require(page.start == noted[[number, UInt64(feed)]], "page \(number) of feed \(feed)")
            }
            table.note(FoundPages.Page(start: start), number, feed)
            noted[[number, UInt64(feed)]] = start
        }
        #expect(hits > 10_000)
    }

    private func compare(
        _ snapshot: borrowing Snapshot, _ feeds: [Feed], _ random: inout SplitMix64, _ place: String
    ) throws {
        for _ in 0..<6 {
            let (feed, number) = (random.pick(feeds), UInt64(random.below(60)))
            let searched = try snapshot.posts(ofPage: number, in: feed)
            for _ in 0..<2 {
                var found: [PostRow] = []
                try snapshot.forEachPost(ofPage: number, in: feed) {
                    found.append($0.row)
                    let body = try snapshot.body(of: $0.row).withUnsafeBytes { Array($0) }
                    #expect($0.body.withUnsafeBytes { Array($0) } == body, "\(place), page \(number)")
                }
                #expect(found == searched, "\(place), page \(number)")
            }
        }
    }
}
