/// One server list in a cache. A value: keep it, copy it, use it from any thread.
///
/// Each write is one durable commit or, on a feed of a batch (``Batch/subscript(_:)``), a part of the
/// batch's. Reading is done in a ``Snapshot``.
///
///     let plan = try feed.plan(.head)
///     if let request = plan.request {
///         let outcome = try feed.ingest(try await ask(request), for: request.ticket)
///     }
///
/// Every method throws ``QuireError``: `.badArgument`, `.notFound`, `.diskFull`, `.io`, `.corrupt`, `.busy`,
/// `.snapshotsOpen`, and `.wouldDeadlock` if a batch of the same thread is open and this is not part of it. A
/// method that throws has changed nothing. They may be called from any thread; writers take turns, of all
/// processes.
///
/// A call reads and writes the records around its place, not the feed: its cost does not grow with the length
/// of the feed. A commit waits for the disk unless ``CacheOptions/durability`` says otherwise.
public struct Feed: Sendable {
    /// The cache that holds it.
    public var cache: Cache { known.cache }
    /// Its number in this cache.
    public let number: UInt32
    /// Its name when this value was made.
    public var name: String { known.name }
    /// The options it was created with, or was last given.
    public var options: FeedOptions { known.options }
    /// The number of its collection.
    var collection: UInt32 { known.collection }
    private let known: Known
    /// Set in the feeds of a batch.
    private var batch: BatchScope?

    /// What never changes. It is shared, because a feed is copied for each write of a batch.
    private final class Known: Sendable {
        let cache: Cache
        let name: String
        let options: FeedOptions
        let collection: UInt32

        init(_ cache: Cache, _ record: FeedRecord) {
            (self.cache, name) = (cache, record.name)
            (options, collection) = (record.options, record.collection)
        }
    }

    init(cache: Cache, number: UInt32, _ record: FeedRecord) {
        (self.number, known) = (number, Known(cache, record))
    }

    /// Throws `.optionsDiffer` if it was created with other options than these.
    func requiring(_ options: FeedOptions?) throws(QuireError) -> Feed {
        try self.options.require(options, of: name, in: cache.path)
        return self
    }

    /// The posts that are visible: a budget evicts no page with one of them, and first what is farthest from
    /// them. Each process tells what itself shows; nothing is written. It is empty again when the cache is
    /// opened anew, and always without ``CacheOptions/budget``. May be set from any thread.
    public var visible: Set<PostID> {
        get { cache.environment.budget?.visible(number) ?? [] }
        nonmutating set { cache.environment.budget?.setVisible(newValue, number) }
    }

    var isBound: Bool { batch != nil }

    /// This feed in a batch.
    func bound(to batch: BatchScope) -> Feed {
        var feed = self
        feed.batch = batch
        return feed
    }

    /// Runs `body` in the batch that the feed is bound to, else in a commit of its own.
    func write<R>(_ body: (WriteSession) throws -> R) throws -> R {
        do {
            guard let batch else { return try cache.write(body) }
            return try body(try batch.session(of: cache))
        } catch {
            throw naming(error)
        }
    }

    /// Returns the error. One that says that this feed does not exist names it: its record, which has the
    /// name, is gone.
    @inline(never)
    @_spi(Unstable) public func naming(_ error: any Error) -> any Error {
        guard let missing = error as? QuireError, missing.missingFeed == number else { return error }
        return QuireError(.notFound, "\(cache.path): feed \(name) was dropped")
    }
}

/// A batch, as the feeds bound to it see it. It ends with the closure that got the batch.
final class BatchScope: @unchecked Sendable {
    // @unchecked: only the thread that writes looks at the session: `session(of:)` asks whether it is that
    // one first, and the closure that ends the scope runs there.
    private var session: WriteSession?

    init(_ session: WriteSession) { self.session = session }

    func end() { session = nil }

    func session(of cache: Cache) throws -> WriteSession {
        guard cache.environment.isWriting, let session else {
            throw QuireError(
                .badArgument, "\(cache.path): a feed of a batch that has ended, or of another thread's")
        }
        return session
    }
}
