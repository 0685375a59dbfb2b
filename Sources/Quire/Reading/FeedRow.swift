/// A row of a feed as a reader sees it: a post, or a gap where posts may be missing.
public enum FeedRow: Sendable, Hashable {
    /// A post in its place.
    case post(PostRow)
    /// A place where posts may be missing.
    case gap(GapRow)

    /// The post, nil for a gap.
    public var post: PostRow? { if case .post(let row) = self { row } else { nil } }
    /// The gap, nil for a post.
    public var gap: GapRow? { if case .gap(let row) = self { row } else { nil } }
}

/// A post in its place. A plain value; its body is read with ``Snapshot/body(of:)-(PostRow)``.
public struct PostRow: Sendable, Hashable {
    /// The id that the post is known by (R28).
    public let id: PostID
    /// The server's sort key, nil where the feed has none.
    public let key: Int64?
    /// Number of the page that last delivered it, nil if none did.
    public let page: UInt64?
    /// It is not part of the server's sequence: a local post, a sticky one, a pinned one that left.
    public let isDetached: Bool
    /// It is pinned: no eviction and no prune takes it.
    public let isPinned: Bool
    /// Its place is known, its body is missing.
    public let isPlaceholder: Bool
    /// Why nothing proves that it follows the post above (R25, section 3); nil if an answer has shown both,
    /// or a gap lies between.
    public let doubt: Doubt?
    /// The page above such a join was asked for again and ended there as before (R26.8): as many posts may
    /// have come as gone in between.
    public let isChecked: Bool
    /// The detail of its body, and the version of the body; nil if the server does not say.
    public let detail: Detail
    /// The version of the body; nil if the server does not say.
    public let version: Int64?
    /// A newer version was seen, but only with less detail: ask for its body (``Place/bodies(_:)``).
    public let isOutdated: Bool
    /// Size of the body in bytes.
    public let bodySize: Int
    /// Its position in this snapshot.
    public let position: RowPosition
    let body: BodyReference

    /// Nothing proves that it follows the post above: mostly only the server's numbering does (R25).
    public var isUnverified: Bool { doubt != nil }
}

/// A gap in its place.
public struct GapRow: Sendable, Hashable {
    /// Its number.
    public let id: GapID
    /// The link that continues below the post above the gap; its answer starts above that post if
    /// `isDownOverlapping`.
    public let down: Link
    /// The answer to ``down`` starts above the post above the gap.
    public let isDownOverlapping: Bool
    /// The link that continues above the post below the gap.
    public let up: Link
    /// The answer to ``up`` starts below the post below the gap.
    public let isUpOverlapping: Bool
    /// Why it exists.
    public let why: Doubt
    /// The clock of the change that opened it: larger is later. It counts requests, deletions and answers of
    /// the cache.
    public let since: UInt64
    /// The number of posts of the server's sequence in the segment above the gap.
    public let postsAbove: Int
    /// Its position in this snapshot.
    public let position: RowPosition
}

/// The position of a row in one snapshot. It means nothing in another one.
public struct RowPosition: Sendable, Hashable {
    let chunk: UInt64
    /// The gap above a chunk is -1, its first entry 0.
    let slot: Int
}

/// A page as stored: one accepted response.
public struct PageInfo: Sendable, Hashable {
    /// Its number; counts up, never reused.
    public let number: UInt64
    /// Its rank among the pages of the feed in this snapshot, 0 is the topmost.
    public let index: Int
    /// The link that was requested.
    public let own: Link
    /// The link to the page below, as the server gave it.
    public let next: Link
    /// The link to the page above, as the server gave it.
    public let previous: Link
    /// Posts received, and how many of them were new, known already, repeated within the page.
    public let received: Int
    /// Posts that were new.
    public let new: Int
    /// Posts that were known already.
    public let duplicates: Int
    /// Posts that the page showed twice.
    public let duplicatesInPage: Int
    /// Posts it still has.
    public let posts: Int
    /// When it was received, in milliseconds since 1970.
    public let fetchedAt: Int64
    /// The chunk with its first post in this snapshot.
    let start: UInt64

    /// All of its posts were new.
    public var isFull: Bool { new > 0 && duplicates == 0 }
}

/// A feed: its options and counters.
public struct FeedInfo: Sendable, Hashable {
    /// The name of the feed.
    public let name: String
    /// The options of the feed.
    public let options: FeedOptions
    /// Posts of the server's sequence.
    public let posts: Int
    /// Posts outside of it.
    public let detached: Int
    /// Posts whose place is known and whose body is missing.
    public let placeholders: Int
    /// Pages that still have posts.
    public let pages: Int
    /// Places where posts may be missing.
    public let gaps: Int
    /// Joins that only the server's numbering claims (R25).
    public let unverifiedJoins: Int
    /// Bytes of the bodies it shows.
    public let bodyBytes: Int
    /// `.end` if nothing lies above the first post, else what continues there.
    public let head: Link
    /// The link that continues below the last post.
    public let tail: Link
    /// The server did not say that the feed ends here: that was concluded from what it answered (R26.7).
    public let isEndAssumed: Bool
    /// Answers that showed known posts in another order than the class of the feed allows: evidence that the
    /// server does not keep it.
    public let answersAgainstOrder: Int
    /// The size policy that holds: that of ``FeedOptions/sizes``, or `.unknown` once an answer has disproved
    /// it.
    public let sizes: SizePolicy
    /// Rows of a server's page, as far as that is known: stated, or learned (R26.6).
    public let rowsPerPage: Int?

    /// Posts may be missing above the first one. Only an answer to the request for the head closes it
    /// (R25.4).
    public var isHeadOpen: Bool { posts > 0 && head != .end }

    /// No post is known to be missing: there is no gap, and the head is closed. The tail may go on. Ask
    /// ``unverifiedJoins`` too: those are only as good as the numbering.
    public var isInSequence: Bool { gaps == 0 && !isHeadOpen }
}
