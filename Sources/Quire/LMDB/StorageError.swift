import CLMDB

extension QuireError {
    /// Translates a return code of LMDB to an error.
    static func storage(_ what: String, _ path: String, _ status: Int32) -> QuireError {
        if status > 0 { return system(what, path, status) }
        let code: Code =
            switch status {
            case MDB_INVALID: .notACache
            case MDB_VERSION_MISMATCH: .newerFormat
            case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INCOMPATIBLE: .corrupt
            case MDB_MAP_FULL: .diskFull
            default: .io
            }
        return QuireError(code, "\(path): \(what): \(String(cString: mdb_strerror(status)))")
    }
}

/// Throws unless LMDB's return code means success. The message and the path are evaluated only for a failure.
func check(
    _ status: Int32, _ what: @autoclosure () -> String, _ path: @autoclosure () -> String
) throws(QuireError) {
    if status != 0 { throw QuireError.storage(what(), path(), status) }
}
