import CLMDB
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The companion file `<cache>-open`. It controls who may open a cache and whose turn it is to write. LMDB's
/// own lock file is not enough: closing any descriptor of it drops LMDB's locks, its write lock has no time
/// limit, and it does not notice a second open in one process, which would destroy the reader table.
///
/// Three kinds of bytes in the file are locked. The locks belong to an open file, not to a process, so two
/// copies of this library in one process see each other. The kernel releases them however a process ends:
/// - opening: held while a cache is being opened;
/// - use: shared by all that have the cache open. A process that gets it alone initialises the contents;
/// - one byte for each process id: held while that process has the cache open.
///
/// The file contains a robust mutex, which allows a time limit and survives the death of its owner, the
/// owner's process id, and the inode of the cache file.
///
/// All this exists only on Linux. Elsewhere writers wait for LMDB's lock without a limit.
final class OpenLock: @unchecked Sendable {
    // @unchecked: the mutex is thread-safe; the rest of the page is atomic or written while opening is
    // locked.
    private let path: String
    #if os(Linux)
        private let process = getpid()
        private var isOpen = true
        private let descriptor: Int32
        private let page: UnsafeMutableRawPointer
        private var mutex: UnsafeMutablePointer<pthread_mutex_t> {
            page.assumingMemoryBound(to: pthread_mutex_t.self)
        }
        private var owner: UnsafeMutablePointer<Atomic<pid_t>> {
            (page + Self.ownerOffset).assumingMemoryBound(to: Atomic<pid_t>.self)
        }
        private var file: UnsafeMutablePointer<UInt64> {
            (page + Self.fileOffset).assumingMemoryBound(to: UInt64.self)
        }

        private static let pageSize = 4096
        private static let ownerOffset = 128
        private static let fileOffset = 136
        private static let opening = 0 as off_t
        private static let use = 1 as off_t
        private static let processes = 16 as off_t
        /// O_NOATIME, which Swift does not import.
        private static let withoutTime: Int32 = 0o1_000_000
        /// How long an opener waits, in milliseconds. Opening takes a few.
        private static let openingLimit = 5_000
    #endif

    /// Takes the opening lock of the cache at a path, which need not exist yet, until
    /// ``publish(_:sharing:)``.
    /// - Throws: `.busy` if another copy of the library has the cache open in this process.
    init(_ cache: String) throws(QuireError) {
        path = cache
        #if os(Linux)
            let name = Self.name(cache)
            let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
            // To map it would set the time of its last use, which writes to the disk. Only the owner may say
            // that it need not.
            var descriptor = open(name, flags | Self.withoutTime, 0o600)
            if descriptor < 0, errno == EPERM { descriptor = open(name, flags, 0o600) }
            if descriptor < 0 { throw QuireError.system("cannot open", name, errno) }
            do throws(QuireError) {
                try Self.acquireOpening(descriptor, cache)
                page = try Self.map(descriptor, name)
            } catch {
                close(descriptor)
                throw error
            }
            self.descriptor = descriptor
        #endif
    }

    deinit { release() }

    /// Returns the name of the lock of a cache.
    static func name(_ cache: String) -> String { cache + "-open" }

    /// Where the lock lies now; nil if that is not known.
    var place: String? {
        #if os(Linux)
            FileCheck.place(of: descriptor)
        #else
            nil
        #endif
    }

    /// Releases all locks, because the cache was closed or could not be opened.
    func release() {
        #if os(Linux)
            if !isOpen { return }
            isOpen = false
            munmap(page, Self.pageSize)
            // A forked child shares these locks. It must not release them, and in the parent they must end
            // even if the child lives on.
            if getpid() == process {
                for at in [Self.processes + off_t(process), Self.use, Self.opening] {
                    Self.lock(descriptor, at, F_UNLCK)
                }
            }
            close(descriptor)
        #endif
    }

    // MARK: Opening

