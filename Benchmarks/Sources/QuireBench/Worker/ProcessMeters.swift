import CSync
import Foundation

/// What the kernel knows about this process.
struct ProcessMeters {
    /// Bytes handed to write calls.
    var written: UInt64
    /// Requests to sync, and those passed on to the kernel.
    var syncsAsked: UInt64
    var syncsMade: UInt64

    static func now() -> ProcessMeters {
        let counts = syncing_count()
        return ProcessMeters(
            written: number("wchar:", in: "/proc/self/io"), syncsAsked: counts.calls,
            syncsMade: counts.made)
    }

    /// Bytes of anonymous memory in use: the heap, not the mapped file.
    static var anonymousMemory: UInt64 { number("RssAnon:", in: "/proc/self/status") * 1_024 }

    /// The most memory this process ever had, pages of mapped files included.
    static var peakMemory: UInt64 { number("VmHWM:", in: "/proc/self/status") * 1_024 }

    private static func number(_ label: String, in path: String) -> UInt64 {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return 0 }
        for line in text.split(separator: "\n") where line.hasPrefix(label) {
            return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { UInt64($0) } ?? 0
        }
        return 0
    }
}

/// Bytes that the files of a folder occupy on disk, folders in it included.
func diskUse(of folder: String) -> UInt64 {
    var total: UInt64 = 0
    guard let paths = FileManager.default.enumerator(atPath: folder) else { return 0 }
    for case let path as String in paths {
        var status = stat()
        if lstat(folder + "/" + path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            total += UInt64(status.st_blocks) * 512
        }
    }
    return total
}
