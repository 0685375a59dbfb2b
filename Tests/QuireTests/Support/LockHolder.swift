import CLMDB
import Foundation
import Testing

/// Another process that holds a lock on a byte of the open lock for as long as the object lives: it inherits
/// the open file, which is what the lock belongs to, as its standard input.
final class LockHolder {
    private var process: pid_t = 0

    init(_ path: String, _ byte: Int, _ kind: Int32) throws {
        let descriptor = open(path + "-open", O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var range = flock()
        (range.l_type, range.l_whence) = (Int16(kind), Int16(SEEK_SET))
        (range.l_start, range.l_len) = (off_t(byte), 1)
        try #require(fcntl(descriptor, quire_set_open_file_lock, &range) == 0)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, descriptor, 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = ["sleep", "600"].map { (word: String) in
            strdup(word)
        }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        try #require(posix_spawn(&process, "/bin/sleep", &actions, nil, &arguments, nil) == 0)
    }

    deinit {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }
}
