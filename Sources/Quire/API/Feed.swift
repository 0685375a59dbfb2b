/// One server list in a cache. A value: keep it, copy it, use it from any thread.
///
/// Its writes are those of ``FeedWriting``: called on a feed, each is one durable commit;
/// ``Batch/subscript(_:)`` has them for many in one. Reading is done in a ``Snapshot``.
///
///     let plan = try feed.plan(.head)
///     if let request = plan.request {
///         let outcome = try feed.ingest(try await ask(request), for: request.ticket)
///     }
///
/// Every method throws ``QuireError`` and may be called from any thread; writers take turns.
public struct Feed: Sendable, FeedWriting {
    /// The cache that holds it.
    public let cache: Cache
    /// Its number in this cache.
    public let number: UInt32
    /// Its name when this value was made.
    public let name: String
    /// The options it was created with, or was last given.
    public let options: FeedOptions
    /// That of its collection.
    let collection: UInt32

    init(cache: Cache, number: UInt32, _ record: FeedRecord) {
        (self.cache, self.number, name) = (cache, number, record.name)
        (options, collection) = (record.options, record.collection)
    }

    /// Throws `.optionsDiffer` if it was created with other options than these.
    func requiring(_ options: FeedOptions?) throws(QuireError) -> Feed {
        if let options, options.collection != self.options.collection {
            throw QuireError(
                .optionsDiffer,
                "\(cache.path): feed \(name) is of collection \"\(self.options.collection)\", "
                    + "not of \"\(options.collection)\"")
        }
        if let options, options != self.options {
            throw QuireError(
                .optionsDiffer,
                "\(cache.path): feed \(name) was created as \(self.options.order.rawValue), "
                    + "\(self.options.paging.rawValue), with other options")
        }
        return self
    }

    /// See ``FeedWriting/feed``.
    public var feed: Feed { self }

    /// See ``Cache/batch(_:)``.
    public func batch<R>(_ body: (borrowing Batch) throws -> R) throws -> R { try cache.batch(body) }
}
