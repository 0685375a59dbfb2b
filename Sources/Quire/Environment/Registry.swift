import CLMDB
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// The files that this process has open.

extension Environment {
    private final class Entry {
        let file: FileKey
        /// Nil while it is being closed.
        weak var environment: Environment?
        /// True while ``ExclusiveUse`` replaces the file.
        let isReserved: Bool

        init(_ file: FileKey, _ environment: Environment? = nil, isReserved: Bool = false) {
            (self.file, self.environment, self.isReserved) = (file, environment, isReserved)
        }
    }

    /// A process has few files open. The first dictionary of some type costs the runtime more than the rest
    /// of an open.
    private static let registry = Mutex<[Entry]>([])

    /// Opens or creates the file. If this process has it open already, returns that environment.
    static func open(_ path: String, _ options: CacheOptions) throws(QuireError) -> Environment {
        while true {
            let result = registry.withLock { registry -> Result<Environment?, QuireError> in
                do throws(QuireError) {
                    return .success(
                        try DiskSpace.withoutSizeSignal { () throws(QuireError) in
                            try find(path, options, in: &registry)
                        })
                } catch {
                    return .failure(error)
                }
            }
            guard let environment = try result.get() else {
                usleep(1_000)
                continue
            }
            // Not with the registry locked: if this is the last reference by now, the environment closes,
            // which needs the lock.
            if environment.isReadOnly && !options.isReadOnly {
                throw QuireError(
                    .busy, "\(path): is open for reading only in this process; close it there to write")
            }
            return environment
        }
    }

    /// Returns the file's environment, opened if needed; nil while another thread closes it. Must hold no
    /// reference of its own to one that is open.
    private static func find(
        _ path: String, _ options: CacheOptions, in registry: inout [Entry]
    ) throws(QuireError) -> Environment? {
        let found = try FileCheck.find(path)
        let isMissing = found == nil
        var isUnflushed = false
        if let file = found {
            if let known = registry.first(where: { $0.file == file }) {
                if known.isReserved { throw QuireError(.busy, "\(path): is being repaired or compacted") }
                return known.environment
            }
            isUnflushed = try FileCheck.requireCache(path)
        } else if options.isReadOnly {
            throw QuireError(.io, "\(path): there is no such file", osError: ENOENT)
        }
        try FileCheck.requireLocalFileSystem(path)
        // An opener that uses a link must find the same companion files.
        let resolved = FileCheck.resolved(path)
        if options.isReadOnly {
            if try !mayLock(resolved) { return try openUnlocked(path, options) }
        } else if !isMissing, !may(W_OK, resolved) {
            // Before companions appear that would keep the owner out.
            throw QuireError.system("cannot open the cache to write", path, errno)
        }
        let openLock = try OpenLock(resolved)
        if isMissing {
            try create(path, options)
            try FileCheck.requireCache(path)
        }
        if !options.isReadOnly {
            try requireOneName(resolved)
        } else if try hasForeignName(resolved) {
            openLock.release()
            return try openUnlocked(path, options)
        }
        let file = try FileCheck.key(path)
        try openLock.publish(file, sharing: LMDBVersion.canShare(LMDBVersion.loaded))
        let environment = try openFile(
            path, isMissing ? nil : resolved, file, openLock, options, isUnflushed: isUnflushed)
        registry.append(Entry(file, environment))
        return environment
    }

    /// Keeps this process from opening the file until ``forget(_:)``. Throws if it has it open.
    static func reserve(_ path: String) throws(QuireError) -> FileKey {
        let file = try FileCheck.key(path)
        let isFree = registry.withLock { registry in
            if registry.contains(where: { $0.file == file }) { return false }
            registry.append(Entry(file, isReserved: true))
            return true
        }
        if !isFree { throw QuireError(.badArgument, "\(path): is open in this process") }
        return file
    }

    static func forget(_ file: FileKey) { registry.withLock { $0.removeAll { $0.file == file } } }

    /// Returns true if this process has the file open.
    static func isOpen(_ path: String) throws(QuireError) -> Bool {
        let file = try FileCheck.key(path)
        // If this reference is the last one, the environment closes, which needs the lock: not under it.
        let environment = registry.withLock { registry in
            registry.first { $0.file == file }?.environment
        }
        return environment != nil
    }

    private static func openFile(
        _ path: String, _ resolved: String?, _ file: FileKey, _ openLock: OpenLock, _ options: CacheOptions,
        isUnflushed: Bool
    ) throws(QuireError) -> Environment {
        let handle = try openHandle(path, resolved: resolved, options)
        do throws(QuireError) {
            let defersFlush = options.durability == .deferred && !options.isReadOnly
            if defersFlush {
                try UnflushedMark.write(true, to: descriptor(of: handle), path)
            }
            var stale: Int32 = 0
            mdb_reader_check(handle, &stale)
            let cacheFile = try CacheFile.open(in: handle, path: path)
            return Environment(
                handle: handle, path: path, file: file, cacheFile: cacheFile, openLock: openLock,
                options: options, isUnflushed: (defersFlush || isUnflushed) && !options.isReadOnly)
        } catch {
            mdb_env_close(handle)
            throw error
        }
    }
}