    /// Tells the open lock the cache's file, which now exists. Releases the opening lock.
    /// - Parameter isShareable: false if this process must be the only one.
    /// - Throws: `.busy` if it is not the only one, or other processes have another file open as this cache.
    func publish(_ key: FileKey, sharing isShareable: Bool) throws(QuireError) {
        #if os(Linux)
            if Self.lock(descriptor, Self.use, F_WRLCK) {
                setUp(key)
            } else if !isShareable {
                throw QuireError(
                    .busy,
                    "\(path): is open in another process, which LMDB \(LMDBVersion.text) must not share")
            } else if !Self.lock(descriptor, Self.use, F_RDLCK) {
                throw QuireError(
                    .busy, "\(path): is open in a process whose LMDB must not share it (0.9.26 to 0.9.31)")
            } else if file.pointee != key.inode {
                throw QuireError(
                    .busy, "\(path): another process has the file open that was here before; close it there")
            }
            if isShareable { Self.lock(descriptor, Self.use, F_RDLCK) }
            Self.lock(descriptor, Self.opening, F_UNLCK)
        #endif
    }

    /// Requires that no other process has the cache open, and keeps the opening lock, to replace the file.
    /// - Throws: `.busy` if another process has the cache open.
    func requireAlone() throws(QuireError) {
        #if os(Linux)
            if !Self.lock(descriptor, Self.use, F_WRLCK) {
                throw QuireError(.busy, "\(path): is open in another process")
            }
        #endif
    }

    /// Returns true if no other process has the cache open; none can open it until ``release()``.
    func becomesLast() -> Bool {
        #if os(Linux)
            (try? Self.acquireOpening(descriptor, path)) != nil && Self.lock(descriptor, Self.use, F_WRLCK)
        #else
            true
        #endif
    }

    #if os(Linux)
        private static func acquireOpening(_ descriptor: Int32, _ cache: String) throws(QuireError) {
            var rounds = 0
            while !lock(descriptor, opening, F_WRLCK) {
                rounds += 1
                if rounds > openingLimit {
                    throw QuireError(
                        .busy, "\(cache): is being opened, repaired or compacted by another process")
                }
                usleep(1_000)
            }
            let own = processes + off_t(getpid())
            if !lock(descriptor, own, F_WRLCK), hasAnother(descriptor) {
                throw QuireError(
                    .busy,
                    "\(cache): is open in this process already: through another copy of Quire, or as a file "
                        + "that was removed since")
            }
        }

