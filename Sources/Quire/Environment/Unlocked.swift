import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// Reading a cache without the right to write to its lock files. A writer reuses the pages that no reader in
// LMDB's table sees, and this reader would not be in the table. LMDB trusts what it maps: pages that change
// under it could crash the process.

extension Environment {
    /// True if nothing can be written through it.
    var isReadOnly: Bool { options.isReadOnly }

    /// True if this process can take part in the locks of a cache that exists: it may write to both
    /// companions. Only the owner of the file creates them here, because those of another user would keep the
    /// owner out.
    static func mayLock(_ path: String) throws(QuireError) -> Bool {
        var status = stat()
        if stat(path, &status) != 0 { throw QuireError.system("cannot open the cache", path, errno) }
        let mayCreate = status.st_uid == geteuid() && may(W_OK | X_OK, FileCheck.folder(of: path))
        // Not by opening them: closing a descriptor of LMDB's lock file drops the locks of this process.
        return ["-lock", "-open"].allSatisfy { end in
            var status = stat()
            if lstat(path + end, &status) != 0 && errno == ENOENT { return mayCreate }
            return may(R_OK | W_OK, path + end)
        }
    }

    /// Tells it as the system's calls do, with the reason in `errno`.
    static func may(_ access: Int32, _ path: String) -> Bool {
        faccessat(AT_FDCWD, path, access, AT_EACCESS) == 0
    }

    /// Opens a cache that exists for reading without locks: in place if no process can write to it, else a
    /// copy of its newest commit.
    static func openUnlocked(
        _ path: String, _ options: CacheOptions
    ) throws(QuireError) -> Environment {
        let file = try FileCheck.key(path)
        let handle: OpaquePointer
        if FileCheck.isOnReadOnlyFileSystem(file) {
            handle = try openHandle(path, options, takesLocks: false)
        } else {
            let copy = try copyNewestCommit(of: path)
            defer { unlink(copy) }
            handle = try openHandle(copy, options, takesLocks: false)
        }
        do throws(QuireError) {
            let cacheFile = try CacheFile.open(in: handle, path: path)
            return Environment(
                handle: handle, path: path, file: file, cacheFile: cacheFile, openLock: nil, options: options)
        } catch {
            mdb_env_close(handle)
            throw error
        }
    }

    /// How often it is tried to copy a commit before the next one ends.
    private static let copyAttempts = 20

    /// Copies the file while others may write to it. What a commit consists of stays as it is until that
    /// commit has a successor: if the meta pages are the same before and after, no page that they lead to has
    /// changed. Returns the path of the copy.
    private static func copyNewestCommit(of path: String) throws(QuireError) -> String {
        let source = try LMDBFile(path)
        let target = try TemporaryFile()
        for _ in 0..<copyAttempts {
            let before = try source.metaPages()
            try FileCheck.requireCache(path)
            try target.fill(from: source)
            if try source.metaPages() == before { return target.keep() }
        }
        throw QuireError(
            .busy,
            "\(path): this process may not write to \(path)-lock, and others commit faster than the file can be "
                + "copied: try again, or ask the owner for that right")
    }
}

/// A file that goes with the object, unless it is kept.
private final class TemporaryFile {
    let path: String
    private let descriptor: Int32
    private var isKept = false

    init() throws(QuireError) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array((folder + "/quire-copy-XXXXXX").utf8CString)
        descriptor = mkstemp(&name)
        path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        if descriptor < 0 { throw QuireError.system("cannot create a copy to read", path, errno) }
    }

    deinit {
        close(descriptor)
        if !isKept { unlink(path) }
    }

    func keep() -> String {
        isKept = true
        return path
    }

    /// Replaces what is in it by all whole pages of another file.
    func fill(from source: LMDBFile) throws(QuireError) {
        let count = Int(try source.pageCount())
        if ftruncate(descriptor, 0) != 0 { throw QuireError.system("cannot copy", path, errno) }
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { block.deallocate() }
        let perBlock = block.count / source.pageSize
        var page = 0
        while page < count {
            let size = min(perBlock, count - page) * source.pageSize
            let part = UnsafeMutableRawBufferPointer(rebasing: block[..<size])
            guard try source.read(UInt64(page), into: part) else {
                throw QuireError(.corrupt, "\(source.path): was cut off while it was read")
            }
            try write(part, at: off_t(page) * off_t(source.pageSize))
            page += perBlock
        }
    }

    private func write(_ part: UnsafeMutableRawBufferPointer, at offset: off_t) throws(QuireError) {
        var done = 0
        while done < part.count {
            let written = pwrite(
                descriptor, part.baseAddress! + done, part.count - done, offset + off_t(done))
            if written < 0 && errno != EINTR {
                throw QuireError.system("cannot create a copy to read", path, errno)
            }
            done += max(written, 0)
        }
    }
}
