import Quire
import QuireSimulator

/// What the server's list and the answers alone imply for a feed that is paged by position.
///
/// An answer speaks for a range of places as of its time. A post that the server shows between two cached
/// neighbours must have arrived after the newest answer for its place, unless the join of the two is
/// unverified.
struct NumberedJudge {
    private struct Coverage {
        let range: ClosedRange<Int64>
        let time: Int
        let isUnverified: Bool
    }

    private var coverage: [Coverage] = []
    private var received: Set<PostID> = []
    /// Posts that an outcome named without having placed them.
    private var named: Set<PostID> = []
    /// Posts that the client deleted.
    private(set) var forgiven: Set<PostID> = []
    /// The server's time when the tail came to be the end, and the last place of the answer that said so.
    private var end: (time: Int, place: Int64)?
    /// Posts below a tail whose end was concluded.
    private(set) var falseEnds: Set<PostID> = []

    mutating func forgive(_ id: PostID) { forgiven.insert(id) }

    /// An answer arrived and was not stale.
    mutating func hear(
        _ reply: SimulatedReply, _ outcome: Outcome, rows: [NumberedSubject.Row], isEnd: Bool
    ) throws {
        received.formUnion(reply.shown)
        named.formUnion(NumberedSubject.named(in: outcome))
        let lost = received.subtracting(rows.compactMap(\.id)).subtracting(named).subtracting(forgiven)
        if !lost.isEmpty { throw OracleFailure(.ledger, "lost \(lost.sorted { "\($0)" < "\($1)" })") }
        if isEnd, end == nil { end = (reply.time, reply.positions.values.min() ?? .max) }
        if !isEnd { end = nil }
        guard let range = reply.covered, outcome.page != nil || outcome.verdict == .ok else { return }
        let placed = rows.first {
            if case .post(_, let page?, _) = $0 { page == outcome.page } else { false }
        }
        coverage.append(Coverage(range: range, time: reply.time, isUnverified: placed?.isUnverified ?? false))
    }

    mutating func check(
        _ rows: [NumberedSubject.Row], isEnd: Bool, isAssumed: Bool, _ server: SimulatedServer
    ) throws {
        let rank = Dictionary(uniqueKeysWithValues: server.ids.enumerated().map { ($1, $0) })
        let cached = Set(rows.compactMap(\.id))
        if cached.count != rows.count(where: { $0.id != nil }) {
            throw OracleFailure(.internal, "an id twice")
        }
        let missing = { [forgiven] id in !server.hides(id) && !cached.contains(id) && !forgiven.contains(id) }
        let view = { "\(NumberedHistory.picture(rows)) against \(server.ids)" }

        var above: PostID?
        for row in rows {
            guard case .post(let id, _, let isUnverified) = row else {
                above = nil
                continue
            }
            if isUnverified { above = nil }
            guard let at = rank[id] else { continue }
            if let upper = above, let upperAt = rank[upper] {
                if upperAt > at { throw OracleFailure(.order, "\(upper) above \(id) in \(view())") }
                for hidden in server.ids[(upperAt + 1)..<at] where missing(hidden) && isHole(hidden, server) {
                    throw OracleFailure(.hole, "\(hidden) between \(upper) and \(id) in \(view())")
                }
            }
            above = id
        }
        guard isEnd, let last = rows.last?.id, let at = rank[last] else { return }
        for hidden in server.ids[(at + 1)...] where missing(hidden) && !isExcused(hidden, server) {
            guard isAssumed else {
                throw OracleFailure(.hole, "\(hidden) below \(last), the end, in \(view())")
            }
            falseEnds.insert(hidden)
        }
    }

    /// The client must know of the post by now.
    private func isHole(_ id: PostID, _ server: SimulatedServer) -> Bool {
        guard let place = server.position(of: id), let arrival = server.arrival(of: id) else { return false }
        guard let newest = newest(at: place) else { return true }
        // A false claim put it elsewhere, and a later answer removed it there, by name.
        if newest.isUnverified && named.contains(id) { return false }
        return arrival <= newest.time
    }

    /// A post below the last one may have arrived since the end was heard of, or above what was the last one
    /// then.
    private func isExcused(_ id: PostID, _ server: SimulatedServer) -> Bool {
        guard let place = server.position(of: id), let arrival = server.arrival(of: id) else { return true }
        if let newest = newest(at: place), arrival <= newest.time { return !isHole(id, server) }
        guard let end else { return true }
        return arrival > end.time || place >= end.place
    }

    private func newest(at place: Int64) -> Coverage? {
        coverage.filter { $0.range.contains(place) }.max { $0.time < $1.time }
    }
}
