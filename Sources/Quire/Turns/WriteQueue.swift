#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The writers of this process, first come, first served, and how several share one commit.
///
/// Group commit. The first writer leads: it begins LMDB's transaction and alone may end it, because LMDB's
/// write lock belongs to the thread that took it. When its body has run, the waiting writers follow: one
/// after the other runs its body, each on its own thread, in the leader's transaction. Then the leader
/// commits, and all return. A writer that comes later waits for the next commit; the first of those leads it.
/// No writer waits for others to arrive.
final class WriteQueue: @unchecked Sendable {
    // @unchecked: everything that changes is behind `lock`, the signals of the waiters too. Exclusivity is
    // unchecked for the same reason: `withLock` is not entered again inside of itself, so no access can
    // overlap with another.

    /// Most followers of one commit: other processes get their turn between commits.
    static let groupLimit = 64

    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    @exclusivity(unchecked) private var isLed = false
    @exclusivity(unchecked) private var waiting: [Waiter] = []

    /// What a waiting writer is told.
    enum Signal {
        /// Lead the next commit. To a leader: all followers have run.
        case lead
        /// Run your body in the transaction of this group.
        case run(WriteGroup)
        case committed
        case failed(any Error)
    }

    /// Where a thread waits.
    final class Waiter {
        fileprivate let condition: UnsafeMutablePointer<pthread_cond_t>
        fileprivate var signal: Signal?
        /// Shares no transaction: its group was undone, or it does not commit.
        fileprivate(set) var isAlone: Bool

        fileprivate init(alone isAlone: Bool = false) {
            self.isAlone = isAlone
            condition = .allocate(capacity: 1)
            #if os(Linux)
                var attributes = pthread_condattr_t()
                pthread_condattr_init(&attributes)
                pthread_condattr_setclock(&attributes, Deadline.clock)
                pthread_cond_init(condition, &attributes)
                pthread_condattr_destroy(&attributes)
            #else
                pthread_cond_init(condition, nil)
            #endif
        }

        deinit {
            pthread_cond_destroy(condition)
            condition.deallocate()
        }
    }

    init() {
        lock = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// Writers that wait to lead or to follow.
    var waitingCount: Int { withLock { waiting.count } }

    /// Nil: the caller leads. Else it has to ``wait(as:)``.
    func enter(alone isAlone: Bool = false) -> Waiter? {
        withLock {
            if isLed {
                let waiter = Waiter(alone: isAlone)
                waiting.append(waiter)
                return waiter
            }
            isLed = true
            return nil
        }
    }

    /// Nil if the turn did not come in time. A writer that was called in time to share a commit stays with
    /// it.
    func wait(as waiter: Waiter, until end: timespec) -> Signal? {
        withLock { awaitSignal(waiter, until: end) }
    }

    /// For the leader, when its own body has run: returns when all followers have.
    func runFollowers(of group: WriteGroup) {
        withLock {
            guard let next = nextFollower(of: group) else { return }
            let leader = Waiter()
            group.leader = leader
            tell(next, .run(group))
            _ = awaitSignal(leader, until: nil)
        }
    }

    /// For a follower, when its body has run: lets the next follower run, or the leader commit.
    func handOff(_ group: WriteGroup) {
        withLock {
            if let next = nextFollower(of: group) {
                tell(next, .run(group))
            } else {
                tell(group.leader!, .lead)
            }
        }
    }

    /// The leader's transaction was undone: all of its group run again, each in a commit of its own and
    /// before later writers.
    func requeue(_ group: WriteGroup) {
        withLock {
            for waiter in group.followers { waiter.isAlone = true }
            waiting.insert(contentsOf: group.followers, at: 0)
            group.isolate()
        }
    }

    /// The leader is done, and its followers with it; the first waiting writer leads.
    func finish(_ group: WriteGroup, _ outcome: Signal) {
        withLock {
            if waiting.isEmpty {
                isLed = false
            } else {
                tell(waiting.removeFirst(), .lead)
            }
            for waiter in group.followers { tell(waiter, outcome) }
        }
    }

    // MARK: Under the lock

    private func nextFollower(of group: WriteGroup) -> Waiter? {
        guard !group.isAlone, !group.isUndone, group.followers.count < Self.groupLimit,
            let next = waiting.first, !next.isAlone
        else { return nil }
        group.followers.append(waiting.removeFirst())
        return next
    }

    private func tell(_ waiter: Waiter, _ signal: Signal) {
        waiter.signal = signal
        pthread_cond_signal(waiter.condition)
    }

    private func awaitSignal(_ waiter: Waiter, until end: timespec?) -> Signal? {
        while true {
            if let signal = waiter.signal {
                waiter.signal = nil
                return signal
            }
            // A writer that is part of a commit waits for its end, whatever its deadline.
            guard var end, waiting.contains(where: { $0 === waiter }) else {
                pthread_cond_wait(waiter.condition, lock)
                continue
            }
            if pthread_cond_timedwait(waiter.condition, lock, &end) == ETIMEDOUT, waiter.signal == nil {
                waiting.removeAll { $0 === waiter }
                return nil
            }
        }
    }

    private func withLock<R>(_ body: () -> R) -> R {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }
}

/// Writers that share one transaction. One of them at a time uses it: the leader, until
/// ``WriteQueue/runFollowers(of:)`` signals the first follower, then each follower until
/// ``WriteQueue/handOff(_:)``, then the leader again. Each of these steps locks the queue, so the next one
/// sees what the one before has set. The leader and the followers are changed with the queue locked.
final class WriteGroup {
    private(set) var isAlone: Bool
    /// False for a dry run.
    let commits: Bool
    /// Set by the leader before its followers run.
    var transaction: Transaction?
    /// Nothing of this transaction may be committed. Set by the writer that runs its body; the leader reads
    /// it when all have run. Once set, no follower begins.
    var isUndone = false
    fileprivate var leader: WriteQueue.Waiter?
    fileprivate var followers: [WriteQueue.Waiter] = []

    var isShared: Bool { !followers.isEmpty }

    init(isAlone: Bool, commits: Bool = true) { (self.isAlone, self.commits) = (isAlone, commits) }

    fileprivate func isolate() {
        (isAlone, transaction, isUndone, leader, followers) = (true, nil, false, nil, [])
    }
}

/// Half of what a follower wanted to write is in the transaction that all share. Never leaves
/// `Environment`.
struct Undone: Error {}
