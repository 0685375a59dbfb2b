import CLMDB

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
        return QuireError(
            code, "\(path): \(what): \(String(cString: strerror(number)))", osError: number)
    }

    /// What LMDB's return code means for a caller.
    static func storage(_ what: String, _ path: String, _ status: Int32) -> QuireError {
        if status > 0 { return system(what, path, status) }
        let code: Code =
            switch status {
            case MDB_INVALID: .notACache
            case MDB_VERSION_MISMATCH: .newerFormat
            case MDB_CORRUPTED, MDB_PAGE_NOTFOUND: .corrupt
            case MDB_MAP_FULL: .diskFull
            default: .io
            }
        return QuireError(code, "\(path): \(what): \(String(cString: mdb_strerror(status)))")
    }

    static func corrupt(_ what: String) -> QuireError {
        QuireError(.corrupt, "\(what) does not read back as it was written")
    }
}

/// Throws unless LMDB's return code says success. The message is built only for a failure.
func check(
    _ status: Int32, _ what: @autoclosure () -> String, _ path: String
) throws(QuireError) {
    if status != 0 { throw QuireError.storage(what(), path, status) }
}
