/// Something about a cache that must not be. Docs/invariants.md says which invariant has which code.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a finding.
    public enum Code: String, Sendable, CaseIterable {
        /// A record's checksum does not match its bytes.
        case checksum
        /// A record does not decode, or its key does not, or both are not as the engine would write them.
        case unreadable
        /// A record that another one names does not exist.
        case missing
        /// A record that nothing names.
        case orphan
        /// A stored count differs from what is there.
        case count
        /// An id stands twice in a feed, or the index names another place (I1, I5).
        case index
        /// A gap at the head, at the tail, below an end, or an edge used twice (I2, I4).
        case gap
        /// Keys do not descend as the order class promises.
        case order
        /// An entry shows another body than its post (I6).
        case body
        /// A page of LMDB's trees, or what it names, is not what LMDB writes. Found by `verify` only.
        case page
        /// Pages in use, free pages and the counts of both do not add up to the file. Found by `verify` only.
        case space
        /// The record of the format is missing, or not what this version writes.
        case header
        /// A number or a time is 0, or above the counter that gives them out.
        case ahead
    }

    /// The kind of finding.
    public let code: Code
    /// Where: a feed, a post, a table.
    public let location: String
    /// The damage, in words.
    public let message: String

    public var description: String { "\(code.rawValue): \(location): \(message)" }
}

/// The progress of a check, in steps that are about equally long. The total is an estimate, never below
/// `done`; it may grow.
public struct CheckProgress: Sendable, Hashable {
    /// Steps made so far.
    public let done: UInt64
    /// Steps in all, estimated; at least ``done``.
    public let total: UInt64

    /// From 0 to 1.
    public var fraction: Double { total == 0 ? 0 : Double(done) / Double(total) }
}

/// The result of a check.
public struct CheckReport: Sendable, Hashable {
    /// The findings, up to the limit of the check.
    public let findings: [Finding]
    /// False if it was stopped, or stopped itself because it had found as much as it may report: then there
    /// may be more.
    public let isComplete: Bool
}
