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

package final class CacheBox: Handle {
    package static let name: StaticString = "cache"
    private let own: Cache
    /// Nil unless its writes go into the log of a cluster.
    let shared: SharedCache?

    init(_ cache: Cache) { (own, shared) = (cache, nil) }
    package init(_ shared: SharedCache) throws { (own, self.shared) = (try shared.replica(), shared) }

    /// The cache to read from, at the moment.
    var cache: Cache {
        get throws {
            guard let shared else { return own }
            return try shared.replica()
        }
    }
}

final class FeedBox: Handle {
    static let name: StaticString = "feed"
    private let own: Feed
    /// Nil unless its writes go into the log of a cluster.
    let shared: SharedFeed?

    init(_ feed: Feed) { (own, shared) = (feed, nil) }
    init(_ shared: SharedFeed) { (own, self.shared) = (shared.feed(), shared) }

    /// The feed to read from, at the moment.
    var feed: Feed {
        guard let shared else { return own }
        return shared.feed()
    }
}

final class CrawlBox: Handle {
    static let name: StaticString = "crawl"
    let feed: FeedBox
    let crawl: Mutex<Crawl>

    init(_ feed: FeedBox, _ start: Crawl.Start) {
        self.feed = feed
        crawl = Mutex(Crawl(startingAt: start))
    }
}

/// A snapshot and the memory of what was read from it.
final class SnapshotBox: OpenSnapshot, Handle, @unchecked Sendable {
    // @unchecked: the snapshot, the arena and what was read are used only inside of `use`, with the lock
    // held, by one thread at a time. What C has got of the arena does not change.
    static let name: StaticString = "snapshot"
    private let arena = Arena()
    private let lock = Mutex(())
    /// What the last read of sections left. Only inside of ``use(_:)``.
    var sectionsRead: SectionsRead?
    /// The changes that were read, by the commit after which they begin: a second call returns the same
    /// array. Only inside of ``use(_:)``.
    var changesRead: [UInt64: UnsafeBufferPointer<quire_change>] = [:]

    func use<R>(_ body: (OpenSnapshot, Arena) throws -> R) throws -> R {
        try lock.withLock { _ in
            // The mutex asks for a result that nothing else refers to. What `body` returns may refer to the
            // snapshot and its arena: they are used by others only with this lock, and live until C ends the
            // snapshot, which quire.h forbids while it uses what it has read.
            nonisolated(unsafe) let result = try body(self, arena)
            return result
        }
    }

    /// Does the same for a feed, which must be in the same file.
    func use<R>(with feed: OpaquePointer?, _ body: (OpenSnapshot, Arena, Feed) throws -> R) throws -> R {
        let feed = try Handles.object(feed, as: FeedBox.self).feed
        if !feed.cache.isSameFile(as: cache) {
            throw Arguments.bad("the feed belongs to another cache than the snapshot")
        }
        return try use { open, arena in try body(open, arena, feed) }
    }
}

/// A batch while its callback runs.
final class BatchBox: Handle, @unchecked Sendable {
    // @unchecked: `perform` refuses every other thread than that of the callback before it touches `batch` or
    // `doom`; the rest is constant, and `note` follows a `perform`.
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
