import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The number of the process that made this. Every snapshot and every write asks whether this is a forked
/// child of it, without the system call that `getpid()` makes on Linux.
struct ProcessNumber: ~Copyable, Sendable {
    private let number = getpid()
    /// The calls so far that asked the system. To make the page below takes as long as hundreds of such
    /// calls, and a program that opens a cache to read a page does not need it.
    private let calls = Atomic(0)
    private static let few = 64

    /// False in a forked child.
    var isCurrent: Bool { current == number }

    private var current: pid_t {
        if calls.load(ordering: .relaxed) < Self.few {
            calls.add(1, ordering: .relaxed)
            return getpid()
        }
        guard let remembered = Self.remembered else { return getpid() }
        let number = remembered.pointee.load(ordering: .relaxed)
        if number != 0 { return number }
        let asked = getpid()
        remembered.pointee.store(asked, ordering: .relaxed)
        return asked
    }

    /// The kernel clears this page in a child, however that was forked. Nil if it cannot.
    private nonisolated(unsafe) static let remembered: UnsafeMutablePointer<Atomic<pid_t>>? = {
        #if os(Linux)
            let size = sysconf(Int32(_SC_PAGESIZE))
            let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            guard let page, page != MAP_FAILED else { return nil }
            if madvise(page, size, wipeOnFork) != 0 {
                munmap(page, size)
                return nil
            }
            return page.bindMemory(to: Atomic<pid_t>.self, capacity: 1)
        #else
            return nil
        #endif
    }()

    /// MADV_WIPEONFORK, which older headers do not have.
    private static let wipeOnFork: Int32 = 18
}
