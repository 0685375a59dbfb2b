import Foundation

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

/// Standard error.
enum Messages {
    /// Writes a line that starts with the name of the tool.
    static func write(_ message: String) { writeLines("quire: " + shown(message)) }

    /// Writes several lines, with everything escaped that could control a terminal.
    static func writeLines(_ text: String) {
        var bytes = Array((shown(text, keeping: ["\n"]) + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0 && errno != EINTR { return }
            bytes = bytes.dropFirst(max(0, count))
        }
    }
}
