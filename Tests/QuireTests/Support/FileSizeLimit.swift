import Foundation

/// Lets no file of this process grow beyond a size. Use it in a process of its own.
func limitFileSizes(to size: Int) {
    var limit = rlimit(rlim_cur: rlim_t(size), rlim_max: .max)
    #if canImport(Glibc)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
        setrlimit(RLIMIT_FSIZE, &limit)
    #endif
}
