import Quire
import Synchronization

/// A feed of a ``ClusterCache``. Reading is done in snapshots of ``feed``, writing here.
public final class ClusterFeed: Sendable {
    /// Its name.
    public let name: String
    let shard: ClusterShard
    private let known: Mutex<Feed>
    /// The issuers of the tickets of the newest plans that were written here.
    private let issuers = Mutex<[UInt64]>([])

    init(_ feed: Feed, in shard: ClusterShard) {
        (name, self.shard) = (feed.name, shard)
        known = Mutex(feed)
    }

    /// The feed in the replica of this node, for reading: that of now. Its number is that of the history that
    /// counts. If that does not have the feed it is what it was before: open it again.
    public var feed: Feed {
        let cache = shard.cache
        let found = (try? cache.existingFeed(named: name)) ?? nil
        return known.withLock { known in
            if let found { known = found }
            return known
        }
    }

    /// Appends operations, and returns what they returned when this node's replica applied them. All of them
    /// take effect, or none. Each takes effect once, also if the log did not acknowledge it and it was
    /// appended again.
    /// - Throws: ``QuireError`` of an operation that failed, `.notFound` if the feed has another number now;
    ///   ``LogError`` as ``ClusterCache/submit(_:to:)``.
    nonisolated(nonsending) public func write(_ operations: [CacheOperation]) async throws -> [CacheReply] {
        let (replies, position) = try await shard.submit(operations, of: feed)
        issuers.withLock { issuers in
            for case .plan(_, position.digest) in replies {
                issuers.append(position.digest)
                if issuers.count > 256 { issuers.removeFirst(128) }
            }
        }
        return replies
    }

    /// Waits for the answer to a planned request that another caller on any node is making: ten seconds at
    /// most. Nil if there is no such request, or no answer: then its page is asked for here.
    /// - Throws: `CancellationError`.
    nonisolated(nonsending) public func outcome(of ticket: Ticket, issuer: UInt64) async throws -> Outcome? {
        if issuers.withLock({ $0.contains(issuer) }) { return nil }
        let outcome = await shard.outcome(of: ticket, in: feed, until: .now + shard.options.patience)
        try Task.checkCancellation()
        return outcome
    }

    /// Plans a request, fetches its page and takes the answer in. If another caller on any node is asking for
    /// the same page, it is not fetched again: the outcome is that of the other's answer.
    /// - Parameters:
    ///   - place: Where the page is asked for.
    ///   - limit: As in ``Feed/plan(_:limit:isBounded:link:)``.
    ///   - patience: How long another node may take. Then the page is fetched here.
    ///   - fetch: Asks the feed's server. If it throws, the request is cancelled, for all nodes.
    /// - Throws: `Refusal` if there is nothing to ask for, what `fetch` throws, and as ``write(_:)``.
    public func load(
        _ place: Place, limit: Int? = nil, patience: Duration = .seconds(10),
        fetch: @Sendable (Request) async throws -> Answer
    ) async throws -> Outcome {
        let operation = FeedOperation.plan(place, limit: limit)
        while true {
            let feed = feed
            switch try await shard.plan(operation, of: feed) {
            case .refused(let refusal): throw refusal
            case .free:
                let (replies, position) = try await shard.submit([.feed(feed.number, operation)], of: feed)
                guard case .plan(let plan, let issuer)? = replies.first else { continue }
                switch plan {
                case .refused(let refusal): throw refusal
                case .request(let request) where issuer == position.digest:
                    return try await answer(request, issuer: issuer, of: feed, fetch)
                case .request: continue
                }
            case .underWay(let request, let issuer, let since):
                if let since, since + patience > .now {
                    let end = since + patience
                    if let outcome = await shard.outcome(of: request.ticket, in: feed, until: end) {
                        return outcome
                    }
                    if end > .now { continue }
                }
                return try await answer(request, issuer: issuer, of: feed, fetch)
            }
        }
    }

    private func answer(
        _ request: Request, issuer: UInt64, of feed: Feed, _ fetch: (Request) async throws -> Answer
    ) async throws -> Outcome {
        let answer: Answer
        do { answer = try await fetch(request) } catch {
            _ = try? await shard.submit([.feed(feed.number, .cancel(request.ticket))], of: feed)
            throw error
        }
        let operation = FeedOperation.ingest(answer, for: request.ticket, issuer: issuer)
        if let outcome = try await shard.stale(operation, of: feed) { return outcome }
        let replies = try await shard.submit([.feed(feed.number, operation)], of: feed).replies
        guard case .outcome(let outcome)? = replies.first else {
            throw LogError.refused("an answer without an outcome")
        }
        return outcome
    }
}
