import QuirePaging
import Synchronization

/// A clock that stands still. Whoever sleeps makes it go on, or waits for the test to do so.
final class TestClock: Sendable {
    private struct State {
        var now: Int64 = 1_000_000_000
        var slept: [Duration] = []
        var sleepers: [Int: (end: Int64, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var count = 0
    }
    private let state = Mutex(State())
    private let isManual: Bool

    /// - Parameter isManual: sleepers wait for ``wakeFirst()``.
    init(isManual: Bool = false) { self.isManual = isManual }

    var now: Int64 {
        get { state.withLock { $0.now } }
        set { state.withLock { $0.now = newValue } }
    }

    /// How long everybody slept so far.
    var slept: [Duration] { state.withLock { $0.slept } }
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    func advance(_ duration: Duration) {
        state.withLock { $0.now += Int64(duration / .milliseconds(1)) }
    }

    /// The one whose time comes first goes on, at that time. Returns whether there was one.
    func wakeFirst() -> Bool {
        let first = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            let sleepers = state.sleepers
            guard
                let (number, sleeper) = sleepers.min(by: {
                    ($0.value.end, $0.key) < ($1.value.end, $1.key)
                })
            else { return nil }
            state.now = max(state.now, sleeper.end)
            state.sleepers[number] = nil
            return sleeper.continuation
        }
        first?.resume()
        return first != nil
    }

    /// - Parameter luck: what chance gives.
    func pagerClock(luck: @escaping @Sendable () -> Double = { 1 }) -> PagerClock {
        PagerClock(now: { self.now }, sleep: { try await self.sleep($0) }, luck: luck)
    }

    private func sleep(_ duration: Duration) async throws {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.slept.append(duration)
            state.count += 1
            return state.count
        }
        if !isManual { return advance(duration) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if Task.isCancelled { return true }
                    let end = state.now + Int64(duration / .milliseconds(1))
                    state.sleepers[number] = (end, continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
