#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension Cache {
    /// Writes a compact copy of the cache's current state to a path where nothing exists yet. Others may read
    /// and write meanwhile. The copy has no free space, and appears only when it is complete and on disk.
    /// - Throws: `.badArgument` if something exists at the path, `.diskFull`, `.noPermission`, `.io`.
    public func copy(to path: String) throws {
        if try !FileCheck.isMissing(path) {
            throw QuireError(.badArgument, "\(path): exists already")
        }
        let draft = "\(path).copy-\(getpid())"
        defer { unlink(draft) }
        unlink(draft)
        try environment.copyCompactly(to: draft)
        let descriptor = open(draft, O_RDWR | O_CLOEXEC)
        if descriptor < 0 { throw QuireError.system("cannot copy", path, errno) }
        fchmod(descriptor, 0o600)
        let synced = fsync(descriptor)
        let failure = errno
        close(descriptor)
        if synced != 0 { throw QuireError.system("cannot copy", path, failure) }
        try FileCheck.name(draft, path, isNew: true)
    }
}
