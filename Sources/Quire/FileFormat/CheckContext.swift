/// The findings and the progress of a check.
final class CheckContext {
    private let limit: Int
    private let report: (CheckProgress) -> Bool
    private var done = 0.0
    /// Steps since the last report. The first step is reported.
    private var silent = CheckContext.interval
    /// Estimated steps, and those among them reserved for a part that is not known yet.
    private var total = 0.0
    private var reserved = 0.0
    /// The weight of a step. It makes a part take its reserved share, whatever its number of steps.
    private var weight = 1.0
    private(set) var findings: [Finding] = []
    /// True once the check should stop. Long loops poll it.
    private(set) var isStopped = false
    /// True if the caller stopped the check and does not want its result.
    private(set) var isAbandoned = false
    /// True while data that was already tested is read again, only to count.
    var isMuted = false

    private static let interval: UInt64 = 4096

    /// Creates a context. `report` returns false to stop the check.
    init(limit: Int, report: @escaping (CheckProgress) -> Bool) {
        (self.limit, self.report) = (max(limit, 1), report)
    }

    var result: CheckReport { CheckReport(findings: findings, isComplete: !isStopped) }

    func find(_ code: Finding.Code, _ location: String, _ message: String) {
        if isMuted || isStopped { return }
        findings.append(Finding(code: code, location: location, message: message))
        if findings.count == limit { isStopped = true }
    }

    /// Reserves `steps` of the progress for later work, which ``expect(_:)`` will describe.
    func reserve(_ steps: UInt64) {
        reserved = Self.bounded(steps)
        total += reserved
    }

    func expect(_ steps: UInt64) {
        let steps = Self.bounded(steps)
        if reserved == 0 {
            total += steps
            return
        }
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
