import Quire
import QuireSimulator

/// What one accepted answer was allowed to change (I7), and what it proves.
struct Scope {
    let job: OracleJob
    let reply: SimulatedReply
    let outcome: Outcome
    let before: OracleView
    let after: OracleView
    /// The posts whose place is from this answer.
    let accepted: Set<PostID>
    /// Where the answer attached: nothing beyond it may have changed.
    private let border: PostID?
    private let operation: OracleJob.Operation
    private let isNumbered: Bool

    init(
        _ job: OracleJob, _ reply: SimulatedReply, _ outcome: Outcome, _ before: OracleView,
        _ after: OracleView, knowledge: Knowledge, mode: OracleMode
    ) {
        self.job = job
        self.reply = reply
        self.outcome = outcome
        self.before = before
        self.after = after
        isNumbered = mode.isPositional
        accepted = Set(reply.shown.filter { outcome.page != nil && after.page(of: $0) == outcome.page })
        // A positional request from the first row may be a refresh or continue at a border; then, and
        // only then, the first row of the feed is its own.
        let isTopDelivered = after.entries.first.map(accepted.contains) ?? false
        let isFromTop = reply.covered?.upperBound == .max && mode.isPositional
        let isRefresh = job.operation == .down && isFromTop && isTopDelivered
        operation = isRefresh ? .refresh : job.operation
        guard let border = job.border, !outcome.moved.contains(border) else {
            self.border = nil
            return
        }
        if let upper = Self.unverifiedFrom(reply, border, before, after), isNumbered {
            self.border = upper
            return
        }
        let mayStartAbove = operation == .down && job.isOverlapping && mode != .ranked
        self.border =
            mayStartAbove
            ? Self.attachment(
                of: reply, at: border, job, before, knowledge,
                stays: reply.shown.filter { !outcome.moved.contains($0) }) : border
    }

    /// An overlapping answer without the border speaks for what lies below the last entry above the
    /// border that it shows, else below the entry from whose place the request was made (R9). A post that the
    /// client deleted may have stood there: then it is the entry above that place.
    private static func attachment(
        of reply: SimulatedReply, at border: PostID, _ job: OracleJob, _ before: OracleView,
        _ knowledge: Knowledge, stays: [PostID]
    ) -> PostID {
        if let upper = before.unverifiedUpper(above: border, shown: stays) { return upper }  // R26.3
        if reply.shown.contains(border) { return border }
        let above = before.entries.prefix { $0 != border }
        if let shown = reply.shown.last(where: above.contains) { return shown }
        if case .link(.below(let start)) = job.request.target, above.contains(start) { return start }  // R32
        guard case .link(.token(let text)) = job.request.target, let place = Int64(text.dropFirst())
        else { return border }
        return above.last { knowledge.seen[$0] == place }
            ?? above.last { knowledge.seen[$0].map { $0 > place } ?? false } ?? border
    }

    /// An answer to a search further up shows nothing known, and begins where the numbers say that the rows
    /// below an entry above the border are: it stands below that entry, joined by a claim (R26).
    private static func unverifiedFrom(
        _ reply: SimulatedReply, _ border: PostID, _ before: OracleView, _ after: OracleView
    ) -> PostID? {
        guard let first = reply.shown.first, !reply.shown.contains(where: { before.places[$0] != nil }),
            let line = after.places[first], let entry = after.lines[line].entry, entry.isUnverified
        else { return nil }
        let above = before.entries.prefix { $0 != border }
        return after.entry(above: line).flatMap { above.contains($0) ? $0 : nil }
    }

    /// The places the answer speaks for: not those beyond the entry it attached to.
    var covered: ClosedRange<Int64>? {
        guard var range = reply.covered else { return nil }
        guard let border, let place = reply.positions[border] else { return range }
        switch operation {
        case .down:
            guard range.lowerBound <= place else { return nil }
            range = range.lowerBound...min(place, range.upperBound)
        case .up:
            guard place <= range.upperBound else { return nil }
            range = max(place, range.lowerBound)...range.upperBound
        case .refresh, .around, .snapshot, .bodies:
            break
        }
        return range
    }

    /// The posts that the answer placed, or attached to. A page below a border may show posts above it; of
    /// these it only tells that they are there, and a late answer that does not show them still removes them
    /// (R8, R9).
    var placed: Set<PostID> {
        switch operation {
        case .down, .up: accepted.union(job.border.map { [$0] } ?? [])
        case .refresh, .around, .snapshot, .bodies: Set(reply.shown)
        }
    }

    /// The answer did not reach its border and speaks for what lies below an entry above it.
    var isAttachedAbove: Bool { border != nil && border != job.border }

    /// An answer is judged by what was known when it was asked for. What came or went later it neither
    /// undoes nor restores, and what it had to show and did not is gone.
    func requireFairness(_ diary: OracleDiary, removesByAbsence: Bool) throws {
        let ticket = job.request.ticket
        if let back = accepted.first(where: { diary.deleted($0, since: ticket) }) {
            throw OracleFailure(.ledger, "\(back) came back by an answer older than its deletion")
        }
        let isEnd = reply.answer.next == .end || reply.answer.previous == .end
        if let id = outcome.removed.first(where: { diary.placed($0, since: ticket) }), !isEnd {
            throw OracleFailure(.noWipe, "\(id), newer than this answer, removed by it from \(before)")
        }
        let ghost = outcome.kept.first { id in
            !before.pinned.contains(id) && !diary.delivered(id, since: ticket)
        }
        if let ghost, removesByAbsence {
            throw OracleFailure(.cover, "\(ghost) stays in \(after) without a reason")
        }
        let missing = outcome.kept.first { !after.posts.contains($0) }
        if let missing { throw OracleFailure(.ledger, "\(missing) was kept and is not in \(after)") }
    }

    /// R21. A requested body that was not sent is gone; nothing is known of other posts.
    func requireBodies() throws {
        guard case .bodies(let wanted) = job.request.target else { return }
        if let id = outcome.removed.first(where: { !wanted.contains($0) }) {
            throw OracleFailure(.noWipe, "\(id), which was not asked for, removed from \(before)")
        }
        if let id = wanted.first(where: { !reply.shown.contains($0) && after.places[$0] != nil }) {
            throw OracleFailure(.cover, "\(id) has no body on the server and stays in \(after)")
        }
    }

    /// I7. A request below a border leaves everything above that border as it was, and vice versa.
    func requireCover() throws {
        guard let border, operation == .down || operation == .up else { return }
        let moved = Set(outcome.moved)
        let beyond = { (view: OracleView) -> [PostID] in
            guard let at = view.entries.firstIndex(of: border) else { return [] }
            let side = self.operation == .down ? view.entries[...at] : view.entries[at...]
            return Array(side)
        }
        let old = beyond(before).filter { !moved.contains($0) }
        var new = beyond(after)
        if isNumbered && !moved.isEmpty {  // R26.10: a false claim had put something below
            new = new.filter(old.contains)
        }
        if old != new {
            throw OracleFailure(.cover, "\(operation) at \(border) changed \(before) to \(after)")
        }
    }
}
