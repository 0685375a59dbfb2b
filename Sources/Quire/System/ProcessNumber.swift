import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The number of this process, without the system call that `getpid()` makes on Linux: every snapshot and
/// every write asks whether this is a forked child.
enum ProcessNumber {
    static var current: pid_t {
        guard let remembered else { return getpid() }
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
