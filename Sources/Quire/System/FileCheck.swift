import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The identity of a file, independent of its names.
struct FileKey: Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ status: stat) { (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino)) }
}

/// Checks of a file before LMDB maps it, because LMDB trusts what it maps.
enum FileCheck {
    static func isMissing(_ path: String) throws(QuireError) -> Bool {
        var status = stat()
        return try !exists(path, &status)
    }

    /// Returns the identity of a file; nil if it is missing.
    static func find(_ path: String) throws(QuireError) -> FileKey? {
        var status = stat()
        return try exists(path, &status) ? key(path, status) : nil
    }

    /// Returns the identity of a file, and how many names (hard links) it has.
    static func names(of path: String) throws(QuireError) -> (key: FileKey, count: Int) {
        var status = stat()
        if stat(path, &status) != 0 { throw QuireError.system("cannot open the cache", path, errno) }
        return (try key(path, status), Int(status.st_nlink))
    }

    /// Returns true if the path is itself a name of the file, and no symbolic link to one.
    static func isName(_ path: String, of file: FileKey) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && FileKey(status) == file
    }

    static func key(_ path: String) throws(QuireError) -> FileKey {
        var status = stat()
        if stat(path, &status) != 0 {
            throw QuireError.system("cannot open the cache", path, errno)
        }
        return try key(path, status)
    }

    private static func exists(_ path: String, _ status: inout stat) throws(QuireError) -> Bool {
        if path.isEmpty || path.utf8.contains(0) {
            throw QuireError(.badArgument, "the path of a cache must not be empty or contain a NUL")
        }
        if stat(path, &status) == 0 { return true }
        if errno == ENOENT { return false }
        throw QuireError.system("cannot open the cache", path, errno)
    }

    private static func key(_ path: String, _ status: stat) throws(QuireError) -> FileKey {
        if status.st_mode & S_IFMT == S_IFDIR {
            throw QuireError(.notACache, "\(path): is a directory, not a cache")
        }
        if status.st_mode & S_IFMT != S_IFREG {
            throw QuireError(.notACache, "\(path): is not a regular file")
        }
        return FileKey(status)
    }

    /// Returns the path with links resolved, if the file exists.
    static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    static func size(_ path: String) throws(QuireError) -> Int64 {
        var status = stat()
        if stat(path, &status) != 0 { throw QuireError.system("cannot read the cache", path, errno) }
        return Int64(status.st_size)
    }

    /// Returns the size of a file if it lies at this place, else nil.
    static func size(_ place: String, of file: FileKey) -> Int64? {
        var status = stat()
        if place.withCString({ stat($0, &status) }) != 0 { return nil }  // without a copy of it
        return FileKey(status) == file ? Int64(status.st_size) : nil
    }

    /// Returns where an open file lies now, without links; nil if the system does not tell. The place of a
    /// removed file ends with ``removed``.
    static func place(of descriptor: Int32) -> String? {
        #if os(Linux)
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { place in
                let count = readlink("/proc/self/fd/\(descriptor)", place.baseAddress!, place.count - 1)
                if count < 1 || count == place.count - 1 { return nil }
                place[count] = 0
                return String(cString: place.baseAddress!)
            }
        #else
            return nil
        #endif
    }

    static let removed = " (deleted)"

    /// Returns the size of an open file. Throws if it has lost its name or shrunk.
    static func size(_ descriptor: Int32, _ path: String, atLeast least: Int64) throws(QuireError) -> Int64 {
        var status = stat()
        if fstat(descriptor, &status) != 0 {
            throw QuireError.system("cannot write", path, errno)
        }
        if status.st_nlink == 0 {
            throw QuireError(.closed, "\(path): was removed or replaced while it was open")
        }
        if Int64(status.st_size) < least {
            throw QuireError(
                .corrupt, "\(path): was cut off while it was open, from \(least) to \(status.st_size) bytes")
        }
        return Int64(status.st_size)
    }

    /// Throws for network file systems: locks and memory maps of several machines do not agree with each
    /// other.
    static func requireLocalFileSystem(_ path: String) throws(QuireError) {
        #if os(Linux)
            if let name = networkFileSystem(quire_file_system(folder(of: path))) {
                throw QuireError(.io, "\(path): is on a network file system (\(name))")
            }
        #endif
    }

    /// Returns the name of a network file system by its number in statfs(2); nil for others.
    static func networkFileSystem(_ type: UInt64) -> String? {
        switch type {
        case 0x6969: "NFS"
        case 0x517B, 0xFF53_4D42, 0xFE53_4D42: "SMB"
        case 0x0102_1997: "9P"
        case 0x5346_414F, 0x6B41_4653: "AFS"
        case 0x7375_7245: "Coda"
        case 0x564C: "NCP"
        case 0x00C3_6400: "Ceph"
        case 0x0BD0_0BD0: "Lustre"
        default: nil
        }
    }

    /// True if the file system of the file can be written by no process: not only this mount of it is
    /// read-only. False if that is not known.
    static func isOnReadOnlyFileSystem(_ file: FileKey) -> Bool {
        #if os(Linux)
            guard let mounts = fopen("/proc/self/mountinfo", "re") else { return false }
            defer { fclose(mounts) }
            // The two parts of a device number, as Linux packs them.
            let major = file.device >> 8 & 0xFFF | file.device >> 32 & ~0xFFF
            let minor = file.device & 0xFF | file.device >> 12 & ~0xFF
            var (line, size) = (nil as UnsafeMutablePointer<CChar>?, 0)
            defer { free(line) }
            while getline(&line, &size, mounts) > 0 {
                // Number, parent, device, root, place, options of the mount, "-", type, source, options of
                // the file system.
                let words = String(cString: line!).split { $0 == " " || $0 == "\n" }
                guard words.count > 5, words[2] == "\(major):\(minor)", let options = words.last else {
                    continue
                }
                return options.split(separator: ",").contains("ro")
            }
        #endif
        return false
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Names a finished file atomically and durably. If the name exists already, that is an error only if
    /// `isNew`.
    static func name(_ draft: String, _ path: String, isNew: Bool) throws(QuireError) {
        let isLinked = link(draft, path) == 0
        if !isLinked && (isNew || errno != EEXIST) {
            throw QuireError.system("cannot create the file", path, errno)
        }
        do throws(QuireError) {
            try syncFolder(of: path)
        } catch {
            if isLinked { unlink(path) }
            throw error
        }
    }

    /// Makes a new name in the folder durable. Ignores folders that may not be read and file systems that
    /// cannot sync one, where no program can do better.
    static func syncFolder(of path: String) throws(QuireError) {
        let descriptor = open(folder(of: path), O_RDONLY | O_CLOEXEC)
        var failure = descriptor < 0 ? errno : 0
        if descriptor >= 0 {
            if fsync(descriptor) != 0 { failure = errno }
            close(descriptor)
        }
        if [0, EACCES, EPERM, EINVAL, ENOSYS, EOPNOTSUPP].contains(failure) { return }
        throw QuireError.system("cannot create the file", path, failure)
    }
}
