#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// The names of a cache's file. Each name has lock files of its own, so programs that open one file by two
// names do not see each other, and would damage it.

extension Environment {
    /// Returns the name of a file in the making, which becomes a cache. It is the same for all processes,
    /// since the ``OpenLock`` admits only one at a time.
    static func draft(of path: String) -> String {
        #if os(Linux)
            "\(path).new"
        #else
            "\(path).new-\(getpid())"
        #endif
    }

    /// Returns the name of a copy in the making.
    static func copyDraft(of path: String) -> String { "\(path).copying" }

    /// Returns the name of the file that a repair has kept, by its number.
    static func keptFile(of path: String, _ number: Int) -> String {
        "\(path).corrupt-\(number)"
    }

    /// Throws if the file has a name that is not of a cache in the making or in repair. Those are removed:
    /// the process that gave it was killed, or has yet to do no more than that. Call it with opening locked.
    static func requireOneName(_ path: String) throws(QuireError) {
        let (file, count) = try FileCheck.names(of: path)
        if count == 1 { return }
        for name in passingNames(of: path, file) {
            for end in ["", "-lock"] { unlink(name + end) }
        }
        if try FileCheck.names(of: path).count == 1 { return }
        throw QuireError(
            .io,
            "\(path): has another name (a hard link), and a program that opens it by that name does not see "
                + "the locks of this one: remove one of the names, or put a copy of the file in place of one")
    }

    /// Returns true if another program may write to the file with the locks of another name. Call it with
    /// opening locked.
    static func hasForeignName(_ path: String) throws(QuireError) -> Bool {
        let (file, count) = try FileCheck.names(of: path)
        if count == 1 { return false }
        let passing = passingNames(of: path, file).count  // first, because one may go meanwhile
        return try FileCheck.names(of: path).count > passing + 1
    }

    /// Throws if an open file was moved, removed, replaced or cut off, and must not be written any more. What
    /// is written to a file without a name is never seen. A file that was moved away from its locks may be
    /// open in a program that opened it where it is now, with the locks there. It may move together with
    /// them, as it does with its folder.
    static func requirePlace(
        of descriptor: Int32, _ file: FileKey, _ path: String, _ lock: OpenLock?, _ mark: WriteProgress
    ) throws(QuireError) {
        if let place = mark.place, let size = FileCheck.size(place, of: file), size >= mark.fileSize {
            mark.fileSize = size
            return
        }
        mark.fileSize = try FileCheck.size(descriptor, path, atLeast: mark.fileSize)
        guard let place = FileCheck.place(of: descriptor), let lock = lock?.place else { return }
        if lock == OpenLock.name(place) {
            mark.place = place
            return
        }
        if lock.hasSuffix(FileCheck.removed) {
            throw QuireError(.closed, "\(path): its lock files were removed while it was open")
        }
        throw QuireError(
            .closed,
            "\(path): was moved to \(place) while it was open; a program that opens it there does not see "
                + "the locks of this one")
    }

    private static func passingNames(of path: String, _ file: FileKey) -> [String] {
        var names = [draft(of: path), copyDraft(of: path)].filter { FileCheck.isName($0, of: file) }
        var number = 1
        while true {
            let kept = keptFile(of: path, number)
            if FileCheck.isName(kept, of: file) { names.append(kept) }
            if access(kept, F_OK) != 0 { return names }
            number += 1
        }
    }
}
