/// Several writes in one commit; see ``Cache/batch(_:)``. Valid only inside the closure that got it, on
/// that thread.
///
///     try cache.batch { batch in
///         let feed = batch[feed]
///         if let request = try feed.plan(.head).request {
///             _ = try feed.ingest(answer, for: request.ticket)
///         }
///     }
public struct Batch: ~Copyable {
    let session: WriteSession
    let cache: Cache
    private let scope: BatchScope

    init(_ session: WriteSession, _ cache: Cache) {
        (self.session, self.cache, scope) = (session, cache, BatchScope(session))
    }

    deinit { scope.end() }

    /// The feed with this name; as ``Cache/feed(named:options:)``, in this commit.
    public borrowing func feed(named name: String, options: FeedOptions? = nil) throws -> Feed {
        let (number, record) = try session.openFeed(named: name, options)
        return Feed(cache: cache, number: number, record)
    }

    /// Remembers a value about the cache itself under a name, or forgets it if the value is nil. Nothing
    /// shows it but ``attribute(_:)``. Names that begin with `~` belong to the program that keeps a log.
    /// - Parameters:
    ///   - name: 1 to 255 bytes of UTF-8.
    ///   - value: up to 64 KiB.
    public borrowing func setAttribute(_ name: String, to value: [UInt8]?) throws {
        try session.setAttribute(name, to: value, of: nil)
    }

    /// The value that ``setAttribute(_:to:)`` remembered, with what this batch has written; nil if there is
    /// none.
    public borrowing func attribute(_ name: String) throws -> [UInt8]? {
        try session.transaction.attribute(name, of: nil)
    }

    /// This feed, for writing in this commit. It throws `.badArgument` once the batch has ended.
    public subscript(feed: Feed) -> Feed { feed.bound(to: scope) }
}
