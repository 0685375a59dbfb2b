/// The promise of a server about the order of a feed (Docs/rules.md, section 3).
public enum OrderClass: String, Sendable, CaseIterable, Hashable {
    /// Total, immutable, descending keys.
    case stable
    /// The order never changes, but there is no key. The default.
    case keyless
    /// Keys only grow; a touched entry rises to the top.
    case bump
    /// No deletion, no move: absence proves nothing.
    case appendOnly = "append-only"
    /// No promise at all.
    case ranked

    /// A page of such a feed speaks for everything between its first and its last key.
    var hasKeys: Bool { self == .stable || self == .bump }
}

/// The protocol by which a server hands out its pages.
public enum Paging: String, Sendable, CaseIterable, Hashable {
    /// An opaque link to the next page comes with each page. The default.
    case cursor
    /// Links come with each page and are positions ("page=2"): entries slide over them (R26.9).
    case pages
    /// Requests name a post: everything below it, or above it.
    case keyset
    /// Requests name a position and a count (R26).
    case offset
    /// Requests name a page number, and a size where the server lets them (R26).
    case page
    /// The whole list of ids first, bodies on demand (R21).
    case ids

    /// Requests are computed from a position in the list.
    var isPositional: Bool { self == .offset || self == .page }
}

/// Who chooses how many rows a page has, in feeds paged by offset or number (R26).
public enum SizePolicy: Sendable, Hashable {
    /// The server grants any size up to the caller's limit.
    case free
    /// The server fixes the size, whatever is asked for: no request names one.
    case fixed(Int)
    /// Not known: the same size is asked for again and again, and what comes back is learned.
    case unknown

    /// Sizes are at least one, and no larger than a file holds.
    var inRange: SizePolicy {
        if case .fixed(let size) = self { .fixed(min(max(1, size), FeedOptions.countLimit)) } else { self }
    }
}

/// The properties of a feed, fixed when it is first opened.
public struct FeedOptions: Sendable, Hashable {
    /// The promise of the server about order.
    public var order: OrderClass
    /// The protocol of its pages.
    public var paging: Paging
    /// One reported end is enough to remove what is cached below it (R11).
    public var trustsEnd: Bool
    /// The number of posts that a request asks for unless it says otherwise; at least 1.
    public var pageSize: Int
    /// Ranked feeds: how many neighbours prove that a page joins what is cached (R22).
    public var minimumRun: Int
    /// Posts that the server shows out of order, such as announcements (R4).
    public var sticky: Set<PostID>
    /// The number of the first page in feeds paged by number.
    public var firstPage: Int
    /// Open a gap where only the numbering claims contiguity (R25, R26).
    public var isStrict: Bool
    /// Who chooses the size of a page, in feeds paged by offset or number (R26); no other feed looks at it.
    /// No request asks for more posts than its caller, whatever the policy. At least one row, where it is
    /// fixed.
    public var sizes: SizePolicy {
        didSet { sizes = sizes.inRange }
    }
    /// The collection that the feed's posts belong to, up to 255 bytes of UTF-8. Feeds of one collection
    /// share what they know of a post: body, version, fields, read mark. Feeds of two share nothing, whatever
    /// the ids are. The default, "", is a collection like any other: right where all ids come from one server
    /// that gives none of them twice.
    public var collection: String

    /// Sizes and numbers of pages are taken for this where they are larger.
    static let countLimit = 1 << 31

    /// Options, with the defaults for what is not named. Sizes and numbers outside their range are taken for
    /// the nearest that is inside.
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
