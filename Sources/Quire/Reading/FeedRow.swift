/// A row of a feed as a reader sees it: a post, or a gap where posts may be missing.
public enum FeedRow: Sendable, Hashable {
    /// A post.
    case post(PostRow)
    /// A place where posts may be missing.
    case gap(GapRow)

    /// The post, nil for a gap.
    public var post: PostRow? { if case .post(let row) = self { row } else { nil } }
    /// The gap, nil for a post.
    public var gap: GapRow? { if case .gap(let row) = self { row } else { nil } }
}

// A `FeedRow` tells its case by bits that neither row uses. The compiler (6.3.1) also takes the padding
// between fields for such bits, and may leave it unset. So small fields fill what follows `key` and `down`:
// no padding is at the same place in both.

/// A post of a feed. A plain value; ``Snapshot/body(of:)-(PostRow)`` reads its body.
public struct PostRow: Sendable, Hashable {
    /// The id under which the post is known (R28).
    public let id: PostID
    /// The server's sort key; nil if the feed has none.
    public let key: Int64?
    /// True if it is outside the server's sequence: a local post, a sticky one, or a pinned one that left.
    public let isDetached: Bool
    /// True if it is pinned: evictions and prunes keep it.
    public let isPinned: Bool
    /// True if its place is known but its body is missing.
    public let isPlaceholder: Bool
    /// True if the page above an unverified join was requested again and ended at the same post (R26.8).
    /// Posts may still have come and gone in equal number in between.
    public let isChecked: Bool
    /// True if a newer version was seen, but only with less detail: request it with ``Place/bodies(_:)``.
    public let isOutdated: Bool
    /// Why it is not proven that this post follows the one above (R25, section 3). Nil if an answer has shown
    /// both, or a gap lies between.
    public let doubt: Doubt?
    /// How much of the post its body contains.
    public let detail: Detail
    /// The number of the page that last delivered it; nil if none did.
    public let page: UInt64?
    /// The version of the body; nil if the server does not say.
    public let version: Int64?
    /// The size of the body in bytes.
    public let bodySize: Int
    /// The position in this snapshot.
    public let position: RowPosition
    let body: BodyReference

    /// True if it is not proven that this post follows the one above. Mostly only page numbers say so (R25).
    public var isUnverified: Bool { doubt != nil }
}

/// A gap of a feed.
public struct GapRow: Sendable, Hashable {
    /// The number of the gap.
    public let id: GapID
    /// The link to what follows below the post above the gap.
    public let down: Link
    /// True if the answer to ``down`` starts above the post above the gap, not directly below it.
    public let isDownOverlapping: Bool
    /// True if the answer to ``up`` starts below the post below the gap, not directly above it.
    public let isUpOverlapping: Bool
    /// Why the gap exists.
    public let why: Doubt
    let above: UInt32
    /// The link to what precedes the post below the gap.
    public let up: Link
    /// The time when the gap opened, on the cache's clock, which counts requests, deletions and answers.
    public let since: UInt64
    /// The position in this snapshot.
    public let position: RowPosition

    /// The number of posts of the server's sequence in the segment above the gap.
    public var postsAbove: Int { Int(above) }
}

/// The position of a row in one snapshot. It has no meaning in another one.
public struct RowPosition: Sendable, Hashable {
    @usableFromInline let chunk: UInt64
    /// -1 for the gap above a chunk, 0 for its first entry.
    @usableFromInline let slot: Int

    @usableFromInline
    init(chunk: UInt64, slot: Int) { (self.chunk, self.slot) = (chunk, slot) }
}

/// A stored page: one accepted response.
public struct PageInfo: Sendable, Hashable {
    /// The number of the page. Numbers count up and are never reused.
    public let number: UInt64
    /// The rank of the page in this snapshot; 0 is the topmost.
    public let index: Int
    /// The link that was requested.
    public let own: Link
    /// The link to what follows below the page, as the server gave it.
    public let next: Link
    /// The link to what precedes the page, as the server gave it.
    public let previous: Link
    /// The number of posts received.
    public let received: Int
    /// The number of posts that were new.
    public let new: Int
    /// The number of posts that were known already.
    public let duplicates: Int
    /// The number of posts that the page repeated.
    public let duplicatesInPage: Int
    /// The number of posts it still has.
    public let posts: Int
    /// When it was received, in milliseconds since 1970.
    public let fetchedAt: Int64
    /// The chunk that has its first post in this snapshot.
    let start: UInt64
    let place: PagePlace

    /// True if all of its posts were new.
    public var isFull: Bool { new > 0 && duplicates == 0 }
}

/// The contents and state of a feed.
public struct FeedInfo: Sendable, Hashable {
    /// The name of the feed.
    public let name: String
    /// The options of the feed.
    public let options: FeedOptions
    /// The number of posts in the server's sequence.
    public let posts: Int
    /// The number of posts outside of it.
    public let detached: Int
    /// The number of posts whose place is known but whose body is missing.
    public let placeholders: Int
    /// The number of pages that still have posts.
    public let pages: Int
    /// The number of places where posts may be missing.
    public let gaps: Int
    /// The number of joins that only the server's page numbers claim (R25).
    public let unverifiedJoins: Int
    /// The bytes of the bodies that the feed shows.
    public let bodyBytes: Int
    /// The link to what precedes the first post; `.end` if that is nothing.
    public let head: Link
    /// The link to what follows below the last post.
    public let tail: Link
    /// True if the end of the feed was inferred from answers; the server did not state it (R26.7).
    public let isEndAssumed: Bool
    /// The number of answers that showed known posts in an order that the feed's class forbids. They suggest
    /// that the server does not follow the class.
    public let answersAgainstOrder: Int
    /// The size policy in effect: ``FeedOptions/sizes``, or `.unknown` once an answer has disproved it.
    public let sizes: SizePolicy
    /// The number of rows in a server's page, if it is known: given, or learned (R26.6).
    public let rowsPerPage: Int?

    /// True if posts may be missing above the first one, or in a feed that lost all of them to damage. Only
    /// the answer to a head request ends that (R25.4).
    public var isHeadOpen: Bool { head != .end }

    /// True if no post is known to be missing: there is no gap, and the head is closed. The tail may go on.
    /// Look at ``unverifiedJoins`` too: those depend on correct page numbers.
    public var isInSequence: Bool { gaps == 0 && !isHeadOpen }
}
