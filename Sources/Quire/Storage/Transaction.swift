import CLMDB

/// A transaction of LMDB, read or write. It is only valid inside the call that lent it, on the thread
/// of that call. Bytes it returns are valid until it ends or, in a write transaction, until the next
/// write.
struct Transaction {
    let handle: OpaquePointer
    let tables: Tables
    var path: String { tables.path }
    /// Of a write transaction; belongs to the environment, which outlives it.
    unowned(unsafe) var mark: WriteMark?

    func get(_ table: Table, _ key: some Key) throws(QuireError) -> UnsafeRawBufferPointer? {
        var value = MDB_val()
        let status = key.withBytes { key in
            var key = MDB_val(bytes: key)
            return mdb_get(handle, table.dbi, &key, &value)
        }
        if status == MDB_NOTFOUND { return nil }
        try check(status, "cannot read \(table.name)", path)
        return UnsafeRawBufferPointer(value)
    }

    func put(_ table: Table, _ key: some Key, _ bytes: [UInt8]) throws {
        let status = key.withBytes { key in
            bytes.withUnsafeBytes { bytes in
                var key = MDB_val(bytes: key)
                var value = MDB_val(bytes: bytes)
                return mdb_put(handle, table.dbi, &key, &value, 0)
            }
        }
        try checkWrite(status, table)
    }

    /// Adds a record behind all others and lets `fill` write its bytes in place.
    func append(
        _ table: Table, _ key: some Key, count: Int,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws {
        var value = MDB_val(mv_size: count, mv_data: nil)
        let status = key.withBytes { key in
            var key = MDB_val(bytes: key)
            return mdb_put(
                handle, table.dbi, &key, &value, UInt32(MDB_RESERVE) | UInt32(MDB_APPEND))
        }
        try checkWrite(status, table)
        fill(UnsafeMutableRawBufferPointer(start: value.mv_data, count: value.mv_size))
    }

    func delete(_ table: Table, _ key: some Key) throws {
        let status = key.withBytes { key in
            var key = MDB_val(bytes: key)
            return mdb_del(handle, table.dbi, &key, nil)
        }
        if status != MDB_NOTFOUND { try checkWrite(status, table) }
    }

    private func checkWrite(_ status: Int32, _ table: Table) throws {
        mark?.hasWritten = true
        if status != 0 && mark?.failure == 0 { mark?.failure = status }
        if status == MDB_MAP_FULL { throw MapFull(isResized: false) }
        try check(status, "cannot write \(table.name)", path)
    }

    /// Number of records in a table.
    func count(_ table: Table) -> Int {
        var statistics = MDB_stat()
        mdb_stat(handle, table.dbi, &statistics)
        return statistics.ms_entries
    }

    /// Bytes of the file that records occupy, and all bytes.
    func fileUse() -> (used: UInt64, all: UInt64) {
        var used = 0
        var pageSize = 0
        for table in tables.all {
            var statistics = MDB_stat()
            mdb_stat(handle, table.dbi, &statistics)
            used += statistics.ms_branch_pages + statistics.ms_leaf_pages
            used += statistics.ms_overflow_pages
            pageSize = Int(statistics.ms_psize)
        }
        var info = MDB_envinfo()
        mdb_env_info(mdb_txn_env(handle), &info)
        return (UInt64(used * pageSize), UInt64((info.me_last_pgno + 1) * pageSize))
    }

    func withCursor<R>(_ table: Table, _ body: (Cursor) throws -> R) throws -> R {
        var opened: OpaquePointer?
        try check(mdb_cursor_open(handle, table.dbi, &opened), "cannot read \(table.name)", path)
        let cursor = Cursor(handle: opened!, table: table, tables: tables)
        defer { mdb_cursor_close(cursor.handle) }
        return try body(cursor)
    }
}

/// A position in a table; never outlives the call that lent it.
struct Cursor {
    let handle: OpaquePointer
    let table: Table
    let tables: Tables

    typealias Record = (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)

    /// The first record at or behind this key.
    func seek(_ key: some Key) throws(QuireError) -> Record? {
        try key.withBytes { bytes throws(QuireError) in
            try move(MDB_SET_RANGE, MDB_val(bytes: bytes))
        }
    }

    func next() throws(QuireError) -> Record? { try move(MDB_NEXT, MDB_val()) }
    func previous() throws(QuireError) -> Record? { try move(MDB_PREV, MDB_val()) }
    func first() throws(QuireError) -> Record? { try move(MDB_FIRST, MDB_val()) }
    func last() throws(QuireError) -> Record? { try move(MDB_LAST, MDB_val()) }

    /// The last record before this key.
    func before(_ key: some Key) throws(QuireError) -> Record? {
        try seek(key) == nil ? last() : previous()
    }

    private func move(_ operation: MDB_cursor_op, _ start: MDB_val) throws(QuireError) -> Record? {
        var key = start
        var value = MDB_val()
        let status = mdb_cursor_get(handle, &key, &value, operation)
        if status == MDB_NOTFOUND { return nil }
        try check(status, "cannot read \(table.name)", tables.path)
        return (UnsafeRawBufferPointer(key), UnsafeRawBufferPointer(value))
    }
}

extension MDB_val {
    /// LMDB's type has no const; it does not write through keys and values handed in.
    init(bytes: UnsafeRawBufferPointer) {
        self.init(
            mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}

extension UnsafeRawBufferPointer {
    init(_ value: MDB_val) { self.init(start: value.mv_data, count: value.mv_size) }
}
