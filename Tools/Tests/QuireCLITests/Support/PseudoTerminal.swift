import Foundation
import Testing

/// A terminal without a screen: what a program draws is read here, what is typed is sent from here.
final class PseudoTerminal {
    private let main: Int32
    private let side: Int32
    private var output: [UInt8] = []
    /// The time limit of a test does not end one that blocks a thread, where there are few of them.
    private let deadline = Date(timeIntervalSinceNow: 60)

    init(rows: Int, columns: Int) throws {
        main = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        #if os(Linux)
            // Swift has no posix_openpt() here: TIOCSPTLCK, TIOCGPTN
            var (lock, number): (Int32, Int32) = (0, 0)
            try #require(ioctl(main, 0x4004_5431, &lock) == 0 && ioctl(main, 0x8004_5430, &number) == 0)
            let name = "/dev/pts/\(number)"
        #else
            try #require(main >= 0 && grantpt(main) == 0 && unlockpt(main) == 0)
            let name = String(cString: ptsname(main))
        #endif
        side = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(side >= 0)
        resize(rows: rows, columns: columns)
    }

    deinit {
        close(main)
        close(side)
    }

    func resize(rows: Int, columns: Int) {
        var size = winsize(
            ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(main, UInt(TIOCSWINSZ), &size)
    }

    /// Runs a program here.
    func start(_ program: String, _ arguments: [String], _ environment: [String: String] = [:]) throws
        -> ChildProcess
    {
        let screen = FileHandle(fileDescriptor: side, closeOnDealloc: false)
        return try ChildProcess(
            program, arguments,
            environment: ProcessInfo.processInfo.environment.filter { $0.key != "NO_COLOR" }
                .merging(["TERM": "xterm"]) { $1 }.merging(environment) { $1 },
            input: screen, output: screen, errors: screen)
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(main, $0.baseAddress, $0.count) }
    }

    /// True while what is typed is shown and comes line by line, as it is before and after a full-screen
    /// program.
    var isCooked: Bool {
        var state = termios()
        return tcgetattr(side, &state) == 0 && state.c_lflag & tcflag_t(ICANON) != 0
            && state.c_lflag & tcflag_t(ECHO) != 0 && state.c_lflag & tcflag_t(ISIG) != 0
            && state.c_iflag & tcflag_t(ICRNL) != 0
    }

    /// All that was drawn so far.
    var text: String { String(decoding: output, as: UTF8.self) }

    /// The last whole picture: its lines, as they are coloured.
    var picture: [String] {
        let pictures = text.components(separatedBy: "\u{1B}[H").dropFirst()
        guard let last = pictures.last(where: { $0.contains("\u{1B}[J") }) else { return [] }
        return last.components(separatedBy: "\u{1B}[J")[0].replacingOccurrences(of: "\u{1B}[K", with: "")
            .components(separatedBy: "\r\n")
    }

    /// The last whole picture without colours.
    var lines: [String] { picture.map { $0.replacing(#/\u{1B}\[[0-9;]*m/#, with: "") } }

    private func read() throws {
        if Task.isCancelled || deadline.timeIntervalSinceNow < 0 {
            Issue.record("never seen; the screen shows\n\(lines.joined(separator: "\n"))")
            throw CancellationError()
        }
        var stream = pollfd(fd: main, events: Int16(POLLIN), revents: 0)
        if poll(&stream, 1, 50) <= 0 { return }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Foundation.read(main, &bytes, bytes.count)
        if count > 0 { output += bytes.prefix(count) }
    }

    /// Reads until the picture is as wanted.
    func wait(_ what: String, for isWanted: ([String]) -> Bool) throws {
        do {
            while !isWanted(lines) { try read() }
        } catch {
            Issue.record("waited for \(what)")
            throw error
        }
    }

    /// Reads until something outside of the picture is so.
    func wait(until isSo: () -> Bool) throws { while !isSo() { try read() } }

    /// Reads until the program has ended; returns its status.
    func end(of process: ChildProcess) throws -> Int32 {
        while process.isRunning { try read() }
        while !text.contains("\u{1B}[?1049l") { try read() }  // a message may follow
        return process.status
    }
}
