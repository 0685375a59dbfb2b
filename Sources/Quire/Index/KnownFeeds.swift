/// The feeds in which posts were found, where a list of them would be long: a post can be in thousands.
struct KnownFeeds {
    /// A list of fewer places than this is searched from end to end instead.
    static let few = 16

    private var known: Set<UInt64> = []

    var isEmpty: Bool { known.isEmpty }

    /// Returns true if none of these is in the feed, and remembers it then.
    mutating func isNew(_ feed: UInt32, to found: [(feed: UInt32, position: UInt64)]) -> Bool {
        if found.count < Self.few { return !found.contains { $0.feed == feed } }
        if known.isEmpty { for place in found { insert(place.feed) } }
        return insert(feed)
    }

    /// Returns false if the feed is known to hold the post already. `post` is its index among those that are
    /// looked for.
    @discardableResult
    mutating func insert(_ feed: UInt32, _ post: Int = 0) -> Bool {
        known.insert(UInt64(truncatingIfNeeded: post) << 32 | UInt64(feed)).inserted
    }
}
