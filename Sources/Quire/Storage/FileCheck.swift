#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What is checked about a file before LMDB maps it: LMDB trusts what it maps.
enum FileCheck {
    static func isMissing(_ path: String) throws(QuireError) -> Bool {
        if path.isEmpty || path.utf8.contains(0) {
            throw QuireError(.badArgument, "the path of a cache must not be empty or hold a NUL")
        }
        var status = stat()
        if stat(path, &status) == 0 { return false }
        if errno == ENOENT { return true }
        throw QuireError.system("cannot open the cache", path, errno)
    }

    static func key(_ path: String) throws(QuireError) -> Environment.FileKey {
        var status = stat()
        if stat(path, &status) != 0 {
            throw QuireError.system("cannot open the cache", path, errno)
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw QuireError(.notACache, "\(path): is a directory, not a cache")
        }
        if status.st_mode & S_IFMT != S_IFREG {
            throw QuireError(.notACache, "\(path): is not a regular file")
        }
        return Environment.FileKey(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// The cheap part of ``Cache/verify(at:limit:)``. Must not be called for a file this process has open:
    /// closing any descriptor of it may drop LMDB's locks.
    static func requireCache(_ path: String) throws(QuireError) {
        _ = try PageFile(path).soundMeta()
    }

    /// Makes a new name in the folder durable.
    static func syncFolder(of path: String) {
        var folder = "."
        if let slash = path.lastIndex(of: "/") {
            folder = slash == path.startIndex ? "/" : String(path[..<slash])
        }
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// True if the disk that holds this file has nothing left: LMDB reports a full disk as EIO.
    static func isDiskFull(_ path: String) -> Bool {
        var status = statvfs()
        return statvfs(path, &status) == 0 && status.f_bavail == 0
    }
}
