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
        if let feed = try cache.feed(named: name, in: session.transaction) {
            return try feed.requiring(options)
        }
        let (number, record) = try session.createFeed(named: name, options ?? FeedOptions())
        return Feed(cache: cache, number: number, record)
    }

    /// This feed, for writing in this commit. It throws `.badArgument` once the batch has ended.
    public subscript(feed: Feed) -> Feed { feed.bound(to: scope) }
}
