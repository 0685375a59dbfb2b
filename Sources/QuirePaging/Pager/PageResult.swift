import Quire

/// What became of a call to the pager.
public enum PageResult: Sendable, Hashable {
    /// The server answered and the engine judged the answer. Its verdict may be that it is no use.
    case loaded(Outcome)
    /// The server confirmed the first page; nothing but its date was written.
    case notModified
    /// Nothing was asked: the first page is fresh.
    case fresh
    /// The first page is stale but good enough; it is being fetched meanwhile.
    case revalidating
    /// The first page is stale; fetching it failed for this reason.
    case stale(String)
    /// There is nothing to ask here: the end is reached, the gap is closed.
    case refused(Refusal)
    /// The last answer here led nowhere, for this reason. Refresh, or ask with `isForced`.
    case stopped(Outcome.Verdict)
    /// A refresh came in between. Ask again if the page is still wanted.
    case preempted
}

extension PageResult: CustomStringConvertible {
    public var description: String {
        switch self {
        case .loaded(let outcome):
            "\(outcome.verdict.rawValue), \(outcome.new.count) new, \(outcome.removed.count) removed"
        case .notModified: "not modified"
        case .fresh: "fresh"
        case .revalidating: "revalidating"
        case .stale(let reason): "stale: \(reason.debugDescription)"
        case .refused(let refusal): "refused: \(refusal.rawValue)"
        case .stopped(let verdict): "stopped: \(verdict.rawValue)"
        case .preempted: "preempted"
        }
    }
}

/// Why the pager does not ask the server now. ``PageFailure`` says why a request failed.
public enum PagerError: Error, Sendable, Hashable {
    /// The server wants to be left alone for longer than the pager's patience.
    case paused(Duration)
    /// The server's quota is spent; there are new requests in at most this time.
    case quotaSpent(Duration)
}

/// How far a catch-up came.
public struct CatchUp: Sendable, Hashable {
    /// Pages asked for.
    public internal(set) var pages = 0
    /// The marker is cached and nothing is missing above it.
    public internal(set) var reachesMarker = false
    /// What the last page gave; tells why the marker was not reached before the budget was spent.
    public internal(set) var last: PageResult

    /// The server's list ends without the marker: the post is gone.
    public var hasEnded: Bool { !reachesMarker && last == .refused(.end) }
}
