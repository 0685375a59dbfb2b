/// The id index of a write session: the stored runs, and what the session has added.
struct SessionIndex {
    private let transaction: Transaction
    /// The stored runs, if they were committed before this transaction: LMDB keeps what was committed in
    /// place.
    private var committed: [PostIndex.Stored]?
    private let added = AddedLocations()

    init(_ transaction: Transaction) { self.transaction = transaction }

    private mutating func stored() throws -> [PostIndex.Stored] {
        if let committed { return committed }
        let stored = try PostIndex.stored(transaction)
        if transaction.isUnchanged { committed = stored }
        return stored
    }

    /// Returns the index of a collection's posts, including what was added.
    mutating func of(_ collection: UInt32) throws -> PostIndex {
        added.settle()
        return try PostIndex(stored(), added, of: collection, transaction.file.seed)
    }

    /// Adds changes. Ranges concern only the locations that were added before.
    func add(_ locations: [Location], marks: [Location], gone: [GoneRange]) {
        added.add(locations, marks: marks, gone: gone)
    }

    /// Writes what was added, as the last step of the session.
    mutating func store(live: UInt64) throws {
        try PostIndex.store(added.contents, after: stored(), in: transaction, live: live)
    }
}
