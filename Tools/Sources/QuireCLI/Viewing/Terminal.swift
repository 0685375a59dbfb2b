import Foundation
import Synchronization

/// Returns the size of the terminal behind a descriptor; nil if there is none.
func terminalSize(_ descriptor: Int32) -> (rows: Int, columns: Int)? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
        return nil
    }
    return (Int(size.ws_row), Int(size.ws_col))
}

/// True if programs may colour what they write to this descriptor (no-color.org).
func mayColour(_ descriptor: Int32) -> Bool {
    let environment = ProcessInfo.processInfo.environment
    return isatty(descriptor) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
}

/// The terminal as a full-screen program has it: keys come one by one and unseen, and the screen is another
/// one. Whatever ends the program, a key, an error or a signal, `leave()` gives the terminal back.
final class Terminal {
    private var before = termios()
    private var isEntered = false

    private static let signal = Atomic<Int32>(0)
    private static let isResized = Atomic(false)

    /// True if a person reads stdout and types.
    static var isPresent: Bool {
        let kind = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && kind != "dumb" && !kind.isEmpty
    }

    init() throws {
        if tcgetattr(STDIN_FILENO, &before) != 0 {
            throw Failure(.io, "the terminal: \(String(cString: strerror(errno)))")
        }
        Self.handleSignals()
    }

    deinit { leave() }

    /// The signal that asks the program to end or to stop, once; 0 if there is none.
    static func takeSignal() -> Int32 { signal.exchange(0, ordering: .relaxed) }

    private static func handleSignals() {
        (_, _) = (signal.load(ordering: .relaxed), isResized.load(ordering: .relaxed))
        Interruption.handle([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]) {
            Terminal.signal.store($0, ordering: .relaxed)
        }
        Interruption.handle([SIGWINCH, SIGCONT]) { _ in Terminal.isResized.store(true, ordering: .relaxed) }
    }

    // MARK: Entering and leaving

    func enter() throws {
        if isEntered { return }
        isEntered = true
        var raw = before
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(IXON | ICRNL)
        raw.c_oflag &= ~tcflag_t(OPOST)
        tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        // another screen, without a cursor
        try write("\u{1B}[?1049h\u{1B}[?25l")
    }

    func leave() {
        if !isEntered { return }
        isEntered = false
        try? write("\u{1B}[?25h\u{1B}[?1049l")
        tcsetattr(STDIN_FILENO, TCSANOW, &before)
    }

    /// Gives the terminal back, stops this process as Ctrl-Z does, and goes on when it is continued.
    func suspend() throws {
        leave()
        kill(getpid(), SIGSTOP)
        if Self.takeSignal() == SIGHUP { return }
        try enter()
    }

    // MARK: Reading and writing

    /// What is typed within this time, or as soon as the size has changed or a signal came; nil at the end of
    /// the input.
    func read(milliseconds: Int32) -> [UInt8]? {
        var stream = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        if Self.isResized.exchange(false, ordering: .relaxed) { return [] }
        if poll(&stream, 1, milliseconds) <= 0 { return [] }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = Foundation.read(STDIN_FILENO, &bytes, bytes.count)
        if count == 0 || count < 0 && errno != EINTR && errno != EAGAIN { return nil }
        return Array(bytes.prefix(max(0, count)))
    }

    func write(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR && errno != EAGAIN {
                throw OutputClosed()
            }
        }
    }
}
