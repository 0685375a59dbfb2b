#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file that is read from its beginning.
final class FileReader: Sendable {
    private let descriptor: Int32
    private let path: String

    init(_ path: String) throws(LogError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw .refused("\(path): \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// How many bytes a file has.
    static func size(of path: String) throws(LogError) -> Int {
        let file = try FileReader(path)
        var status = stat()
        if fstat(file.descriptor, &status) != 0 {
            throw .refused("\(path): \(String(cString: strerror(errno)))")
        }
        return Int(status.st_size)
    }

    /// The next bytes, none at the end. As many as asked for, except at the end.
    func next(_ size: Int) throws(LogError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        var filled = 0
        while filled < size {
            let count = bytes.withUnsafeMutableBytes {
                read(descriptor, $0.baseAddress! + filled, size - filled)
            }
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw .refused("\(path): \(String(cString: strerror(errno)))") }
            if count == 0 { break }
            filled += count
        }
        return Array(bytes[..<filled])
    }
}

/// A new file, written from its beginning.
final class FileWriter: Sendable {
    private let descriptor: Int32
    private let path: String

    init(_ path: String) throws(LogError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw .refused("\(path): \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws(LogError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { start in
                #if canImport(Glibc)
                    Glibc.write(descriptor, start.baseAddress! + written, bytes.count - written)
                #else
                    Darwin.write(descriptor, start.baseAddress! + written, bytes.count - written)
                #endif
            }
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw .refused("\(path): \(String(cString: strerror(errno)))") }
            written += count
        }
    }

    /// Returns once all of it is on disk.
    func finish() throws(LogError) {
        if fsync(descriptor) != 0 { throw .refused("\(path): \(String(cString: strerror(errno)))") }
    }
}
