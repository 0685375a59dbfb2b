#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A forked child, whose crashes the parent observes. This program has one thread and opens no cache itself,
/// so a fork is a fresh process.
struct Child {
    let process: pid_t
    /// Receives what the child writes with ``tell(_:)``.
    private let input: Int32

    enum Ending: Equatable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// Runs `body` in a child that SIGALRM ends after a number of seconds.
    init(seconds: UInt32 = 20, _ body: (_ tell: (UInt64) -> Void) -> Int32) {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0, "no pipe")
        let child = fork()
        precondition(child >= 0, "no child")
        if child == 0 {
            close(ends[0])
            // A program inherits the signals that its parent's thread had blocked, SIGALRM perhaps too.
            var none = sigset_t()
            sigemptyset(&none)
            sigprocmask(SIG_SETMASK, &none, nil)
            alarm(seconds)
            let out = ends[1]
            let status = body { number in
                var number = number
                _ = write(out, &number, 8)
            }
            _exit(status)
        }
        close(ends[1])
        (process, input) = (child, ends[0])
    }

    func end() { kill(process, SIGKILL) }

    /// Returns the next number that it told; nil if it has ended.
    func heard() -> UInt64? {
        var number: UInt64 = 0
        while true {
            let count = read(input, &number, 8)
            if count == 8 { return number }
            if count >= 0 || errno != EINTR { return nil }
        }
    }

    /// Waits for the end. Also returns the numbers not read yet.
    func wait() -> (ending: Ending, numbers: [UInt64]) {
        var numbers: [UInt64] = []
        while let number = heard() { numbers.append(number) }
        close(input)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7F
        return (signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal), numbers)
    }
}

/// Prints a message from a child, which must not share the parent's buffers.
func complain(_ message: String) {
    let line = message + "\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
}
