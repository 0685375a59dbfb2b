import Foundation
import Synchronization

/// A program in a process of its own, which goes on until its standard input ends. So it ends with this
/// program, also if this one is killed.
public final class ChildProcess: Sendable {
    private let process = Process()
    /// Its standard input.
    private let lifeline = Pipe()

    /// The number of the process.
    public var identifier: Int32 { process.processIdentifier }

    /// Whether it has not ended yet.
    public var isRunning: Bool { process.isRunning }

    /// Whether it ended by itself, and well. Only after it has ended.
    public var hasSucceeded: Bool { process.terminationReason == .exit && process.terminationStatus == 0 }

    /// Does not start it.
    /// - Parameter command: The program and its arguments.
    public init(_ command: [String]) {
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = lifeline
    }

    /// Starts it, once.
    /// - Parameter take: Takes the words of each line that it prints, one line after the other, on another
    ///   thread.
    public func start(_ take: @escaping @Sendable ([Substring]) -> Void) throws {
        let output = Pipe()
        let begun = Mutex<[UInt8]>([])
        process.standardOutput = output
        output.fileHandleForReading.readabilityHandler = { handle in
            let bytes = handle.availableData
            if bytes.isEmpty { handle.readabilityHandler = nil }
            for line in begun.withLock({ Self.lines(of: bytes, after: &$0) }) {
                take(line.split(separator: " "))
            }
        }
        try process.run()
    }

    /// The lines that end in these bytes; what follows the last one waits in `begun`.
    private static func lines(of bytes: Data, after begun: inout [UInt8]) -> [String] {
        begun += bytes
        let parts = begun.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        begun = Array(parts.last!)
        return parts.dropLast().map { String(decoding: $0, as: UTF8.self) }
    }

    /// Kills it (SIGKILL), and returns when it has ended.
    public func kill() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        waitUntilExit()
    }

    /// Tells it to end by itself.
    public func letEnd() throws { try lifeline.fileHandleForWriting.close() }

    /// Returns when it has ended.
    public func waitUntilExit() { process.waitUntilExit() }
}
