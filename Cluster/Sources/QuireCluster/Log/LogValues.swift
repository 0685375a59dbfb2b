/// An entry of a log with its number.
public struct LogEntry: Sendable, Hashable {
    /// Its place in the log.
    public let number: UInt64
    /// What the log gave it when it was stored, the same for all who read it. Other bytes that get the number
    /// after the log has lost them have another stamp, and so have the same bytes.
    public let stamp: UInt64
    /// What was appended.
    public let bytes: [UInt8]

    /// Creates an entry.
    public init(number: UInt64, stamp: UInt64, bytes: [UInt8]) {
        self.number = number
        self.stamp = stamp
        self.bytes = bytes
    }
}

/// Which entries a log keeps.
public struct LogBounds: Sendable, Hashable {
    /// The number of the oldest entry that is kept.
    public let first: UInt64
    /// The number of the newest entry; smaller than `first` if none is kept.
    public let last: UInt64

    /// Creates bounds.
    public init(first: UInt64, last: UInt64) {
        self.first = first
        self.last = last
    }
}

/// Where a log is kept, and how large it is.
public struct LogServers: Sendable, Hashable {
    /// One of the servers that keep the log.
    public struct Follower: Sendable, Hashable {
        /// Its name.
        public let name: String
        /// True if it has all that the leader has.
        public let isCurrent: Bool
        /// True if the leader cannot reach it.
        public let isAway: Bool
    }

    /// The name of the server that is in charge, nil while the servers choose one.
    public let leader: String?
    /// The others.
    public let followers: [Follower]
    /// The version of the leader; nil if it does not say.
    public let version: String?
    /// The size of the entries that are kept, in bytes.
    public let bytes: UInt64
}

/// What a log says at its end.
public enum LogSignal: Sendable {
    /// An entry got this number.
    case appended(UInt64)
    /// The connection was interrupted: entries may have been missed, and the log may have another history
    /// now.
    case interrupted
}

/// A place in a history: a number, and the digest of all entries up to it.
///
/// A log that loses entries it has acknowledged gives their numbers out again, so a number names nothing. Two
/// histories that differ anywhere before a place differ in its digest. The program that follows the log
/// computes it.
public struct LogPosition: Sendable, Hashable {
    /// The number of the newest entry.
    public let number: UInt64
    /// The digest of the history up to that entry.
    public let digest: UInt64

    /// Creates a place.
    public init(number: UInt64, digest: UInt64) {
        self.number = number
        self.digest = digest
    }

    /// Before the first entry.
    public static let beginning = LogPosition(number: 0, digest: 0)
}

/// What is stored with a checkpoint: which entries its file holds.
public struct Checkpoint: Sendable, Hashable {
    /// The newest entry that the file has applied.
    public let position: LogPosition
    /// The version of the rules that made the file.
    public let rules: UInt16
    /// The size of the file in bytes.
    public let size: Int

    /// Creates a description.
    public init(position: LogPosition, rules: UInt16, size: Int) {
        self.position = position
        self.rules = rules
        self.size = size
    }
}

/// What went wrong with a log. The sentence names the place.
public enum LogError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The log did not answer, and what was asked did not happen.
    case unavailable(String)
    /// The log did not answer, and what was asked may have happened, or may still.
    case unknown(String)
    /// The log ends after this number, before one that it has given out: it has lost entries that it
    /// acknowledged, or the number is of another log. A server that has just become the leader may say so
    /// before it has read all that it keeps: ask again before you believe it.
    case lost(after: UInt64)
    /// Entries up to this number are not kept any more.
    case trimmed(through: UInt64)
    /// The entry is larger than the log takes.
    case tooLarge(Int, limit: Int)
    /// The log exists and is set up in a way that would lose entries, or it does not exist.
    case misconfigured(String)
    /// The log refused, or what it keeps does not read back.
    case refused(String)

    public var description: String {
        switch self {
        case .unavailable(let text), .unknown(let text), .misconfigured(let text), .refused(let text): text
        case .lost(let number): "the log ends after \(number): what came later is lost, or of another log"
        case .trimmed(let number): "the log does not keep entries up to \(number) any more"
        case .tooLarge(let size, let limit): "an entry of \(size) bytes; the log takes \(limit)"
        }
    }
}
