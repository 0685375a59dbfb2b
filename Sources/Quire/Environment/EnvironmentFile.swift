import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension Environment {
    /// Creates a cache. LMDB's own creation is not atomic, so the file is built under another name and linked
    /// into place when it is complete and on disk. A crash leaves either no cache or a whole one.
    static func create(_ path: String, _ options: CacheOptions) throws(QuireError) {
        let draft = draft(of: path)
        removeDraft(of: path)
        defer { removeDraft(of: path) }
        var fresh = options
        fresh.durability = .full
        do {
            let handle = try openHandle(draft, fresh)
            defer { mdb_env_close(handle) }
            try CacheFile.create(in: handle, path: path, isReplica: options.isReplica)
        }
        try FileCheck.name(draft, path, isNew: false)  // another process may have been faster
    }

    /// Runs `body` on the newest commit of a file that `verify` has tested. Works without locks if no other
    /// process can have it open.
    static func withTested<R>(_ path: String, isAlone: Bool, _ body: (Transaction) throws -> R) throws -> R {
        let options = CacheOptions(isReadOnly: true)
        if !isAlone { return try open(path, options).read(body) }
        let handle = try openHandle(path, options, takesLocks: false)
        defer { mdb_env_close(handle) }
        let file = try CacheFile.open(in: handle, path: path)
        defer { withExtendedLifetime(file) {} }
        var begun: OpaquePointer?
        try check(mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &begun), "cannot read", path)
        defer { mdb_txn_abort(begun) }
        return try body(Transaction(handle: begun!, file: file))
    }

    /// Writes the records, without free space, to a new file.
    func copyCompactly(to target: borrowing DraftFile) throws {
        // A closure cannot keep what is borrowed.
        let (descriptor, name) = (target.descriptor, target.path)
        try read { _ in try Self.copyCompactly(handle, of: path, to: descriptor, name) }
    }

    /// The same with what LMDB has open. LMDB creates no file here: it would let others read it (mode 0666).
    static func copyCompactly(
        _ handle: OpaquePointer, of path: String, to descriptor: Int32, _ name: String
    ) throws(QuireError) {
        let status = DiskSpace.withoutSizeSignal {
            mdb_env_copyfd2(handle, descriptor, UInt32(MDB_CP_COMPACT))
        }
        try check(status, "cannot copy to \(name)", path)
    }

    /// Removes the draft, even one left by a process that has ended.
    static func removeDraft(of path: String) {
        for end in ["-lock", ""] { unlink(draft(of: path) + end) }
    }

    /// Flushes all commits, and removes the ``UnflushedMark`` unless another process has the cache open. If
    /// any of that fails, the mark stays.
    static func flush(_ handle: OpaquePointer, _ openLock: OpenLock?, _ path: String) {
        if mdb_env_sync(handle, 1) != 0 { return }
        guard let openLock, openLock.becomesLast() else { return }
        try? UnflushedMark.write(false, to: descriptor(of: handle), path)
    }

    static func descriptor(of handle: OpaquePointer) -> Int32 {
        var descriptor: mdb_filehandle_t = -1
        mdb_env_get_fd(handle, &descriptor)
        return descriptor
    }

    /// Opens LMDB's environment for a file, with descriptors private to this process. Without locks it only
    /// reads, and no process may be writing. `resolved` is the path with links resolved, if it is known.
    static func openHandle(
        _ path: String, resolved: String? = nil, _ options: CacheOptions, takesLocks: Bool = true
    ) throws(QuireError) -> OpaquePointer {
        let location = resolved ?? FileCheck.resolved(path)
        if takesLocks { try DiskSpace.allocateLockFile(of: location) }
        var size = max(options.mapSize, 1 << 20)
        while true {
            var created: OpaquePointer?
            try check(mdb_env_create(&created), "cannot open the cache", path)
            let handle = created!
            mdb_env_set_maxreaders(handle, DiskSpace.readerLimit)
            mdb_env_set_mapsize(handle, Int(size))
            var flags = UInt32(MDB_NOSUBDIR) | UInt32(MDB_NOTLS) | UInt32(MDB_NORDAHEAD)
            switch options.durability {
            case .full: break
            case .relaxed: flags |= UInt32(MDB_NOMETASYNC)
            case .deferred: flags |= UInt32(MDB_NOSYNC)
            }
            if options.isReadOnly || !takesLocks { flags |= UInt32(MDB_RDONLY) }
            if !takesLocks { flags |= UInt32(MDB_NOLOCK) }
            let status = mdb_env_open(handle, location, flags, 0o600)
            if status == 0 {
                _ = fcntl(descriptor(of: handle), F_SETFD, FD_CLOEXEC)
                return handle
            }
            mdb_env_close(handle)
            // Little address space: use a smaller map. Valgrind reports this as EINVAL.
            if (status == ENOMEM || status == EINVAL) && size > 1 << 26 {
                size /= 2
                continue
            }
            try check(status, "cannot open the cache", path)
        }
    }
}
