import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension Environment {
    /// A new file is built under another name and linked into place when it is complete and on disk:
    /// a crash leaves either no cache or a whole one (LMDB's own creation is not atomic).
    static func create(_ path: String, _ options: CacheOptions) throws(QuireError) {
        let draft = "\(path).new-\(getpid())"
        defer {
            unlink(draft)
            unlink(draft + "-lock")
        }
        unlink(draft)
        unlink(draft + "-lock")
        var fresh = options
        fresh.durability = .full
        do {
            let handle = try openHandle(draft, fresh)
            defer { mdb_env_close(handle) }
            try CacheFile.create(in: handle, path: path)
        }
        if link(draft, path) != 0 && errno != EEXIST {
            throw QuireError.system("cannot create the cache", path, errno)
        }
        FileCheck.syncFolder(of: path)
    }

    /// LMDB's environment for a file, with all its descriptors private to this process.
    static func openHandle(
        _ path: String, _ options: CacheOptions, flags: Int32 = 0
    ) throws(QuireError) -> OpaquePointer {
        try FileCheck.requireLocalFileSystem(path)
        var size = max(options.mapSize, 1 << 20)
        while true {
            var created: OpaquePointer?
            try check(mdb_env_create(&created), "cannot open the cache", path)
            let handle = created!
            mdb_env_set_maxreaders(handle, 1024)
            mdb_env_set_mapsize(handle, Int(size))
            var flags = UInt32(flags) | UInt32(MDB_NOSUBDIR) | UInt32(MDB_NOTLS) | UInt32(MDB_NORDAHEAD)
            if options.durability == .relaxed { flags |= UInt32(MDB_NOMETASYNC) }
            let status = mdb_env_open(handle, path, flags, 0o600)
            if status == 0 {
                var descriptor: mdb_filehandle_t = -1
                mdb_env_get_fd(handle, &descriptor)
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                return handle
            }
            mdb_env_close(handle)
            // Little address space: a smaller map will do. Valgrind's way of saying so is EINVAL.
            if (status == ENOMEM || status == EINVAL) && size > 1 << 26 {
                size /= 2
                continue
            }
            try check(status, "cannot open the cache", path)
        }
    }
}
