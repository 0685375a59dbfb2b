import ClusterTesting
import Foundation
import Synchronization

/// A node of the demo in a process of its own, and what it has printed.
final class NodeProcess: Sendable {
    private struct State {
        var written = 0
        var hasEnded = false
    }

    private let program: ChildProcess
    private let state = Mutex(State())

    var identifier: Int32 { program.identifier }

    /// How many of its writes were acknowledged.
    var written: Int { state.withLock(\.written) }

    init(_ index: Int, _ folder: String, _ servers: [String]) throws {
        program = ChildProcess([Bundle.main.executablePath!, "node", "\(index)", folder] + servers)
        try program.start { [weak self] in self?.take($0) }
    }

    func kill() { program.kill() }

    func waitForWrites(_ count: Int) async throws {
        try await wait { $0.written >= count || $0.hasEnded }
    }

    func waitForEnd() async throws {
        try await wait { $0.hasEnded }
        program.waitUntilExit()
    }

    private func wait(_ isDone: @Sendable (State) -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while !state.withLock({ isDone($0) }) {
            if ContinuousClock.now > end { throw DemoFailure("process \(identifier) does not go on") }
            if !program.isRunning, !state.withLock({ isDone($0) }) {
                throw DemoFailure("a node has ended early")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func take(_ words: [Substring]) {
        state.withLock { state in
            if words.first == "end" { state.hasEnded = true }
            if words.count == 2, words[0] == "written", let count = Int(words[1]) { state.written = count }
        }
    }
}
