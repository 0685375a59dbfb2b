import CLMDB

/// An LMDB transaction, for reading or writing. It is valid only inside the call that lends it, on that
/// thread. Bytes that it returns are valid until it ends or, in a write transaction, until the next write.
struct Transaction {
    let handle: OpaquePointer
    /// Belongs to the environment, which outlives it.
    unowned(unsafe) let file: CacheFile
    var path: String { file.path }
    /// Set for a write transaction. Belongs to the environment, which outlives it.
    unowned(unsafe) var mark: WriteProgress?

    /// LMDB's unnamed tree, the only one in a cache.
    static let tree: MDB_dbi = 1

    func get(_ table: Table, _ key: some Key) throws(QuireError) -> UnsafeRawBufferPointer? {
        var value = MDB_val()
        let status = key.withBytes(in: table) { key in
            var key = MDB_val(bytes: key)
            guard let cursor = mark?.cursor(for: table, of: handle) else {
                return mdb_get(handle, Self.tree, &key, &value)
            }
            return mdb_cursor_get(cursor, &key, &value, MDB_SET)
        }
        if status == MDB_NOTFOUND { return nil }
        try check(status, "cannot read \(table.name)", path)
        return UnsafeRawBufferPointer(value)
    }

    func put(_ table: Table, _ key: some Key, _ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try put(table, key, $0) }
    }

    /// The bytes must not be those of another record: LMDB may move them first.
    func put(_ table: Table, _ key: some Key, _ bytes: UnsafeRawBufferPointer) throws {
        var value = MDB_val(bytes: bytes)
        try put(table, key, &value, 0)
    }

    /// Writes a record that `encode` encodes, mostly without allocating memory for it.
    func put(_ table: Table, _ key: some Key, _ encode: (inout ByteWriter) -> Void) throws {
        try ByteWriter.withSealed(encode) { try put(table, key, $0) }
    }

    func put(_ table: Table, _ key: some Key, _ record: some Record) throws {
        try put(table, key) { record.encode(&$0) }
    }

    /// Writes a record of `count` bytes, which `fill` writes in place.
    func put(
        _ table: Table, _ key: some Key, count: Int,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws {
        var value = MDB_val(mv_size: count, mv_data: nil)
        try put(table, key, &value, UInt32(MDB_RESERVE))
        let record = UnsafeMutableRawBufferPointer(start: value.mv_data, count: value.mv_size)
        fill(record)
        LargeRecord(UnsafeRawBufferPointer(record))?.divideFolios(of: handle)
    }

    private func put(_ table: Table, _ key: some Key, _ value: inout MDB_val, _ flags: UInt32) throws {
        let status = key.withBytes(in: table) { key in
            var key = MDB_val(bytes: key)
            guard let cursor = mark?.cursor(for: table, of: handle) else {
                return mdb_put(handle, Self.tree, &key, &value, flags)
            }
            return mdb_cursor_put(cursor, &key, &value, flags)
        }
        try checkWrite(status, table)
    }

    func delete(_ table: Table, _ key: some Key) throws {
        let status = key.withBytes(in: table) { key in
            var key = MDB_val(bytes: key)
            guard let cursor = mark?.cursor(for: table, of: handle) else {
                return mdb_del(handle, Self.tree, &key, nil)
            }
            let found = mdb_cursor_get(cursor, &key, nil, MDB_SET)
            return found == 0 ? mdb_cursor_del(cursor, 0) : found
        }
        if status != MDB_NOTFOUND { try checkWrite(status, table) }
    }

    fileprivate func checkWrite(_ status: Int32, _ table: Table) throws {
        mark?.hasWritten = true
        mark?.isUnchanged = false
        if status != 0 && mark?.failure == 0 { mark?.failure = status }
        if status == MDB_MAP_FULL { throw MapFull(isResized: false) }
        try check(status, "cannot write \(table.name)", path)
    }

    /// True if nothing was written in this transaction, by any session. What it lends then stays valid until
    /// its end: LMDB changes no page that was committed.
    var isUnchanged: Bool { mark?.isUnchanged ?? false }

    /// Returns the bytes of the file that records occupy, and those that are free for reuse, also those that
    /// snapshots hold.
    func fileUse() -> (used: UInt64, free: UInt64) {
        var tree = MDB_stat()
        mdb_stat(handle, Self.tree, &tree)
        let used = tree.ms_branch_pages + tree.ms_leaf_pages + tree.ms_overflow_pages
        var info = MDB_envinfo()
        mdb_env_info(mdb_txn_env(handle), &info)
        let pageSize = Int(tree.ms_psize)
        return (UInt64(used * pageSize), UInt64(max(0, info.me_last_pgno + 1 - used) * pageSize))
    }

    /// The number of the commit that it sees.
    var number: UInt64 { UInt64(mdb_txn_id(handle)) }

    /// Returns the number of records in the whole cache.
    func recordCount() -> UInt64 {
        var tree = MDB_stat()
        mdb_stat(handle, Self.tree, &tree)
        return UInt64(tree.ms_entries)
    }

    func withCursor<R>(_ table: Table, _ body: (Cursor) throws -> R) throws -> R {
        if let mark, let cursor = mark.borrowCursor(for: table, of: handle) {
            defer { mark.returnCursor(for: table) }
            return try body(Cursor(handle: cursor, table: table, transaction: self))
        }
        return try withTreeCursor { handle in
            try body(Cursor(handle: handle, table: table, transaction: self))
        }
    }

    /// Calls `body` with the whole key and the value of each record of the cache.
    func forEachRecord(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void) throws {
        try withTreeCursor { handle in
            var (key, value) = (MDB_val(), MDB_val())
            while true {
                let status = mdb_cursor_get(handle, &key, &value, MDB_NEXT)
                if status == MDB_NOTFOUND { return }
                try check(status, "cannot read", path)
                try body(UnsafeRawBufferPointer(key), UnsafeRawBufferPointer(value))
            }
        }
    }

    private func withTreeCursor<R>(_ body: (OpaquePointer) throws -> R) throws -> R {
        var opened: OpaquePointer?
        try check(mdb_cursor_open(handle, Self.tree, &opened), "cannot read", path)
        defer { mdb_cursor_close(opened) }
        return try body(opened!)
    }
}

