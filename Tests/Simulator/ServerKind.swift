/// How a server hands out pages that are named by their position: what it makes of the size asked for, which
/// rows it leaves out, and what it says at the end of its list and beyond. The list itself may change between
/// two requests.
///
///     var server = SimulatedServer(kind: ServerKind(size: .fixed(30), beyond: .lastPage, end: .unsaid))
public struct ServerKind: Sendable, Hashable {
    /// What becomes of the size asked for.
    public enum Size: Sendable, Hashable {
        /// It is granted.
        case free
        /// It is granted up to this many rows; the answer does not say so.
        case capped(Int)
        /// It is granted up to this many rows; a request for more is refused.
        case refusedAbove(Int)
        /// It is ignored: a page has this many rows.
        case fixed(Int)
    }

    /// Rows that count but show no post. Each post is such a row for ever, or never.
    public enum Filter: Sendable, Hashable {
        /// Each row shows a post.
        case nothing
        /// How many rows of a hundred are left out: pages are shorter than their size.
        case leftOut(percent: Int)
        /// How many rows of a hundred have no id.
        case withoutID(percent: Int)

        var percent: Int {
            switch self {
            case .nothing: 0
            case .leftOut(let percent), .withoutID(let percent): percent
            }
        }
    }

    /// What is answered to a request for a position beyond the last row.
    public enum Beyond: Sendable, Hashable {
        /// A page without rows.
        case emptyPage
        /// The last page again.
        case lastPage
        /// The first page again.
        case firstPage
        /// An error.
        case refusal
    }

    /// How a client learns that a page is the last one.
    public enum End: Sendable, Hashable {
        /// Each page says whether there is more.
        case said
        /// Each page says how many rows there are in all.
        case total
        /// It does not.
        case unsaid
    }

    /// Who chooses how many rows a page has.
    public var size: Size
    /// Which rows show no post.
    public var filter: Filter
    /// The answer to a request beyond the last row.
    public var beyond: Beyond
    /// How a client learns of the end.
    public var end: End
    /// Pages come with links to their neighbours that are positions, like `page=2`. Such a server has no
    /// cursors.
    public var linksAreNumbers: Bool

    /// A server that grants everything, shows everything and says where it ends, unless told otherwise.
    public init(
        size: Size = .free, filter: Filter = .nothing, beyond: Beyond = .emptyPage, end: End = .said,
        linksAreNumbers: Bool = false
    ) {
        self.size = size
        self.filter = filter
        self.beyond = beyond
        self.end = end
        self.linksAreNumbers = linksAreNumbers
    }

    /// What a server sends where the request names no size.
    static let usualSize = 30

    /// How many rows a page has when `count` are asked for; nil: the request is refused.
    func rows(askedFor count: Int?) -> Int? {
        switch size {
        case .free: count ?? Self.usualSize
        case .capped(let most): min(count ?? Self.usualSize, most)
        case .refusedAbove(let most): (count ?? 0) > most ? nil : min(count ?? Self.usualSize, most)
        case .fixed(let rows): rows
        }
    }
}
