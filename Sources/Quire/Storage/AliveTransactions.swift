#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The transactions of this process that are alive. The map must not move under one, so it grows with this
/// locked and at zero. A count and not a read-write lock, which would have to be released by the thread that took
/// it: an ``OpenSnapshot`` may end on another thread.
///
/// Readers that always overlap would keep the count above zero for ever. So while somebody waits for zero, new
/// snapshots wait too, but none of a thread that must go on before zero is reached: one inside of a read, or of the
/// write that runs. Of an ``OpenSnapshot`` nobody knows which thread will end it: while there is one, nobody waits.
struct AliveTransactions {
    private(set) var count = 0
    /// The threads inside of a read, once for each of its snapshots.
    private var readers: [pthread_t] = []
    /// How many are an ``OpenSnapshot``.
    private var loose = 0
    /// Threads that wait for zero and do not keep it away themselves.
    private var waiting = 0

    /// A write or a copy begins, which waits for nobody.
    mutating func begin() { count += 1 }
    mutating func end() { count -= 1 }

    /// A snapshot begins that ends on this thread, or that anybody may end if that is nil.
    mutating func beginSnapshot(on thread: pthread_t?) {
        count += 1
        if let thread { readers.append(thread) } else { loose += 1 }
    }

    mutating func endSnapshot(on thread: pthread_t?) {
        count -= 1
        guard let thread else { return loose -= 1 }
        readers.remove(at: readers.lastIndex { pthread_equal($0, thread) != 0 }!)
    }

    /// True if a snapshot that this thread is about to begin must let those go first that wait for zero.
    func mustWait(_ thread: pthread_t) -> Bool { waiting > 0 && loose == 0 && !isReading(thread) }

    /// From here on new snapshots wait, unless this thread has one, which none could outlast. Returns whether they do.
    mutating func beginWaiting(_ thread: pthread_t) -> Bool {
        if isReading(thread) { return false }
        waiting += 1
        return true
    }

    mutating func endWaiting() { waiting -= 1 }

    private func isReading(_ thread: pthread_t) -> Bool {
        readers.contains { pthread_equal($0, thread) != 0 }
    }
}
