/// The posts that many feeds hold, while the feeds are checked one after another: what the feeds before
/// have shown of each. So a feed need not look up all places of its posts, which would take the square of
/// the feeds.
///
/// It has room for a fixed number of posts. One that comes when it is full is never in it; all its places are
/// looked up in each of its feeds.
final class WidespreadPosts {
    /// An entry that shows a body.
    struct Shown {
        let position: UInt64
        let feed: UInt32
    }

    /// Whether an earlier feed held the post, and the first entry that showed a body; nil if none did.
    enum Seen {
        case first
        case again(Shown?)
    }

    /// A post in more feeds than this is one of many feeds.
    static let few = 4

    private var posts: [PostAddress: Shown?] = [:]
    private let limit: Int

    /// Has room for this number of posts. Each takes 32 bytes in a table of which a quarter stays empty.
    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { posts.isEmpty }

    func contains(_ address: PostAddress) -> Bool { posts[address] != nil }

    /// Notes that a feed holds a post, which the index has in this number of places. Returns nil if the post
    /// is not one of many feeds, or if there is no room for it.
    func see(_ address: PostAddress, places: Int) -> Seen? {
        if let shown = posts[address] { return .again(shown) }
        if places <= Self.few || posts.count >= limit { return nil }
        if posts.isEmpty { posts.reserveCapacity(limit) }
        posts[address] = .some(nil)
        return .first
    }

    /// Notes the first entry that shows a body.
    func show(_ address: PostAddress, _ shown: Shown) { posts[address] = .some(shown) }
}
