import Quire

/// The result of a call to the pager.
public enum PageResult: Sendable, Hashable {
    /// The server answered and the engine judged the answer. The verdict may be a refusal.
    case loaded(Outcome)
    /// The server confirmed the first page. Only its date was written.
    case notModified
    /// The first page is fresh, so there was no request.
    case fresh
    /// The first page is stale but may be shown, and is being fetched.
    case revalidating
    /// The first page is stale, and fetching it failed for this reason.
    case stale(String)
    /// Nothing, or nothing more, can be requested here. With `.end` the end is reached, with `.noSuchGap` the
    /// gap is closed. With `.fillFirst` neither is: a gap further up must be closed first, as where the
    /// server has refused the link to this place. Fill the topmost gap (``Pager/fill(_:pages:isForced:)``)
    /// and ask again. For the others ``Quire/Refusal/help`` says what to do.
    case refused(Refusal)
    /// The last answer here led nowhere, for this reason. Refresh, or ask with `isForced`.
    case stopped(Outcome.Verdict)
    /// A refresh interrupted the request. Ask again if the page is still needed.
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

/// Why the pager sends no request now. ``PageFailure`` says why a request failed.
public enum PagerError: Error, Sendable, Hashable {
    /// The server asked for a pause that is longer than the pager's patience.
    case paused(Duration)
    /// The server's quota is used up. It is renewed in at most this time.
    case quotaSpent(Duration)
}

/// The result of a catch-up.
public struct CatchUp: Sendable, Hashable {
    /// The number of pages requested.
    public internal(set) var pages = 0
    /// True if the marker is cached and nothing is missing above it.
    public internal(set) var reachesMarker = false
    /// The result of the last page. It tells why the marker was not reached within the budget.
    public internal(set) var last: PageResult

    /// True if the server's list ends without the marker, so the post is gone.
    public var hasEnded: Bool { !reachesMarker && last == .refused(.end) }
}
