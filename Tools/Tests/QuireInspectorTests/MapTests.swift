import Quire
import QuireSimulator
import Testing

@testable import QuireInspector

@Suite("The map of a feed")
struct MapTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func map(of feed: Feed) throws -> FeedMap {
        try test.cache.withSnapshot { try FeedMap(of: feed, $0) }
    }

    @Test("runs, segments and gaps are the rows of the feed")
    func runs() throws {
        let feed = try test.feed("a", pages: 60, of: 7, missing: [4, 9, 10, 40])
        _ = try feed.pin(PostID(400))
        let drawn = try map(of: feed)
        let rows = try test.cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
        #expect(drawn.rows == rows.count)
        #expect(drawn.gaps.map(\.rank) == rows.indices.filter { rows[$0].gap != nil })
        #expect(drawn.pinned == rows.indices.filter { rows[$0].post?.isPinned == true })
        #expect(drawn.joins.map(\.rank) == rows.indices.filter { rows[$0].post?.isUnverified == true })
        var next = 0
        for run in drawn.runs {
            #expect(run.start == next)
            for row in rows[run.start..<run.start + run.rows] {
                #expect(run.isGap ? row.gap != nil : row.post?.page == run.page && row.post != nil)
            }
            next += run.rows
        }
        #expect(next == rows.count)
        #expect(drawn.segments.count == drawn.gaps.count + 1)
        #expect(drawn.segments.reduce(0) { $0 + $1.rows } + drawn.gaps.count == rows.count)
    }

    @Test("the bars of any part cover its rows once, and are no more than asked for")
    func bars() throws {
        let drawn = try map(of: test.feed("a", pages: 90, of: 5, missing: [3, 30, 31, 77]))
        var random = SplitMix64(seed: 5)
        for _ in 0..<300 {
            let from = random.number(in: 0...drawn.rows)
            let range = from..<from + random.number(in: 0...drawn.rows)
            let limit = random.number(in: 1...120)
            let bars = drawn.bars(range, limit: limit)
            let seen = range.clamped(to: 0..<drawn.rows)
            #expect(bars.count <= limit + 1)
            #expect(bars.reduce(0) { $0 + $1.rows } == seen.count)
            #expect(bars.first.map(\.start) == (seen.isEmpty ? nil : seen.lowerBound))
            #expect(zip(bars, bars.dropFirst()).allSatisfy { $0.start + $0.rows == $1.start })
            let gaps = drawn.gaps.count { seen.contains($0.rank) }
            #expect(bars.reduce(0) { $0 + $1.gaps } == gaps)
        }
    }

    @Test("the windows of a report are in order, apart, and within their limit")
    func windows() throws {
        let drawn = try map(
            of: test.feed("a", pages: 200, of: 6, missing: Set(stride(from: 2, to: 190, by: 3))))
        for limit in [40, 200, 2_000] {
            let windows = Report.windows(of: drawn, limit: limit)
            #expect(windows.reduce(0) { $0 + $1.count } <= limit)
            #expect(windows.first?.lowerBound == 0)
            #expect(zip(windows, windows.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        }
        #expect(Report.windows(of: try map(of: test.cache.feed(named: "empty")), limit: 100).isEmpty)
    }
}
