/// The id index of a write session: the stored runs, and what the session has added.
struct SessionIndex {
    private let transaction: Transaction
    /// The stored runs, if they were committed before this transaction: LMDB keeps what was committed in
    /// place.
    private var committed: [PostIndex.Stored]?
    /// Runs in memory, oldest first. Look-ups use them like stored ones.
    private var fresh: [FreshRun] = []
    /// What was added last.
    private var added = RunContents()

    init(_ transaction: Transaction) { self.transaction = transaction }

    private mutating func stored() throws -> [PostIndex.Stored] {
        if let committed { return committed }
        let stored = try PostIndex.stored(transaction)
        if transaction.isUnchanged { committed = stored }
        return stored
    }

    /// Returns the index of a collection's posts, including what was added.
    mutating func of(_ collection: UInt32) throws -> PostIndex {
        let fresh = asRuns()
        return try PostIndex(stored(), fresh, of: collection, transaction.file.seed)
    }

    /// Adds changes. Ranges concern only the locations that were added before.
    mutating func add(_ locations: [Location], marks: [Location] = [], gone: [GoneRange] = []) {
        if locations.isEmpty && marks.isEmpty && gone.isEmpty { return }
        if !added.posts.isEmpty || !marks.isEmpty && !added.marks.isEmpty
            || !gone.isEmpty && !added.gone.isEmpty
        {
            _ = asRuns()
        }
        if !locations.isEmpty { added.posts = Location.sorted(locations) }
        if !marks.isEmpty { added.marks = Location.sorted(marks) }
        if !gone.isEmpty { added.gone = GoneRange.union(gone) }
    }

    /// Returns all that was added as runs, few if there was much.
    private mutating func asRuns() -> [FreshRun] {
        if added.isEmpty { return fresh }
        fresh.append(FreshRun(added))
        added = RunContents()
        let range = PostIndex.merge(fresh.map(\.run.count))
        if range.count > 1 {
            let merged = RunContents().merged(over: fresh[range].reversed().map(\.run), isOldest: false)
            fresh.replaceSubrange(range, with: [FreshRun(merged)])
        }
        return fresh
    }

    /// Writes what was added.
    mutating func store(live: UInt64) throws {
        if added.isEmpty && fresh.isEmpty { return }
        let new = added.merged(over: fresh.reversed().map(\.run), isOldest: false)
        try PostIndex.store(new, after: stored(), in: transaction, live: live)
        (fresh, added, committed) = ([], RunContents(), nil)
    }
}
