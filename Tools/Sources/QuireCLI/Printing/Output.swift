import Foundation
import Synchronization

/// The reader of stdout has closed it.
struct OutputClosed: Error {}

/// Buffered standard output. Every method throws ``OutputClosed`` once the reader has closed it.
final class Output {
    private var buffer: [UInt8] = []
    /// Data must not control a terminal. Other readers get its bytes unchanged.
    private let isTerminal = isatty(STDOUT_FILENO) == 1

    /// Writes a line of the tool, in which ``shown(_:limit:)`` has escaped text from data.
    func line(_ text: String) throws {
        buffer.append(contentsOf: text.utf8)
        try endLine()
    }

    /// Writes bytes of data, escaped only for a terminal.
    func data(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try data($0) }
    }

    func data(_ bytes: UnsafeRawBufferPointer) throws {
        if isTerminal {
            let text = String(decoding: bytes, as: UTF8.self)
            buffer.append(contentsOf: shown(text, keeping: ["\n", "\t"]).utf8)
        } else {
            buffer.append(contentsOf: bytes)
        }
        if buffer.count >= 1 << 16 { try flush() }
    }

    func endLine() throws {
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= 1 << 16 { try flush() }
    }

    /// Waits, and notices that the reader closes stdout meanwhile. A signal ends the wait.
    func pause(milliseconds: Int32) throws {
        var stream = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        let isClosed = poll(&stream, 1, milliseconds) > 0 && stream.revents & Int16(POLLERR) != 0
        if isClosed { throw OutputClosed() }
    }

    func flush() throws {
        var rest = buffer[...]
        buffer = []
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                throw OutputClosed()
            } else if errno != EINTR {
                throw Failure(.io, "stdout: \(String(cString: strerror(errno)))")
            }
        }
    }
}

/// Standard error. With --json every line of it is an object, too.
enum Messages {
    private static let isJSON = CommandLine.arguments.prefix { $0 != "--" }.contains("--json")

    private struct Line: Encodable {
        var count: Int?
        var exitCode: Int32?
        let message: String
        var place: String?
        /// `error`, or `note` if nothing went wrong.
        let type: String
    }

    /// Writes a line that starts with the name of the tool.
    static func write(_ message: String) { write("quire: " + message, Line(message: message, type: "note")) }

    /// Writes what could not be read or taken in at a place, which is named in the message.
    static func writeError(_ message: String, at place: String) {
        write("quire: " + message, Line(message: message, place: place, type: "error"))
    }

    /// Writes how often something went wrong.
    static func write(_ message: String, times count: Int) {
        write(
            "quire:   \(counted(count, "time")): \(message)",
            Line(count: count, message: message, type: "error"))
    }

    /// With `--json`, says how the tool ends, if there was anything to say before: with the last error, or
    /// after it.
    static func writeEnd(_ code: Int32) {
        guard isJSON, hasWritten.withLock({ $0 }) else { return }
        if var line = takeHeld() {
            line.exitCode = code == 0 ? nil : code
            writeJSON(line)
        } else if code != 0 {
            writeJSON(Line(exitCode: code, message: "ended with exit code \(code)", type: "note"))
        }
    }

    /// Writes why the tool ends. `text` is what people read.
    static func writeEnd(_ message: String, _ code: Int32, text: String? = nil) {
        write(text ?? "quire: " + message, Line(exitCode: code, message: message, type: "error"))
    }

    private static let hasWritten = Mutex(false)
    /// An error that may be the last line, which has the exit code.
    private static let held = Mutex<Line?>(nil)

    private static func takeHeld() -> Line? {
        held.withLock { held in
            defer { held = nil }
            return held
        }
    }

    private static func write(_ text: String, _ line: Line) {
        guard isJSON else { return writeLines(text) }
        hasWritten.withLock { $0 = true }
        if let earlier = takeHeld() { writeJSON(earlier) }
        if line.type == "error" && line.exitCode == nil {
            held.withLock { $0 = line }
        } else {
            writeJSON(line)
        }
    }

    private static func writeJSON(_ line: Line) {
        writeLines((try? JSONLines.text(line)) ?? line.message)
    }

    /// Writes several lines, with everything escaped that could control a terminal.
    private static func writeLines(_ text: String) {
        var bytes = Array((shown(text, keeping: ["\n"]) + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0 && errno != EINTR { return }
            bytes = bytes.dropFirst(max(0, count))
        }
    }
}
