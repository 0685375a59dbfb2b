#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import QuireSimulator
import Testing

@testable import Quire

/// Whose snapshots wait while the map must grow. `a`, `b` and `c` are threads; `c` waits for the others to be done.
@Suite struct AliveTransactionsTests {
    private static let threads: [pthread_t] = (0..<3).map { _ in thread() }
    private let a = Self.threads[0]
    private let b = Self.threads[1]
    private let c = Self.threads[2]

    /// A thread that is over, but nobody has joined it: no other gets its number.
    private static func thread() -> pthread_t {
        #if canImport(Darwin)
            var thread: pthread_t?
            pthread_create(&thread, nil, { _ in nil }, nil)
            return thread!
        #else
            var thread = pthread_t()
            pthread_create(&thread, nil, { _ in nil }, nil)
            return thread
        #endif
    }

    @Test func whoHasNoneWaits() {
        var alive = AliveTransactions()
        alive.beginSnapshot(on: a)
        #expect(!alive.mustWait(a) && !alive.mustWait(b))
        let isAwaited = alive.beginWaiting(c)
        #expect(isAwaited)
        // Without this b would begin before a ends, a again before b ends, and so on.
        #expect(alive.mustWait(b))
        alive.endSnapshot(on: a)
        #expect(alive.count == 0 && alive.mustWait(a))
        alive.endWaiting()
        #expect(!alive.mustWait(a) && !alive.mustWait(b))
    }

    @Test func whoHasOneGoesOn() {
        var alive = AliveTransactions()
        alive.beginSnapshot(on: a)
        let isAwaited = alive.beginWaiting(c)
        #expect(isAwaited)
        alive.beginSnapshot(on: a)
        alive.endSnapshot(on: a)
        #expect(!alive.mustWait(a), "it still has the outer one")
        alive.endSnapshot(on: a)
        #expect(alive.mustWait(a))
    }

    @Test func nobodyWaitsWhileAnybodyMayEndOne() {
        var alive = AliveTransactions()
        alive.beginSnapshot(on: nil)
        let isAwaited = alive.beginWaiting(c)
        #expect(isAwaited)
        #expect(!alive.mustWait(a))
        alive.endSnapshot(on: nil)
        #expect(alive.mustWait(a))
    }

    @Test func whoWaitsForItselfHoldsUpNobody() {
        var alive = AliveTransactions()
        alive.beginSnapshot(on: c)
        let isAwaited = alive.beginWaiting(c)
        #expect(!isAwaited)
        #expect(!alive.mustWait(a))
    }

    /// At any time somebody can go on: who waits for zero, or a thread that has what keeps zero away.
    @Test func nobodyWaitsForItself() {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var alive = AliveTransactions()
            var held = [0, 0, 0]
            for step in 0..<60 {
                let thread = random.number(in: 0...2)
                if held[thread] > 0 { #expect(!alive.mustWait(Self.threads[thread]), "seed \(seed), step \(step)") }
                if random.chance(0.3) && alive.beginWaiting(Self.threads[thread]) {
                    #expect(held[thread] == 0, "seed \(seed), step \(step)")
                }
                if held[thread] > 0 && random.chance(0.5) {
                    alive.endSnapshot(on: Self.threads[thread])
                    held[thread] -= 1
                } else if !alive.mustWait(Self.threads[thread]) {
                    alive.beginSnapshot(on: Self.threads[thread])
                    held[thread] += 1
                }
                #expect(alive.count == held.reduce(0, +), "seed \(seed), step \(step)")
            }
        }
    }
}
