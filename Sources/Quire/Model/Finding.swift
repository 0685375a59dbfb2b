/// A violated invariant of a cache. Docs/invariants.md lists the code of each invariant.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a finding.
    public enum Code: String, Sendable, CaseIterable {
        /// A record's checksum does not match its bytes.
        case checksum
        /// A record or its key does not decode, or is not encoded as the engine would encode it.
        case unreadable
        /// A record names another one that does not exist.
        case missing
        /// No other record names this one.
        case orphan
        /// A stored count differs from the actual one.
        case count
        /// An id is twice in a feed, or the index has another location for it (I1, I5).
        case index
        /// There is a gap at the head, at the tail or below an end, or two gaps share an edge (I2, I4).
        case gap
        /// Keys do not descend as the order class promises.
        case order
        /// An entry shows a body that differs from its post's (I6).
        case body
        /// A page of LMDB's trees, or something it refers to, is not as LMDB writes it. Only from `verify`.
        case page
        /// Used pages and free pages do not add up to the size of the file. Reported by `verify` only.
        case space
        /// The format record is missing, or is not as this version writes it.
        case header
        /// A number or a time is 0, or above the counter that assigns it.
        case ahead
    }

    /// The kind of the finding.
    public let code: Code
    /// The feed, post or table with the problem.
    public let location: String
    /// What is wrong, as a sentence.
    public let message: String

    public var description: String { "\(code.rawValue): \(location): \(message)" }
}

/// The progress of a check, in steps of about equal length. The total is an estimate, is never below `done`,
/// and may grow.
public struct CheckProgress: Sendable, Hashable {
    /// Steps completed so far.
    public let done: UInt64
    /// Estimated number of all steps; at least ``done``.
    public let total: UInt64

    /// The completed share, from 0 to 1.
    public var fraction: Double { total == 0 ? 0 : Double(done) / Double(total) }
}

/// The result of a check.
public struct CheckReport: Sendable, Hashable {
    /// The findings, at most as many as the limit of the check.
    public let findings: [Finding]
    /// False if the caller stopped the check, or the check reached its limit of findings. Then there may be
    /// more findings.
    public let isComplete: Bool
}
