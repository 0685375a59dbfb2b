/// What is known about continuing beyond one end of a cached range (Docs/rules.md, section 1).
public enum Link: Hashable, Sendable {
    /// Nothing is known about what lies beyond.
    case unknown
    /// The server said that there is nothing beyond.
    case end
    /// The server said "end" once although entries are cached below (R11).
    case confirmEnd
    /// The link to the first page.
    case head
    /// Feeds paged by offset or page number: there is more, and the engine computes the position (R26). In an
    /// answer of any other feed it is as good as ``unknown``.
    case more
    /// The server's own text: a URL, a cursor, `page=17`.
    case token(String)
    /// Keyset feeds: the posts below this one (R16).
    case below(PostID)
    /// Keyset feeds: the posts above this one (R16).
    case above(PostID)

    /// True if a request can be made from this link.
    var isProven: Bool {
        switch self {
        case .unknown, .end, .confirmEnd, .head, .more: false
        case .token, .below, .above: true
        }
    }
}

extension Link: CustomStringConvertible {
    /// The form used in feed pictures: `?`, `end`, `confirm-end`, `head`, `more`, the token, `<id`, `>id`.
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
