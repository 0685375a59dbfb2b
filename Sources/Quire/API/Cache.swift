/// A cache: one file that holds feeds, their pages and posts, and where something may be missing.
///
///     let cache = try Cache(at: "/var/lib/app/feeds.quire")
///     let timeline = try cache.feed(named: "home", options: FeedOptions(order: .stable))
///
/// Any number of threads and processes may use one file at the same time: writers take turns, readers
/// never wait. Opening the same file twice in a process is safe, both share one environment. A cache
/// must not be used after `fork()` in the child, and not on a network file system.
public final class Cache: Sendable {
    let environment: Environment
    let tuning: Tuning
    /// True if this cache was opened for reading only. Everything that writes then throws `.noPermission`.
    public let isReadOnly: Bool
    /// True if the file is a ``Replica``'s: writes to it then throw `.noPermission`.
    public var isReplica: Bool { environment.cacheFile.isReplica }

    /// Opens the cache at a path, creating it if there is none. The file gets two companions, `<path>-lock`
    /// and `<path>-open`. The options of the first open in a process hold for all.
    ///
    /// With ``CacheOptions/isReadOnly`` the file must exist, and needs no right to write. What is promised
    /// while another process writes depends on the companions:
    /// - If this process may write to both, or may create them and owns the file, it reads in place and takes
    ///   part in the locks. A snapshot is one commit, and the next snapshot sees what was committed
    ///   meanwhile.
    /// - If the whole file system is mounted for reading only, it reads in place without locks: no process
    ///   can write there.
    /// - Else writers would not notice this reader and could reuse what it reads. So the newest commit is
    ///   copied to a temporary file without a name (`TMPDIR`), and all snapshots show that commit. What is
    ///   written later is seen by opening the cache again. `.busy` is thrown if commits are so frequent that
    ///   none could be copied.
    /// - Throws: ``QuireError`` with code `.notACache`, `.newerFormat`, `.corrupt`, `.noPermission`,
    ///   `.diskFull`, `.io`, or `.busy` if another copy of this library has it open in this process, or
    ///   another process with which LMDB cannot share it. A file that is not a cache is left untouched.
    ///   `.busy` also if this process has the file open for reading only, and it is to be written.
    public init(at path: String, options: CacheOptions = CacheOptions()) throws(QuireError) {
        environment = try Environment.open(path, options)
        tuning = options.tuning
        isReadOnly = options.isReadOnly
    }

    /// False if it takes no part in the locks of the file: its snapshots show the commit at which it was
    /// opened, whatever is written later.
    @_spi(Unstable) public var seesLaterCommits: Bool { environment.takesLocks }

    /// The path it was opened at.
    public var path: String { environment.path }

    // MARK: Feeds

    /// The feed with this name, 1 to 255 bytes of UTF-8. A feed that does not exist is created with the
    /// options, or with the defaults if there are none.
    /// - Throws: `.optionsDiffer` if the feed exists and was created with other options.
    public func feed(named name: String, options: FeedOptions? = nil) throws -> Feed {
        if let feed = try existingFeed(named: name) { return try feed.requiring(options) }
        return try batch { try $0.feed(named: name, options: options) }
    }

    /// The feed with this name, nil if there is none.
    public func existingFeed(named name: String) throws -> Feed? {
        let reader = try environment.beginRead()
        defer { environment.endRead(reader) }
        return try feed(named: name, in: reader.transaction)
    }

    func feed(named name: String, in transaction: Transaction) throws -> Feed? {
        guard let number = try transaction.number(ofFeed: name) else { return nil }
        return Feed(cache: self, number: number, try transaction.feed(number))
    }

    /// All feeds of the last commit, by name.
    public func feeds() throws -> [Feed] {
        try environment.read { transaction in
            try transaction.feedNumbers().map {
                Feed(cache: self, number: $0, try transaction.feed($0))
            }
        }
    }

    // MARK: Writing

    /// Why a write is refused.
    private var refusal: QuireError {
        isReadOnly
            ? QuireError(.noPermission, "\(path): is open for reading only")
            : QuireError(.noPermission, "\(path): is a replica: it is written through its log")
    }

    /// Runs `body` in the one write transaction of all processes. In a replica only the log changes what it
    /// holds.
    func write<R>(
        commits: Bool = true, isOfLog: Bool = false, _ body: (WriteSession) throws -> R
    ) throws -> R {
        if isReadOnly || isReplica && commits && !isOfLog { throw refusal }
        return try environment.write(commits: commits) { transaction in
            let session = try WriteSession(transaction, tuning)
            let result = try body(session)
            if commits { try finish(session) }
            return result
        }
    }

    private func finish(_ session: WriteSession) throws {
        if let budget = environment.budget { try session.keep(budget) }
        if !session.changedChunks.isEmpty { try session.keepViews(environment.views) }
        try session.finish()
    }

    /// Several writes in one commit, which is much faster than one each: `body` writes through a ``Batch``.
    /// All of it is undone if it throws. Keep batches to 16 to 64 pages.
    ///
    ///     try cache.batch { batch in
    ///         for page in pages { _ = try batch[feed].ingest(page.answer, page: page.number, of: &crawl) }
    ///     }
    ///
    /// It runs on the calling thread. A write through another handle inside `body` throws
    /// `.wouldDeadlock`. Batches of several threads may share one commit: `body` runs again, from its
    /// start, if the file had to grow or another of them failed; and it must not wait for the writes of
    /// other threads.
    public func batch<R>(_ body: (borrowing Batch) throws -> R) throws -> R {
        try write { try body(Batch($0, self)) }
    }

    /// What a batch would do, without doing it: runs `body` as ``batch(_:)`` does and undoes all of it.
    /// Other writers wait meanwhile.
    ///
    ///     let result = try cache.dryRun { try $0[feed].prune(policy) }
    public func dryRun<R>(_ body: (borrowing Batch) throws -> R) throws -> R {
        try write(commits: false) { try body(Batch($0, self)) }
    }

    // MARK: Reading

    /// Runs `body` on one consistent state of the whole cache, whatever others write meanwhile.
    /// Rows and bodies read from the snapshot are valid only inside. Do not keep it open for long: what
    /// it sees cannot be reused by writers.
    ///
    /// If another process made the file larger than this process has mapped it, this waits up to 5 seconds
    /// for the other snapshots of this process, and throws `.snapshotsOpen` if one stays open: also for a
    /// snapshot inside of another one.
    public func withSnapshot<R>(_ body: (borrowing Snapshot) throws -> R) throws -> R {
        var reader = try environment.beginRead()
        let memory = SnapshotMemory.of(&reader)
        defer { environment.endRead(reader) }
        return try body(Snapshot(reader.transaction, memory.takeUnretainedValue(), of: environment))
    }
}
