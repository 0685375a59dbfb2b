import QuireCluster
import Synchronization

/// A ``LyingLog`` as one reader sees it.
public final class LyingView: SharedLog {
    private let log: LyingLog
    private let number: Int
    private let hook = Mutex<(@Sendable ([LogEntry]) -> Bool)?>(nil)

    init(_ log: LyingLog, _ number: Int) { (self.log, self.number) = (log, number) }

    /// Called after each read until it returns true; nil from then on.
    public var afterRead: (@Sendable ([LogEntry]) -> Bool)? {
        get { hook.withLock(\.self) }
        set { hook.withLock { $0 = newValue } }
    }

    public var changes: UInt64 { log.changes(number) }

    public func entries(after number: UInt64, limit: Int) async throws(LogError) -> [LogEntry] {
        let entries = try log.entries(after: number, limit: limit, seenBy: self.number)
        if let afterRead, afterRead(entries) { self.afterRead = nil }
        return entries
    }

    public func append(_ entry: [UInt8]) async throws(LogError) -> UInt64 { try await log.append(entry) }
    public func bounds() async throws(LogError) -> LogBounds { try await log.bounds() }
    public func tail() -> AsyncStream<LogSignal> { log.tail() }
    public func trim(through number: UInt64) async throws(LogError) { try await log.trim(through: number) }
    public func newestCheckpoint() async throws(LogError) -> Checkpoint? { try await log.newestCheckpoint() }
    public func putCheckpoint(_ path: String, _ checkpoint: Checkpoint) async throws(LogError) {
        try await log.putCheckpoint(path, checkpoint)
    }
    public func fetchCheckpoint(to path: String) async throws(LogError) -> Checkpoint? {
        try await log.fetchCheckpoint(to: path)
    }
    public func close() {}
}
