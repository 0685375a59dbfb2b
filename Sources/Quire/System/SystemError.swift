#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension QuireError {
    /// What the operating system's error number means for a caller.
    static func system(_ what: String, _ path: String, _ number: Int32) -> QuireError {
        // LMDB's word for a write that was cut short.
        let number = number == EIO && DiskSpace.isUsedUp(path) ? ENOSPC : number
        let code: Code =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .diskFull
            case EACCES, EPERM, EROFS: .noPermission
            default: .io
            }
        return QuireError(code, "\(path): \(what): \(String(cString: strerror(number)))", osError: number)
    }
}
