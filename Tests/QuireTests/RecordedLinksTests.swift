import Testing

@_spi(Unstable) @testable import Quire

/// A crawl that knows which link was followed to each page: the pages of a crawl join where the
/// links say so, not where the counting does.
@Suite struct RecordedLinksTests {
    /// Page p of 1...4 holds two posts; its link `n(p + 1)` leads to the next, the last one ends.
    private func answer(_ page: Int) -> Answer {
        var answer = Answer(next: page < 4 ? .token("n\(page + 1)") : .end)
        for key in [20 - 2 * page, 19 - 2 * page] {
            answer.append(id: PostID(UInt64(key)), key: Int64(key))
        }
        return answer
    }

    private func record(_ page: Int, number: Int?, in crawl: inout Crawl, of feed: Feed) throws {
        crawl.follow(page == 1 ? .head : .token("n\(page)"), to: number)
        let outcome = try feed.ingest(answer(page), page: number, of: &crawl)
        #expect(!outcome.isUnchanged, "page \(page): \(outcome.verdict)")
    }

    private static let arrivals: [[Int]] = {
        var all: [[Int]] = []
        func extend(_ pages: [Int]) {
            if !pages.isEmpty { all.append(pages) }
            for page in 1...4 where !pages.contains(page) { extend(pages + [page]) }
        }
        extend([])
        return all
    }()

    /// All sets of pages in all orders, counted as they come. With keys, the feed is in order and joined
    /// exactly where both pages are there; without, it never joins what no link does.
    @Test(arguments: [OrderClass.stable, .bump, .keyless])
    func everyArrival(order: OrderClass) throws {
        #expect(Self.arrivals.count == 64)
        let temporary = try TemporaryCache()
        for pages in Self.arrivals {
            let feed = try temporary.cache.feed(
                named: "\(pages)", options: FeedOptions(order: order, paging: .cursor))
            var crawl = Crawl(startingAt: .head(page: 1))
            for (index, page) in pages.enumerated() {
                try record(page, number: index + 1, in: &crawl, of: feed)
            }
            let segments = try segments(of: feed)
            #expect(segments.joined().sorted() == pages.sorted(), "\(pages)")
            for segment in segments {
                for (upper, lower) in zip(segment, segment.dropFirst()) {
                    #expect(lower == upper + 1, "\(pages): \(segments)")
                }
            }
            if order != .keyless || pages == pages.sorted() {
                #expect(segments == consecutive(pages.sorted()), "\(pages)")
            }
        }
        #expect(try temporary.cache.check().isEmpty)
    }

    /// The pages say their links, but not by which link they were asked for: the numbers tell.
    @Test(arguments: [OrderClass.stable, .bump, .keyless, .ranked])
    func everyNumberedArrival(order: OrderClass) throws {
        let temporary = try TemporaryCache()
        for pages in Self.arrivals where order.hasKeys || pages[0] == pages.min() {
            let feed = try temporary.cache.feed(
                named: "\(pages)", options: FeedOptions(order: order, paging: .cursor))
            var crawl = Crawl(startingAt: .head(page: 1))
            for page in pages {
                #expect(try !feed.ingest(answer(page), page: page, of: &crawl).isUnchanged)
            }
            #expect(try segments(of: feed) == consecutive(pages.sorted()), "\(pages)")
        }
        #expect(try temporary.cache.check().isEmpty)
    }

    /// The pages of each segment; each page must be whole.
    private func segments(of feed: Feed) throws -> [[Int]] {
        let rows = try feed.cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
        return rows.split(whereSeparator: { $0.post == nil }).map { segment in
            let pages = segment.compactMap(\.post).map { 10 - (Int($0.id.description)! + 1) / 2 }
            let whole = stride(from: 0, to: pages.count, by: 2).map { pages[$0] }
            #expect(pages == whole.flatMap { [$0, $0] })
            return whole
        }
    }

    private func consecutive(_ pages: [Int]) -> [[Int]] {
        pages.reduce(into: []) { crawls, page in
            if crawls.last?.last == page - 1 {
                crawls[crawls.count - 1].append(page)
            } else {
                crawls.append([page])
            }
        }
    }

    @Test func aGapIsFilledByThePageThatItsLinkNames() throws {
        let temporary = try TemporaryCache()
        let feed = try temporary.cache.feed(named: "a", options: FeedOptions())
        var crawl = Crawl(startingAt: .head(page: 1))
        for (index, page) in [1, 3, 4].enumerated() {
            try record(page, number: index + 1, in: &crawl, of: feed)
        }
        #expect(try Picture.show(feed) == "[18 17] ~n2~ [14 13 12 11] |end")
        let gap = try #require(try temporary.cache.withSnapshot { try $0.gaps(of: feed).first })
        var fill = Crawl(startingAt: .gap(gap.id))
        try record(2, number: nil, in: &fill, of: feed)
        #expect(try Picture.show(feed) == "[18 17 16 15 14 13 12 11] |end")
        var late = Crawl(startingAt: .gap(gap.id))
        for page in 1...2 {
            let outcome = try feed.ingest(answer(page), page: nil, of: &late)
            #expect(outcome.verdict == .stale && outcome.reason == "no-such-gap")
        }
        #expect(try Picture.show(feed) == "[18 17 16 15 14 13 12 11] |end")
    }

    @Test func aPageThatDoesNotFollowTheTailIsNotAttachedToIt() throws {
        let temporary = try TemporaryCache()
        let feed = try temporary.cache.feed(named: "a", options: FeedOptions())
        var crawl = Crawl(startingAt: .head(page: 1))
        try record(1, number: nil, in: &crawl, of: feed)
        var later = Crawl(startingAt: .tail)
        try record(3, number: nil, in: &later, of: feed)
        #expect(try Picture.show(feed) == "[18 17] ~n2~ [14 13] |n4")
        var last = Crawl(startingAt: .tail)
        try record(4, number: nil, in: &last, of: feed)
        #expect(try Picture.show(feed) == "[18 17] ~n2~ [14 13 12 11] |end")
    }

    /// R25.5, R11. The page shows a post that stays below it, with another body, and says that it is the last
    /// one.
    @Test func aPostThatTheEndRemovesBringsNoBody() throws {
        let temporary = try TemporaryCache()
        let feed = try temporary.cache.feed(
            named: "a", options: FeedOptions(order: .bump, paging: .page, trustsEnd: true))
        var crawl = Crawl(startingAt: .head(page: 1))
        func record(_ page: Int, _ keys: [Int64], body: String, _ next: Link = .unknown) throws {
            let bytes = Array(body.utf8)
            let posts = keys.map { Post(id: PostID(UInt64($0)), key: $0, body: 0..<bytes.count) }
            _ = try feed.ingest(Answer(posts: posts, bytes: bytes, next: next), page: page, of: &crawl)
        }
        try record(1, [9], body: "first")
        try record(2, [8, 7], body: "second")
        try record(2, [3, 8, 4], body: "another", .end)
        #expect(try Picture.show(feed) == "[9 3 4] |end")
        #expect(try temporary.cache.check() == [])
    }
}
