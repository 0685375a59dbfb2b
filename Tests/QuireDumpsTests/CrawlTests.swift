import Foundation
import Quire
import Testing

@testable import QuireDumps

/// A real crawl, which contradicts itself: its pages were fetched hours apart and out of order.
@Suite(.enabled(if: Fixtures.areThere, "needs ../shared/fixtures"))
struct CrawlTests {
    private let folder: String
    private let cache: Cache
    private let feed: Feed
    private let parser: PageParser
    private let files: [PageFile]

    init() throws {
        folder = NSTemporaryDirectory() + "/quire-crawl-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        cache = try Cache(at: folder + "/so.quire", options: CacheOptions(durability: .relaxed))
        feed = try cache.feed(named: "active", options: FeedOptions(order: .bump, paging: .page))
        var profile = Profile.named("stackexchange")!
        try profile.setKey(path: "last_activity_date")
        parser = PageParser(profile: profile)
        files = try PageFile.list([Fixtures.path("stackexchange/so-activity-2018/pages")])
    }

    private func record(_ numbers: some Sequence<Int>, in crawl: inout Crawl) throws -> [Outcome] {
        try numbers.map { number in
            let file = files.first { $0.number == number }!
            let answer = try parser.parse(file.read(), name: file.name)
            let outcome = try feed.ingest(answer, page: number, of: &crawl)
            #expect([.ok, .gap, .joined].contains(outcome.verdict))
            return outcome
        }
    }

    private func info() throws -> FeedInfo {
        try cache.withSnapshot { try $0.info(of: feed) }
    }

    private func posts() throws -> [PostRow] {
        try cache.withSnapshot { try $0.rows(of: feed, limit: .max).compactMap(\.post) }
    }

    @Test func nothingIsLostAndEveryJoinIsProvenUnverifiedOrAGap() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var crawl = Crawl(startingAt: .head(page: 1))
        let outcomes = try record(1...60, in: &crawl)
        #expect(outcomes.reduce(0) { $0 + $1.new.count } == 1727)
        let rows = try posts()
        #expect(rows.count == 1727)
        for (upper, lower) in zip(rows, rows.dropFirst()) { #expect(upper.key! >= lower.key!) }
        let first = try info()
        print("crawl 1-60: \(first.gaps) gaps, \(first.unverifiedJoins) unverified joins")

        var again = Crawl(startingAt: .head(page: 1))
        let repeated = try record(1...60, in: &again)
        #expect(repeated.allSatisfy { $0.new.isEmpty && $0.removed.isEmpty })
        #expect(repeated.reduce(0) { $0 + $1.gapsOpened - $1.gapsClosed } == 0)
        #expect(try info().posts == 1727 && info().gaps == first.gaps)

        var later = Crawl(startingAt: .head(page: 900))
        _ = try record(900...929, in: &later)
        let both = try info()
        print(
            "crawl 900-929 on top: \(both.gaps) gaps, \(both.unverifiedJoins) unverified joins, \(both.posts) posts"
        )
        #expect(both.gaps > first.gaps)
        #expect(try cache.check().isEmpty)
    }

    @Test func aMissingPageIsAGapThatThePageCloses() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var crawl = Crawl(startingAt: .head(page: 1))
        _ = try record((1...60).filter { $0 != 43 }, in: &crawl)
        let gaps = try cache.withSnapshot { try $0.gaps(of: feed) }
        #expect(gaps.contains { $0.down == .token("page=43") })
        var late = Crawl(startingAt: .head(page: 43))
        _ = try record([43], in: &late)
        let rest = try cache.withSnapshot { try $0.gaps(of: feed) }
        #expect(!rest.contains { $0.down == .token("page=43") })
        #expect(try cache.check().isEmpty)
    }
}
