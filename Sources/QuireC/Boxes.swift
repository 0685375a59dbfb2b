import CQuire
@_spi(Unstable) import Quire
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// The objects behind the handles. Each keeps its cache alive, so handles may be released in any order.

final class CacheBox: Handle {
    static let name: StaticString = "cache"
    let cache: Cache
    init(_ cache: Cache) { self.cache = cache }
}

final class FeedBox: Handle {
    static let name: StaticString = "feed"
    let feed: Feed
    init(_ feed: Feed) { self.feed = feed }
}

final class CrawlBox: Handle {
    static let name: StaticString = "crawl"
    let feed: Feed
    let crawl: Mutex<Crawl>

    init(_ feed: Feed, _ start: Crawl.Start) {
        self.feed = feed
        crawl = Mutex(Crawl(startingAt: start))
    }
}

/// A snapshot and the memory of what was read from it.
final class SnapshotBox: Handle, @unchecked Sendable {
    // @unchecked: the lock lets only one thread at a time use the two. The header requires no more.
    static let name: StaticString = "snapshot"
    private let snapshot: OpenSnapshot
    private let arena = Arena()
    private let lock = Mutex(())

    init(_ cache: Cache) throws { snapshot = try OpenSnapshot(cache) }

    func use<R>(_ body: (OpenSnapshot, Arena) throws -> R) throws -> R {
        try lock.withLock { _ in
            nonisolated(unsafe) let result = try body(snapshot, arena)
            return result
        }
    }

    /// Does the same for a feed, which must be in the same file.
    func use<R>(with feed: OpaquePointer?, _ body: (OpenSnapshot, Arena, Feed) throws -> R) throws -> R {
        let feed = try Handles.object(feed, as: FeedBox.self).feed
        if !feed.cache.isSameFile(as: snapshot.cache) {
            throw Arguments.bad("the feed belongs to another cache than the snapshot")
        }
        return try use { snapshot, arena in try body(snapshot, arena, feed) }
    }
}

/// A batch while its callback runs.
final class BatchBox: Handle, @unchecked Sendable {
    // @unchecked: used only on one thread, which it checks.
    static let name: StaticString = "batch"
    private let cache: Cache
    private let batch: UnsafePointer<Batch>
    private let thread = pthread_self()
    private let crawls: CrawlLog
    /// The first failure inside the engine. What it left behind must not be committed.
    private(set) var doom: (any Error)?

    /// Creates a box; `batch` is valid until the callback returns.
    init(_ cache: Cache, _ batch: UnsafePointer<Batch>, _ crawls: CrawlLog) {
        (self.cache, self.batch, self.crawls) = (cache, batch, crawls)
    }

    func perform<R>(in cache: Cache, _ body: (borrowing Batch) throws -> R) throws -> R {
        if pthread_equal(thread, pthread_self()) == 0 {
            throw Failure(QUIRE_WRONG_THREAD, "a batch belongs to the thread that runs it")
        }
        if !cache.isSameFile(as: self.cache) {
            throw Arguments.bad("the batch belongs to another cache")
        }
        if let doom { throw doom }
        do {
            return try body(batch.pointee)
        } catch {
            doom = error
            throw error
        }
    }

    /// Notes the state of a crawl before it advances.
    func note(_ crawl: CrawlBox, at position: Crawl) { crawls.note(crawl, at: position) }
}

/// The states of a batch's crawls before the batch, to restore them if it is undone.
final class CrawlLog {
    private var positions: [ObjectIdentifier: (crawl: CrawlBox, position: Crawl)] = [:]

    func note(_ crawl: CrawlBox, at position: Crawl) {
        let id = ObjectIdentifier(crawl)
        if positions[id] == nil { positions[id] = (crawl, position) }
    }

    func restore() {
        for (crawl, position) in positions.values { crawl.crawl.withLock { $0 = position } }
        positions = [:]
    }
}

/// Thrown to undo a write because its callback asks for that.
struct Abandoned: Error {
    let status: quire_status
}

/// Runs a write in the batch, or as a commit of its own if there is none.
func write<R>(_ cache: Cache, _ batch: OpaquePointer?, _ body: (borrowing Batch) throws -> R) throws -> R {
    guard let batch else { return try cache.batch(body) }
    return try Handles.object(batch, as: BatchBox.self).perform(in: cache, body)
}

/// Does the same for a write to a feed.
func write<R>(_ feed: OpaquePointer?, _ batch: OpaquePointer?, _ body: (Feed) throws -> R) throws -> R {
    let feed = try Handles.object(feed, as: FeedBox.self).feed
    return try write(feed.cache, batch) { try body($0[feed]) }
}
