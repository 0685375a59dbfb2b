import Foundation
import Quire
import QuirePaging

/// A cache as one HTML file: the feeds, the map of each, and the rows around its gaps. Its size is bounded,
/// whatever the cache holds.
public struct Report {
    /// Whether what posts hold goes into it.
    public var hasBodies: Bool
    /// The time it is made, in milliseconds since 1970.
    public var made: Int64

    public init(hasBodies: Bool = true, made: Int64) { (self.hasBodies, self.made) = (hasBodies, made) }

    /// The bars of all maps, the rows of all feeds, and the bytes of all bodies.
    private static let (bars, rows, bodyBytes) = (20_000, 4_000, 1 << 20)
    private static let bodyLimit = 4_096
    /// So many rows above and below a gap, and a join.
    private static let (around, aroundJoin) = (8, 3)
    private static let gapsWithRows = 60
    /// The most feeds that a report shows: the first ones that it is given.
    public static let feedLimit = 500

    /// Returns the bytes of the HTML file.
    /// - Throws: ``Quire/QuireError`` if the cache cannot be read at all. A feed that cannot be read is a
    ///   feed with an error.
    public func html(of cache: Cache, feeds: [Feed]) throws -> [UInt8] {
        let check = try cache.check(.quick, limit: 20) { _ in true }
        let all = try cache.withSnapshot { snapshot in
            try content(of: cache, feeds, check, snapshot)
        }
        let data = try Page.json(all)
        return Page.report(data: data, nonce: Page.randomText())
    }

    struct Content: Encodable {
        let made: Int64
        let path: String
        let hasBodies: Bool
        let figures: CacheFigures
        let findings: [String]
        let feeds: [FeedContent]
        /// How many feeds were asked for; the list may hold fewer.
        let feedCount: Int
        let commits: [CommitFigures]
    }

    struct FeedContent: Encodable {
        let number: UInt32
        let name: String
        var error: String?
        var figures: FeedFigures?
        var map: MapFigures?
        var marker: Int?
        var rows: [RowFigures] = []
        var answers: [AnswerFigures] = []
    }

    private func content(
        of cache: Cache, _ feeds: [Feed], _ check: CheckReport, _ snapshot: borrowing Snapshot
    ) throws -> Content {
        let shown = feeds.prefix(Self.feedLimit)
        var limits = hasBodies ? BodyLimits(body: Self.bodyLimit, total: Self.bodyBytes) : .none
        var contents: [FeedContent] = []
        for (index, feed) in shown.enumerated() {
            // each feed may take its share of what those before it left
            let left = shown.count - index
            let total = limits.total
            limits.total = total / left
            contents.append(content(of: feed, share: shown.count, &limits, snapshot))
            limits.total += total - total / left
        }
        var findings = check.findings.map { brief($0.description, limit: 1_000) }
        var commits: [CommitFigures] = []
        do {
            commits = try CommitFigures.latest(50, of: feeds, snapshot)
        } catch {
            findings.append(Self.words(error))
        }
        return Content(
            made: made, path: cache.path, hasBodies: hasBodies,
            figures: try CacheFigures(snapshot, fileBytes: fileSize(cache.path)), findings: findings,
            feeds: contents, feedCount: feeds.count, commits: commits)
    }

    private static func words(_ error: any Error) -> String { (error as? QuireError)?.message ?? "\(error)" }

    private func content(
        of feed: Feed, share: Int, _ limits: inout BodyLimits, _ snapshot: borrowing Snapshot
    ) -> FeedContent {
        var content = FeedContent(number: feed.number, name: feed.name)
        do {
            content.figures = try FeedFigures(feed, snapshot)
            let map = try FeedMap(of: feed, snapshot)
            let most = MapFigures.Limits(
                bars: min(2_000, Self.bars / share), gaps: min(500, max(20, 5_000 / share)),
                marks: min(1_000, max(50, 5_000 / share)))
            content.map = MapFigures(map, 0..<map.rows, limits: most)
            content.marker = try feed.markerRank(snapshot)
            let windows = Self.windows(of: map, limit: max(2 * Self.around, Self.rows / share))
            for window in windows {
                content.rows += try snapshot.figures(
                    of: feed, from: window.lowerBound, limit: window.count, &limits)
            }
            content.answers = try AnswerFigures.latest(min(40, max(5, 2_000 / share)), of: feed, snapshot)
        } catch {
            content.error = Self.words(error)
        }
        return content
    }

    /// The ranks of rows that come along: the top, the bottom, and those around the topmost gaps and joins.
    static func windows(of map: FeedMap, limit: Int) -> [Range<Int>] {
        let ends = [0, map.rows - 1].map { ($0, around) }
        let gaps = map.gaps.prefix(gapsWithRows).map { ($0.rank, around) }
        let joins = map.joins.prefix(gapsWithRows).map { ($0.rank, aroundJoin) }
        var kept: [Range<Int>] = []
        var count = 0
        for (rank, around) in ends + gaps + joins where rank >= 0 {
            let window = (rank - around..<rank + around + 1).clamped(to: 0..<map.rows)
            if window.isEmpty { continue }
            if count + window.count > limit { break }
            count += window.count
            kept.append(window)
        }
        var merged: [Range<Int>] = []
        for window in kept.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, window.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, window.upperBound)
            } else {
                merged.append(window)
            }
        }
        return merged
    }
}

extension Feed {
    /// The rank of the post from which on everything is read; nil if there is no such mark.
    func markerRank(_ snapshot: borrowing Snapshot) throws -> Int? {
        try reading.marker().flatMap { try snapshot.rank(of: $0, in: self) }
    }
}

func fileSize(_ path: String) -> UInt64 {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
}
