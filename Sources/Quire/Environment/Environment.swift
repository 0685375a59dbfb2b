import CLMDB
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One open LMDB file. Exactly one exists per file and process, however often a cache is opened:
/// LMDB's locks do not survive a second open in the same process.
final class Environment: @unchecked Sendable {
    // @unchecked: `handle`, `isLost` and `mapNumber` change only with `transactions` locked and none
    // alive (``whileUnused``), and are read with it locked or by who is counted in it (``enter(_:)``). `mark`
    // is of the writer whose turn it is, or of a follower to whom the lock of the queue hands it. The rest is
    // constant or behind a lock of its own.
    /// Another one after ``reopen(insteadOf:)``.
    private(set) var handle: OpaquePointer
    /// It could not be opened again after LMDB had given up.
    private var isLost = false
    let path: String
    /// What transactions know about the file.
    let cacheFile: CacheFile
    let options: CacheOptions
    /// That of the options, which are expensive to copy.
    let maximumSnapshotAge: Int
    /// Nil if the cache has no budget, or this process does not decide what it holds.
    let budget: BudgetMemory?
    let views = ViewFunctions()
    /// The file has the ``UnflushedMark``, and this process removes it when it is the last to close it.
    private let isUnflushed: Bool
    private let process = ProcessNumber()
    private let file: FileKey
    /// Nil if it reads without locks; then it is not in the registry either.
    private let openLock: OpenLock?
    var takesLocks: Bool { openLock != nil }
    /// The number of the map: another one after each opening and growth, the same while a transaction is
    /// alive.
    private(set) var mapNumber = Environment.nextMap()
    private let transactions = Mutex(Transactions())
    /// The thread that runs the body of a write; a second write there would wait for itself.
    private let writer = Mutex<pthread_t?>(nil)
    let queue = WriteQueue()
    private let mark = WriteProgress()  // of the body that runs: only one does

    /// Only by ``open(_:_:)``.
    init(
        handle: OpaquePointer, path: String, file: FileKey, cacheFile: CacheFile, openLock: OpenLock?,
        options: CacheOptions, isUnflushed: Bool = false
    ) {
        self.isUnflushed = isUnflushed
        (self.handle, self.path, self.file) = (handle, path, file)
        (self.cacheFile, self.openLock, self.options) = (cacheFile, openLock, options)
        maximumSnapshotAge = options.maximumSnapshotAge
        budget = options.isReadOnly || cacheFile.isReplica ? nil : options.boxedBudget.map(BudgetMemory.init)
    }

    deinit {
        // A forked child must touch neither the parent's locks nor its slots in the table of readers.
        if process.isCurrent && !isLost {
            transactions.withLock { $0.idle.end() }
            if isUnflushed { Self.flush(handle, openLock, path) }
            mdb_env_close(handle)
        }
        guard let openLock else { return }
        openLock.release()
        Self.forget(file)
    }

    /// How many commits pass before the slots of killed readers are freed: until then no
    /// page that they saw is used again, and the file grows. With 64 a small cache grew sevenfold.
    private static let reapInterval = 8

    // MARK: Transactions

    /// Runs `body` in a read transaction: one consistent state, for as long as the call lasts.
    func read<R>(_ body: (Transaction) throws -> R) throws -> R {
        let reader = try beginRead()
        defer { endRead(reader) }
        return try body(reader.transaction)
    }

