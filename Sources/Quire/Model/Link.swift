/// The knowledge of a feed about continuing at one of its places (Docs/rules.md, section 1).
public enum Link: Hashable, Sendable {
    /// Nothing is known about what lies beyond.
    case unknown
    /// The server said that nothing lies beyond.
    case end
    /// The server said "end" once although entries are cached below (R11).
    case confirmEnd
    /// The request for the first page.
    case head
    /// Feeds paged by offset or page number: there is more, and the position is computed (R26).
    case more
    /// The server's own words: a URL, a cursor, `page=17`.
    case token(String)
    /// Keyset feeds: what lies below this post (R16).
    case below(PostID)
    /// Keyset feeds: what lies above this post (R16).
    case above(PostID)

    /// True for a link a request can be made from.
    var isProven: Bool {
        switch self {
        case .unknown, .end, .confirmEnd, .head, .more: false
        case .token, .below, .above: true
        }
    }
}

extension Link: CustomStringConvertible {
    /// The word used in pictures: `?`, `end`, `confirm-end`, `head`, `more`, the token, `<id`, `>id`.
    public var description: String {
        switch self {
        case .unknown: "?"
        case .end: "end"
        case .confirmEnd: "confirm-end"
        case .head: "head"
        case .more: "more"
        case .token(let text): text
        case .below(let id): "<\(id)"
        case .above(let id): ">\(id)"
        }
    }
}
