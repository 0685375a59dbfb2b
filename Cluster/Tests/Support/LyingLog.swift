import Foundation
import QuireCluster
import QuireSimulator
import Synchronization

/// A log in memory that does what a log on many machines may do at its worst. Everything follows from its
/// seed. Three servers keep it; each reader (``view(_:)``) is answered by one of them, and by another one
/// later.
public final class LyingLog: SharedLog {
    /// How often it does what, 0 to 1, in each call.
    public struct Faults: Sendable {
        /// The entry is appended, the acknowledgement does not arrive.
        public var dropsAcknowledgement = 0.0
        /// The entry is appended later, or never; the writer hears of neither.
        public var delays = 0.0
        /// The entry is appended again later.
        public var duplicates = 0.0
        /// Nothing happens.
        public var fails = 0.0
        /// It loses entries that it has acknowledged, and goes on with others.
        public var forks = 0.0
        /// It says that it has lost what it has.
        public var forgets = 0.0
        /// One of its servers keeps others in the middle, and the same at the end.
        public var diverges = 0.0
        /// Another server answers from now on. The reader hears of it.
        public var changes = 0.0

        /// None.
        public init() {}

        /// Some of each.
        public static let some: Faults = {
            var faults = Faults()
            (faults.dropsAcknowledgement, faults.delays, faults.duplicates) = (0.06, 0.06, 0.06)
            (faults.fails, faults.forks, faults.forgets) = (0.08, 0.05, 0.02)
            (faults.diverges, faults.changes) = (0.03, 0.03)
            return faults
        }()
    }

    private struct View {
        var server = 0
        var changes: UInt64 = 0

        mutating func change(to server: Int) {
            self.server = server
            changes += 1
        }
    }

    private struct State {
        var random: SplitMix64
        var faults: Faults
        /// What each server keeps; the first has the number `first`. There are as many on each.
        var copies: [[(stamp: UInt64, bytes: [UInt8])]] = [[], [], []]
        var views = Array(repeating: View(), count: 4)
        var stamp: UInt64 = 0
        var first: UInt64 = 1
        /// What may be appended later.
        var late: [[UInt8]] = []
        var checkpoint: Checkpoint?
        var files = 0
        var forks = 0
        var divergences = 0

        var last: UInt64 { first + UInt64(copies[0].count) - 1 }

        mutating func store(_ bytes: [UInt8]) {
            stamp += 1
            for i in copies.indices { copies[i].append((stamp, bytes)) }
        }

        mutating func arrive() {
            while !late.isEmpty, random.chance(0.3) { store(late.remove(at: random.below(late.count))) }
        }

        mutating func fork(losing count: Int) {
            for i in copies.indices { copies[i].removeLast(min(count, copies[i].count)) }
            forks += 1
        }

        mutating func diverge() {
            let end = copies[0].count - 1
            if end < 1 { return }
            let from = random.below(end)
            diverge(random.below(copies.count), from..<min(end, from + 1 + random.below(4)))
        }

        /// The same entries backwards, as if they were stored later, or others. The server was away, so its
        /// readers hear of it.
        mutating func diverge(_ server: Int, _ range: Range<Int>) {
            let old = copies[server][range].map(\.bytes)
            for (i, bytes) in zip(range, old.reversed()) {
                stamp += 1
                copies[server][i] = (stamp, random.chance(0.3) ? [1, 2, 3] : bytes)
            }
            divergences += 1
            for view in views.indices where views[view].server == server { views[view].change(to: server) }
        }
    }

    private let state: Mutex<State>
    private let folder: String

    /// An empty log, whose checkpoints are kept in a folder.
    public init(seed: UInt64, faults: Faults = Faults(), in folder: String) {
        self.folder = folder
        state = Mutex(State(random: SplitMix64(seed: seed), faults: faults))
    }

    /// What it does wrong from now on.
    public func set(_ faults: Faults) { state.withLock { $0.faults = faults } }

    /// Appends what was delayed, and does nothing wrong from now on.
    public func settle() {
        state.withLock { state in
            state.faults = Faults()
            for entry in state.late { state.store(entry) }
            state.late = []
            for view in state.views.indices where state.views[view].server != 0 {
                state.views[view].change(to: 0)
            }
        }
    }

    /// Loses its newest entries.
    public func fork(losing count: Int) { state.withLock { $0.fork(losing: count) } }

    /// A server keeps others from now on, for all numbers of a range that is not at the end.
    public func diverge(_ server: Int, _ numbers: ClosedRange<UInt64>) {
        state.withLock { state in
            let from = Int(numbers.lowerBound - state.first)
            state.diverge(server, from..<from + numbers.count)
        }
    }

    /// Another server answers a reader from now on.
    public func change(_ view: Int, to server: Int) {
        state.withLock { $0.views[view].change(to: server) }
    }

