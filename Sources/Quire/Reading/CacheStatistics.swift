/// Totals of a cache and of its file.
public struct CacheStatistics: Sendable, Hashable {
    /// The number of feeds.
    public let feeds: Int
    /// The number of distinct posts, each stored once.
    public let posts: Int
    /// The number of pages in all feeds.
    public let pages: Int
    /// The number of gaps in all feeds.
    public let gaps: Int
    /// The bytes of all bodies in use.
    public let bodyBytes: UInt64
    /// The bytes of bodies that were replaced or dropped, but share a record with a body in use.
    public let deadBodyBytes: UInt64
    /// The number of commits made so far.
    public let generation: UInt64
    /// The bytes of the file that records occupy.
    public let usedBytes: UInt64
    /// The bytes of the file that are free for reuse.
    public let freeBytes: UInt64
    /// The number of open snapshots in all processes, including the one that counts.
    public let snapshots: Int
    /// The number of commits since the oldest snapshot began.
    public let oldestSnapshotAge: Int
    /// The id of the process that has the oldest snapshot open; 0 if none is open.
    public let oldestSnapshotProcess: Int32
    /// What the budget has taken away in the life of the file; ``EvictionStatistics/hits`` of this process
    /// included.
    public let evictions: EvictionStatistics
    /// The bytes that writers could reuse if the oldest snapshot were closed.
    public let pinnedBytes: UInt64

    init(_ transaction: Transaction, of environment: Environment) throws {
        let counters = try WriteSession.counters(transaction)
        var (feeds, pages, gaps) = (0, 0, 0)
        for number in try transaction.feedNumbers() {
            let counts = try transaction.counts(number)
            (feeds, pages, gaps) = (feeds + 1, pages + counts.pages, gaps + counts.gaps)
        }
        (self.feeds, self.pages, self.gaps) = (feeds, pages, gaps)
        posts = Int(clamping: counters.posts)
        bodyBytes = counters.bodyBytes
        generation = counters.generation
        deadBodyBytes = try transaction.withCursor(.bodyUse) { cursor in
            var dead: UInt64 = 0
            var found = try cursor.first()
            while let (_, value) = found {
                let use = try BodyUse(value, "the use of a body record")
                dead += UInt64(max(0, use.total - use.live))
                found = try cursor.next()
            }
            return dead
        }
        (usedBytes, freeBytes) = transaction.fileUse()
        let readers = environment.readers()
        let oldest = readers.min { $0.transaction < $1.transaction }
        let seen = oldest?.transaction ?? transaction.number
        snapshots = readers.count
        oldestSnapshotAge = environment.age(ofTransaction: seen)
        oldestSnapshotProcess = oldest?.process ?? 0
        evictions = try transaction.evictions(of: environment)
        pinnedBytes = try transaction.bytesFreed(after: seen)
    }
}

extension Transaction {
    /// Returns what the budget has taken, with the hits that this process has not written yet.
    func evictions(of environment: Environment) throws(QuireError) -> EvictionStatistics {
        var evictions = try evictions()
        evictions.hits &+= environment.budget?.noted ?? 0
        return evictions
    }
}
