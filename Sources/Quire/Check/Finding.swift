/// Something about a cache that must not be. Docs/invariants.md says which invariant has which code.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
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

    public let code: Code
    /// Where: a feed, a post, a table.
    public let place: String
    public let message: String

    public var description: String { "\(code.rawValue): \(place): \(message)" }
}

/// How far a check has come, in steps that are about equally long. The total is an estimate, never below
/// `done`; it may grow.
public struct CheckProgress: Sendable, Hashable {
    public let done: UInt64
    public let total: UInt64

    /// From 0 to 1.
    public var fraction: Double { total == 0 ? 0 : Double(done) / Double(total) }
}

/// What a check found.
public struct CheckReport: Sendable, Hashable {
    public let findings: [Finding]
    /// False if it was stopped, or stopped itself because it had found as much as it may report: then there
    /// may be more.
    public let isComplete: Bool
}

/// What a check has found so far, and how far it is.
final class Inspection {
    private let limit: Int
    private let report: (CheckProgress) -> Bool
    private var done = 0.0
    /// Steps since the last report; the first step is reported.
    private var silent = Inspection.interval
    /// Estimated steps, and those among them that stand for a part which is not known yet.
    private var total = 0.0
    private var reserved = 0.0
    /// What a step counts: fewer or more of them than were reserved take as long.
    private var weight = 1.0
    private(set) var findings: [Finding] = []
    /// True once the check should stop. Long loops poll it.
    private(set) var isStopped = false
    /// It was told to stop, and its result is not wanted.
    private(set) var isAbandoned = false
    /// True while what was tested is read again for its counts only.
    var isMuted = false

    private static let interval: UInt64 = 4096

    /// `report` returns false to stop.
    init(limit: Int, report: @escaping (CheckProgress) -> Bool) {
        (self.limit, self.report) = (max(limit, 1), report)
    }

    var result: CheckReport { CheckReport(findings: findings, isComplete: !isStopped) }

    func find(_ code: Finding.Code, _ place: String, _ message: String) {
        if isMuted || isStopped { return }
        findings.append(Finding(code: code, place: place, message: message))
        if findings.count == limit { isStopped = true }
    }

    /// Reserves `steps` of the progress for work that follows; ``expect(_:)`` will say for what.
    func reserve(_ steps: UInt64) {
        reserved = Self.bounded(steps)
        total += reserved
    }

    func expect(_ steps: UInt64) {
        let steps = Self.bounded(steps)
        if reserved == 0 { return total += steps }
        if steps > 0 { weight = reserved / steps }
        reserved = 0
    }

    private static func bounded(_ steps: UInt64) -> Double { Double(min(steps, 1 << 48)) }

    func step(_ steps: UInt64 = 1) {
        done += Double(steps) * weight
        silent &+= steps
        if silent < Self.interval || isAbandoned { return }
        silent = 0
        let (done, total) = (UInt64(done.rounded(.up)), UInt64(max(done, total).rounded(.up)))
        if !report(CheckProgress(done: done, total: total)) {
            isStopped = true
            isAbandoned = true
        }
    }
}
