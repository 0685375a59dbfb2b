/// The number of a gap within its feed. It is never reused, even after the gap has closed.
public struct GapID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number, unique in its feed.
    public let number: UInt64
    /// Creates a gap id from a stored or printed number.
    public init(_ number: UInt64) { self.number = number }
    public static func < (a: GapID, b: GapID) -> Bool { a.number < b.number }
    public var description: String { "g\(number)" }
}

/// The place in a feed that a request asks about.
public enum Place: Hashable, Sendable {
    /// The first page: a refresh (R7).
    case head
    /// Below the last entry (R8).
    case tail
    /// Below the entry above the gap (R8).
    case gap(GapID)
    /// Above the entry below the gap (R8, mirrored).
    case aboveGap(GapID)
    /// Above the first entry of a feed whose head is open. A keyset feed can be asked there at any time: what
    /// is above a post needs no link. An empty answer is no reason to ask again.
    case openHead
    /// Around a post, wherever it is in the list (R18).
    case around(PostID)
    /// The page with this number, wherever it belongs: a jump (R18), in feeds paged by number.
    case page(Int)
    /// The unverified join directly above this post. Requests the page above it again, to prove or disprove
    /// the join (R26.8). Refused with `.noLink` if no page above has a link, or the server refused it (R32).
    case join(above: PostID)
    /// The missing bodies of these posts, or missing detail, or newer versions (R31.5). In a feed of ids
    /// (R21) every body may be missing. In other feeds planning is refused if nothing is missing. ``tail``
    /// asks for the topmost missing bodies. At most the request's limit.
    case bodies([PostID])
    /// No place in the list: asks for the changes since the token that was kept of the answers (R29).
    case delta
}

/// Permission to ingest one answer (R2). The cache stores it, so it survives a restart and another process
/// may use it. Each feed keeps its newest 256 tickets; older ones are stale. A ticket of another feed is
/// stale, too, with the reason `other-feed`. Only feeds that an older version made number their tickets
/// alike: there such a ticket may pass for one of the feed's own.
public struct Ticket: Hashable, Sendable {
    /// The number, unique in its cache; in its feed only, if an older version made the feed.
    public let number: UInt64
    /// Creates a ticket from a stored number.
    public init(_ number: UInt64) { self.number = number }

    /// The tickets that a feed can give before its numbers are those of the next.
    private static let perFeed: UInt64 = 1 << 28

    /// Returns the number below which no ticket of this feed is.
    static func numbersBefore(feed: UInt32) -> UInt64 { UInt64(feed) * perFeed }

    /// Returns true if one feed may have given both.
    func isOfSameFeed(as other: Ticket) -> Bool { number / Self.perFeed == other.number / Self.perFeed }
}

/// The request for the server, and the ticket for ingesting the answer.
public struct Request: Hashable, Sendable {
    /// How a request names the page it wants.
    public enum Target: Hashable, Sendable {
        /// The page at this link.
        case link(Link)
        /// `limit` rows from row `offset` on. If `limit` is nil, name no size: the server chooses it.
        case position(offset: Int, limit: Int?)
        /// Page `number` of pages with `limit` rows. If `limit` is nil, name no size: the server fixes it.
        case page(number: Int, limit: Int?)
        /// A page that shows this post and its neighbours (R18).
        case around(PostID)
        /// The list of all ids (R21).
        case snapshot
        /// The bodies of these posts (R21).
        case bodies([PostID])
        /// The changes since the answer that brought this token (R29).
        case delta(since: String)
    }

    /// The ticket that ``Feed/ingest(_:for:)`` needs for the answer.
    public let ticket: Ticket
    /// The page or the posts to ask for.
    public let target: Target
    /// True if the answer will start above the border entry instead of directly below it.
    public let isOverlapping: Bool
    /// Bounded requests: stop at this post. An answer that reaches it, with or without it, has ``Link/end``
    /// as its link. That is then the end of the range, not of the feed (R8).
    public let until: PostID?
}

/// The result of planning: a request, or the reason why there is none (R1).
public enum Plan: Hashable, Sendable {
    /// Send this request.
    case request(Request)
    /// Send nothing, for this reason.
    case refused(Refusal)

    /// The request; nil if planning was refused.
    public var request: Request? {
        if case .request(let request) = self { request } else { nil }
    }
}

/// Why there is no request for a place (R1).
public enum Refusal: String, Hashable, Sendable, Error {
    /// Nothing is cached from which to continue.
    case empty
    /// The server said that there is nothing beyond.
    case end
    /// The head is closed: refresh instead.
    case closed
    /// No usable link continues here.
    case noLink = "no-link"
    /// The gap has closed, or no gap ever had this number.
    case noSuchGap = "no-such-gap"
    /// There is no unverified join directly above the post.
    case noSuchJoin = "no-such-join"
    /// A gap further up must be closed first.
    case fillFirst = "fill-first"
    /// The feed's order class or paging does not support such a request.
    case unsupported
}

extension Refusal {
    /// What the program should do.
    public var help: Help {
        switch self {
        case .empty, .end, .closed, .noLink: .refresh
        case .noSuchGap, .noSuchJoin: .lookAgain
        case .fillFirst: .fillFirst
        case .unsupported: .checkOptions
        }
    }
}
