import CLMDB
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The companion file `<cache>-open`. It decides which process may open a cache and which may write. LMDB's
/// own lock file must not be touched (closing any descriptor of it drops LMDB's locks), its write lock waits
/// without end, and it does not notice a second open in one process, which would destroy the table of
/// readers.
///
/// Locks on three bytes of the file, which belong to an open file and not to a process, so that two copies
/// of this library in one process see each other; the kernel drops them however a process ends:
/// - opening: held while a process opens the cache;
/// - use: shared by all processes that have the cache open. A process that gets it alone sets up the file;
/// - one for each process id: held while that process has the cache open.
///
/// In the file: a robust mutex, which has a limit to waiting and survives the death of its owner; the
/// owner's process id; the cache file it belongs to.
///
/// Elsewhere than on Linux there is none of this: writers wait for LMDB's lock without a limit.
final class OpenLock: @unchecked Sendable {
    // @unchecked: the mutex is one, the rest of the page is atomic, or written while opening is held.
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
        private static let (ownerOffset, fileOffset) = (128, 136)
        private static let (opening, use, processes) = (0 as off_t, 1 as off_t, 16 as off_t)
        /// How long an opener waits: opening takes milliseconds.
        private static let openingLimit = 5_000
    #endif

    /// Acquires the right to open the cache at a path, which need not exist yet, and keeps it until
    /// ``publish(_:sharing:)``.
    /// - Throws: `.busy` if another copy of the library has it open in this process.
    init(_ cache: String) throws(QuireError) {
        path = cache
        #if os(Linux)
            let name = cache + "-open"
            let descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
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

    /// The cache is closed here, or was not opened.
    func release() {
        #if os(Linux)
            if !isOpen { return }
            isOpen = false
            munmap(page, Self.pageSize)
            // A forked child shares these locks. They are not the child's to give back, and in the parent
            // must not last as long as the child does.
            if getpid() == process {
                for at in [Self.processes + off_t(process), Self.use, Self.opening] {
                    Self.lock(descriptor, at, F_UNLCK)
                }
            }
            close(descriptor)
        #endif
    }

    // MARK: Opening

    /// Publishes which file the cache is, and lets other processes open it.
    /// - Parameter isShareable: false if this process must be the only one.
    /// - Throws: `.busy` if it is not, or if those that have the cache open have another file.
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

    /// Requires exclusive use, in place of ``publish(_:sharing:)``: no other process can open the cache.
    /// - Throws: `.busy` if another process has the cache open.
    func requireAlone() throws(QuireError) {
        #if os(Linux)
            if !Self.lock(descriptor, Self.use, F_WRLCK) {
                throw QuireError(.busy, "\(path): is open in another process")
            }
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

        /// True if this process has the file open more than once. If not, the lock under its number is that
        /// of a process which is no more and whose forked child has inherited it, or which is counted in
        /// another namespace.
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
            // The blocks, too: a full disk must not show when the map is written.
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

        /// No other process has the cache open, so what the page says is left from processes that have ended.
        private func setUp(_ key: FileKey) {
            var attributes = pthread_mutexattr_t()
            pthread_mutexattr_init(&attributes)
            pthread_mutexattr_setpshared(&attributes, Int32(PTHREAD_PROCESS_SHARED))
            pthread_mutexattr_setrobust(&attributes, Int32(PTHREAD_MUTEX_ROBUST))
            memset(page, 0, Self.pageSize)
            pthread_mutex_init(mutex, &attributes)
            pthread_mutexattr_destroy(&attributes)
            owner.initialize(to: Atomic(0))
            file.pointee = key.inode
        }

        /// Takes the lock on a byte, changes it or gives it back; false if another process or copy holds it.
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

    /// Waits for this process's turn to write, which ends with ``releaseTurn()`` on the same thread.
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
            case EOWNERDEAD: pthread_mutex_consistent(mutex)  // LMDB undoes what it had begun
            case ETIMEDOUT: throw busy(deadline)
            default: throw QuireError.system("cannot lock", path + "-open", status)
            }
            owner.pointee.store(getpid(), ordering: .relaxed)
        #endif
    }

    func releaseTurn() {
        #if os(Linux)
            owner.pointee.store(0, ordering: .relaxed)
            pthread_mutex_unlock(mutex)
        #endif
    }

    /// The error of a wait that took too long; it names the process that writes.
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

/// How long a writer waits for its turn, from when it first has to.
struct Deadline {
    let limit: Duration
    private var known: timespec?

    #if os(Linux)
        static let clock = CLOCK_MONOTONIC
    #else
        static let clock = CLOCK_REALTIME  // what conditions wait by there
    #endif
    /// Longer is for ever.
    private static let longest = 1 << 31 as Int64

    init(_ limit: Duration) { self.limit = max(limit, .zero) }

    /// When it is over, on ``clock``.
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

/// The LMDB that is loaded, which need not be the one this was compiled with.
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

    /// False for versions that destroy, when they close a file, the locks that another process is about to
    /// use (ITS#9278, taken back by ITS#10095).
    static func canShare(_ number: Number) -> Bool { number < (0, 9, 26) || number > (0, 9, 31) }
}
