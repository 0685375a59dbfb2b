import Foundation
import Quire

extension FeedWriting {
    /// How far a user has read. It is stored in the cache, so it survives refreshes, pruning and restarts,
    /// and processes share it.
    public var reading: ReadingState { ReadingState(writer: self) }
}

/// The reading state of a feed, see ``FeedWriting/reading``. A value; every method throws
/// ``Quire/QuireError`` and what ``FeedWriting/write(_:)`` throws, and may be called from any thread.
public struct ReadingState: Sendable {
    let writer: any FeedWriting

    /// The feed.
    public var feed: Feed { writer.feed }

    // MARK: Flags

    /// The name of the flag among a post's fields. No server uses it.
    static let flag = "quire.read"

    /// Marks posts as read or unread in every feed of the collection that holds them. The flag survives a new
    /// body of the post, and is removed when the last feed forgets the post.
    nonisolated(nonsending) public func mark(_ ids: [PostID], isRead: Bool = true) async throws {
        let collection = feed.options.collection
        _ = try await writer.write(
            ids.map { id in
                // All use the same version, so the last mark wins, independent of clocks.
                .updateFields(id, [Self.flag: [isRead ? 1 : 0]], version: 0, collection: collection)
            })
    }

    /// Returns, for each of these posts, whether it was marked as read.
    public func areRead(_ ids: [PostID]) throws -> [Bool] {
        try feed.cache.withSnapshot { snapshot in
            try ids.map {
                try snapshot.post($0, in: feed.options.collection)?.fields[Self.flag] == [1]
            }
        }
    }

    // MARK: Marker

    /// Stores that everything from this post down is read; nil removes the marker.
    nonisolated(nonsending) public func setMarker(_ id: PostID?) async throws {
        let key = try id.flatMap { id in
            try feed.cache.withSnapshot { try $0.find(id, in: feed)?.key }
        }
        try await change { $0.marker = id.map { Stored.Marker(id: Data($0.bytes), key: key) } }
    }

    /// Returns the post from which on everything is read. ``Pager/catchUp(to:budget:)`` fetches what is
    /// missing above it.
    public func marker() throws -> PostID? {
        try feed.cache.withSnapshot { try stored($0).marker.flatMap { PostID(bytes: $0.id) } }
    }

    /// Returns how many posts are above the marker, and whether that is exact. Takes time proportional to
    /// their number. Without a marker all posts are unread.
    public func unread() throws -> Unread {
        try feed.cache.withSnapshot { snapshot in
            let marker = try stored(snapshot).marker
            let id = marker.flatMap { PostID(bytes: $0.id) }
            var unread = Unread(isExact: try snapshot.info(of: feed).head == .end)
            var position: RowPosition?
            while true {
                let rows = try snapshot.rows(of: feed, after: position, limit: 256)
                for row in rows {
                    guard let post = row.post else {
                        unread.isExact = false
                        position = row.gap?.position
                        continue
                    }
                    if post.id == id { return unread }
                    if isBelow(post, marker) { return unread }
                    if !post.isDetached { unread.count += 1 }
                    position = post.position
                }
                guard rows.isEmpty else { continue }
                if id != nil { unread.isExact = false }  // the marker may be below the cached posts
                return unread
            }
        }
    }

    /// Returns whether a post is below a marker that has left the cache, which immutable keys can tell.
    private func isBelow(_ post: PostRow, _ marker: Stored.Marker?) -> Bool {
        guard feed.options.order == .stable, !post.isDetached, let key = post.key, let last = marker?.key
        else { return false }
        return key < last
    }

    // MARK: Position

    /// Stores what is on the screen: a post, and how far its top is from the screen's, in any unit. Stores
    /// its neighbours too, in case it leaves.
    nonisolated(nonsending) public func setPosition(_ anchor: PostID, offset: Double = 0) async throws {
        let window = try feed.cache.withSnapshot {
            try $0.window(of: feed, at: .post(anchor), above: 16, below: 16)
        }
        let candidates = window.nearestPosts.map { Data($0.bytes) }
        try await change { $0.position = Stored.Position(candidates: candidates, offset: offset) }
    }

    /// Returns the window around what was on the screen, and its offset; nil if nothing is stored or nothing
    /// of it is left. If the post has left, the anchor is its nearest neighbour, and the offset 0.
    public func position(above: Int, below: Int) throws -> (window: FeedWindow, offset: Double)? {
        try feed.cache.withSnapshot { snapshot in
            guard let position = try stored(snapshot).position else { return nil }
            let ids = position.candidates.compactMap { PostID(bytes: $0) }
            let window = try snapshot.window(of: feed, at: .nearest(ids), above: above, below: below)
            guard let anchor = window.anchor else { return nil }
            return (window, anchor == ids.first.map { .post($0) } ? position.offset : 0)
        }
    }

    /// Where a screen opens that shows what was on it: the post, else its nearest neighbour; nil if nothing
    /// is stored.
    public func start() throws -> FeedWindow.Start? {
        let position = try feed.cache.withSnapshot { try stored($0).position }
        return position.map { .nearest($0.candidates.compactMap { PostID(bytes: $0) }) }
    }

    // MARK: Storage

    private struct Stored: Codable {
        struct Marker: Codable {
            var id: Data
            var key: Int64?
        }
        struct Position: Codable {
            /// The post and its neighbours, nearest first.
            var candidates: [Data]
            var offset: Double
        }
        var marker: Marker?
        var position: Position?
    }

    private static let attribute = "reading"

    private func stored(_ snapshot: borrowing Snapshot) throws -> Stored {
        try decode(try snapshot.attribute(Self.attribute, of: feed))
    }

    private func decode(_ bytes: [UInt8]?) throws -> Stored {
        guard let bytes else { return Stored() }
        do {
            return try JSONDecoder().decode(Stored.self, from: Data(bytes))
        } catch {
            throw QuireError(.corrupt, "feed \(feed.name): attribute \(Self.attribute): \(error)")
        }
    }

    nonisolated(nonsending) private func change(_ body: (inout Stored) -> Void) async throws {
        try await writer.change(Self.attribute) { bytes in
            var stored = try decode(bytes)
            body(&stored)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return Array(try encoder.encode(stored))
        }
    }
}

/// The number of unread posts.
public struct Unread: Sendable, Hashable {
    /// The number of cached posts above the marker.
    public internal(set) var count = 0
    /// True if nothing was missing among or above them at the last refresh. Otherwise there may be more: show
    /// "12+", or catch up.
    public internal(set) var isExact: Bool
}
