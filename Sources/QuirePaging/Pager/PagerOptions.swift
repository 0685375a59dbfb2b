import Foundation
import Quire

/// How a pager behaves.
public struct PagerOptions: Sendable {
    /// What a refresh does when its page does not reach what is cached.
    public enum RefreshPolicy: Sendable, Hashable {
        /// The gap stays until somebody fills it.
        case keepGap
        /// Go on below the new page until it overlaps, for at most this many pages; then the gap stays.
        case fillUntilOverlap(pages: Int)
        /// Forget everything below the gap, at the first moment at which none of it is visible.
        case startAfresh
    }

    /// What a refresh does that does not reach what is cached.
    public var refresh: RefreshPolicy
    /// Most posts that stay after a refresh, those on the screen and pinned ones beside; nil: all. Nothing
    /// leaves before the app has said what is on the screen (``Pager/setVisible(_:)``). What left is asked
    /// for again where it is missed (R17).
    public var keeps: Int?
    /// How many posts to ask for; nil: as the feed's options say.
    public var pageSize: Int?
    /// How long the first page is fresh after the server confirmed it, if the server does not say.
    public var lifetime: Duration
    /// How much longer it may be shown while it is fetched again.
    public var staleWhileRevalidate: Duration
    /// How much longer it may be shown when fetching it again fails.
    public var staleIfError: Duration
    /// When a failed request is tried again.
    public var retries: RetryPolicy
    /// A call waits so long at most for a server that wants to be left alone; then it throws.
    public var patience: Duration

    /// Options, with the defaults for what is not named.
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

/// When a failed request is tried again.
public struct RetryPolicy: Sendable {
    /// How often a request is tried in all; 1 is never again.
    public var attempts: Int
    /// The pause after the first failure; it doubles with each further one.
    public var firstDelay: Duration
    /// No pause between two attempts is longer.
    public var longestDelay: Duration
    /// Which errors may pass by themselves.
    public var isTransient: @Sendable (any Error) -> Bool

    /// A policy, with the defaults for what is not named.
    public init(
        attempts: Int = 3, firstDelay: Duration = .seconds(1), longestDelay: Duration = .seconds(60),
        isTransient: @escaping @Sendable (any Error) -> Bool = RetryPolicy.isUsuallyTransient
    ) {
        self.attempts = attempts
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
        self.isTransient = isTransient
    }

    /// ``PageFailure`` says it itself; of the rest, lost connections and timeouts.
    @Sendable public static func isUsuallyTransient(_ error: any Error) -> Bool {
        if let failure = error as? PageFailure { return failure.isTransient }
        guard let error = error as? URLError else { return false }
        let passing: [URLError.Code] = [
            .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
            .notConnectedToInternet,
        ]
        return passing.contains(error.code)
    }

    /// Between half of the doubled delay and all of it, so that clients that failed together do not come
    /// back together. `luck` is from 0 to 1.
    func delay(afterAttempt attempt: Int, luck: Double) -> Duration {
        var delay = min(firstDelay, longestDelay)
        for _ in 1..<max(1, attempt) where delay < longestDelay { delay = min(delay * 2, longestDelay) }
        return delay / 2 + delay / 2 * min(1, max(0, luck))
    }
}

/// Where a pager gets time and chance from. Tests give their own.
public struct PagerClock: Sendable {
    /// Milliseconds since 1970. It may jump in either direction.
    public var now: @Sendable () -> Int64
    /// Waits; throws `CancellationError` when its task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 to below 1.
    public var luck: @Sendable () -> Double

    /// A clock of the caller's, for tests.
    public init(
        now: @escaping @Sendable () -> Int64, sleep: @escaping @Sendable (Duration) async throws -> Void,
        luck: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.sleep = sleep
        self.luck = luck
    }

    /// Those of the system.
    public static let system = PagerClock(
        now: { Int64(Date().timeIntervalSince1970 * 1_000) },
        sleep: { try await ContinuousClock().sleep(for: $0) },
        luck: { Double.random(in: 0..<1) })
}
