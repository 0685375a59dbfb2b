import Quire
import QuireSimulator

extension OracleHistory {
    /// A quiet server and an obedient client: first every gap closes and the end is found, then, after
    /// the client has thrown away all but one post and read on, the cache equals the server.
    func heal() throws {
        pending = []
        guard mode != .ranked else { return }  // it claims no completeness (Docs/rules.md, section 9)
        try converge("first")
        guard !server.isEmpty else { return }  // an empty answer is never believed: reset() is manual
        for id in view.pinned.sorted(by: { "\($0)" < "\($1)" }) { try feed.unpin(id) }
        try look()
        note("evict all but the first")
        try feed.evict(Array(view.entries.dropFirst()))
        try look()
        try check()
        try converge("again")
        if view.entries != server.ids || view.hasPlaceholders {
            throw OracleFailure(.heal, "ended as \(view) against \(server.ids)")
        }
    }

    private func converge(_ label: String) throws {
        let budget = 60 + 4 * (server.ids.count + view.entries.count)
        var limit = 5
        var next: Place? = .head
        var hasRefreshed = false
        for spent in 0... {
            guard let place = next else { return }
            if spent >= budget { break }
            let verdict = try ask(place, limit: limit)
            switch verdict {
            case .emptyConfirm where server.isEmpty: return
            case .discontinuity where mode.isPositional: continue  // the planner looks further up
            case nil, .contradiction, .discontinuity, .stale, .noProgress, .empty, .emptyConfirm, .error,
                .island:
                limit = place == .head ? limit * 2 : 10
                next = .head
            default:
                limit = 5
                next = whatIsOpen
                if next == nil && !hasRefreshed {
                    hasRefreshed = true
                    next = .head
                }
            }
        }
        throw OracleFailure(
            .heal, "\(label): not healed after \(budget) requests: \(view) against \(server.ids)")
    }

    private var whatIsOpen: Place? {
        if let gap = view.gaps.first { return .gap(gap) }
        if !view.headIsClosed { return .head }
        return !view.tailIsEnd || view.hasPlaceholders ? .tail : nil
    }

    /// One request without faults; nil if planning was refused.
    private func ask(_ place: Place, limit: Int) throws -> Outcome.Verdict? {
        guard let job = try plan(place, limit: limit, seed: 0) else { return nil }
        let outcome = try deliver(job, faults: SimulatedFaults())
        try check()
        return outcome.verdict
    }
}
