#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Quire
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The files of one shard in a node's folder: `<shard>-<n>.quire` and its companions, `<shard>.current` with
/// the number of the one that counts, and `<shard>.lock`, by which one process at a time follows the log
/// here.
final class ShardFiles: Sendable {
    private let folder: String
    private let shard: String
    private let lock: Int32
    private let isLocked = Mutex(true)

    /// - Throws: `.busy` if another process follows the log in this folder.
    init(_ folder: String, shard: String) throws(QuireError) {
        (self.folder, self.shard) = (folder, shard)
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch { throw QuireError(.io, "\(folder): \(error)") }
        let path = "\(folder)/\(shard).lock"
        lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if lock < 0 { throw QuireError(.io, "\(path): \(String(cString: strerror(errno)))") }
        if flock(lock, LOCK_EX | LOCK_NB) != 0 {  // what is whole is closed by deinit, also now
            throw QuireError(.busy, "\(folder): another program follows the log of shard \(shard) here")
        }
    }

    deinit { unlock() }

    /// Lets another program follow the log here.
    func unlock() {
        isLocked.withLock { isLocked in
            if isLocked {
                // a process that is being started has the descriptor too, and would keep the lock a while
                flock(lock, LOCK_UN)
                close(lock)
            }
            isLocked = false
        }
    }

    func path(_ number: Int) -> String { "\(folder)/\(shard)-\(number).quire" }

    /// A place for a file that does not stay.
    var draft: String { "\(folder)/\(shard)-checkpoint.draft" }

    /// The number of the file that counts, nil if there is none.
    var current: Int? {
        (try? String(contentsOfFile: "\(folder)/\(shard).current", encoding: .utf8)).flatMap {
            Int($0.filter { !$0.isWhitespace })
        }
    }

    /// A number that no file has.
    var unused: Int { (numbers.max() ?? 0) + 1 }

    private var numbers: [Int] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { name in
            guard name.hasPrefix("\(shard)-"), let dot = name.firstIndex(of: ".") else { return nil }
            return Int(name[..<dot].dropFirst(shard.count + 1))
        }
    }

    /// From now on this file counts, and the others go. Programs that have them open may go on reading.
    func use(_ number: Int) throws(QuireError) {
        do {
            try String(number).write(toFile: "\(folder)/\(shard).current", atomically: true, encoding: .utf8)
        } catch { throw QuireError(.io, "\(folder): \(error)") }
        removeAll { $0 != number }
    }

    func remove(_ number: Int) { removeAll { $0 == number } }

    private func removeAll(where goes: (Int) -> Bool) {
        for number in Set(numbers) where goes(number) { Self.remove(path(number)) }
    }

    /// A cache with its companions.
    static func remove(_ path: String) {
        for suffix in ["", "-lock", "-open"] { unlink(path + suffix) }
    }
}
