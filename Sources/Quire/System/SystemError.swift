#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension QuireError {
    /// Translates an error number of the operating system to an error.
    static func system(_ what: String, _ path: String, _ number: Int32) -> QuireError {
        // LMDB reports a short write as EIO.
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
