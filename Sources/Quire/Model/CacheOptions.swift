/// Options for opening a cache.
public struct CacheOptions: Sendable, Hashable {
    /// What survives a power failure after a commit. Killing only the process never loses a commit.
    public enum Durability: Sendable, Hashable {
        /// A commit is on disk when the call returns. This is the default.
        case full
        /// The last commits may be lost; the cache is never damaged. Costs about half as much.
        case relaxed
        /// Nothing is flushed until the last process closes the cache. For a cache that can be built anew,
        /// such as a ``Replica``: after a power failure before that, opening it throws `.unclean`. On Linux
        /// and Darwin; a file system that is taken away by force counts as a power failure, but is not
        /// noticed.
        case deferred
    }

    /// What survives a power failure after a commit.
    public var durability: Durability
    /// Address space to reserve for the file, in bytes. It does not use disk space, and grows when a commit
    /// needs more, which waits for the snapshots of this process (`.snapshotsOpen`).
    ///
    /// Any number is allowed. Less than 1 MiB, 0 and negative numbers too, counts as 1 MiB; less than the
    /// file has counts as what the file has. If the system does not give so much, half of it is tried, and so
    /// on down to 64 MiB.
    public var mapSize: Int64
    /// How long a write waits for other writers, in this process or another, before it throws `.busy`. There
    /// is no time limit for programs other than Quire that write to the file.
    ///
    /// Any duration is allowed. Zero and negative ones do not wait: a write throws if another one is under
    /// way. Of more than 2^31 seconds there is no end.
    public var writeTimeout: Duration
    /// Maximum age of a snapshot, in commits. Reading from an older one throws `.snapshotExpired`. An open
    /// snapshot prevents the reuse of freed space, so the file grows meanwhile. Bytes that the snapshot has
    /// lent stay valid until it ends.
    public var maximumSnapshotAge: Int
    /// True to open a cache that exists for reading only. It needs no right to write to the file or its
    /// folder; see ``Cache/init(at:options:)``.
    public var isReadOnly: Bool
    /// How large the cache may become; nil is without limit. A replica keeps no budget: its log says what it
    /// holds.
    public var budget: CacheBudget? {
        get { boxedBudget?.budget }
        set { boxedBudget = newValue.map(BudgetBox.init) }
    }
    var boxedBudget: BudgetBox?
    /// Set by ``Replica``.
    var isReplica = false
    @_spi(Unstable) public var tuning = Tuning()

    /// Creates options, with defaults for what is not given.
    public init(
        durability: Durability = .full, mapSize: Int64 = 64 << 30,
        writeTimeout: Duration = .seconds(30), maximumSnapshotAge: Int = 100_000, isReadOnly: Bool = false,
        budget: CacheBudget? = nil
    ) {
        self.durability = durability
        self.mapSize = mapSize
        self.writeTimeout = writeTimeout
        self.maximumSnapshotAge = maximumSnapshotAge
        self.isReadOnly = isReadOnly
        self.budget = budget
    }
}