    /// The log as one reader sees it.
    public func view(_ number: Int) -> LyingView { LyingView(self, number) }

    /// Puts bytes where the next entry would stand.
    public func appendForeign(_ bytes: [UInt8]) { state.withLock { $0.store(bytes) } }

    /// How often it has lost entries.
    public var forks: Int { state.withLock { $0.forks } }

    /// How often its servers became different.
    public var divergences: Int { state.withLock { $0.divergences } }

    /// What the first server keeps. It is the one that counts in the end.
    public var content: [LogEntry] {
        state.withLock { state in
            state.copies[0].enumerated().map {
                LogEntry(number: state.first + UInt64($0), stamp: $1.stamp, bytes: $1.bytes)
            }
        }
    }

    // MARK: The log

    public var changes: UInt64 { changes(0) }

    func changes(_ view: Int) -> UInt64 { state.withLock { $0.views[view].changes } }

    public func append(_ entry: [UInt8]) async throws(LogError) -> UInt64 {
        let result: Result<UInt64, LogError> = state.withLock { state in
            state.arrive()
            if state.random.chance(state.faults.fails) { return .failure(.unavailable("fails")) }
            if state.random.chance(state.faults.delays) {
                state.late.append(entry)
                return .failure(.unknown("delayed"))
            }
            state.store(entry)
            let number = state.last
            if state.random.chance(state.faults.duplicates) { state.late.append(entry) }
            if state.random.chance(state.faults.diverges) { state.diverge() }
            if state.random.chance(state.faults.forks) { state.fork(losing: 1 + state.random.below(5)) }
            if state.random.chance(state.faults.dropsAcknowledgement) {
                return .failure(.unknown("dropped"))
            }
            return .success(number)
        }
        return try result.get()
    }

    public func bounds() async throws(LogError) -> LogBounds {
        state.withLock { LogBounds(first: $0.first, last: $0.last) }
    }

    public func entries(after number: UInt64, limit: Int) async throws(LogError) -> [LogEntry] {
        try entries(after: number, limit: limit, seenBy: 0)
    }

    func entries(
        after number: UInt64, limit: Int, seenBy view: Int
    ) throws(LogError) -> [LogEntry] {
        let result: Result<[LogEntry], LogError> = state.withLock { state in
            state.arrive()
            if state.random.chance(state.faults.changes) {
                state.views[view].change(to: state.random.below(state.copies.count))
            }
            if state.random.chance(state.faults.fails) { return .failure(.unavailable("fails")) }
            if number > state.last { return .failure(.lost(after: state.last)) }
            if state.last > 0, state.random.chance(state.faults.forgets) {
                return .failure(.lost(after: state.last - 1))
            }
            if number == state.last { return .success([]) }
            if number + 1 < state.first { return .failure(.trimmed(through: state.first - 1)) }
            let from = Int(number + 1 - state.first)
            return .success(
                state.copies[state.views[view].server][from...].prefix(limit).enumerated().map {
                    LogEntry(number: number + 1 + UInt64($0), stamp: $1.stamp, bytes: $1.bytes)
                })
        }
        return try result.get()
    }

    public func tail() -> AsyncStream<LogSignal> { AsyncStream { $0.finish() } }

    public func trim(through number: UInt64) async throws(LogError) {
        let last: UInt64? = state.withLock { state in
            if number > state.last { return state.last }
            if number < state.first { return nil }
            for i in state.copies.indices { state.copies[i].removeFirst(Int(number + 1 - state.first)) }
            state.first = number + 1
            return nil
        }
        if let last { throw .lost(after: last) }
    }

    private func file(_ number: Int) -> String { "\(folder)/checkpoint-\(number)" }

    public func newestCheckpoint() async throws(LogError) -> Checkpoint? { state.withLock { $0.checkpoint } }

    public func putCheckpoint(_ path: String, _ checkpoint: Checkpoint) async throws(LogError) {
        let number = state.withLock { state in
            state.files += 1
            return state.files
        }
        do { try FileManager.default.copyItem(atPath: path, toPath: file(number)) } catch {
            throw .refused("\(error)")
        }
        state.withLock { state in
            if let old = state.checkpoint, old.position.number >= checkpoint.position.number { return }
            state.checkpoint = checkpoint
            try? FileManager.default.removeItem(atPath: newest)
            try? FileManager.default.moveItem(atPath: file(number), toPath: newest)
        }
    }

    private var newest: String { "\(folder)/checkpoint" }

    public func fetchCheckpoint(to path: String) async throws(LogError) -> Checkpoint? {
        try state.withLock { state throws(LogError) in
            guard let checkpoint = state.checkpoint else { return nil }
            do { try FileManager.default.copyItem(atPath: newest, toPath: path) } catch {
                throw .refused("\(error)")
            }
            return checkpoint
        }
    }

    public func close() {}
}