/// A cursor of LMDB that is used in one read transaction after the other, all of one handle. It is renewed in
/// each when it is first needed.
struct KeptCursor {
    private var handle: OpaquePointer?
    private var isRenewed = false

    /// Must be called when a transaction begins.
    mutating func begin() { isRenewed = false }

    /// Returns the cursor for this transaction.
    mutating func inside(_ transaction: Transaction, _ table: Table) throws(QuireError) -> Cursor {
        if !isRenewed {
            let status =
                if let handle {
                    mdb_cursor_renew(transaction.handle, handle)
                } else {
                    mdb_cursor_open(transaction.handle, Transaction.tree, &handle)
                }
            try check(status, "cannot read", transaction.path)
            isRenewed = true
        }
        return Cursor(handle: handle!, table: table, transaction: transaction)
    }

    /// LMDB lets a cursor of a reader be closed after its transaction.
    func close() { mdb_cursor_close(handle) }
}

/// A position in a table. Never outlives the call that lends it.
struct Cursor {
    fileprivate let handle: OpaquePointer
    fileprivate let table: Table
    fileprivate let transaction: Transaction
    private var path: String { transaction.path }

    /// `key` is the part after the prefix of the table.
    typealias Record = (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)

    /// Returns the first record at or after this key.
    func seek(_ key: some Key) throws(QuireError) -> Record? {
        try key.withBytes(in: table) { bytes throws(QuireError) in
            try move(MDB_SET_RANGE, MDB_val(bytes: bytes)).flatMap(own)
        }
    }

    /// Returns the value of the record with this key.
    func find(_ key: some Key) throws(QuireError) -> UnsafeRawBufferPointer? {
        try key.withBytes(in: table) { bytes throws(QuireError) in
            try move(MDB_SET, MDB_val(bytes: bytes))?.value
        }
    }

    enum Neighbour { case above, below }

    /// Returns the value with this key, which probably is a neighbour of the record that was found or deleted
    /// last.
    func find(_ key: some Key, near neighbour: Neighbour) throws(QuireError) -> UnsafeRawBufferPointer? {
        let found = try move(neighbour == .above ? MDB_PREV : MDB_NEXT, MDB_val())
        let isWanted = found.map { found in key.withBytes(in: table) { found.key.isEqual(to: $0) } } ?? false
        return isWanted ? found!.value : try find(key)
    }

    /// Deletes the record that was found last.
    func delete() throws { try transaction.checkWrite(mdb_cursor_del(handle, 0), table) }

    func first() throws(QuireError) -> Record? { try seek(NoKey()) }
    func current() throws(QuireError) -> Record? { try move(MDB_GET_CURRENT, MDB_val()).flatMap(own) }
    func next() throws(QuireError) -> Record? { try move(MDB_NEXT, MDB_val()).flatMap(own) }
    func previous() throws(QuireError) -> Record? { try move(MDB_PREV, MDB_val()).flatMap(own) }

    func last() throws(QuireError) -> Record? {
        try before(
            table.withEnd { bytes throws(QuireError) in try move(MDB_SET_RANGE, MDB_val(bytes: bytes)) })
    }

    /// Returns the number of records.
    func count() throws(QuireError) -> Int {
        var count = 0
        var found = try first()
        while found != nil {
            count += 1
            found = try next()
        }
        return count
    }

    /// Returns the last record before this key.
    func before(_ key: some Key) throws(QuireError) -> Record? {
        try before(
            key.withBytes(in: table) { bytes throws(QuireError) in
                try move(MDB_SET_RANGE, MDB_val(bytes: bytes))
            })
    }

    /// Returns the last record before the cursor's record, in any table.
    private func before(_ found: Record?) throws(QuireError) -> Record? {
        try move(found == nil ? MDB_LAST : MDB_PREV, MDB_val()).flatMap(own)
    }

    private func own(_ record: Record) -> Record? {
        table.key(record.key).map { ($0, record.value) }
    }

    private func move(_ operation: MDB_cursor_op, _ start: MDB_val) throws(QuireError) -> Record? {
        var key = start
        var value = MDB_val()
        let status = mdb_cursor_get(handle, &key, &value, operation)
        if status == MDB_NOTFOUND { return nil }
        try check(status, "cannot read \(table.name)", path)
        return (UnsafeRawBufferPointer(key), UnsafeRawBufferPointer(value))
    }
}

extension MDB_val {
    /// LMDB's type is not const, but LMDB does not write to the keys and values that it receives.
    init(bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}

extension UnsafeRawBufferPointer {
    init(_ value: MDB_val) { self.init(start: value.mv_data, count: value.mv_size) }
}

/// The map is full, or another process has enlarged it. Never leaves `Environment`.
struct MapFull: Error {
    let isResized: Bool
}
