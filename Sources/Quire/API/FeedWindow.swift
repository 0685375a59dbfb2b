/// Some consecutive rows of a feed, as a screen holds them: it opens anywhere, and keeps its place while rows
/// come and go elsewhere. A value that any thread may use.
///
///     var window = try cache.withSnapshot { try $0.window(of: feed, at: .rank(500_000), above: 20, below: 40) }
///     …
///     let difference = try cache.withSnapshot { try window.update(to: $0) }
///     list.apply(difference, rows: window.rows)
///
/// It holds the *anchor*, which is the row that the reader looks at, and a number of rows above and below it.
/// It always is that slice of the rows of one snapshot, gaps among them, so nothing is hidden between two of
/// its rows. The anchor stays the anchor however many rows come above it. If it leaves, or the server moves
/// it, the nearest row of the window that stayed where it was takes its part, first one below.
public struct FeedWindow: Sendable {
    /// Where a window opens.
    public enum Start: Sendable, Hashable {
        /// The first row: the window follows the head until
        /// ``FeedWindow/look(at:above:below:)`` names a row.
        case head
        /// This post.
        case post(PostID)
        /// The first of these posts that the feed holds, else the head: a place that was saved
        /// (``FeedWindow/nearestPosts``).
        case nearest([PostID])
        /// The first post of the server's sequence whose key is this one or lower, else the last row: a date.
        /// Only in feeds whose order is that of keys.
        case key(Int64)
        /// The row of this rank, else the last row.
        case rank(Int)
    }

    /// The feed it shows.
    public let feed: Feed
    /// The rows, top first.
    public private(set) var rows: [FeedRow] = []
    /// The commit that the rows show.
    public private(set) var generation: UInt64
    /// The number of rows of the feed above the first one of the window.
    public private(set) var rank = 0
    /// The number of rows of the feed.
    public private(set) var rowCount = 0
    /// The row that the reader looks at; nil while the window follows the head.
    public private(set) var anchor: RowID?
    /// The index of the anchor among the rows; 0 while the window follows the head.
    public private(set) var anchorIndex = 0
    /// The largest number of rows above the anchor.
    public private(set) var above: Int
    /// The largest number of rows below the anchor; of those below the first row while the window follows the
    /// head.
    public private(set) var below: Int
    /// Set by ``look(at:above:below:)``, until the rows are read.
    private var isOutOfDate = false

    init(
        _ feed: Feed, at start: Start, above: Int, below: Int, in snapshot: borrowing Snapshot
    ) throws {
        self.feed = feed
        (self.above, self.below) = (Self.bounded(above), Self.bounded(below))
        generation = try snapshot.generation
        let reader = try snapshot.reader(feed)
        try show(around: try Self.place(start, of: feed, reader, snapshot), reader)
    }

    /// True if no row of the feed is above the window.
    public var isAtHead: Bool { rank == 0 }

    /// True if no row of the feed is below the window.
    public var isAtTail: Bool { rank + rows.count == rowCount }

    /// The posts of the window, nearest to the anchor first. Stored, they are a place to open at
    /// (``Start/nearest(_:)``), even if the anchor has left by then.
    public var nearestPosts: [PostID] { outward.compactMap { rows[$0].post?.id } }

    /// Returns the index of a row among the rows; nil if the window does not hold it. Costs O(n) of the rows
    /// that are held.
    public func index(of row: RowID) -> Int? {
        switch row {
        case .post(let id): rows.firstIndex { if case .post(let post) = $0 { post.id == id } else { false } }
        case .gap(let id): rows.firstIndex { if case .gap(let gap) = $0 { gap.id == id } else { false } }
        }
    }

    // MARK: Moving

    /// Moves the anchor, or changes how many rows are held around it. The next ``update(to:)`` reads the
    /// rows.
    /// - Parameters:
    ///   - row: The row that the reader looks at, which must be one of the window, else nothing changes; nil
    ///     follows the head.
    ///   - above: The largest number of rows above it; nil: as many as before.
    ///   - below: The largest number of rows below it; nil: as many as before.
    public mutating func look(at row: RowID?, above: Int? = nil, below: Int? = nil) {
        var index = 0
        if let row {
            guard let found = self.index(of: row) else { return }
            index = found
        }
        let counts = (Self.bounded(above ?? self.above), Self.bounded(below ?? self.below))
        if row == anchor, counts == (self.above, self.below) { return }
        (anchor, anchorIndex, isOutOfDate) = (row, index, true)
        (self.above, self.below) = counts
    }

