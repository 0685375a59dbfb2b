/// How the posts of a view are ordered.
public enum StoredViewOrder: UInt8, Sendable, Hashable {
    /// As in the feed. The feed's gaps are rows of the view.
    case feed = 0
    /// By section, then by key (``StoredViewEntry``), then by id. A missing post may belong anywhere.
    case keys = 1
}

/// That a view shows a post, and where.
public struct StoredViewEntry: Sendable, Hashable {
    /// The section that counts it: a day, a letter. Sections are ordered by their bytes. Those behind the
    /// first ``sectionLimit`` are dropped.
    public var section: [UInt8]
    /// The place in a view ordered by keys: smaller bytes come first. Bytes behind the first ``keyLimit`` do
    /// not count.
    public var key: [UInt8]

    /// The largest number of bytes of a section.
    public static let sectionLimit = 48
    /// The largest number of bytes of a key.
    public static let keyLimit = 96

    /// Makes an entry.
    public init(section: [UInt8] = [], key: [UInt8] = []) { (self.section, self.key) = (section, key) }

    /// The bytes of a number, so that smaller numbers come first.
    public static func ascending(_ number: Int64) -> [UInt8] {
        withUnsafeBytes(of: (UInt64(bitPattern: number) ^ 1 << 63).bigEndian) { Array($0) }
    }

    /// The bytes of a number, so that larger numbers come first: newest on top.
    public static func descending(_ number: Int64) -> [UInt8] { ascending(~number) }
}

/// A post, as the function of a view gets it. Its body is lent.
public struct StoredViewPost: ~Escapable {
    /// The id under which the post is known (R28).
    public let id: PostID
    /// The server's sort key; nil if the feed has none.
    public let key: Int64?
    /// True if it is outside the server's sequence: a local post, a sticky one, or a pinned one that left.
    public let isDetached: Bool
    /// True if its place is known but its body is missing.
    public let isPlaceholder: Bool
    private let bytes: UnsafeRawBufferPointer

    /// The bytes must outlive the call of the function.
    @_lifetime(immortal)
    init(id: PostID, key: Int64?, isDetached: Bool, isPlaceholder: Bool, _ bytes: UnsafeRawBufferPointer) {
        (self.id, self.key, self.bytes) = (id, key, bytes)
        (self.isDetached, self.isPlaceholder) = (isDetached, isPlaceholder)
    }

    /// The bytes of its body, as received; empty if the post has none.
    public var body: RawSpan {
        @_lifetime(copy self)
        get { _overrideLifetime(RawSpan(_unsafeBytes: bytes), copying: self) }
    }
}

/// Decides whether a view shows a post, and where; nil if it does not. The answer must depend on nothing but
/// the post. It is called inside commits, by the writing thread, and may be called again for the same post.
/// It must not use the cache.
public typealias StoredViewFunction = @Sendable (borrowing StoredViewPost) -> StoredViewEntry?

/// A section of a view.
public struct StoredViewSection: Sendable, Hashable {
    /// What the view's function said.
    public let name: [UInt8]
    /// The number of its posts.
    public let posts: Int
    /// The number of posts in the sections before it: in a view ordered by keys, the rank of its first post;
    /// in one of the feed's order too, if the sections follow that.
    public let rank: Int
}
