import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Whether this process may use what it has open. A forked child may not: LMDB's locks and its slots in
/// the table of readers stay the parent's, and a lock of ours may have been held by a thread that the
/// child does not have. So the child looks at one flag before it touches anything else.
enum Process {
    private static let forked = Atomic(false)
    private static let watch: Void = {
        _ = forked.load(ordering: .relaxed)
        pthread_atfork(nil, nil, { Process.forked.store(true, ordering: .relaxed) })
    }()

    static var isForked: Bool { forked.load(ordering: .relaxed) }

    /// From now on a fork counts.
    static func watchForks() { watch }
}