    func beginRead() throws(QuireError) -> Reader {
        let idle = try enter { $0.idle.take() }
        let used = handle
        var status: Int32
        if let idle {
            status = mdb_txn_renew(idle.transaction.handle)
            if status == 0 { return idle }
            idle.end()
        } else {
            var begun: OpaquePointer?
            status = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &begun)
            if status == MDB_READERS_FULL {
                var stale: Int32 = 0
                mdb_reader_check(handle, &stale)
                status = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &begun)
            }
            if let begun, status == 0 {
                return Reader(transaction: Transaction(handle: begun, file: cacheFile), map: mapNumber)
            }
        }
        leave()
        if status == MDB_MAP_RESIZED {
            try grow(to: 0)
            return try beginRead()
        }
        if status == MDB_PANIC {
            try reopen(insteadOf: used)
            return try beginRead()
        }
        throw QuireError.storage("cannot read", path, status)
    }

    func endRead(_ reader: Reader) {
        mdb_txn_reset(reader.transaction.handle)
        let isKept = transactions.withLock { transactions in
            let isKept = transactions.idle.add(reader)
            if isKept { transactions.alive -= 1 }
            return isKept
        }
        if isKept { return }
        reader.end()
        leave()
    }

    /// A write runs on this thread.
    var isWriting: Bool { writer.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false } }

    /// Runs `body` on the calling thread in the one write transaction of all processes, and returns when it
    /// is committed; undoes everything when it throws, or if it is not to commit. Writers that wait at the
    /// same time share a commit, see ``WriteQueue``. If the map was full, or another writer of the commit
    /// failed after it had written, `body` runs again from its start.
    func write<R>(commits: Bool = true, _ body: (Transaction) throws -> R) throws -> R {
        try requireThisProcess()
        if isWriting {
            throw QuireError(.wouldDeadlock, "\(path): a write inside a write")
        }
        var deadline = Deadline(options.writeTimeout)
        var wasInterrupted = false
        while true {
            do {
                return try writeInTurn(commits, &deadline, body)
            } catch let error as Interrupted {
                if wasInterrupted { throw error.reason }
                wasInterrupted = true
            } catch let error as MapFull {
                // Out of turn: a writer that waits may hold the snapshot that keeps the map in place.
                let size = transactions.withLock { _ in isLost ? 0 : currentMapSize }
                try grow(to: error.isResized ? 0 : size * 2)
            } catch let error as GaveUp {
                try reopen(insteadOf: error.handle)
            }
        }
    }

    /// What writers take turns by.
    private var turns: OpenLock {
        get throws(QuireError) {
            guard let openLock, !isReadOnly else {
                throw QuireError(.noPermission, "\(path): is open for reading only")
            }
            return openLock
        }
    }

    private func writeInTurn<R>(
        _ commits: Bool, _ deadline: inout Deadline, _ body: (Transaction) throws -> R
    ) throws -> R {
        if let waiter = queue.enter(alone: !commits) { return try wait(waiter, commits, &deadline, body) }
        return try lead(WriteGroup(isAlone: !commits, commits: commits), &deadline, body)
    }

    /// Runs `body` when its turn comes: as the leader of a commit, or in that of another writer.
    private func wait<R>(
        _ waiter: WriteQueue.Waiter, _ commits: Bool, _ deadline: inout Deadline,
        _ body: (Transaction) throws -> R
    ) throws -> R {
        var result: Result<R, any Error>?
        while true {
            switch queue.wait(as: waiter, until: deadline.end) {
            case nil:
                throw try turns.busy(deadline)
            case .lead:
                return try lead(WriteGroup(isAlone: waiter.isAlone, commits: commits), &deadline, body)
            case .run(let group):
                let ran = Result {
                    try DiskSpace.withoutSizeSignal { try run(body, in: group.transaction!) }
                }
                // What it threw before it wrote anything is its own affair; anything else undoes all.
                if case .failure = ran, mark.hasWritten { group.isUndone = true }
                if mark.failure != 0 { group.isUndone = true }
                result = ran
                queue.handOff(group)
            case .committed:
                return try result!.get()
            case .failed(let error):
                throw error
            }
        }
    }

    /// Runs `body` and those of the followers, and tells them how it ended.
    private func lead<R>(
        _ group: WriteGroup, _ deadline: inout Deadline, _ body: (Transaction) throws -> R
    ) throws -> R {
        while true {
            do {
                let result = try writeOnce(group, &deadline, body)
                queue.finish(group, .committed)
                return result
            } catch is Undone {
                queue.requeue(group)
            } catch {
                // Its own body failed before another writer joined, or no commit is possible.
                queue.finish(group, .failed(error))
                throw error
            }
        }
    }

    private func writeOnce<R>(
        _ group: WriteGroup, _ deadline: inout Deadline, _ body: (Transaction) throws -> R
    ) throws -> R {
        let turns = try turns
        try turns.acquireTurn(&deadline)
        defer { turns.releaseTurn() }
        try enter { _ in }
        defer { leave() }
        var begun: OpaquePointer?
        let status = mdb_txn_begin(handle, nil, 0, &begun)
        if status == MDB_MAP_RESIZED { throw MapFull(isResized: true) }
        if status == MDB_PANIC { throw GaveUp(handle: handle) }
        try check(status, "cannot write", path)
        do throws(QuireError) {
            try requireFile()
        } catch {
            mdb_txn_abort(begun)
            throw error
        }
        let transaction = Transaction(handle: begun!, file: cacheFile, mark: mark)
        defer { mark.forgetCursors() }
        mark.begin(transaction)
        let number = transaction.number
        var committed: Int32 = 0
        let result = try DiskSpace.withoutSizeSignal {
            let result: R
            do {
                result = try run(body, in: transaction)
                group.transaction = transaction
                queue.runFollowers(of: group)
                if group.isUndone { throw Undone() }
            } catch {
                mdb_txn_abort(transaction.handle)
                throw error
            }
            if group.commits {
                committed = mdb_txn_commit(transaction.handle)  // frees the handle, even on failure
            } else {
                mdb_txn_abort(transaction.handle)
            }
            return result
        }
        if !group.commits { return result }
        if committed == MDB_MAP_FULL {
            if group.isShared { throw Undone() }
            throw MapFull(isResized: false)
        }
        if committed == EINTR && !hasGivenUp {
            if group.isShared { throw Undone() }
            throw Interrupted(reason: .storage("cannot commit", path, committed))
        }
        try check(committed, "cannot commit", path)
        mark.didCommit(number)
        if mark.commits.isMultiple(of: Self.reapInterval) {
            var stale: Int32 = 0
            mdb_reader_check(handle, &stale)
        }
        return result
    }

    /// A failure that the body swallowed counts: LMDB commits nothing of a transaction that was full. LMDB
    /// writes before the commit, too, if a transaction is large, so call this in
    /// ``DiskSpace/withoutSizeSignal(_:)``.
    private func run<R>(_ body: (Transaction) throws -> R, in transaction: Transaction) throws -> R {
        (mark.hasWritten, mark.failure) = (false, 0)
        writer.withLock { $0 = pthread_self() }
        defer { writer.withLock { $0 = nil } }
        let result: R
        do {
            result = try body(transaction)
        } catch {
            if mark.failure == MDB_MAP_FULL { throw MapFull(isResized: false) }
            throw error
        }
        if mark.failure == MDB_MAP_FULL { throw MapFull(isResized: false) }
        return result
    }

    /// Runs `body` while no transaction of this process is alive, unless `isNeeded` says that another thread
    /// has done so. Waits up to 5 s for that, because readers do not wait for it.
    private func whileUnused(
        _ reason: String, if isNeeded: () -> Bool, _ body: (inout IdleReaders) throws(QuireError) -> Void
    ) throws(QuireError) {
        for _ in 0..<5_000 {
            let isDone = try transactions.withLock { transactions throws(QuireError) in
                if !isNeeded() { return true }
                if transactions.alive == 0 { try body(&transactions.idle) }
                return transactions.alive == 0
            }
            if isDone { return }
            usleep(1_000)
        }
        throw QuireError(
            .snapshotsOpen, "\(path): \(reason), but snapshots are open in this process: close them first")
    }

    /// The map may only move while no transaction of this process is alive. A size of 0 is that of the file.
    private func grow(to size: Int) throws(QuireError) {
        try whileUnused("the map must grow", if: { !isLost && (size == 0 || size > currentMapSize) }) {
            idle throws(QuireError) in
            try growNow(to: size, &idle)
        }
    }

    private func growNow(to size: Int, _ idle: inout IdleReaders) throws(QuireError) {
        idle.end()  // LMDB counts idle read transactions as alive
        mapNumber = Self.nextMap()
        try check(mdb_env_set_mapsize(handle, size), "cannot grow the map", path)
    }

    // MARK: When things went wrong

    /// A meta page was being written when the commit failed: what was committed may be there or not.
    private var hasGivenUp: Bool {
        var begun: OpaquePointer?
        let status = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &begun)
        if let begun, status == 0 { mdb_txn_abort(begun) }
        return status == MDB_PANIC
    }

    /// LMDB refuses everything once it could not write a meta page. The commit that failed has thrown; who
    /// comes next closes the file, tests it and opens it again.
    private func reopen(insteadOf failed: OpaquePointer) throws(QuireError) {
        try whileUnused(
            "a write failed, and the file must be opened again", if: { handle == failed && !isLost }
        ) { idle throws(QuireError) in try reopenNow(&idle) }
    }

    private func reopenNow(_ idle: inout IdleReaders) throws(QuireError) {
        var options = self.options
        options.mapSize = Int64(currentMapSize)
        idle.end()
        mdb_env_close(handle)
        isLost = true
        if try FileCheck.key(path) != file { return }
        try FileCheck.requireCache(path)
        let fresh = try Self.openHandle(path, options)
        do throws(QuireError) {
            _ = try CacheFile.open(in: fresh, path: path)
        } catch {
            mdb_env_close(fresh)
            throw error
        }
        (handle, isLost, mapNumber) = (fresh, false, Self.nextMap())
    }

    /// For the writer only.
    private func requireFile() throws(QuireError) {
        try Self.requirePlace(of: Self.descriptor(of: handle), file, path, openLock, mark)
    }

    /// Counts a transaction that is about to begin: from here on the handle stays.
    private func enter<R: Sendable>(_ body: (inout Transactions) -> sending R) throws(QuireError) -> R {
        try requireThisProcess()
        let entered: R? = transactions.withLock { transactions in
            if isLost { return nil }
            transactions.alive += 1
            return body(&transactions)
        }
        if let entered { return entered }
        throw QuireError(.closed, "\(path): could not be opened again after a failure")
    }

    /// Counts a transaction that has ended.
    private func leave() { transactions.withLock { $0.alive -= 1 } }

    private func requireThisProcess() throws(QuireError) {
        if !process.isCurrent {
            throw QuireError(.closed, "\(path): the cache was opened by the parent process")
        }
    }
}
