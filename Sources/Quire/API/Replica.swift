/// A cache that holds the outcome of a log of operations (``CacheOperation``), and nothing else. It is
/// written here only, by the program that follows the log; every other write to the file throws
/// `.noPermission`, in each process, so that replicas of one log stay equal.
///
///     let replica = try Replica(at: path)
///     try replica.batch { batch in
///         for operation in entry { _ = try batch.apply(operation) }
///         try batch.setAttribute("~applied", to: number)  // in the same commit
///     }
///     try replica.cache.withSnapshot { … }
///
/// Any number of processes may open the file, to read it with ``Cache``, or to apply the log's entries.
/// Methods may be called from any thread.
public final class Replica: Sendable {
    /// The cache, for reading. Its writes throw `.noPermission`; ``Cache/dryRun(_:)`` works.
    public let cache: Cache

    /// Opens a replica, creating it if there is none. A file stays what it was created as.
    ///
    /// Commits are not flushed unless the options say otherwise
    /// (``CacheOptions/Durability-swift.enum/deferred``).
    /// - Throws: As ``Cache/init(at:options:)``; `.optionsDiffer` if the file is a cache of its own;
    ///   `.unclean` after a power cut: remove the file with its companions, and apply the log from its
    ///   beginning or from a copy.
    public init(
        at path: String, options: CacheOptions = CacheOptions(durability: .deferred)
    ) throws(QuireError) {
        var options = options
        options.isReplica = true
        cache = try Cache(at: path, options: options)
        if !cache.isReplica {
            throw QuireError(.optionsDiffer, "\(path): is a cache of its own, not a replica of a log")
        }
    }

    /// Several writes in one commit, as ``Cache/batch(_:)``.
    public func batch<R>(_ body: (borrowing Batch) throws -> R) throws -> R {
        try cache.write(isOfLog: true) { try body(Batch($0, cache)) }
    }
}
