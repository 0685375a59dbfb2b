import Foundation
import Synchronization

/// A program in a process of its own. Foundation's `Process` hears of all ends on one thread and through
/// sockets, on Linux, and the tests have died in its `run()` while many programs ran.
final class ChildProcess: Sendable {
    let identifier: pid_t
    /// How it ended, as `waitpid` says it; nil while it runs.
    private let end = Mutex<Int32?>(nil)

    struct Failure: Error { let program: String, code: Int32 }

    /// Starts a program with these streams, in a process group of its own. It gets no other file of this
    /// process.
    /// - Parameter folder: Where it runs; nil for the folder of this process.
    init(
        _ program: String, _ arguments: [String], in folder: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        input: FileHandle = .nullDevice, output: FileHandle = .nullDevice, errors: FileHandle = .nullDevice
    ) throws {
        var files = SpawnFiles()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        for (target, stream) in [input, output, errors].enumerated() {
            posix_spawn_file_actions_adddup2(&files, stream.fileDescriptor, Int32(target))
        }
        var command = [program] + arguments
        #if os(Linux)
            // Swift sees neither addchdir_np nor addclosefrom_np here. `env` becomes the program.
            for file in 3..<Int32(1_024) { posix_spawn_file_actions_addclose(&files, file) }
            if let folder { command = ["/usr/bin/env", "-C", folder] + command }
        #else
            if let folder { posix_spawn_file_actions_addchdir_np(&files, folder) }
        #endif
        var attributes = try Self.attributes()
        defer { posix_spawnattr_destroy(&attributes) }
        var child: pid_t = 0
        let failure = Self.withStrings(command) { arguments in
            Self.withStrings(environment.map { "\($0)=\($1)" }) {
                posix_spawn(&child, command[0], &files, &attributes, arguments, $0)
            }
        }
        if failure != 0 { throw Failure(program: program, code: failure) }
        identifier = child
    }

    #if os(Linux)
        private typealias SpawnFiles = posix_spawn_file_actions_t
        private typealias SpawnAttributes = posix_spawnattr_t
    #else
        private typealias SpawnFiles = posix_spawn_file_actions_t?
        private typealias SpawnAttributes = posix_spawnattr_t?
    #endif

    /// Signals do what they do by default: the threads that start a program block some.
    private static func attributes() throws -> SpawnAttributes {
        var attributes = SpawnAttributes()
        posix_spawnattr_init(&attributes)
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        #if !os(Linux)
            flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
        #endif
        posix_spawnattr_setflags(&attributes, Int16(flags))
        return attributes
    }

    private static func withStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }

    /// How it ended. Its number is free for another process only after that is noted.
    private func ended(_ options: Int32) -> Int32? {
        end.withLock { end in
            var status: Int32 = 0
            if end == nil, waitpid(identifier, &status, options) == identifier { end = status }
            return end
        }
    }

    var isRunning: Bool { ended(WNOHANG) == nil }

    /// Waits until it has ended, and returns how, as `waitpid` says it.
    @discardableResult
    private func waited() -> Int32 {
        var info = siginfo_t()
        // Others may ask, and send signals, while this thread waits.
        while waitid(P_PID, id_t(identifier), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        return ended(0)!
    }

    /// Returns when it has ended.
    func waitUntilExit() { waited() }

    /// Its exit status, or the number of the signal that ended it. Waits for its end.
    var status: Int32 {
        let end = waited()
        return wasKilled ? end & 0x7f : end >> 8 & 0xff
    }

    /// True if a signal ended it. Waits for its end.
    var wasKilled: Bool { waited() & 0x7f != 0 }

    /// Sends a signal, unless it has ended.
    func send(_ signal: Int32) {
        end.withLock { if $0 == nil { _ = kill(identifier, signal) } }
    }
}
