/// The shared log of one shard: entries of bytes in one order, kept by several servers. Its numbers are dense
/// and begin at 1. Any number of processes append to it and read it; methods may be called from any thread.
///
/// It may lose what it acknowledged, show an entry twice, or come back with another history: what reads it
/// must notice that (``LogPosition``).
public protocol SharedLog: Sendable {
    /// How often the log may have got another history since it was opened: another server is in charge of it,
    /// or the connection was interrupted. What was read before is compared with the log then. Reads find out.
    var changes: UInt64 { get }

    /// Appends an entry, and returns its number once the log has promised to keep it.
    /// - Throws: `.unavailable`, `.refused` (a full log) or `.tooLarge` if it certainly was not appended,
    ///   `.unknown` if it may have been, or may be later.
    func append(_ entry: [UInt8]) async throws(LogError) -> UInt64

    /// Returns the numbers of the oldest and the newest entry that the log keeps. If it keeps none, `first`
    /// is the number that comes next.
    func bounds() async throws(LogError) -> LogBounds

    /// Returns up to `limit` entries that follow a number, in order and without a gap: all that was
    /// acknowledged before the call, if there is room for it. Empty at the end.
    /// - Throws: `.trimmed` if the first of them is not kept any more, `.lost` if the log ends before the
    ///   number.
    func entries(after number: UInt64, limit: Int) async throws(LogError) -> [LogEntry]

    /// What happens at the end of the log, until the task that reads it is cancelled. Entries may be missing,
    /// come twice or in another order: it saves asking, and promises nothing.
    func tail() -> AsyncStream<LogSignal>

    /// Forgets entries, up to and with a number. It must be one that the log has given out, or 0.
    /// - Throws: `.lost` if the log ends before the number; nothing is forgotten then.
    func trim(through number: UInt64) async throws(LogError)

    /// The newest checkpoint, nil if there is none.
    func newestCheckpoint() async throws(LogError) -> Checkpoint?

    /// Stores a file as the newest checkpoint. One that is not newer than the stored one is not taken.
    func putCheckpoint(_ path: String, _ checkpoint: Checkpoint) async throws(LogError)

    /// Writes the newest checkpoint to a path where nothing exists yet.
    /// - Returns: what was written, nil if there is none.
    func fetchCheckpoint(to path: String) async throws(LogError) -> Checkpoint?

    /// Ends it. What waits for an answer fails.
    func close()
}
