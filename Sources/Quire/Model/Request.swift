/// The number of a gap within its feed; never used again after the gap has closed.
public struct GapID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number, unique in its feed.
    public let number: UInt64
    /// A gap with this number, as it was stored or printed.
    public init(_ number: UInt64) { self.number = number }
    public static func < (a: GapID, b: GapID) -> Bool { a.number < b.number }
    public var description: String { "g\(number)" }
}

/// A place of a feed at which a page is asked for.
public enum Place: Hashable, Sendable {
    /// The first page: a refresh (R7).
    case head
    /// Below the last entry (R8).
    case tail
    /// Below the entry above the gap (R8).
    case gap(GapID)
    /// Above the entry below the gap (R8, mirrored).
    case aboveGap(GapID)
    /// Above the first entry of a feed whose head is open.
    case openHead
    /// Around a post, wherever it is (R18).
    case around(PostID)
    /// The page with this number, wherever it belongs: a jump (R18), in feeds paged by number.
    case page(Int)
    /// The unverified join directly above this post: asks again for the page above it, and says what that
    /// proved (R26.8).
    case join(above: PostID)
    /// The missing bodies of these posts, wherever they stand: all of it in a feed of ids (R21),
    /// or detail, or a newer version (R31.5). In other feeds it is refused if nothing is missing; ``tail``
    /// asks for the topmost missing ones. Not more than the request's limit.
    case bodies([PostID])
    /// Nowhere: what has changed since the newest token that an answer brought (R29).
    case delta
}

/// Permission to ingest one answer (R2). It is kept in the cache, so it survives a restart and may be
/// used by another process; the newest 256 of a feed are kept, older ones are stale.
public struct Ticket: Hashable, Sendable {
    /// The number, unique in its feed.
    public let number: UInt64
    /// A ticket with this number, as it was stored.
    public init(_ number: UInt64) { self.number = number }
}

/// A question to the server, and the ticket that its answer needs.
public struct Request: Hashable, Sendable {
    /// The way a request names the page it wants.
    public enum Target: Hashable, Sendable {
        /// The page that this link leads to.
        case link(Link)
        /// `offset` rows from the top, `limit` rows; nil: as many as the server hands out, name no size.
        case position(offset: Int, limit: Int?)
        /// Page `number`, when a page has `limit` rows; nil: the server fixes the size, name none.
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

    /// The ticket that ``Feed/ingest(_:for:)`` needs.
    public let ticket: Ticket
    /// The page or the posts to ask for.
    public let target: Target
    /// The answer starts above the border entry, not directly below it.
    public let isOverlapping: Bool
    /// Bounded requests: stop at this post. An answer that got there says so by ``Link/end``, which is then
    /// the end of the range and not of the feed; it may show the post or not (R8).
    public let until: PostID?
}

/// The result of planning: a request, or the reason for none (R1).
public enum Plan: Hashable, Sendable {
    /// Ask for this.
    case request(Request)
    /// Ask for nothing, for this reason.
    case refused(Refusal)

    /// The request, nil if planning was refused.
    public var request: Request? {
        if case .request(let request) = self { request } else { nil }
    }
}

/// Why nothing can be asked at a place (R1).
public enum Refusal: String, Hashable, Sendable, Error {
    /// Nothing is cached to continue from.
    case empty
    /// The server said that nothing lies beyond.
    case end
    /// The head is not open: refresh.
    case closed
    /// No link leads on from here.
    case noLink = "no-link"
    /// The gap has closed, or there never was one with this number.
    case noSuchGap = "no-such-gap"
    /// Nothing unverified joins the post to the one above it.
    case noSuchJoin = "no-such-join"
    /// A gap above must be closed first.
    case fillFirst = "fill-first"
    /// The feed's order class or paging has no such request.
    case unsupported
}

extension Refusal {
    /// The remedy.
    public var help: Help {
        switch self {
        case .empty, .end, .closed, .noLink: .refresh
        case .noSuchGap, .noSuchJoin: .lookAgain
        case .fillFirst: .fillFirst
        case .unsupported: .checkOptions
        }
    }
}
