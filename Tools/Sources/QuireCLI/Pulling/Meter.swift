import Foundation
import Quire
import QuireHTTP
import QuirePaging
import Synchronization

/// The limit of requests was reached.
struct RequestLimit: Error {}

/// Counts requests, keeps a pause between two of them, and ends the work at a limit. Retries count, because
/// the server has to answer them too.
final class Meter: Sendable {
    private struct State {
        var round = 0
        var last: Int64?
        /// True if the next answer is here already.
        var isPaid = false
    }

    private let state = Mutex(State())
    private let limit: Int
    private let pause: Duration
    private let clock: PagerClock

    init(limit: Int, pause: Duration, clock: PagerClock) {
        (self.limit, self.pause, self.clock) = (limit, pause, clock)
    }

    /// The number of requests in this round.
    var round: Int { state.withLock(\.round) }

    /// The next request is not sent, because its answer is here already.
    func skipNext() { state.withLock { $0.isPaid = true } }

    func beginRound() { state.withLock { $0.round = 0 } }

    /// Waits until a request may be sent, and counts it.
    func pass() async throws {
        while true {
            let now = clock.now()
            let wait = try state.withLock { state -> Duration? in
                if state.isPaid {
                    state.isPaid = false
                    return nil
                }
                if state.round >= limit { throw RequestLimit() }
                if let last = state.last, now >= last {
                    let rest = pause - .milliseconds(now - last)
                    if rest > .zero { return rest }
                }
                (state.round, state.last) = (state.round + 1, now)
                return nil
            }
            guard let wait else { return }
            try await clock.sleep(wait)
        }
    }

    /// Every attempt passes through it. One that cannot be sent does not count.
    var interceptor: Interceptor {
        Interceptor { request, next in
            try await self.pass()
            do { return try await next(request) } catch let error
                where error is HTTPSourceError || error is PagerError
            {
                // The one cannot be written, the other waits for the server longer than the patience.
                self.state.withLock { $0.round -= 1 }
                throw error
            }
        }
    }
}