    /// Follows the feed to a snapshot, mostly the newest.
    ///
    /// Costs nothing if nothing was committed, else O(log n) of the feed's length, O(1) a row, and what the
    /// log says about the commits in between.
    /// - Returns: What to change in a list that shows the rows.
    /// - Throws: ``QuireError``, and leaves the window as it was.
    public mutating func update(to snapshot: borrowing Snapshot) throws -> Difference {
        let now = try snapshot.generation
        if now == generation && !isOutOfDate { return Difference() }
        let reader = try snapshot.reader(feed)
        let log = try Log(of: feed, since: generation, in: snapshot)
        var next = self
        try next.show(around: try anchorRank(log, reader), reader)
        (next.generation, next.isOutOfDate) = (now, false)
        let difference = Difference(from: rows, to: next.rows, updated: log?.updated)
        self = next
        return difference
    }

    /// Reads the rows around one; nil: from the first on.
    private mutating func show(around center: Int?, _ reader: RowReader) throws {
        rowCount = try reader.rowCount()
        // damaged runs may have any numbers
        if let center, center < 0 || center >= rowCount { throw reader.damaged }
        rank = center.map { max(0, $0 - above) } ?? 0
        anchorIndex = (center ?? 0) - rank
        rows = try reader.rows(from: rank, limit: anchorIndex + 1 + below)
        if center != nil, anchorIndex >= rows.count { throw reader.damaged }
        anchor = center == nil ? nil : rows[anchorIndex].name
    }

    // MARK: Places

    private static func place(
        _ start: Start, of feed: Feed, _ reader: RowReader, _ snapshot: borrowing Snapshot
    ) throws -> Int? {
        switch start {
        case .head: return nil
        case .post(let id):
            guard let rank = try snapshot.rank(of: id, in: feed) else {
                throw QuireError(.notFound, "feed \(feed.name) has no post \(id)")
            }
            return rank
        case .nearest(let ids):
            for id in ids { if let rank = try snapshot.rank(of: id, in: feed) { return rank } }
            return nil
        case .key(let key):
            guard let rank = try snapshot.rank(ofKey: key, in: feed) else {
                throw QuireError(.badArgument, "the order of feed \(feed.name) is not that of keys")
            }
            return bounded(rank, try reader.rowCount())
        case .rank(let rank): return bounded(rank, try reader.rowCount())
        }
    }

    private static func bounded(_ rank: Int, _ count: Int) -> Int? {
        count <= 0 ? nil : min(max(0, rank), count - 1)
    }

    /// More rows are no screen, and all are read after each commit.
    private static func bounded(_ count: Int) -> Int { min(max(0, count), 1 << 20) }

    /// Returns the rank of the anchor, or of the row that takes its part; nil if none is left.
    private func anchorRank(_ log: Log?, _ reader: RowReader) throws -> Int? {
        if anchor == nil { return nil }
        let names = outward.lazy.map { rows[$0].name }
        let stayed = log == nil ? try reader.stayed(rows.map(\.name), in: feed.collection) : []
        for name in names where log.map({ !$0.left.contains(name) }) ?? stayed.contains(name) {
            if let rank = try reader.rank(of: name, in: feed.collection) { return rank }
        }
        // all have moved
        for name in names { if let rank = try reader.rank(of: name, in: feed.collection) { return rank } }
        return nil
    }

    /// The indices of the rows, nearest to the anchor first, and of two as near that below it.
    private var outward: some Collection<Int> {
        let (anchor, rows) = (anchorIndex, rows.indices)
        let steps = 0..<2 * max(anchor + 1, rows.count - anchor)
        return steps.lazy.map { $0 % 2 == 1 ? anchor + ($0 + 1) / 2 : anchor - $0 / 2 }.filter(rows.contains)
    }

    /// What the log of changes says about a feed.
    private struct Log {
        /// The rows that left, or were moved.
        var left: Set<RowID> = []
        /// The posts whose bodies changed, or may have: one that left may have come back with another body.
        var updated: Set<PostID> = []

        /// Nil if the log does not reach back that far, or does not list all changes.
        init?(of feed: Feed, since generation: UInt64, in snapshot: borrowing Snapshot) throws {
            guard let commits = try snapshot.changes(since: generation) else { return nil }
            for (_, number, changes) in commits where number == feed.number {
                for change in changes {
                    switch change {
                    case .inserted(.post(let id), _): updated.insert(id)
                    case .inserted: break
                    case .removed(let row): left.insert(row)
                    case .updated(let id): updated.insert(id)
                    case .reset: return nil
                    }
                }
            }
        }
    }
}

extension Snapshot {
    /// Opens a window over the rows of a feed. Costs O(log n) of its length, then O(1) a row.
    /// - Parameters:
    ///   - feed: The feed.
    ///   - start: The row to open at.
    ///   - above: The largest number of rows above that one.
    ///   - below: The largest number of rows below it.
    /// - Throws: ``QuireError``: `.notFound` for ``FeedWindow/Start/post(_:)`` if the feed does not hold it,
    ///   `.badArgument` for ``FeedWindow/Start/key(_:)`` if the feed's order is not that of keys.
    public func window(of feed: Feed, at start: FeedWindow.Start = .head, above: Int, below: Int) throws
        -> FeedWindow
    {
        try FeedWindow(feed, at: start, above: above, below: below, in: self)
    }
}
