import Quire

/// One feed as the map draws it: which rows came with which page, and where something is missing. Made by one
/// pass over the rows; bodies are not read.
struct FeedMap: Sendable {
    /// Consecutive posts that came with the same page, or one gap.
    struct Run: Sendable, Equatable {
        /// The rank of the first row.
        let start: Int
        var rows: Int
        /// The number of the page; nil for posts that no page brought, and for a gap.
        let page: UInt64?
        let isGap: Bool
    }

    /// The end of a segment: a post beside a gap, or at an end of the feed.
    struct Border: Sendable {
        let id: PostID
        let key: Int64?
    }

    /// Rows with nothing missing between them.
    struct Segment: Sendable {
        let start: Int
        var rows = 0
        var first: Border?
        var last: Border?
        var runs = 0
        /// When its pages were received, in milliseconds since 1970; nil if no page says.
        var received: ClosedRange<Int64>?
    }

    struct Gap: Sendable {
        let rank: Int
        let row: GapRow
    }

    struct Join: Sendable {
        /// The rank of the post below the join.
        let rank: Int
        let doubt: Doubt
    }

    let generation: UInt64
    private(set) var rows = 0
    private(set) var runs: [Run] = []
    /// Topmost first. One more than there are gaps, or none in an empty feed.
    private(set) var segments: [Segment] = []
    private(set) var gaps: [Gap] = []
    private(set) var joins: [Join] = []
    /// The ranks of pinned posts.
    private(set) var pinned: [Int] = []
    /// When each page was received.
    private(set) var received: [UInt64: Int64] = [:]
    /// The largest number of a page: the latest answer.
    private(set) var lastPage: UInt64 = 0

    /// Rows and pages are read so many at a time.
    private static let batch = 1_024

    init(of feed: Feed, _ snapshot: borrowing Snapshot) throws {
        generation = try snapshot.generation
        var index = 0
        while true {
            let pages = try snapshot.pages(of: feed, from: index, limit: Self.batch)
            for page in pages {
                lastPage = max(lastPage, page.number)
                if page.fetchedAt > 0 { received[page.number] = page.fetchedAt }
            }
            index += pages.count
            if pages.count < Self.batch { break }
        }
        var position: RowPosition?
        while true {
            let rows = try snapshot.rows(of: feed, after: position, limit: Self.batch)
            for row in rows { add(row) }
            guard let last = rows.last else { break }
            position = last.position
        }
    }

    private mutating func add(_ row: FeedRow) {
        switch row {
        case .post(let post): add(post)
        case .gap(let gap):
            gaps.append(Gap(rank: rows, row: gap))
            runs.append(Run(start: rows, rows: 1, page: nil, isGap: true))
            segments.append(Segment(start: rows + 1))
        }
        rows += 1
    }

    private mutating func add(_ post: PostRow) {
        if segments.isEmpty { segments.append(Segment(start: 0)) }
        let border = Border(id: post.id, key: post.key)
        let last = segments.count - 1
        if segments[last].first == nil { segments[last].first = border }
        segments[last].last = border
        segments[last].rows += 1
        if let run = runs.last, !run.isGap, run.page == post.page {
            runs[runs.count - 1].rows += 1
        } else {
            runs.append(Run(start: rows, rows: 1, page: post.page, isGap: false))
            segments[last].runs += 1
            if let time = post.page.flatMap({ received[$0] }) {
                let known = segments[last].received ?? time...time
                segments[last].received = min(known.lowerBound, time)...max(known.upperBound, time)
            }
        }
        if let doubt = post.doubt { joins.append(Join(rank: rows, doubt: doubt)) }
        if post.isPinned { pinned.append(rows) }
    }
}

extension FeedRow {
    var position: RowPosition {
        switch self {
        case .post(let post): post.position
        case .gap(let gap): gap.position
        }
    }
}
