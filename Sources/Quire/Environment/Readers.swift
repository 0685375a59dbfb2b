import CLMDB
import Synchronization

/// An open snapshot of any process, from LMDB's reader table.
struct OpenReader {
    let process: Int32
    /// The commit that it sees.
    let transaction: UInt64
}

extension Environment {
    /// Returns the snapshots that live processes have open, including this one's.
    func readers() -> [OpenReader] {
        var stale: Int32 = 0
        mdb_reader_check(handle, &stale)
        var lines: [String] = []
        withUnsafeMutablePointer(to: &lines) { lines in
            _ = mdb_reader_list(
                handle,
                { text, context in
                    let lines = context!.assumingMemoryBound(to: [String].self)
                    lines.pointee.append(String(cString: text!))
                    return 0
                }, lines)
        }
        // LMDB gives it only as text: process, thread, and the commit or a dash.
        return lines.compactMap { line in
            let words = line.split { $0 == " " || $0 == "\n" }
            guard words.count == 3, let process = Int32(words[0]), let commit = UInt64(words[2])
            else { return nil }
            return OpenReader(process: process, transaction: commit)
        }
    }
}

extension Transaction {
    /// Returns the bytes of pages freed after this commit, which a snapshot of it keeps from reuse.
    func bytesFreed(after number: UInt64) throws(QuireError) -> UInt64 {
        let freeList: MDB_dbi = 0
        var tree = MDB_stat()
        mdb_stat(handle, Self.tree, &tree)
        var opened: OpaquePointer?
        try check(mdb_cursor_open(handle, freeList, &opened), "cannot read", path)
        defer { mdb_cursor_close(opened) }
        // One record for each commit that freed pages: their number, then the pages.
        var start = UInt(number) + 1
        var pages: UInt64 = 0
        let status = withUnsafeMutableBytes(of: &start) { bytes in
            var key = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
            var value = MDB_val()
            var status = mdb_cursor_get(opened, &key, &value, MDB_SET_RANGE)
            while status == 0 {
                pages += UInt64(value.mv_data.loadUnaligned(as: UInt.self))
                status = mdb_cursor_get(opened, &key, &value, MDB_NEXT)
            }
            return status
        }
        if status != MDB_NOTFOUND { try check(status, "cannot read the free list", path) }
        return pages * UInt64(tree.ms_psize)
    }
}

extension Environment {
    /// A read transaction, and what the reader who had it last wants the next one to have: cursors and what
    /// they found.
    struct Reader: @unchecked Sendable {
        // @unchecked: who takes one from the list is its only user, on any thread: MDB_NOTLS ties it to none.
        let transaction: Transaction
        /// The map in which it reads, see ``Environment/mapNumber``.
        let map: UInt64
        /// It belongs to the transaction and ends with it, so that snapshots need not count references to it.
        var memory: Unmanaged<AnyObject>?

        func end() {
            mdb_txn_abort(transaction.handle)
            memory?.release()
        }
    }

    /// The read transactions between two uses. One has a place of its own: for an array of them the runtime
    /// must first build a type, which takes longer than the first snapshot of a process.
    struct IdleReaders {
        private var one: Reader?
        private var others: [Reader] = []
        /// How many stay. Each holds a place in the table of readers, of which all processes have
        /// ``DiskSpace/readerLimit``.
        private static let limit = 32

        /// Returns false if there are enough already.
        mutating func add(_ reader: Reader) -> Bool {
            if others.count + 1 == Self.limit { return false }
            if one == nil { one = reader } else { others.append(reader) }
            return true
        }

        mutating func take() -> Reader? { one.take() ?? others.popLast() }

        /// Ends all of them; what readers remembered goes with them.
        mutating func end() { while let reader = take() { reader.end() } }
    }

    /// The transactions of this process.
    struct Transactions {
        /// How many are alive. The map must not move under one, so it grows with this locked and at zero. A
        /// count and not a read-write lock, which would have to be released by the thread that took it: an
        /// ``OpenSnapshot`` may end on another thread.
        var alive = 0
        /// Those that wait for their next use: renewing one costs 13 ns, a new one 50 ns and a slot.
        var idle = IdleReaders()
    }

    var currentMapSize: Int {
        var info = MDB_envinfo()
        mdb_env_info(handle, &info)
        return info.me_mapsize
    }

    /// Commits since this one.
    func age(ofTransaction number: UInt64) -> Int {
        Self.age(ofTransaction: number, in: handle)
    }

    fileprivate static func age(ofTransaction number: UInt64, in environment: OpaquePointer) -> Int {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        return max(0, info.me_last_txnid &- Int(truncatingIfNeeded: number))
    }

    /// The error of a snapshot that is older than `maximumSnapshotAge` commits.
    func expired(_ age: Int) -> QuireError {
        QuireError(
            .snapshotExpired,
            "\(path): \(age) commits were made since the snapshot began; \(maximumSnapshotAge) are allowed")
    }

    private static let maps = Mutex<UInt64>(0)

    /// Returns a number that no map of this process has had.
    static func nextMap() -> UInt64 {
        maps.withLock { last in
            last += 1
            return last
        }
    }
}

extension Transaction {
    /// Commits since this one.
    var age: Int { Environment.age(ofTransaction: number, in: mdb_txn_env(handle)) }
}
