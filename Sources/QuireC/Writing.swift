import CQuire
@_spi(Unstable) import Quire
import Synchronization

// The way of a write: into a batch, as a commit of its own, or into the log of a cluster. Each is an
// operation, so all three are the same for the functions above.

/// A cache whose writes go into the log of a cluster.
package final class SharedCache: Sendable {
    /// The replica to read from. It is another one after the log has lost entries.
    let replica: @Sendable () throws -> Cache
    /// Opens a feed, which is made if there is none.
    let open: @Sendable (String, FeedOptions?) throws -> SharedFeed
    let write: @Sendable ([CacheOperation]) throws -> [CacheReply]

    package init(
        replica: @escaping @Sendable () throws -> Cache,
        open: @escaping @Sendable (String, FeedOptions?) throws -> SharedFeed,
        write: @escaping @Sendable ([CacheOperation]) throws -> [CacheReply]
    ) {
        (self.replica, self.open, self.write) = (replica, open, write)
    }
}

/// A feed whose writes go into the log of a cluster.
package final class SharedFeed: Sendable {
    /// The feed to read from, in the replica of the moment.
    let feed: @Sendable () -> Feed
    private let write: @Sendable ([CacheOperation]) throws -> [CacheReply]
    /// The issuers of the tickets that C holds as numbers. A ticket that is not here is stale: the oldest are
    /// forgotten.
    private let issuers = Mutex<[UInt64: UInt64]>([:])
    private static let issuerLimit = 4_096

    package init(
        feed: @escaping @Sendable () -> Feed,
        write: @escaping @Sendable ([CacheOperation]) throws -> [CacheReply]
    ) {
        (self.feed, self.write) = (feed, write)
    }

    /// Stands for an issuer that was forgotten. No entry of a log has this digest, except by chance.
    private static let forgotten = UInt64.max

    fileprivate func perform(_ operation: FeedOperation) throws -> CacheReply {
        var operation = operation
        if case .ingest(let answer, let ticket, _, let embedded, let note) = operation {
            let issuer = issuers.withLock { $0[ticket.number] ?? Self.forgotten }
            operation = .ingest(answer, for: ticket, issuer: issuer, embedded: embedded, note: note)
        } else if case .dropLink(let ticket, _) = operation {
            let issuer = issuers.withLock { $0[ticket.number] ?? Self.forgotten }
            operation = .dropLink(of: ticket, issuer: issuer)
        }
        let reply = try write([.feed(feed().number, operation)]).onlyOne
        if case .plan(.request(let request), let issuer) = reply {
            issuers.withLock { issuers in
                issuers[request.ticket.number] = issuer
                if issuers.count > Self.issuerLimit, let oldest = issuers.keys.min() { issuers[oldest] = nil }
            }
        }
        return reply
    }
}

/// Carries out a write of a feed.
func perform(
    _ operation: FeedOperation, on feed: OpaquePointer?, _ batch: OpaquePointer?
) throws -> CacheReply {
    try Handles.object(feed, as: FeedBox.self).perform(operation, batch)
}

extension FeedBox {
    func perform(_ operation: FeedOperation, _ batch: OpaquePointer?) throws -> CacheReply {
        guard let shared else {
            let feed = feed
            return try write(.feed(feed.number, operation), of: feed, to: feed.cache, batch)
        }
        if batch != nil { throw Arguments.bad("a feed of a cluster takes no part in a batch") }
        return try shared.perform(operation)
    }

    /// Gives the feed other options. Returns the new feed.
    func replaced(with options: FeedOptions) throws -> FeedBox {
        guard let shared else { return FeedBox(try feed.setOptions(options)) }
        _ = try shared.perform(.setOptions(options))
        return FeedBox(shared)
    }
}

extension CacheBox {
    func perform(_ operation: CacheOperation, _ batch: OpaquePointer?) throws -> CacheReply {
        guard let shared else { return try write(operation, to: cache, batch) }
        if batch != nil { throw Arguments.bad("a cache of a cluster has no batches") }
        return try shared.write([operation]).onlyOne
    }

    /// Opens a feed, which is made if there is none.
    func feed(named name: String, _ options: FeedOptions?) throws -> FeedBox {
        if let shared { return FeedBox(try shared.open(name, options)) }
        return FeedBox(try cache.feed(named: name, options: options))
    }

    /// Makes a handle of a feed that was found.
    func hold(_ feed: Feed) throws -> FeedBox {
        if let shared { return FeedBox(try shared.open(feed.name, nil)) }
        return FeedBox(feed)
    }

    /// The cache, unless it is of a cluster, where this is not to be had.
    func requireOwn(_ what: String) throws -> Cache {
        if shared != nil {
            throw Arguments.bad("\(what): the cache is of a cluster, and others write it too")
        }
        return try cache
    }
}

private func write(
    _ operation: CacheOperation, of feed: Feed? = nil, to cache: Cache, _ batch: OpaquePointer?
) throws -> CacheReply {
    func apply(in batch: borrowing Batch) throws -> CacheReply {
        do {
            return try batch.apply(operation)
        } catch {
            throw feed?.naming(error) ?? error  // here, because a batch keeps its first error
        }
    }
    guard let batch else { return try cache.batch(apply) }
    return try Handles.object(batch, as: BatchBox.self).perform(in: cache, apply)
}

// MARK: Replies

extension [CacheReply] {
    fileprivate var onlyOne: CacheReply {
        get throws(Failure) {
            guard count == 1 else { throw CacheReply.unexpected }
            return self[0]
        }
    }
}

extension CacheReply {
    fileprivate static let unexpected = Failure(QUIRE_CORRUPT, "a write got the reply of another one")

    var plan: Plan {
        get throws(Failure) { if case .plan(let plan, _) = self { plan } else { throw Self.unexpected } }
    }

    var outcome: Outcome {
        get throws(Failure) {
            if case .outcome(let outcome) = self { outcome } else { throw Self.unexpected }
        }
    }

    var crawled: (Outcome, Crawl) {
        get throws(Failure) {
            if case .crawled(let outcome, let crawl) = self {
                (outcome, crawl)
            } else {
                throw Self.unexpected
            }
        }
    }

    var count: Int {
        get throws(Failure) { if case .count(let count) = self { count } else { throw Self.unexpected } }
    }

    var flag: Bool {
        get throws(Failure) { if case .flag(let flag) = self { flag } else { throw Self.unexpected } }
    }

    var pruned: PruneResult {
        get throws(Failure) { if case .pruned(let result) = self { result } else { throw Self.unexpected } }
    }

    var update: UpdateResult {
        get throws(Failure) { if case .update(let result) = self { result } else { throw Self.unexpected } }
    }

    var alias: AliasResult {
        get throws(Failure) { if case .alias(let result) = self { result } else { throw Self.unexpected } }
    }
}
