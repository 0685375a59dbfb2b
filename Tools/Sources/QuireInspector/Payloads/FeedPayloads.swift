import Quire

/// A feed as a line of the list: its figures.
struct FeedFigures: Encodable {
    let number: UInt32
    let name: String
    let order: String
    let paging: String
    let collection: String
    let posts: Int
    let detached: Int
    let placeholders: Int
    let pages: Int
    let gaps: Int
    let unverified: Int
    let againstOrder: Int
    let bodyBytes: Int
    let head: LinkText
    let isHeadOpen: Bool
    let tail: LinkText
    let isEndAssumed: Bool
    let rowsPerPage: Int?
    let rows: Int

    init(_ feed: Feed, _ snapshot: borrowing Snapshot) throws {
        let info = try snapshot.info(of: feed)
        number = feed.number
        name = info.name
        (order, paging) = (info.options.order.rawValue, info.options.paging.rawValue)
        collection = brief(info.options.collection)
        (posts, detached, placeholders) = (info.posts, info.detached, info.placeholders)
        (pages, gaps, unverified) = (info.pages, info.gaps, info.unverifiedJoins)
        (againstOrder, bodyBytes) = (info.answersAgainstOrder, info.bodyBytes)
        (head, isHeadOpen, tail) = (LinkText(info.head), info.isHeadOpen, LinkText(info.tail))
        (isEndAssumed, rowsPerPage) = (info.isEndAssumed, info.rowsPerPage)
        rows = try snapshot.rowCount(of: feed)
    }
}

/// A gap, and what lies on either side of it.
struct GapFigures: Encodable {
    let id: String
    let rank: Int
    let why: String
    let down: LinkText
    let up: LinkText
    /// The cache's clock when it opened.
    let since: UInt64

    init(_ gap: FeedMap.Gap) {
        (id, rank, why) = (gap.row.id.description, gap.rank, gap.row.why.rawValue)
        (down, up, since) = (LinkText(gap.row.down), LinkText(gap.row.up), gap.row.since)
    }
}

struct SegmentFigures: Encodable {
    let start: Int
    let rows: Int
    let runs: Int
    let first: String?
    let last: String?
    let firstKey: Int64?
    let lastKey: Int64?
    let oldest: Int64?
    let newest: Int64?

    init(_ segment: FeedMap.Segment) {
        (start, rows, runs) = (segment.start, segment.rows, segment.runs)
        (first, last) = (segment.first.map { brief($0.id) }, segment.last.map { brief($0.id) })
        (firstKey, lastKey) = (segment.first?.key, segment.last?.key)
        (oldest, newest) = (segment.received?.lowerBound, segment.received?.upperBound)
    }
}

/// A part of a feed's map.
struct MapFigures: Encodable {
    let generation: UInt64
    let rows: Int
    let from: Int
    let to: Int
    /// One array each: start, rows, smallest page, largest page (0: none), runs, when received, first and
    /// last (0: not known), gaps.
    let bars: [[Int64]]
    let gaps: [GapFigures]
    /// How many gaps there are in the part; the list may hold fewer.
    let gapCount: Int
    let segments: [SegmentFigures]
    /// The ranks of posts below unverified joins, and why each is doubted.
    let joins: [JoinFigures]
    let joinCount: Int
    let pinned: [Int]
    /// The largest number of a page, which received the latest answer.
    let lastPage: UInt64

    struct JoinFigures: Encodable {
        let rank: Int
        let doubt: String
    }

    struct Limits {
        var bars = 2_000
        var gaps = 500
        var marks = 1_000
    }

    init(_ map: FeedMap, _ range: Range<Int>, limits: Limits) {
        (generation, rows) = (map.generation, map.rows)
        (from, to) = (range.lowerBound, range.upperBound)
        bars = map.bars(range, limit: limits.bars).map { bar in
            [
                Int64(bar.start), Int64(bar.rows), Int64(clamping: bar.pages?.lowerBound ?? 0),
                Int64(clamping: bar.pages?.upperBound ?? 0), Int64(bar.runs), bar.received?.lowerBound ?? 0,
                bar.received?.upperBound ?? 0, Int64(bar.gaps),
            ]
        }
        let gaps = map.gaps.filter { range.contains($0.rank) }
        gapCount = gaps.count
        self.gaps = gaps.prefix(limits.gaps).map { GapFigures($0) }
        let segments = map.segments.filter {
            $0.rows > 0 && $0.start < range.upperBound
                && $0.start + $0.rows > range.lowerBound
        }
        self.segments = segments.prefix(limits.gaps + 1).map { SegmentFigures($0) }
        let joins = map.joins.filter { range.contains($0.rank) }
        joinCount = joins.count
        self.joins = joins.prefix(limits.marks).map { JoinFigures(rank: $0.rank, doubt: $0.doubt.rawValue) }
        pinned = Array(map.pinned.filter { range.contains($0) }.prefix(limits.marks))
        lastPage = map.lastPage
    }
}
