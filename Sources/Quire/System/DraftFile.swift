#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A new file in the making, which only this user may read from its first moment, whatever the umask. It is
/// locked while it is open, so one that has no lock was left by a process that was killed, and is replaced.
struct DraftFile: ~Copyable {
    let path: String
    let descriptor: Int32

    /// - Throws: `.busy` if another process or thread has a draft of this name open.
    init(_ path: String) throws(QuireError) {
        self.path = path
        descriptor = try Self.create(path)
    }

    deinit { close(descriptor) }

    /// Writes everything to the disk.
    func sync() throws(QuireError) {
        if fsync(descriptor) != 0 { throw QuireError.system("cannot write", path, errno) }
    }

    /// Removes the name, unless another file has it by now.
    func remove() {
        if Self.isNamed(descriptor, path) { unlink(path) }
    }

    private static func create(_ path: String) throws(QuireError) -> Int32 {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if descriptor >= 0 {
                fchmod(descriptor, 0o600)  // the umask may have taken the rights of the owner
                // Before it was locked, another process may have taken it for one that was left.
                if lock(descriptor), isNamed(descriptor, path) { return descriptor }
                close(descriptor)
            } else if errno == EEXIST {
                try removeLeft(path)
            } else {
                throw QuireError.system("cannot create the file", path, errno)
            }
        }
    }

    private static func removeLeft(_ path: String) throws(QuireError) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor < 0 {
            if errno == ENOENT { return }
            throw QuireError.system("cannot replace the file", path, errno)
        }
        defer { close(descriptor) }
        if !lock(descriptor) { throw QuireError(.busy, "\(path): is being written by another process") }
        // Only the owner of the lock removes this name.
        if isNamed(descriptor, path), unlink(path) != 0 {
            throw QuireError.system("cannot replace the file", path, errno)
        }
    }

    /// Returns false if another open file has the lock. File systems without locks count as locked.
    private static func lock(_ descriptor: Int32) -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    }

    private static func isNamed(_ descriptor: Int32, _ path: String) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && FileCheck.isName(path, of: FileKey(status))
    }
}
