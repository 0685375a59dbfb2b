/// One post of an answer. Its body is a range of the answer's bytes.
public struct Post: Sendable, Hashable {
    /// The server's id of the post.
    public var id: PostID
    /// The server's sort key, larger is nearer to the head; nil where the feed has none.
    public var key: Int64?
    /// The version of the post, larger is newer; nil if the server does not say. A body is
    /// never overwritten by one of a smaller version (R23).
    public var version: Int64?
    /// The detail of the body.
    public var detail: Detail
    /// The range of the body in ``Answer/bytes``.
    public var body: Range<Int>

    /// A post whose body is a range of the bytes of the answer that it is added to.
    public init(
        id: PostID, key: Int64? = nil, version: Int64? = nil, detail: Detail = .full,
        body: Range<Int> = 0..<0
    ) {
        self.id = id
        self.key = key
        self.version = version
        self.detail = detail
        self.body = body
    }
}

/// A server's answer to one request, parsed but not yet judged.
///
/// The bodies stay where they are: put the whole response into ``bytes`` and let each post name its
/// range, or ``append(id:key:version:detail:body:)`` them one by one.
///
///     var answer = Answer(next: .token("page=2"))
///     answer.append(id: 17, body: Array(#"{"title":"…"}"#.utf8))
public struct Answer: Sendable {
    /// The bytes that hold the bodies.
    public var bytes: [UInt8]
    /// The posts in the server's order. Rows without an id are not among them.
    public var posts: [Post]
    /// Rows without an id: advertisements, separators (R4).
    public var opaqueRows: Int
    /// The link to the page below the last post. `.end` only if the server said so.
    public var next: Link
    /// The link to the page above the first post.
    public var previous: Link
    /// Rows of the whole list, if the server says so; a page that reaches them is the last (R26.7).
    public var total: Int?
    /// With this token what has changed after this answer can be asked for, at ``Place/delta`` (R29). The
    /// server's own words: a time, a sync token. nil: the answer brings none.
    public var since: String?
    /// The answer to ``Place/delta``: posts that are gone on the server. Other answers are not asked.
    public var deleted: [PostID] = []
    /// When the response was received, in milliseconds since 1970; only pruning by age looks at it.
    public var fetchedAt: Int64

    /// An answer, empty unless said otherwise. ``append(id:key:version:detail:body:)`` adds posts to it.
    public init(
        posts: [Post] = [], bytes: [UInt8] = [], next: Link = .unknown, previous: Link = .unknown,
        opaqueRows: Int = 0, total: Int? = nil, fetchedAt: Int64 = 0
    ) {
        self.posts = posts
        self.bytes = bytes
        self.next = next
        self.previous = previous
        self.opaqueRows = opaqueRows
        self.total = total
        self.fetchedAt = fetchedAt
    }

    /// Adds a post below the others, copying its body.
    public mutating func append(
        id: PostID, key: Int64? = nil, version: Int64? = nil, detail: Detail = .full,
        body: some Collection<UInt8> = []
    ) {
        let start = bytes.count
        bytes.append(contentsOf: body)
        posts.append(Post(id: id, key: key, version: version, detail: detail, body: start..<bytes.count))
    }
}
