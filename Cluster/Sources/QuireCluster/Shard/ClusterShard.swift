import Quire
import Synchronization

/// One shard of a node: its log, its replica, and those that wait for either.
///
/// The history that counts is the newest checkpoint with what follows it in the log. A replica that has
/// another one is abandoned and made anew.
actor ClusterShard {
    nonisolated let name: String
    nonisolated let log: any SharedLog
    nonisolated let options: ClusterOptions
    nonisolated let files: ShardFiles
    private nonisolated let thread = ShardThread()
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// What any thread may look at.
    struct Visible {
        var cache: Cache
        var status: ShardStatus
    }
    nonisolated let visible: Mutex<Visible>
    nonisolated var cache: Cache { visible.withLock(\.cache) }
    nonisolated var status: ShardStatus { visible.withLock(\.status) }

    var following: FollowingReplica
    /// Which node wrote an entry, since it was opened.
    nonisolated let writer = UInt64.random(in: 1 ... .max)
    var counter: UInt64 = 0
    /// Writes that wait for their effect, by their counters.
    var waiting: [UInt64: WriteResult?] = [:]
    /// Writes whose effect was told, the newest last, and where they stand.
    var told: [(counter: UInt64, position: LogPosition)] = []
    /// Those of them that are not in the history that stays.
    var lost: [UInt64] = []
    var requests = SharedRequests()
    /// This history is known to be that of the log.
    var confirmed: LogPosition?
    /// ``SharedLog/changes`` when all that is applied was compared with the log; nil before the first time.
    var compared: UInt64?
    /// The checkpoint with which the replica began. The log need not have its entry.
    var anchor: LogPosition?
    /// A checkpoint is being made.
    var isCopying = false
    private var losses = 0
    /// The file was damaged once. Were it damaged again it would stay so, and be looked at.
    private var isMadeAnew = false
    /// Before this entry no checkpoint is due.
    private var looksForCheckpoint: UInt64 = 0
    private var auditDue = ContinuousClock.now
    private var running: Task<Bool, any Error>?
    /// Why it takes no writes and applies nothing any more.
    private var stopped: LogError?
    private nonisolated let pokes = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    enum WriteResult {
        case replies([CacheReply], LogPosition)
        case failed(QuireError)
        /// It took effect, and what it returned went with a replica.
        case untold
    }

    init(
        _ name: String, _ log: any SharedLog, in folder: String, _ options: ClusterOptions
    ) throws(QuireError) {
        (self.name, self.log, self.options) = (name, log, options)
        files = try ShardFiles(folder, shard: name)
        let opened = try Self.open(files, options)
        following = opened.replica
        var status = ShardStatus(shard: name)
        status.applied = following.last.position
        if opened.trouble != nil { status.rebuilds = 1 }
        visible = Mutex(Visible(cache: following.replica.cache, status: status))
        if let trouble = opened.trouble {
            options.onEvent?(.rebuilt(shard: name, .file(trouble), lost: 0))
        }
    }

    /// The file that counts, or an empty one.
    private static func open(
        _ files: ShardFiles, _ options: ClusterOptions
    ) throws(QuireError) -> (replica: FollowingReplica, trouble: String?) {
        var trouble: String?
        if let number = files.current {
            do throws(QuireError) {
                return (try FollowingReplica(at: files.path(number), options: options.cache), nil)
            } catch {
                switch error.code {
                case .unclean, .corrupt, .notACache, .optionsDiffer: trouble = error.message
                default: throw error
                }
            }
        }
        let number = files.unused
        let replica = try FollowingReplica(at: files.path(number), options: options.cache)
        try files.use(number)
        return (replica, trouble)
    }

    // MARK: Following

    /// Applies what comes, until the task is cancelled.
    func follow() async {
        let pokes = pokes
        let hints = Task { [log] in
            while !Task.isCancelled {
                for await signal in log.tail() {
                    if case .interrupted = signal { self.auditSoon() }
                    pokes.continuation.yield()
                }
                try? await Task.sleep(for: .seconds(1))
            }
        }
        let clock = Task { [log] in
            while !Task.isCancelled {
                pokes.continuation.yield()
                if let end = try? await log.bounds().last { visible.withLock { $0.status.end = end } }
                try? await Task.sleep(for: .seconds(1))
            }
        }
        defer {
            hints.cancel()
            clock.cancel()
        }
        for await _ in pokes.stream {
            if Task.isCancelled { break }
            do {
                while try await advance() {}
                if auditDue <= .now {
                    try await audit()
                    auditDue = .now + .seconds(30)
                }
                try await checkpointWhenDue()
            } catch { await options.pause() }
        }
    }

    private func auditSoon() { auditDue = .now }

    /// Nodes store checkpoints at different times: one of them is enough.
    private func checkpointWhenDue() async throws {
        let interval = options.checkpointInterval
        if interval == 0 { return }
        let number = following.last.position.number
        guard number >= looksForCheckpoint else { return }
        let newest = try await log.newestCheckpoint()?.position.number ?? 0
        let due = newest + interval + writer % (interval / 4 + 1)
        if number >= due { try await checkpoint() }
        looksForCheckpoint = number >= due ? number + interval : due
    }

    /// Applies what the log has and this replica has not, as far as one read goes. Calls at the same time
    /// share one read. Returns false at the end of the log.
    @discardableResult
    func advance() async throws -> Bool {
        if let running { return try await running.value }
        // It must not be found by who waited for it, however these are resumed.
        let task = Task {
            defer { self.running = nil }
            return try await self.step()
        }
        running = task
        do {
            let result = try await task.value
            setTrouble(nil)
            return result
        } catch {
            setTrouble("\(error)")
            throw error
        }
    }

    private func step() async throws -> Bool {
        try requireOpen()
        let last = following.last
        let read = try await entries(with: last)
        guard var entries = read else { return true }
        if try await !compareAfterChange() { return true }
        if last.position.number > 0, last.position != anchor, let first = entries.first {
            if first.number != last.position.number
                || first.fingerprint != last.fingerprint
            {
                try await rebuild(.otherHistory)
                return true
            }
            entries.removeFirst()
        }
        for entry in entries {
            guard entry.number == following.last.position.number + 1 else { break }
            if try await !take(entry) { return true }
        }
        return !entries.isEmpty
    }

    /// What follows in the log, and before it the newest entry that is applied: whether it is still there.
    /// Nil if the replica was made anew instead.
    private func entries(with last: LastEntry) async throws -> [LogEntry]? {
        let number = last.position.number
        let isAnchor = number == 0 || last.position == anchor
        do throws(LogError) {
            let entries = try await log.entries(after: isAnchor ? number : number - 1, limit: 65)
            // The newest entry that is applied must be among them.
            if entries.isEmpty, !isAnchor { throw .lost(after: number - 1) }
            losses = 0
            return entries
        } catch {
            switch error {
            case .trimmed(let through):
                if through == number, let checkpoint = try await log.newestCheckpoint(),
                    try following.digest(after: checkpoint.position.number) == checkpoint.position.digest
                {
                    anchor = last.position
                } else {
                    try await rebuild(.behind)
                }
                return nil
            case .lost where last.position == anchor:
                return []
            case .lost:
                losses += 1
                if losses < options.lossesBelieved { throw error }
                losses = 0
                try await rebuild(.otherHistory)
                return nil
            default: throw error
            }
        }
    }

    /// Applies an entry that follows. Returns false if the replica was made anew instead.
    private func take(_ entry: LogEntry) async throws -> Bool {
        do {
            let (content, effect) = try following.apply(entry, isTrue: false)
            noteApplied(content, effect)
        } catch FollowingReplica.Obstacle.otherBase {
            // Either its writer follows a history that is lost, or this replica does.
            if try await !isTrue() {
                try await rebuild(.otherHistory)
                return false
            }
            let (content, effect) = try following.apply(entry, isTrue: true)
            noteApplied(content, effect)
        } catch FollowingReplica.Obstacle.newer(let text) {
            throw stop("entry \(entry.number) of shard \(name): \(text)")
        } catch let error as QuireError where error.code == .corrupt && !isMadeAnew {
            isMadeAnew = true
            try await rebuild(.file(error.message))
            return false
        }
        return true
    }

    func requireOpen() throws(LogError) {
        if let stopped { throw stopped }
    }

    /// Ends it, and lets another program follow the log here.
    func close() async {
        stopped = .unavailable("shard \(name) was closed")
        _ = try? await running?.value
        log.close()
        files.unlock()
    }

    func stop(_ text: String) -> LogError {
        stopped = .refused(text)
        return .refused(text)
    }

    /// Tells those that wait what an entry did.
    func noteApplied(_ entry: OperationEntry?, _ effect: FollowingReplica.Effect) {
        let position = following.last.position
        visible.withLock {
            $0.status.applied = position
            $0.status.end = max($0.status.end, position.number)
            $0.status.entries += 1
            switch effect {
            case .refused, .foreign: $0.status.refused += 1
            default: break
            }
        }
        tell(entry, effect, at: position)
    }

    private func setTrouble(_ text: String?) {
        let isNew = visible.withLock { visible in
            defer { visible.status.trouble = text }
            return visible.status.trouble != text
        }
        if let text, isNew { options.onEvent?(.stalled(shard: name, text)) }
    }
}
