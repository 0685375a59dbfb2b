import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Tells whether this process may use its open caches. A forked child may not: LMDB's locks and reader slots
/// stay with the parent, and a thread that the child does not have may have held one of our locks. So the
/// child checks a flag before it touches anything else.
enum Process {
    private static let forked = Atomic(false)
    private static let watch: Void = {
        _ = forked.load(ordering: .relaxed)
        pthread_atfork(nil, nil, { Process.forked.store(true, ordering: .relaxed) })
    }()

    static var isForked: Bool { forked.load(ordering: .relaxed) }

    /// Starts to watch for forks.
    static func watchForks() { watch }
}
