import Foundation
import Quire

/// Options of a pager.
public struct PagerOptions: Sendable {
    /// What a refresh does if its page does not reach the cached posts.
    public enum RefreshPolicy: Sendable, Hashable {
        /// Keep the gap until a call fills it.
        case keepGap
        /// Continue below the new page until it overlaps, for at most this many pages. Then keep the gap.
        case fillUntilOverlap(pages: Int)
        /// Forget everything below the gap, as soon as none of it is visible.
        case startAfresh
    }

    /// What a refresh does if its page does not reach the cached posts.
    public var refresh: RefreshPolicy
    /// The maximum number of posts that stay after a refresh, in addition to visible and pinned ones; nil:
    /// all. Nothing leaves before the app has said what is visible (``Pager/setVisible(_:)``). Posts that
    /// left are requested again when they are needed (R17).
    public var keeps: Int?
    /// How many posts to request; nil: the page size of the feed's options.
    public var pageSize: Int?
    /// How long the first page is fresh after the server confirmed it, unless the server says.
    public var lifetime: Duration
    /// How much longer it may be shown while it is fetched again.
    public var staleWhileRevalidate: Duration
    /// How much longer it may be shown if fetching it again fails.
    public var staleIfError: Duration
    /// When to retry a failed request.
    public var retries: RetryPolicy
    /// How long a call waits for a pause that the server asked for, or for a new quota. If that takes longer,
    /// the call throws.
    public var patience: Duration

    /// Creates options, with defaults for what is not given.
    public init(
        refresh: RefreshPolicy = .keepGap, keeps: Int? = nil, pageSize: Int? = nil,
        lifetime: Duration = .seconds(300), staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .seconds(86_400), retries: RetryPolicy = RetryPolicy(),
        patience: Duration = .seconds(30)
    ) {
        self.refresh = refresh
        self.keeps = keeps
        self.pageSize = pageSize
        self.lifetime = lifetime
        self.staleWhileRevalidate = staleWhileRevalidate
        self.staleIfError = staleIfError
        self.retries = retries
        self.patience = patience
    }
}

/// When to retry a failed request.
public struct RetryPolicy: Sendable {
    /// The number of attempts, including the first one.
    public var attempts: Int
    /// The pause after the first failure. It doubles with each further one.
    public var firstDelay: Duration
    /// The longest pause between two attempts.
    public var longestDelay: Duration
    /// Returns true for errors that may pass by themselves.
    public var isTransient: @Sendable (any Error) -> Bool

    /// Creates a policy, with defaults for what is not given.
    public init(
        attempts: Int = 3, firstDelay: Duration = .seconds(1), longestDelay: Duration = .seconds(60),
        isTransient: @escaping @Sendable (any Error) -> Bool = RetryPolicy.isUsuallyTransient
    ) {
        self.attempts = attempts
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
        self.isTransient = isTransient
    }

    /// Returns true for transient ``PageFailure``s, lost connections and timeouts.
    @Sendable public static func isUsuallyTransient(_ error: any Error) -> Bool {
        if let failure = error as? PageFailure { return failure.isTransient }
        guard let error = error as? URLError else { return false }
        let passing: [URLError.Code] = [
            .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
            .notConnectedToInternet,
        ]
        return passing.contains(error.code)
    }

    /// Returns a delay between half and all of the doubled one, so that clients that failed together do not
    /// return together. `luck` is from 0 to 1.
    func delay(afterAttempt attempt: Int, luck: Double) -> Duration {
        var delay = min(firstDelay, longestDelay)
        for _ in 1..<max(1, attempt) where delay < longestDelay { delay = min(delay * 2, longestDelay) }
        return delay / 2 + delay / 2 * min(1, max(0, luck))
    }
}

/// The source of time and randomness of a pager. Tests supply their own.
public struct PagerClock: Sendable {
    /// Returns milliseconds since 1970. They may jump in either direction.
    public var now: @Sendable () -> Int64
    /// Waits. Throws `CancellationError` if its task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Returns a random number from 0 to below 1.
    public var luck: @Sendable () -> Double

    /// Creates a clock, for tests.
    public init(
        now: @escaping @Sendable () -> Int64, sleep: @escaping @Sendable (Duration) async throws -> Void,
        luck: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.sleep = sleep
        self.luck = luck
    }

    /// The system's time and randomness.
    public static let system = PagerClock(
        now: { Int64(Date().timeIntervalSince1970 * 1_000) },
        sleep: { try await ContinuousClock().sleep(for: $0) },
        luck: { Double.random(in: 0..<1) })
}
