import Quire

/// A feed that takes writes as operations: a ``Quire/Feed``, or the feed of a cache that is written through a
/// log. What a pager and a reading state write through, so that they run on either.
public protocol FeedWriting: Sendable {
    /// The feed, for reading. What ``write(_:)`` has done can be read there once it has returned.
    var feed: Feed { get }

    /// Carries out operations in one commit and in this order, and returns the reply to each.
    /// - Throws: What the operations throw (``Quire/Batch/apply(_:issuer:)``), none of which has taken effect
    ///   then; and what keeps them from being carried out.
    nonisolated(nonsending) func write(_ operations: [CacheOperation]) async throws -> [CacheReply]

    /// Waits for the answer to a planned request that another program makes. Nil if none does, or if it does
    /// not come: then the page is asked for here.
    /// - Parameters:
    ///   - ticket: That of the plan.
    ///   - issuer: That of the reply to the plan.
    /// - Throws: `CancellationError`, which leaves the other's request as it is.
    nonisolated(nonsending) func outcome(of ticket: Ticket, issuer: UInt64) async throws -> Outcome?
}

extension Feed: FeedWriting {
    /// The feed itself.
    public var feed: Feed { self }

    /// Carries out operations in one commit of the feed's cache, on the thread of the caller.
    nonisolated(nonsending) public func write(_ operations: [CacheOperation]) async throws -> [CacheReply] {
        try cache.batch { batch in
            var replies: [CacheReply] = []
            for operation in operations { replies.append(try batch.apply(operation)) }
            return replies
        }
    }
}

extension FeedWriting {
    /// Nil: each program asks for itself.
    nonisolated(nonsending) public func outcome(of ticket: Ticket, issuer: UInt64) async throws -> Outcome? {
        nil
    }

    /// Carries out one operation on the feed.
    nonisolated(nonsending) func write(_ operation: FeedOperation) async throws -> CacheReply {
        try await replies(to: [operation])[0]
    }

    /// Carries out operations on the feed, and returns as many replies.
    nonisolated(nonsending) func replies(to operations: [FeedOperation]) async throws -> [CacheReply] {
        let replies = try await write(operations.map { .feed(feed.number, $0) })
        if replies.count == operations.count { return replies }
        throw QuireError(
            .badArgument, "feed \(feed.name): \(replies.count) replies to \(operations.count) operations")
    }

    /// Changes an attribute by what it is: reads it, and writes it if no other writer came first, else begins
    /// again. Nothing is written if `body` returns the value it was given.
    nonisolated(nonsending) func change(
        _ name: String, _ body: ([UInt8]?) throws -> [UInt8]?
    ) async throws {
        while true {
            let old = try feed.attribute(name)
            let new = try body(old)
            if new == old { return }
            if try await write(.exchangeAttribute(name, from: old, to: new)) == .flag(true) { return }
            try Task.checkCancellation()
        }
    }

    /// The outcome in a reply.
    func outcome(_ reply: CacheReply) throws -> Outcome {
        if case .outcome(let outcome) = reply { return outcome }
        throw unexpected(reply)
    }

    func unexpected(_ reply: CacheReply) -> QuireError {
        QuireError(.badArgument, "feed \(feed.name): \(reply) is the reply to another operation")
    }
}
