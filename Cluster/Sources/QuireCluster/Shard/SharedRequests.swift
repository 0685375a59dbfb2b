import Quire

/// Requests that nodes have planned and not answered yet: a caller that needs the same page waits for
/// the node that fetches it.
struct SharedRequests {
    struct Name: Hashable {
        let feed: UInt32
        let ticket: Ticket
    }

    private typealias Waiter = CheckedContinuation<Outcome?, Never>

    private var planned: [Name: ContinuousClock.Instant] = [:]
    private var waiters: [Name: [UInt64: Waiter]] = [:]
    /// How many requests are remembered. A caller waits only for the answer to one of these.
    private static let limit = 4096

    /// When this node saw that the request was planned; nil if that was before it was opened, or long ago.
    func time(of name: Name) -> ContinuousClock.Instant? { planned[name] }

    mutating func note(_ operations: [CacheOperation], _ replies: [CacheReply], at position: LogPosition) {
        for case (.feed(let feed, let operation), let reply) in zip(operations, replies) {
            switch (operation, reply) {
            case (.plan, .plan(.request(let request), let issuer)) where issuer == position.digest:
                if planned.count >= Self.limit { planned = [:] }
                planned[Name(feed: feed, ticket: request.ticket)] = .now
            case (.ingest(_, let ticket, _, _, _), .outcome(let outcome)),
                (.dropLink(let ticket, _), .outcome(let outcome)):
                end(Name(feed: feed, ticket: ticket), outcome)
            case (.cancel(let ticket), _): end(Name(feed: feed, ticket: ticket), nil)
            default: break
            }
        }
    }

    mutating func wait(
        for name: Name, _ token: UInt64, _ waiter: CheckedContinuation<Outcome?, Never>
    ) {
        waiters[name, default: [:]][token] = waiter
    }

    mutating func giveUp(_ name: Name, _ token: UInt64) {
        waiters[name]?.removeValue(forKey: token)?.resume(returning: nil)
    }

    private mutating func end(_ name: Name, _ outcome: Outcome?) {
        planned[name] = nil
        for waiter in waiters.removeValue(forKey: name)?.values ?? [:].values {
            waiter.resume(returning: outcome)
        }
    }

    /// The numbers are of another history from now on.
    mutating func endAll() {
        for waiter in waiters.values.flatMap(\.values) { waiter.resume(returning: nil) }
        (planned, waiters) = ([:], [:])
    }
}

extension ClusterShard {
    /// What a plan would return now.
    enum Planned: Sendable {
        case refused(Refusal)
        /// No node asks for this yet.
        case free
        /// A node asks for this. `since` is nil if it does so no more, as far as is known.
        case underWay(Request, issuer: UInt64, since: ContinuousClock.Instant?)
    }

    func plan(_ operation: FeedOperation, of feed: Feed) throws -> Planned {
        // a ticket that has this issuer was made by the dry run: no entry of the log has it
        let ownIssuer = UInt64.random(in: 1 ... .max)
        let reply = try following.replica.cache.dryRun {
            try $0.apply(.feed(feed.number, operation), issuer: ownIssuer)
        }
        guard case .plan(let plan, let issuer) = reply else { return .free }
        switch plan {
        case .refused(let refusal): return .refused(refusal)
        case .request where issuer == ownIssuer: return .free
        case .request(let request):
            let name = SharedRequests.Name(feed: feed.number, ticket: request.ticket)
            return .underWay(request, issuer: issuer, since: requests.time(of: name))
        }
    }

    /// What the answer of another node did; nil if there was none until then, or the task is cancelled.
    func outcome(
        of ticket: Ticket, in feed: Feed, until end: ContinuousClock.Instant
    ) async -> Outcome? {
        let name = SharedRequests.Name(feed: feed.number, ticket: ticket)
        guard requests.time(of: name) != nil else { return nil }
        let token = UInt64.random(in: 0 ... .max)
        let patience = Task {
            try? await Task.sleep(until: end)
            requests.giveUp(name, token)
        }
        defer { patience.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { requests.wait(for: name, token, $0) }
        } onCancel: {
            patience.cancel()
        }
    }

    /// The outcome of an answer that would be stale. It stays so in this history, so it need not travel.
    func stale(_ operation: FeedOperation, of feed: Feed) throws -> Outcome? {
        let reply = try following.replica.cache.dryRun { try $0.apply(.feed(feed.number, operation)) }
        guard case .outcome(let outcome) = reply, outcome.verdict == .stale else { return nil }
        return outcome
    }
}