        /// Returns true if this process has the file open more than once. If not, the lock for its id belongs
        /// to a process that has ended, whose forked child inherited it, or to a process in another
        /// namespace.
        private static func hasAnother(_ descriptor: Int32) -> Bool {
            var (own, other) = (stat(), stat())
            guard fstat(descriptor, &own) == 0, let folder = opendir("/proc/self/fd") else { return true }
            defer { closedir(folder) }
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard let number = Int32(name), number != descriptor, fstat(number, &other) == 0
                else { continue }
                if other.st_dev == own.st_dev && other.st_ino == own.st_ino { return true }
            }
            return false
        }

        private static func map(
            _ descriptor: Int32, _ name: String
        ) throws(QuireError) -> UnsafeMutableRawPointer {
            var status = stat()
            if fstat(descriptor, &status) != 0 { throw QuireError.system("cannot open", name, errno) }
            // Allocate the blocks too, or a full disk would show only when the map is written.
            if status.st_size < off_t(pageSize) {
                if ftruncate(descriptor, off_t(pageSize)) != 0 {
                    throw QuireError.system("cannot create", name, errno)
                }
                let failure = quire_allocate(descriptor, off_t(pageSize))
                if failure != 0 { throw QuireError.system("cannot create", name, failure) }
            }
            let page = mmap(nil, pageSize, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
            guard let page, page != MAP_FAILED else {
                throw QuireError.system("cannot map", name, errno)
            }
            return page
        }

        /// Initialises the page. No other process has the cache open, so its contents come from processes
        /// that ended. If they left it as it should be, which they mostly did, it is not written: the first
        /// write to a page of a file costs more than the rest of the lock.
        private func setUp(_ key: FileKey) {
            var attributes = pthread_mutexattr_t()
            pthread_mutexattr_init(&attributes)
            pthread_mutexattr_setpshared(&attributes, Int32(PTHREAD_PROCESS_SHARED))
            pthread_mutexattr_setrobust(&attributes, Int32(PTHREAD_MUTEX_ROBUST))
            defer { pthread_mutexattr_destroy(&attributes) }
            if owner.pointee.load(ordering: .relaxed) == 0, file.pointee == key.inode, isFree(&attributes) {
                return
            }
            memset(page, 0, Self.pageSize)
            pthread_mutex_init(mutex, &attributes)
            owner.initialize(to: Atomic(0))
            file.pointee = key.inode
        }

        /// Returns true if the mutex has the bytes of a new one, or of one that was locked and unlocked.
        private func isFree(_ attributes: inout pthread_mutexattr_t) -> Bool {
            var other = pthread_mutex_t()
            return withUnsafeMutablePointer(to: &other) { other in
                func isSame() -> Bool { memcmp(mutex, other, MemoryLayout<pthread_mutex_t>.size) == 0 }
                pthread_mutex_init(other, &attributes)
                defer { pthread_mutex_destroy(other) }
                if isSame() { return true }
                pthread_mutex_lock(other)
                pthread_mutex_unlock(other)
                return isSame()
            }
        }

        /// Takes, changes or releases the lock on a byte. Returns false if another lock conflicts.
        @discardableResult
        private static func lock(_ descriptor: Int32, _ at: off_t, _ kind: Int32) -> Bool {
            var range = flock()
            (range.l_type, range.l_whence) = (Int16(kind), Int16(SEEK_SET))
            (range.l_start, range.l_len) = (at, 1)
            while fcntl(descriptor, quire_set_open_file_lock, &range) != 0 {
                if errno != EINTR { return false }
            }
            return true
        }
    #endif

    // MARK: Writing

    /// Waits for this process's turn to write. The turn ends with ``releaseTurn()`` on the same thread.
    /// - Throws: `.busy` if the turn did not come in time.
    func acquireTurn(_ deadline: inout Deadline) throws(QuireError) {
        #if os(Linux)
            var status = pthread_mutex_trylock(mutex)
            if status == EBUSY {
                var end = deadline.end
                status = quire_lock_until(mutex, &end)
            }
            switch status {
            case 0: break
            case EOWNERDEAD: pthread_mutex_consistent(mutex)  // LMDB undoes what that owner had begun
            case ETIMEDOUT: throw busy(deadline)
            default: throw QuireError.system("cannot lock", path + "-open", status)
            }
            owner.pointee.store(process, ordering: .relaxed)  // a child does not come here
        #endif
    }

    func releaseTurn() {
        #if os(Linux)
            owner.pointee.store(0, ordering: .relaxed)
            pthread_mutex_unlock(mutex)
        #endif
    }

    /// Returns the error that names the writer with the turn.
    func busy(_ deadline: Deadline) -> QuireError {
        var process: pid_t = 0
        #if os(Linux)
            process = owner.pointee.load(ordering: .relaxed)
        #endif
        let who =
            switch process {
            case 0: "other writers have"
            case getpid(): "another thread of this process has"
            default: "process \(process) has"
            }
        return QuireError(.busy, "\(path): cannot write: \(who) been writing for \(deadline.limit)")
    }
}

/// How long a writer waits for its turn, counted from when it first has to wait.
struct Deadline {
    let limit: Duration
    private var known: timespec?

    #if os(Linux)
        static let clock = CLOCK_MONOTONIC
    #else
        static let clock = CLOCK_REALTIME  // condition variables use this clock there
    #endif
    /// A longer wait means no limit.
    private static let longest = 1 << 31 as Int64

    init(_ limit: Duration) { self.limit = max(limit, .zero) }

    /// The end of the wait, on ``clock``.
    var end: timespec {
        mutating get {
            if let known { return known }
            let (seconds, attoseconds) = limit.components
            var end = timespec()
            clock_gettime(Self.clock, &end)
            end.tv_sec += Int(min(seconds, Self.longest))
            end.tv_nsec += Int(attoseconds / 1_000_000_000)
            if end.tv_nsec >= 1_000_000_000 {
                end.tv_sec += 1
                end.tv_nsec -= 1_000_000_000
            }
            known = end
            return end
        }
    }
}

/// The version of the LMDB that is loaded, which may differ from the one at compile time.
enum LMDBVersion {
    typealias Number = (major: Int32, minor: Int32, patch: Int32)

    static var loaded: Number {
        var number: Number = (0, 0, 0)
        mdb_version(&number.major, &number.minor, &number.patch)
        return number
    }

    static var text: String {
        let number = loaded
        return "\(number.major).\(number.minor).\(number.patch)"
    }

    /// Returns false for versions that, when they close a file, destroy locks that another process is about
    /// to use (ITS#9278, reverted by ITS#10095).
    static func canShare(_ number: Number) -> Bool { number < (0, 9, 26) || number > (0, 9, 31) }
}
