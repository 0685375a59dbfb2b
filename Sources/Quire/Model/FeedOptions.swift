/// The promise of a server about the order of a feed (Docs/rules.md, section 3).
public enum OrderClass: String, Sendable, CaseIterable, Hashable {
    /// The keys are total, never change, and descend.
    case stable
    /// The order never changes, but there is no key. The default.
    case keyless
    /// Keys only grow: a touched entry rises to the top.
    case bump
    /// Posts are never deleted or moved: absence proves nothing.
    case appendOnly = "append-only"
    /// No promise at all.
    case ranked

    /// If true, a page covers everything between its first and its last key.
    var hasKeys: Bool { self == .stable || self == .bump }
}

/// The protocol by which a server hands out its pages.
public enum Paging: String, Sendable, CaseIterable, Hashable {
    /// Each page brings an opaque link to the next page. This is the default.
    case cursor
    /// Each page brings links that are positions ("page=2"): entries can shift under them (R26.9).
    case pages
    /// A request names a post and asks for everything below or above it.
    case keyset
    /// A request names a position and a count (R26).
    case offset
    /// A request names a page number, and a page size if the server allows it (R26).
    case page
    /// The first answer is the list of all ids; bodies are requested on demand (R21).
    case ids

    /// Requests are computed from a position in the list.
    var isPositional: Bool { self == .offset || self == .page }
}

/// How the rows of a page are chosen, in feeds paged by offset or number (R26).
public enum SizePolicy: Sendable, Hashable {
    /// The server accepts any size up to the caller's limit.
    case free
    /// The server uses this size for every page. Requests name no size.
    case fixed(Int)
    /// Not known: requests keep asking for the same size, and the engine learns from what comes back.
    case unknown

    /// The policy with its size limited to at least 1 and at most ``FeedOptions/countLimit``.
    var inRange: SizePolicy {
        if case .fixed(let size) = self { .fixed(min(max(1, size), FeedOptions.countLimit)) } else { self }
    }
}

/// The properties of a feed, set when it is first opened.
public struct FeedOptions: Sendable, Hashable {
    /// What the server promises about the order.
    public var order: OrderClass
    /// How the server divides the list into pages.
    public var paging: Paging
    /// True if a single reported end is enough to remove the entries cached below it (R11).
    public var trustsEnd: Bool
    /// How many posts a request asks for by default; at least 1.
    public var pageSize: Int
    /// Ranked feeds: how many neighbours prove that a page joins what is cached (R22).
    public var minimumRun: Int
    /// Posts that the server shows out of order, such as announcements (R4).
    public var sticky: Set<PostID>
    /// The number of the first page in feeds paged by number.
    public var firstPage: Int
    /// True to open a gap wherever only page numbers claim that two pages are adjacent (R25, R26).
    public var isStrict: Bool
    /// How the page size is chosen, in feeds paged by offset or number (R26). Other feeds ignore it. No
    /// request asks for more posts than its caller's limit, whatever the policy. A fixed size is at least 1.
    public var sizes: SizePolicy {
        didSet { sizes = sizes.inRange }
    }
    /// The collection that the feed's posts belong to, up to 255 bytes of UTF-8. Feeds of one collection
    /// share what they know of a post: body, version, fields, read mark. Feeds of two collections share
    /// nothing, even if the ids are equal. The default, "", is a collection like any other. It is right if
    /// all ids come from one server that never gives the same id twice.
    public var collection: String

    /// Larger sizes and page numbers are reduced to this.
    static let countLimit = 1 << 31

    /// Creates options, with defaults for what is not given. Sizes and numbers outside their range are
    /// replaced by the nearest value inside it.
    public init(
        order: OrderClass = .keyless, paging: Paging = .cursor, trustsEnd: Bool = false,
        pageSize: Int = 20, minimumRun: Int = 2, sticky: Set<PostID> = [], firstPage: Int = 1,
        isStrict: Bool = false, sizes: SizePolicy = .unknown, collection: String = ""
    ) {
        self.order = order
        self.paging = paging
        self.trustsEnd = trustsEnd
        self.pageSize = min(max(1, pageSize), Self.countLimit)
        self.minimumRun = min(max(1, minimumRun), Self.countLimit)
        self.sticky = sticky
        self.firstPage = min(max(-Self.countLimit, firstPage), Self.countLimit)
        self.isStrict = isStrict
        self.sizes = sizes.inRange
        self.collection = collection
    }
}
