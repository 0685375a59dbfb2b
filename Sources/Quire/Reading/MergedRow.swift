/// A row of a list that several feeds make together: a post of one of them, or a place where a feed may get
/// a post that belongs above what follows.
public enum MergedRow: Sendable, Hashable {
    /// A post of the feed with this index.
    case post(PostRow, source: Int)
    /// A frontier of the feed with this index.
    case frontier(Frontier, source: Int)

    /// The post, nil for a frontier.
    public var post: PostRow? { if case .post(let row, _) = self { row } else { nil } }
    /// The frontier, nil for a post.
    public var frontier: Frontier? { if case .frontier(let frontier, _) = self { frontier } else { nil } }
    /// The index of the feed, in the list of feeds that were merged.
    public var source: Int {
        switch self {
        case .post(_, let source), .frontier(_, let source): source
        }
    }
}

/// Where a feed may get posts that are not cached. In a list of several feeds, all rows below it are
/// preliminary: such a post may have any key that is not above the frontier's.
public enum Frontier: Sendable, Hashable {
    /// Above the first post: request ``Place/openHead``.
    case head(Link)
    /// A gap of the feed: request ``Place/gap(_:)``.
    case gap(GapRow)
    /// Below the last post: request ``Place/tail``.
    case tail(Link)
}

/// Rows of a list that several feeds make together.
public struct MergedRows: Sendable, Hashable {
    /// Why there are no more of them.
    public enum Stop: Sendable, Hashable {
        /// As many were read as were asked for.
        case limit
        /// The last row is a frontier. What comes below it is read if it is asked for, from ``position`` on.
        case frontier
        /// There is nothing below, and no feed may get more.
        case end
    }

    /// The rows, highest key first.
    public let rows: [MergedRow]
    /// The position below the last row, in this snapshot.
    public let position: MergedPosition
    /// Why there are no more rows.
    public let stop: Stop
}

/// A position in a list that several feeds make together, in one snapshot. It has no meaning in another one,
/// or with other feeds.
public struct MergedPosition: Sendable, Hashable {
    var sources: [SourcePosition]
}

/// How far a feed was read for a merged list.
struct SourcePosition: Sendable, Hashable {
    enum Stage: Sendable { case head, rows, tail, end }

    var stage = Stage.head
    /// The row that was read last; nil if it was none.
    var row: RowPosition?
    /// The lowest key so far. What comes next is not above it, whatever its own key is.
    var key = Int64.max
}
