import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What is known about the room that is left for a file.
enum DiskSpace {
    /// True if the disk that holds this file, or this process's limit of file sizes, has nothing left for it:
    /// LMDB reports that as EIO when the last write was a short one.
    static func isUsedUp(_ path: String) -> Bool {
        if let free = free(of: path), free.bytes < 1 << 16 { return true }
        var status = stat()
        return stat(path, &status) == 0 && UInt64(status.st_size) >= sizeLimit
    }

    /// Bodies are stored only while so much is left: 4 MiB, or 1 % of a small disk. Pruning and deleting need
    /// a little room themselves before they give any back.
    static func requireHeadroom(_ path: String) throws(QuireError) {
        guard let free = free(of: path) else { return }
        let needed = min(4 << 20, free.total / 100)
        if free.bytes < needed {
            throw QuireError(
                .diskFull,
                "\(path): cannot store bodies: \(free.bytes) bytes are left on the disk, of which \(needed) are "
                    + "kept for pruning", osError: ENOSPC)
        }
    }

    private static func free(of path: String) -> (bytes: UInt64, total: UInt64)? {
        var status = statvfs()
        if statvfs(path, &status) != 0 { return nil }
        let size = UInt64(status.f_frsize)
        return (UInt64(status.f_bavail) * size, UInt64(status.f_blocks) * size)
    }

    /// Sees to it that LMDB's lock file, which is written through a memory map, has all its blocks: on a full
    /// disk, the first touch of one that is missing would kill the process. Must not be called while this
    /// process has the cache open: closing the file drops LMDB's locks.
    static func allocateLockFile(of path: String) throws(QuireError) {
        #if os(Linux)
            let name = path + "-lock"
            let descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            if descriptor < 0 { throw QuireError.system("cannot open", name, errno) }
            defer { close(descriptor) }
            var status = stat()
            if fstat(descriptor, &status) != 0 { throw QuireError.system("cannot open", name, errno) }
            let size = max(off_t(status.st_size), lockFileSize)
            if off_t(status.st_blocks) * 512 >= size { return }
            let failure = quire_allocate(descriptor, size)
            if failure != 0 { throw QuireError.system("cannot create", name, failure) }
        #endif
    }

    /// The size that LMDB gives the lock file for `readerLimit` readers; in an existing file it counts the
    /// slots.
    static let readerLimit: UInt32 = 1024
    private static let lockFileSize = off_t(readerLimit) * 64 + 128

    // MARK: The limit of file sizes

    private static var sizeLimit: UInt64 {
        #if os(Linux)
            quire_file_size_limit()
        #else
            .max
        #endif
    }

    /// Runs something that writes. If this process may not write files beyond a size (RLIMIT_FSIZE), the
    /// write fails, and no signal ends the process.
    static func withoutSizeSignal<R, E>(_ body: () throws(E) -> R) throws(E) -> R {
        #if os(Linux)
            if sizeLimit == .max { return try body() }
            var before = sigset_t()
            quire_hold_size_signal(&before)
            defer { quire_release_size_signal(&before) }
        #endif
        return try body()
    }
}
