/// The id index of a write session: the stored runs, and what the session has added.
struct SessionIndex {
    private let transaction: Transaction
    /// The stored runs, if they were committed before this transaction: LMDB keeps what was committed in
    /// place.
    private var committed: [PostIndex.Stored]?
    private let added = AddedLocations()
    /// The index as it was opened last, if it is of committed runs. It shares what was added.
    private var opened: PostIndex?

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
        if let opened, opened.goneRun === added.goneRun { return opened.of(collection) }
        let index = try PostIndex(stored(), added, of: collection, transaction.file.seed)
        if committed != nil { opened = index }
        return index
    }

    /// Adds changes. Ranges concern only the locations that were added before.
    func add(_ locations: [Location], marks: [Location], gone: [GoneRange]) {
        added.add(locations, marks: marks, gone: gone)
    }

    /// Writes what was added, as the last step of the session.
    mutating func store(live: UInt64) throws {
        let new = added.contents
        if !new.isEmpty { try PostIndex.store(new, after: stored(), in: transaction, live: live) }
    }
}

/// What a write session has added to the id index and not stored yet.
///
/// It belongs to one thread, like the session, and nothing that a table does calls back into this object: so
/// no two accesses to a property overlap, and they are not checked.
final class AddedLocations {
    @exclusivity(unchecked) var posts = LocationTable()
    @exclusivity(unchecked) var marks = LocationTable()
    /// Positions that are gone in the stored runs, in order and apart from each other.
    private(set) var gone: [GoneRange] = []
    /// The same as a run: look-ups read it like a stored one.
    private(set) var goneRun: MemoryRun?

    /// Adds changes. Ranges concern only the locations that were added before.
    func add(_ locations: [Location], marks: [Location], gone: [GoneRange]) {
        if !gone.isEmpty {
            posts.remove(gone)
            self.gone = GoneRange.union(self.gone + gone)
            goneRun = MemoryRun(RunContents(gone: self.gone))
        }
        if !locations.isEmpty { posts.add(locations) }
        if !marks.isEmpty { self.marks.add(marks) }
    }

    /// Makes all that was added visible to look-ups.
    func settle() {
        posts.settle()
        marks.settle()
    }

    var contents: RunContents { RunContents(posts: posts.sorted(), marks: marks.sorted(), gone: gone) }
}
