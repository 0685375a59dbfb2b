import Foundation
import Synchronization

/// A node in a process of its own. It ends with this program.
final class NodeProcess: Sendable {
    fileprivate struct State {
        var written = 0
        var hasEnded = false
        var line: [UInt8] = []
    }

    private let process: Process
    private let state = Mutex(State())
    /// As long as it is open the node lives: it ends with this program, also if that is killed.
    private let lifeline = Pipe()

    var identifier: Int32 { process.processIdentifier }

    /// How many of its writes were acknowledged.
    var written: Int { state.withLock(\.written) }

    init(_ index: Int, _ folder: String, _ servers: [String]) throws {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["node", "\(index)", folder] + servers
        process.standardOutput = output
        process.standardInput = lifeline
        self.process = process
        output.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let bytes = handle.availableData
            if bytes.isEmpty { handle.readabilityHandler = nil }
            self?.state.withLock { $0.take(bytes) }
        }
        try process.run()
    }

    func kill() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    func waitForWrites(_ count: Int) async throws {
        try await wait { $0.written >= count || $0.hasEnded }
    }

    func waitForEnd() async throws {
        try await wait { $0.hasEnded }
        process.waitUntilExit()
    }

    private func wait(_ isDone: @Sendable (State) -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while !state.withLock({ isDone($0) }) {
            if ContinuousClock.now > end { throw DemoFailure("process \(identifier) does not go on") }
            if !process.isRunning, !state.withLock({ isDone($0) }) {
                throw DemoFailure("a node has ended early")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

extension NodeProcess.State {
    fileprivate mutating func take(_ bytes: Data) {
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            line = []
            if words.first == "end" { hasEnded = true }
            if words.count == 2, words[0] == "written", let count = Int(words[1]) { written = count }
        }
    }
}
