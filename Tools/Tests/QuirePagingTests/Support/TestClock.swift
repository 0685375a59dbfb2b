import QuirePaging
import Synchronization

/// A clock that stands still. A sleeping task advances it, or waits until the test does.
final class TestClock: Sendable {
    private struct State {
        /// Time as it really passes.
        var elapsed: Int64 = 0
        /// What was added when the clock was set.
        var offset: Int64 = 1_000_000_000
        var slept: [Duration] = []
        var sleepers: [Int: (end: Int64, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var count = 0
        var isManual: Bool
    }
    private let state: Mutex<State>

    /// - Parameter isManual: sleepers wait for ``wakeFirst()``.
    init(isManual: Bool = false) { state = Mutex(State(isManual: isManual)) }

    /// From now on no sleeping task waits for the test.
    func letGo() { state.withLock { $0.isManual = false } }

    /// What the clock shows. Setting it wakes no task.
    var now: Int64 {
        get { state.withLock { $0.elapsed + $0.offset } }
        set { state.withLock { $0.offset = newValue - $0.elapsed } }
    }

    /// Milliseconds that passed, however the clock was set.
    var elapsed: Int64 { state.withLock { $0.elapsed } }

    /// How long each sleeper slept, in order.
    var slept: [Duration] { state.withLock { $0.slept } }
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    func advance(_ duration: Duration) {
        state.withLock { $0.elapsed += Int64(duration / .milliseconds(1)) }
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
            state.elapsed = max(state.elapsed, sleeper.end)
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
        if !state.withLock(\.isManual) { return advance(duration) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if Task.isCancelled { return true }
                    let end = state.elapsed + Int64(duration / .milliseconds(1))
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
