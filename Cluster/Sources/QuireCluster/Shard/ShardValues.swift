import Dispatch
import Quire

/// Why a replica was made anew.
public enum RebuildReason: Sendable, Hashable {
    /// The log does not have what the replica had applied: it lost entries that it had acknowledged.
    case otherHistory
    /// The log does not keep what the replica should have applied next.
    case behind
    /// The file could not be used: it was damaged, or the machine stopped before it was flushed.
    case file(String)
}

/// What a program should know of.
public enum ClusterEvent: Sendable, Hashable {
    /// The replica of a shard was made anew. What the program has of the old one (caches, feeds, snapshots)
    /// shows the old history for ever.
    /// - `lost`: how many of this node's writes, whose effect it was told, are not in the history that stays.
    case rebuilt(shard: String, RebuildReason, lost: Int)
    /// The replica does not apply entries now, for this reason. Reading goes on.
    case stalled(shard: String, String)
}

/// How one shard of a node is doing.
public struct ShardStatus: Sendable, Hashable {
    /// The name of the shard.
    public var shard: String
    /// The newest entry that is applied here.
    public var applied = LogPosition.beginning
    /// The newest entry of the log that was seen.
    public var end: UInt64 = 0
    /// Entries that were applied since the node was opened.
    public var entries = 0
    /// How often the replica was made anew since then.
    public var rebuilds = 0
    /// How many writes of this node, whose effect it was told, are not in the history that stays.
    public var lost = 0
    /// Entries without effect: their writer had another history, or they were damaged.
    public var refused = 0
    /// The newest checkpoint that this node has stored.
    public var checkpoint: UInt64 = 0
    /// Why nothing is applied now, nil if all is well.
    public var trouble: String?

    /// How many entries this node lags behind what it has seen of the log.
    public var lag: UInt64 { end > applied.number ? end - applied.number : 0 }
}

/// Options of a node.
public struct ClusterOptions: Sendable {
    /// What this node is called in reports; nil for the name of the machine and the folder.
    public var node: String?
    /// How long a write waits for the log and for its effect.
    public var timeout: Duration = .seconds(20)
    /// After how many entries a checkpoint is stored and the log trimmed; 0 never.
    public var checkpointInterval: UInt64 = 4096
    /// How many entries stay in the log before a checkpoint, so that a node that is a little behind need not
    /// be made anew.
    public var margin: UInt64 = 1024
    /// How the replicas are opened. Commits are not flushed unless this says so: the log has them.
    public var cache = CacheOptions(durability: .deferred)
    /// Called with what happens, on a thread of the node. It must not wait.
    public var onEvent: (@Sendable (ClusterEvent) -> Void)?
    /// Waits before something is tried again. Tests replace it.
    var pause: @Sendable () async -> Void = { try? await Task.sleep(for: .milliseconds(100)) }
    /// How long a pager waits for the page that another node fetches. Tests replace it.
    var patience = Duration.seconds(10)
    /// How often the log must say that it has lost what it had before it is believed: a new leader may still
    /// be reading what it keeps.
    var lossesBelieved = 50

    /// Creates the defaults.
    public init() {}
}

/// The thread of a shard. A commit waits for the disk and for other writers. On one of the few threads that
/// all tasks share, that would delay unrelated tasks.
final class ShardThread: SerialExecutor {
    private let queue = DispatchQueue(label: "quire.shard")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
