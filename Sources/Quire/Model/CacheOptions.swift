/// Options for opening a cache.
public struct CacheOptions: Sendable, Hashable {
    /// The promise of a commit for a power failure. A process that is killed loses nothing either way.
    public enum Durability: Sendable, Hashable {
        /// A commit is on disk when the call returns. The default.
        case full
        /// The last commits may be lost; the cache is never damaged. About half the price.
        case relaxed
    }

    /// The promise of a commit for a power failure.
    public var durability: Durability
    /// Address space reserved for the file, in bytes; it grows when it must. Not disk space.
    public var mapSize: Int64
    /// The longest time that a write waits for other writers, of this process or another, before it throws
    /// `.busy`. Other programs than Quire that write to the file are waited for without a limit.
    public var writeTimeout: Duration
    /// Maximum age of a snapshot, in commits. Reading from an older one throws `.snapshotExpired`. An open
    /// snapshot keeps freed space from reuse, so the file grows meanwhile. What it has lent stays valid until
    /// it ends.
    public var maximumSnapshotAge: Int
    @_spi(Unstable) public var tuning = Tuning()

    /// Options, with the defaults for what is not named.
    public init(
        durability: Durability = .full, mapSize: Int64 = 64 << 30,
        writeTimeout: Duration = .seconds(30), maximumSnapshotAge: Int = 100_000
    ) {
        self.durability = durability
        self.mapSize = mapSize
        self.writeTimeout = writeTimeout
        self.maximumSnapshotAge = maximumSnapshotAge
    }
}
