import CLMDB
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A cache file that nobody has open: others who open it wait until this is over.
///
/// Every process that has a cache open shares a lock on the first byte of LMDB's lock file. Whoever has that
/// byte alone is alone. This is for putting another file in the place of the cache, which no open handle
/// would survive.
struct SoleUse: ~Copyable {
    let path: String
    private let file: Environment.FileKey
    /// The file that took its place.
    private var successor: Environment.FileKey?
    private let lock: Int32
    private let mode: mode_t

    /// - Throws: `.badArgument` if this process has the cache open or the path is a symbolic link, whose
    ///   lock file would be another one; `.io` if another process has it open.
    init(_ path: String) throws(QuireError) {
        if try FileCheck.isMissing(path) {
            throw QuireError(.io, "\(path): there is no such file", osError: ENOENT)
        }
        var status = stat()
        if lstat(path, &status) != 0 { throw QuireError.system("cannot open the cache", path, errno) }
        if status.st_mode & S_IFMT == S_IFLNK {
            throw QuireError(.badArgument, "\(path): is a symbolic link; name the file itself")
        }
        try FileCheck.requireLocalFileSystem(path)
        let file = try Environment.reserve(path)
        do throws(QuireError) {
            lock = try Self.lock(path)
        } catch {
            Environment.release(file)
            throw error
        }
        (self.path, self.file, mode) = (path, file, status.st_mode & 0o777)
    }

    deinit {
        close(lock)
        Environment.release(file)
        if let successor { Environment.release(successor) }
    }

    private static func lock(_ path: String) throws(QuireError) -> Int32 {
        let descriptor = open("\(path)-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw QuireError.system("cannot lock the cache", path, errno) }
        var first = flock()
        first.l_type = Int16(F_WRLCK)
        first.l_whence = Int16(SEEK_SET)
        first.l_len = 1
        while fcntl(descriptor, F_SETLK, &first) != 0 {
            if errno == EINTR { continue }
            let failure = errno
            close(descriptor)
            if failure == EACCES || failure == EAGAIN {
                throw QuireError(.io, "\(path): is open in another process", osError: EBUSY)
            }
            throw QuireError.system("cannot lock the cache", path, failure)
        }
        return descriptor
    }

    /// A name for a file that is to take the place of this one; what an earlier run left there is removed.
    func draft(_ kind: String) -> String {
        let draft = "\(path).\(kind)"
        Self.remove(draft)
        return draft
    }

    static func remove(_ draft: String) {
        unlink(draft)
        unlink(draft + "-lock")
    }

    /// Gives the file a second name beside the first, which it keeps when another one takes its place.
    func keep(as kind: String) throws(QuireError) -> String {
        var number = 1
        while true {
            let name = "\(path).\(kind)-\(number)"
            if link(path, name) == 0 { return name }
            if errno != EEXIST { throw QuireError.system("cannot keep the damaged file", path, errno) }
            if let other = try? FileCheck.key(name), other == file { return name }  // an earlier run's
            number += 1
        }
    }

    /// Puts a whole, closed cache in the place of this one. Whoever looks sees one of the two, whatever
    /// happens.
    mutating func replace(with draft: String) throws(QuireError) {
        let descriptor = open(draft, O_RDWR | O_CLOEXEC)
        if descriptor < 0 { throw QuireError.system("cannot replace the cache", path, errno) }
        fchmod(descriptor, mode)
        let synced = fsync(descriptor)
        let failure = errno
        close(descriptor)
        if synced != 0 { throw QuireError.system("cannot replace the cache", path, failure) }
        FileCheck.syncFolder(of: path)  // the name of the kept file, before the old one goes
        successor = try Environment.reserve(draft)
        if rename(draft, path) != 0 { throw QuireError.system("cannot replace the cache", path, errno) }
        FileCheck.syncFolder(of: path)
    }

    /// Opens the file once, which must be sound, so that the lock file is of it: who waits will not look at
    /// anything but that. This ends the sole use.
    consuming func settle() throws(QuireError) {
        let handle = try Environment.openHandle(path, CacheOptions())
        mdb_env_close(handle)
    }

    // MARK: Without LMDB's locks

    /// Everything that `verify` and `check` find about a file that nobody else has open.
    static func findings(at path: String) throws -> [Finding] {
        let findings = try Cache.verify(at: path)
        if !findings.isEmpty { return findings }
        return try withTransaction(path) { transaction in
            var check = try Check(transaction: transaction, limit: 100)
            try check.run()
            return check.findings
        }
    }

    /// Writes the records of a sound file, without free space, to a new one.
    static func copy(_ path: String, to target: String) throws(QuireError) {
        let handle = try Environment.openHandle(path, CacheOptions(), flags: MDB_RDONLY | MDB_NOLOCK)
        defer { mdb_env_close(handle) }
        try check(mdb_env_copy2(handle, target, UInt32(MDB_CP_COMPACT)), "cannot copy to \(target)", path)
    }

    private static func withTransaction<R>(
        _ path: String, _ body: (Transaction) throws -> R
    ) throws -> R {
        let handle = try Environment.openHandle(path, CacheOptions(), flags: MDB_RDONLY | MDB_NOLOCK)
        defer { mdb_env_close(handle) }
        let file = try CacheFile.open(in: handle, path: path)
        var begun: OpaquePointer?
        try check(mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &begun), "cannot read", path)
        defer { mdb_txn_abort(begun) }
        return try body(Transaction(handle: begun!, file: file))
    }
}

extension Environment {
    /// Files that this process has for itself.
    private static let reserved = Mutex<Set<FileKey>>([])

    static func requireUnreserved(_ file: FileKey, _ path: String) throws(QuireError) {
        if reserved.withLock({ $0.contains(file) }) {
            throw QuireError(.badArgument, "\(path): is being repaired or compacted")
        }
    }

    /// Keeps this process from opening the file; throws if it has it open.
    fileprivate static func reserve(_ path: String) throws(QuireError) -> FileKey {
        let file = try FileCheck.key(path)
        let isFree = registry.withLock { registry in
            registry[file]?.environment == nil && reserved.withLock { $0.insert(file).inserted }
        }
        if !isFree { throw QuireError(.badArgument, "\(path): is open in this process") }
        return file
    }

    fileprivate static func release(_ file: FileKey) { reserved.withLock { _ = $0.remove(file) } }
}
