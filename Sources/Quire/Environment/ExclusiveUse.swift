import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Exclusive access to a cache file through its ``OpenLock``. Other openers wait up to 5 s, then get `.busy`.
/// Needed to replace a cache's file, which no open handle would survive. Other processes are noticed only on
/// Linux.
struct ExclusiveUse: ~Copyable {
    /// The path with links resolved.
    let path: String
    private let file: FileKey
    private let openLock: OpenLock
    private let mode: mode_t

    /// - Throws: `.badArgument` if this process has the cache open, `.busy` if another process has.
    init(_ given: String) throws(QuireError) {
        if try FileCheck.isMissing(given) {
            throw QuireError(.io, "\(given): there is no such file", osError: ENOENT)
        }
        let path = FileCheck.resolved(given)
        try FileCheck.requireLocalFileSystem(path)
        var status = stat()
        if stat(path, &status) != 0 { throw QuireError.system("cannot open the cache", path, errno) }
        let file = try Environment.reserve(path)
        let openLock: OpenLock
        do throws(QuireError) {
            openLock = try DiskSpace.withoutSizeSignal { () throws(QuireError) in try OpenLock(path) }
            try openLock.requireAlone()
            try Environment.requireOneName(path)
        } catch {
            Environment.forget(file)
            throw error
        }
        self.path = path
        self.file = file
        self.openLock = openLock
        mode = status.st_mode & 0o777
    }

    deinit {
        openLock.release()
        Environment.forget(file)
    }

    /// Returns the path of a draft to replace this file, and removes one left by an earlier run.
    func draft(_ kind: String) -> String {
        let draft = "\(path).\(kind)"
        Self.remove(draft)
        return draft
    }

    static func remove(_ draft: String) {
        Environment.removeDraft(of: draft)
        for end in ["", "-lock", "-open"] { unlink(draft + end) }
    }

    /// Gives the file a second name, which it keeps after it was replaced. Returns that name.
    func keep() throws(QuireError) -> String {
        var number = 1
        while true {
            let name = Environment.keptFile(of: path, number)
            if link(path, name) == 0 { return name }
            if errno != EEXIST { throw QuireError.system("cannot keep the damaged file", path, errno) }
            number += 1
        }
    }

    /// Replaces this file by a whole, closed cache. Openers see one of the two files, even after a power cut.
    func replace(with draft: String) throws(QuireError) {
        let descriptor = open(draft, O_RDWR | O_CLOEXEC)
        if descriptor < 0 { throw QuireError.system("cannot replace the cache", path, errno) }
        fchmod(descriptor, mode)
        let synced = fsync(descriptor)
        let failure = errno
        close(descriptor)
        if synced != 0 { throw QuireError.system("cannot replace the cache", path, failure) }
        try FileCheck.syncFolder(of: path)  // the name of the kept file, before the old one disappears
        if rename(draft, path) != 0 { throw QuireError.system("cannot replace the cache", path, errno) }
        try FileCheck.syncFolder(of: path)
    }

    // MARK: Without LMDB's locks

    /// Writes the records of a sound file without free space to a new one.
    func copy(_ path: String, to target: String) throws(QuireError) {
        let handle = try Environment.openHandle(path, CacheOptions(), takesLocks: false)
        defer { mdb_env_close(handle) }
        let file = try DraftFile(target)
        try Environment.copyCompactly(handle, of: path, to: file.descriptor, file.path)
    }
}
