/// Several writes in one commit; see ``Cache/batch(_:)``. Valid only inside the closure that got it, on
/// that thread.
///
///     try cache.batch { batch in
///         let feed = batch[feed]
///         if let request = try feed.plan(.head).request {
///             _ = try feed.ingest(answer, for: request.ticket)
///         }
///     }
///
/// Every method throws ``QuireError``: `.badArgument`, `.notFound`, `.diskFull`, `.io`, `.corrupt`.
public struct Batch: ~Copyable, PostWriting {
    let session: WriteSession
    let cache: Cache

    /// The feed with this name; as ``Cache/feed(named:options:)``, in this commit.
    public borrowing func feed(named name: String, options: FeedOptions? = nil) throws -> Feed {
        if let feed = try cache.feed(named: name, in: session.transaction) {
            return try feed.requiring(options)
        }
        let (number, record) = try session.createFeed(named: name, options ?? FeedOptions())
        return Feed(cache: cache, number: number, record)
    }

    /// The writes of this feed, in this commit.
    public subscript(feed: Feed) -> BatchFeed {
        @_lifetime(borrow self)
        borrowing get { BatchFeed(self, feed) }
    }

    /// Runs `body` in this commit.
    public borrowing func batch<R>(_ body: (borrowing Batch) throws -> R) throws -> R { try body(self) }
}

/// A feed in a batch: its writes are part of the batch's commit. Valid as long as the batch.
public struct BatchFeed: ~Copyable, ~Escapable, FeedWriting {
    /// The feed that is written.
    public let feed: Feed
    private let session: WriteSession

    @_lifetime(borrow batch)
    init(_ batch: borrowing Batch, _ feed: Feed) { (session, self.feed) = (batch.session, feed) }

    /// Runs `body` in the commit that this feed is part of.
    public borrowing func batch<R>(_ body: (borrowing Batch) throws -> R) throws -> R {
        try body(Batch(session: session, cache: feed.cache))
    }

    /// What ``FeedWriting/setAttribute(_:to:)`` remembered, as of now and with what this batch has written:
    /// read it here to change it, so that no other writer comes in between.
    public borrowing func attribute(_ name: String) throws -> [UInt8]? {
        try session.transaction.attribute(name, of: feed.number)
    }
}
