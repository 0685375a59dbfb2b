import Foundation
import Synchronization

/// What went wrong.
struct Trouble: Error, CustomStringConvertible {
    let description: String
    init(_ text: String) { description = text }
}

/// Set once.
final class EndFlag: Sendable {
    private let state = Atomic(false)
    var isSet: Bool { state.load(ordering: .acquiring) }
    func set() { state.store(true, ordering: .releasing) }
}

/// A node in a process of its own, in one of three languages, with what it was told.
final class WorkerProcess: Sendable {
    /// What is remembered of a node, also of its earlier processes.
    struct State {
        var line: [UInt8] = []
        /// Pages that were acknowledged, by feed.
        var pages: [String: Set<Int>] = [:]
        var count = 0
        var newest = ContinuousClock.now
        var longest = Duration.zero
        var hasEnded = false
    }

    let name: String
    let folder: String
    private let command: [String]
    private let running = Mutex<(process: Process, lifeline: Pipe)?>(nil)
    private let state = Mutex(State())

    /// - Parameter command: The program and its first arguments.
    init(_ name: String, _ command: [String], folder: String) throws {
        (self.name, self.command, self.folder) = (name, command, folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    var pages: [String: Set<Int>] { state.withLock(\.pages) }
    var count: Int { state.withLock(\.count) }
    /// The longest time between two acknowledgements since ``resetPause()``, until now.
    var pause: Duration { state.withLock { max($0.longest, .now - $0.newest) } }
    func resetPause() { state.withLock { ($0.longest, $0.newest) = (.zero, .now) } }

    func start() throws {
        let (process, output, lifeline) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardOutput = output
        process.standardInput = lifeline
        output.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let bytes = handle.availableData
            if bytes.isEmpty { handle.readabilityHandler = nil }
            self?.state.withLock { $0.take(bytes) }
        }
        try process.run()
        running.withLock { $0 = (process, lifeline) }
    }

    func kill() {
        guard let process = running.withLock({ $0?.process }) else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        state.withLock { $0.line = [] }
        running.withLock { $0 = nil }
    }

    /// Lets it end by itself.
    func end() async throws {
        guard let (process, lifeline) = running.withLock({ $0 }) else { return }
        try lifeline.fileHandleForWriting.close()
        let end = ContinuousClock.now + .seconds(60)
        while process.isRunning, .now < end { try await Task.sleep(for: .milliseconds(50)) }
        if process.isRunning || process.terminationStatus != 0 || !state.withLock(\.hasEnded) {
            throw Trouble("the node in \(name) does not end as it should")
        }
        running.withLock { $0 = nil }
    }

    /// Waits until so many more pages were acknowledged.
    func wait(for more: Int, within time: Duration = .seconds(120)) async throws {
        let (goal, end) = (count + more, ContinuousClock.now + time)
        while count < goal {
            guard let process = running.withLock({ $0?.process }), process.isRunning else {
                throw Trouble("the node in \(name) has ended")
            }
            if .now > end { throw Trouble("the node in \(name) does not go on") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

extension WorkerProcess.State {
    fileprivate mutating func take(_ bytes: Data) {
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            line = []
            if words.first == "end" { hasEnded = true }
            if words.first == "note" { print("          \(words.dropFirst().joined(separator: " "))") }
            guard words.count == 3, words[0] == "page", let page = Int(words[2]) else { continue }
            pages[String(words[1]), default: []].insert(page)
            count += 1
            longest = max(longest, .now - newest)
            newest = .now
        }
    }
}
