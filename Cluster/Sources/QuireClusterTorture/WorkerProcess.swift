import ClusterTesting
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
    private struct State {
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
    private let running = Mutex<ChildProcess?>(nil)
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
        let program = ChildProcess(command)
        state.withLock { $0.hasEnded = false }
        try program.start { [weak self] in self?.take($0) }
        running.withLock { $0 = program }
    }

    func kill() {
        running.withLock { $0 }?.kill()
        running.withLock { $0 = nil }
    }

    /// Lets it end by itself.
    func end() async throws {
        guard let program = running.withLock({ $0 }) else { return }
        try program.letEnd()
        let end = ContinuousClock.now + .seconds(60)
        while program.isRunning || !state.withLock(\.hasEnded), .now < end {
            try await Task.sleep(for: .milliseconds(50))
        }
        if program.isRunning || !program.hasSucceeded || !state.withLock(\.hasEnded) {
            throw Trouble("the node in \(name) does not end as it should")
        }
        running.withLock { $0 = nil }
    }

    /// Waits until `more` further pages were acknowledged.
    func wait(for more: Int, within time: Duration = .seconds(120)) async throws {
        let (goal, end) = (count + more, ContinuousClock.now + time)
        while count < goal {
            guard let program = running.withLock({ $0 }), program.isRunning else {
                throw Trouble("the node in \(name) has ended")
            }
            if .now > end { throw Trouble("the node in \(name) does not go on") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// - Parameter words: Of a line that it printed.
    private func take(_ words: [Substring]) {
        if words.first == "note" { print("          \(name): \(words.dropFirst().joined(separator: " "))") }
        state.withLock { state in
            if words.first == "end" { state.hasEnded = true }
            guard words.count == 3, words[0] == "page", let page = Int(words[2]) else { return }
            state.pages[String(words[1]), default: []].insert(page)
            state.count += 1
            state.longest = max(state.longest, .now - state.newest)
            state.newest = .now
        }
    }
}
