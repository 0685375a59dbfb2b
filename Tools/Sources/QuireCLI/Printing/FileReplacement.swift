import Foundation

/// Puts bytes where a path leads: into a new file, in place of a file, or into what is no regular file.
struct FileReplacement {
    /// Why that failed, in the words of the system.
    struct Failed: Error {
        let reason: String

        init() { reason = String(cString: strerror(errno)) }
    }

    let path: String

    /// A regular file is replaced at once and keeps its mode; a symbolic link is followed. Anything else, as
    /// a device or a named pipe, is written to.
    func write(_ bytes: [UInt8]) throws(Failed) {
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists && status.st_mode & S_IFMT == S_IFREG {
            guard let resolved = realpath(path, nil) else { throw Failed() }
            defer { free(resolved) }
            try replace(String(cString: resolved), bytes, mode: status.st_mode & 0o7777)
        } else if exists || lstat(path, &status) == 0 {
            // The file that a link names may not exist yet.
            try fill(path, O_WRONLY | O_CREAT, bytes)
        } else {
            try replace(path, bytes, mode: nil)
        }
    }

    /// Moves a new file to a path.
    private func replace(_ path: String, _ bytes: [UInt8], mode: mode_t?) throws(Failed) {
        let new = "\(path).\(getpid()).new"
        do throws(Failed) {
            try fill(new, O_WRONLY | O_CREAT | O_EXCL, bytes, mode: mode)
            if rename(new, path) != 0 { throw Failed() }
        } catch {
            unlink(new)
            throw error
        }
    }

    private func fill(
        _ path: String, _ flags: Int32, _ bytes: [UInt8], mode: mode_t? = nil
    ) throws(Failed) {
        let descriptor = open(path, flags | O_CLOEXEC, mode.map { $0 & 0o700 } ?? 0o666)
        if descriptor < 0 { throw Failed() }
        defer { close(descriptor) }
        if let mode, fchmod(descriptor, mode) != 0 { throw Failed() }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw Failed() }
            rest = rest.dropFirst(count)
        }
    }
}
