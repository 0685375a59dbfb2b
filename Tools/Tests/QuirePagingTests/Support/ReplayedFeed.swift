import Foundation
import Quire
import QuirePaging
import Synchronization
import Testing

@testable import TestSupport

/// A feed that is written as that of a cluster's cache is: each write is encoded and, from its bytes, applied
/// to the feed's cache and to a second one, which begins as a copy and must stay equal.
final class ReplayedFeed: FeedWriting {
    let feed: Feed
    private let folder: String
    private let state: Mutex<State>

    private struct State {
        var copy: Cache
        var writes: UInt64 = 0
        /// The first commit that was not made here.
        var generation: UInt64
        var isFollowed = true
    }

    init(_ feed: Feed) throws {
        self.feed = feed
        folder = try TestFolder.make()
        state = Mutex(try Self.begin(feed, folder))
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static func begin(_ feed: Feed, _ folder: String) throws -> State {
        let path = "\(folder)/\(UUID().uuidString).quire"
        try feed.cache.copy(to: path)
        let options = CacheOptions(durability: .relaxed, mapSize: 64 << 20)
        return State(copy: try Cache(at: path, options: options), generation: try generation(of: feed.cache))
    }

    private static func generation(of cache: Cache) throws -> UInt64 {
        try cache.withSnapshot { try $0.generation }
    }

    nonisolated(nonsending) func write(_ operations: [CacheOperation]) async throws -> [CacheReply] {
        await Task.yield()  // as if a log were asked: other calls go on meanwhile
        return try state.withLock { state in
            state.writes += 1
            let entry = operations.map(\.encoded)
            // another program has written: only a new copy would be equal
            if try Self.generation(of: feed.cache) != state.generation { state.isFollowed = false }
            let replies = try Self.apply(entry, to: feed.cache, issuer: state.writes)
            state.generation = try Self.generation(of: feed.cache)
            if state.isFollowed {
                let others = try Self.apply(entry, to: state.copy, issuer: state.writes)
                if others != replies { throw Difference(description: "\(others)\n   instead of\n\(replies)") }
            }
            return replies
        }
    }

    private static func apply(_ entry: [[UInt8]], to cache: Cache, issuer: UInt64) throws -> [CacheReply] {
        try cache.batch { batch in
            var replies: [CacheReply] = []
            for bytes in entry {
                replies.append(try batch.apply(try CacheOperation(encoded: bytes), issuer: issuer))
            }
            return replies
        }
    }

    struct Difference: Error, CustomStringConvertible { let description: String }

    /// Throws if the caches differ, or if somebody else has written: then they cannot be compared.
    func compare() throws {
        try state.withLock { state in
            if try !state.isFollowed || Self.generation(of: feed.cache) != state.generation {
                throw Difference(description: "somebody else has written")
            }
            let (mine, other) = (try CachePortrait(feed.cache), try CachePortrait(state.copy))
            if mine == other { return }
            let pair = zip(mine.lines, other.lines).first { $0 != $1 } ?? ("\(mine)", "\(other)")
            throw Difference(description: "\(pair.1)\n   instead of\n\(pair.0)")
        }
    }

    /// Begins with a new copy, after somebody else has written.
    func begin() throws {
        let new = try Self.begin(feed, folder)
        state.withLock { (state: inout State) in
            let writes = state.writes
            state = new
            state.writes = writes
        }
    }
}

/// What a reader can see of a cache.
struct CachePortrait: Equatable {
    private(set) var lines: [String] = []

    init(_ cache: Cache) throws {
        let feeds = try cache.feeds()
        lines = try cache.withSnapshot { snapshot in
            var lines: [String] = []
            for feed in feeds {
                lines.append("\(feed.name) \(feed.number) \(try snapshot.info(of: feed))")
                for name in ["paging", "first-page", "reading"] {
                    lines.append("\(name): \(try snapshot.attribute(name, of: feed) ?? [])")
                }
                for page in try snapshot.pages(of: feed, limit: .max) {
                    let ids = try snapshot.posts(of: page, in: feed).map(\.id)
                    lines.append(
                        "page \(page.number) at \(page.index): \(page.own) \(page.next) \(page.previous) "
                            + "\(page.received) \(page.new) \(page.duplicates) \(page.fetchedAt) \(ids)")
                }
                for row in try snapshot.rows(of: feed, limit: .max) {
                    switch row {
                    case .gap(let gap):
                        lines.append("gap \(gap.id) \(gap.down) \(gap.up) \(gap.why) \(gap.since)")
                    case .post(let post):
                        let body = try snapshot.body(of: post).withUnsafeBytes { Array($0) }
                        let fields = try snapshot.fields(of: post, in: feed).sorted { $0.key < $1.key }
                        let marks = [post.isDetached, post.isPinned, post.isPlaceholder, post.isUnverified]
                        lines.append("\(post.id) \(post.key ?? 0) \(marks) \(body) \(fields)")
                    }
                }
            }
            return lines
        }
    }
}
