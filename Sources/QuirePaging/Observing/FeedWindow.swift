import Quire

extension Feed {
    /// Returns the current rows around a post.
    /// - Parameters:
    ///   - anchor: The post that is to stay where it is on the screen; nil: the top of the feed.
    ///   - above: How many rows to read above it.
    ///   - below: How many rows to read below it.
    /// - Throws: ``Quire/QuireError``, `.notFound` if the feed does not hold the post.
    public func window(around anchor: PostID?, above: Int, below: Int) throws -> FeedWindow {
        guard let anchor else {
            return try cache.withSnapshot {
                try FeedWindow(self, .top, above: above, below: below, $0)
            }
        }
        if let window = try windowIfHeld(around: anchor, above: above, below: below) { return window }
        throw QuireError(.notFound, "feed \(name) has no post \(anchor)")
    }

    /// Returns the rows around a post; nil if the feed does not hold it.
    func windowIfHeld(around anchor: PostID, above: Int, below: Int) throws -> FeedWindow? {
        try cache.withSnapshot { snapshot in
            guard let row = try snapshot.find(anchor, in: self) else { return nil }
            return try FeedWindow(self, .post(row), above: above, below: below, snapshot)
        }
    }
}

/// Some rows of a feed around an anchor. If posts arrive above, ``updated()`` has the same rows, and the
/// anchor has the same neighbours, so nothing jumps. A value.
public struct FeedWindow: Sendable {
    /// The feed it shows.
    public let feed: Feed
    /// The rows, top first.
    public let rows: [FeedRow]
    /// The post around which the window is kept; nil: the top of the feed.
    public let anchor: PostID?
    /// The commit that the rows show.
    public let generation: UInt64
    private let above: Int
    private let below: Int

    /// Where to read.
    fileprivate enum Start {
        case top
        case post(PostRow)
    }

    fileprivate init(
        _ feed: Feed, _ start: Start, above: Int, below: Int, _ snapshot: borrowing Snapshot
    ) throws {
        self.feed = feed
        (self.above, self.below) = (above, below)
        generation = try snapshot.generation
        switch start {
        case .top:
            anchor = nil
            rows = try snapshot.rows(of: feed, limit: below)
        case .post(let row):
            anchor = row.id
            let upper = try snapshot.rows(of: feed, before: row.position, limit: above)
            rows =
                try upper.reversed() + [.post(row)]
                + snapshot.rows(of: feed, after: row.position, limit: below)
        }
    }

    /// Returns the current window around the same post. If that left the feed, uses the nearest post of this
    /// window that is still there, first below, then above. If none is left, uses the top.
    public func updated() throws -> FeedWindow {
        try feed.cache.withSnapshot { snapshot in
            for id in candidates {
                if let row = try snapshot.find(id, in: feed) {
                    return try FeedWindow(feed, .post(row), above: above, below: below, snapshot)
                }
            }
            return try FeedWindow(feed, .top, above: above, below: below, snapshot)
        }
    }

    /// The anchor and its neighbours, nearest first.
    var candidates: [PostID] {
        guard let anchor else { return [] }
        let posts = rows.compactMap(\.post?.id)
        guard let at = posts.firstIndex(of: anchor) else { return [anchor] }
        let lower = posts[(at + 1)...].enumerated().map { (distance: $0 * 2 + 1, id: $1) }
        let upper = posts[..<at].reversed().enumerated().map { (distance: $0 * 2 + 2, id: $1) }
        return [anchor] + (lower + upper).sorted { $0.distance < $1.distance }.map(\.id)
    }
}
