import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Checks the room left on disk and the limits of file size.
enum DiskSpace {
    /// Returns true if the disk, or this process's limit of file sizes, has no room left for this file. LMDB
    /// reports that as EIO if its last write was a short one.
    static func isUsedUp(_ path: String) -> Bool {
        if let free = free(of: path), free.bytes < 1 << 16 { return true }
        var status = stat()
        return stat(path, &status) == 0 && UInt64(status.st_size) >= sizeLimit
    }

    /// Throws unless enough space is left to store bodies: beside what the commit in progress has yet to
    /// write, 4 MiB, or 1 % of a small disk. Pruning and deleting need a little room before they free any.
    /// Of the bytes that are free in the file, half count: snapshots may hold some, and large records need
    /// LMDB pages in a row. Returns how many bytes more may be stored before the file system must be asked
    /// again: little enough that other programs, too, can hardly fill the disk meanwhile.
    static func requireHeadroom(
        _ path: String, forUnwritten unwritten: Int, freeInFile: UInt64
    ) throws(QuireError) -> Int {
        guard let free = free(of: path) else { return 0 }
        let reserve = min(4 << 20, free.total / 100)
        let needed = reserve + UInt64(unwritten)
        if free.bytes < needed {
            if needed - free.bytes <= freeInFile / 2 { return 0 }
            throw QuireError(
                .diskFull,
                "\(path): cannot store bodies: this needs \(unwritten) bytes, \(free.bytes) are left on the "
                    + "disk, \(freeInFile) are free in the file, and \(reserve) must stay free for pruning: "
                    + "prune or drop a feed, or make room",
                osError: ENOSPC)
        }
        return Int(min(1 << 20, (free.bytes - needed) / 8))
    }

    private static func free(of path: String) -> (bytes: UInt64, total: UInt64)? {
        var status = statvfs()
        if statvfs(path, &status) != 0 { return nil }
        let size = UInt64(status.f_frsize)
        return (UInt64(status.f_bavail) * size, UInt64(status.f_blocks) * size)
    }

    /// Allocates all blocks of LMDB's lock file, which is written through a memory map. On a full disk, the
    /// first touch of a missing block would kill the process. Do not call it while this process has the cache
    /// open: closing the file drops LMDB's locks.
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

    /// LMDB sizes the lock file for `readerLimit` readers, and counts the slots of an existing file.
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

    /// Runs something that writes. If a write exceeds the process's file size limit (RLIMIT_FSIZE), it fails
    /// instead of ending the process by a signal.
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
