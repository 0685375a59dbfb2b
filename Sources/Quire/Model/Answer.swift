/// One post of an answer. Its body is a range of ``Answer/bytes``.
public struct Post: Sendable, Hashable {
    /// The server's id of the post.
    public var id: PostID
    /// The server's sort key. A larger key is nearer to the head. Nil if the feed has no keys.
    public var key: Int64?
    /// The version of the post; larger is newer. Nil if the server does not say. A body never replaces one of
    /// a larger version (R23).
    public var version: Int64?
    /// The detail of the body.
    public var detail: Detail
    /// The range of the body in ``Answer/bytes``.
    public var body: Range<Int>

    /// Creates a post whose body is a range of the bytes of the answer that it is added to.
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
/// Bodies are not copied: put the whole response into ``bytes`` and give each post its range, or add posts
/// one by one with ``append(id:key:version:detail:body:)``.
///
///     var answer = Answer(next: .token("page=2"))
///     answer.append(id: 17, body: Array(#"{"title":"…"}"#.utf8))
public struct Answer: Sendable, Hashable {
    /// The bytes that contain the bodies.
    public var bytes: [UInt8]
    /// The posts in the server's order, without the rows that have no id.
    public var posts: [Post]
    /// The number of rows without an id, such as advertisements and separators (R4).
    public var opaqueRows: Int
    /// The link to what follows below the last post. `.end` only if the server said so.
    public var next: Link
    /// The link to what precedes the first post.
    public var previous: Link
    /// The number of rows in the whole list, if the server says. A page that reaches it is the last (R26.7).
    public var total: Int?
    /// A token in the server's own words: a time, a sync token. A request at ``Place/delta`` sends it to ask
    /// what has changed since this answer (R29). Nil if the answer brings none.
    public var since: String?
    /// Posts that were deleted on the server. Only read in an answer to ``Place/delta``.
    public var deleted: [PostID] = []
    /// When the response was received, in milliseconds since 1970. Only pruning by age uses it.
    public var fetchedAt: Int64

    /// Creates an answer, empty by default. ``append(id:key:version:detail:body:)`` adds posts to it.
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

    /// Adds a post below the others and copies its body.
    @inlinable  // so that the type of the body is known: to look for it takes a thousand instructions a post
    public mutating func append(
        id: PostID, key: Int64? = nil, version: Int64? = nil, detail: Detail = .full,
        body: some Collection<UInt8> = []
    ) {
        let start = bytes.count
        bytes.append(contentsOf: body)
        posts.append(Post(id: id, key: key, version: version, detail: detail, body: start..<bytes.count))
    }
}
