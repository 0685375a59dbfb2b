import CLMDB

/// The write transaction in progress: what the running body did to it, and its cursors.
///
/// The cursors stay where they were. Records that change together are neighbours, so most look-ups find
/// theirs in the LMDB page of the one before, and do not descend from the root. LMDB keeps them right when
/// records are written, and frees them when the transaction ends.
final class WriteProgress {
    // unchecked: only the thread that runs a body uses it, and never inside of another use
    @exclusivity(unchecked) var hasWritten = false
    /// True until something is written in its transaction.
    @exclusivity(unchecked) var isUnchanged = true
    /// The status of its first failed write; 0 if none failed.
    @exclusivity(unchecked) var failure: Int32 = 0
    /// The largest size of the file so far. The file never shrinks.
    var fileSize: Int64 = 0
    /// Where the file was when that was last looked up; nil if it was not, or the system does not tell.
    var place: String?
    private(set) var commits = 0
    /// How many bytes may be added because of bodies before the file system is asked again how many are left.
    @exclusivity(unchecked) var headroom = 0
    /// About how many bytes its transaction adds to the file when it is committed, because of bodies.
    @exclusivity(unchecked) var unwritten = 0
    /// What the id index keeps for the next write: its ``MergeMemory``.
    @exclusivity(unchecked) var mergeMemory: AnyObject?
    /// What a write left for the next one: its ``LoadedFeeds``. Nil while a session has them.
    @exclusivity(unchecked) var loadedFeeds: AnyObject?
    /// The number of the commit that is the newest one in ``loadedFeeds``; none while a transaction is open.
    @exclusivity(unchecked) private var loadedAt = UInt64.max
    /// For the tables of feeds.
    @exclusivity(unchecked) private var inFeeds = Cursors()
    /// For all other tables.
    @exclusivity(unchecked) private var inCache = Cursors()

    private struct Cursors {
        var main: OpaquePointer?
        /// In the place of the main one while that walks through a table.
        var other: OpaquePointer?
        var isWalking = false
    }

    /// Begins a transaction. What was loaded stays true only if no other process has committed since, and no
    /// transaction of this one failed.
    func begin(_ transaction: Transaction) {
        if loadedAt &+ 1 != transaction.number { loadedFeeds = nil }
        (loadedAt, isUnchanged) = (.max, true)
        unwritten = 0
    }

    /// Notes that the transaction with this number was committed. If nothing was written in it, LMDB writes
    /// nothing either, and the next transaction that writes has this number again, in whatever process.
    func didCommit(_ number: UInt64) {
        loadedAt = isUnchanged ? number &- 1 : number
        commits &+= 1
    }

    /// Forgets the cursors of a transaction that has ended.
    func forgetCursors() { (inFeeds, inCache) = (Cursors(), Cursors()) }

    /// Returns the cursor that last was near the records of this table; nil if there is no memory for one.
    func cursor(for table: Table, of transaction: OpaquePointer) -> OpaquePointer? {
        table.isOfFeed ? Self.find(&inFeeds, transaction) : Self.find(&inCache, transaction)
    }

    /// Returns a cursor for walking through a table, until it is returned. Returns nil while one walks there,
    /// so that a walk inside another one needs its own.
    func borrowCursor(for table: Table, of transaction: OpaquePointer) -> OpaquePointer? {
        table.isOfFeed ? Self.borrow(&inFeeds, transaction) : Self.borrow(&inCache, transaction)
    }

    func returnCursor(for table: Table) {
        if table.isOfFeed { inFeeds.isWalking = false } else { inCache.isWalking = false }
    }

    @inline(__always)
    private static func find(_ cursors: inout Cursors, _ transaction: OpaquePointer) -> OpaquePointer? {
        if cursors.isWalking {
            if cursors.other == nil { cursors.other = open(transaction) }
            return cursors.other
        }
        if cursors.main == nil { cursors.main = open(transaction) }
        return cursors.main
    }

    @inline(__always)
    private static func borrow(_ cursors: inout Cursors, _ transaction: OpaquePointer) -> OpaquePointer? {
        if cursors.isWalking { return nil }
        let cursor = find(&cursors, transaction)
        cursors.isWalking = cursor != nil
        return cursor
    }

    private static func open(_ transaction: OpaquePointer) -> OpaquePointer? {
        var cursor: OpaquePointer?
        return mdb_cursor_open(transaction, Transaction.tree, &cursor) == 0 ? cursor : nil
    }
}
