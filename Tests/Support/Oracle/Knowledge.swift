import Quire
import QuireSimulator

/// When each place of the server's list was last covered by an accepted answer.
///
/// Places are whole numbers, so closed ranges are exact and a range can be taken out of another one
/// without asking which of them owns the border. Older knowledge stays below newer, which may be given up.
struct CoverageMap {
    private var pieces: [(range: ClosedRange<Int64>, time: Int)] = []

    /// The server time at which a place was last known; nil if nothing is known about it.
    func time(at place: Int64) -> Int? { pieces.lazy.filter { $0.range.contains(place) }.map(\.time).max() }

    /// An answer covered a range as of a time.
    mutating func cover(_ range: ClosedRange<Int64>, at time: Int) { pieces.append((range, time)) }

    /// Nothing is known about a range any more, or nothing of a time or later.
    mutating func forget(_ range: ClosedRange<Int64>, since time: Int = .min) {
        pieces = pieces.flatMap { piece in
            piece.time < time ? [piece] : Self.rest(of: piece.range, without: range).map { ($0, piece.time) }
        }
    }

    private static func rest(
        of range: ClosedRange<Int64>, without hole: ClosedRange<Int64>
    ) -> [ClosedRange<Int64>] {
        guard range.overlaps(hole) else { return [range] }
        var rest: [ClosedRange<Int64>] = []
        if range.lowerBound < hole.lowerBound { rest.append(range.lowerBound...hole.lowerBound - 1) }
        if hole.upperBound < range.upperBound { rest.append(hole.upperBound + 1...range.upperBound) }
        return rest
    }
}

/// What the engine can know from the answers it accepted and still stands by. The oracle's side of I3:
/// it never looks at links, pages or rules, only at places and times.
struct Knowledge {
    /// Where each cached post was when an answer last placed it.
    private(set) var seen: [PostID: Int64] = [:]
    private(set) var coverage = CoverageMap()
    /// Posts deleted by the client alone, with the neighbours they had in their segment. The server goes on
    /// showing them, and the knowledge of that segment goes on reaching to their places.
    private(set) var hidden: [PostID: (above: PostID?, below: PostID?)] = [:]

    /// Posts that the numbering put below a wrong entry. They may be lost until an answer places them again
    /// (Docs/rules.md, section 9).
    private var misplaced: Set<PostID> = []

    /// An answer covered a range as of a time.
    mutating func cover(_ range: ClosedRange<Int64>, at time: Int) { coverage.cover(range, at: time) }

    /// An answer placed these posts.
    mutating func place(_ positions: [PostID: Int64]) {
        seen.merge(positions) { _, new in new }
        misplaced.subtract(positions.keys)
    }

    mutating func forgive(falseClaimsOf view: OracleView, on server: SimulatedServer) {
        let unverified = view.unverified
        for (upper, lower) in zip(view.provenRuns, view.provenRuns.dropFirst())
        where unverified.contains(lower[0]) {
            guard let above = upper.last.flatMap(server.position), let below = server.position(of: lower[0])
            else { continue }
            if above <= below { misplaced.formUnion(lower) }
        }
    }

    /// `view` still shows the post.
    mutating func hide(_ id: PostID, in view: OracleView) {
        let segment = view.segment(of: id)
        guard let at = segment.firstIndex(of: id) else {
            hidden[id] = (nil, nil)
            return
        }
        hidden[id] = (segment[..<at].last, segment[(at + 1)...].first)
    }

    /// An answer showed posts that the client had deleted since it asked. Its links begin beyond them, too.
    mutating func hide(_ deleted: Set<PostID>, in reply: SimulatedReply) {
        let shown = reply.shown
        for (at, id) in shown.enumerated() where deleted.contains(id) {
            hidden[id] = (shown[..<at].last, shown[(at + 1)...].first)
            seen[id] = reply.positions[id]
        }
    }

    /// A hidden post that stands between its neighbours again is like any other. One that came back elsewhere
    /// may leave from there, and the segment that it was deleted from knows no more of it than before.
    ///
    ///     [11 10 9 8]              9 is deleted
    ///     [11 10 8] ~ [9 7 6]      a jump brings it back; the gap is on the wrong side of it, for 8 is gone
    ///     [11 10 8 7]              9, 7 and 6 are evicted, and the link of 8 leads to 7
    mutating func notice(_ view: OracleView) {
        let back = view.posts.filter { id in
            guard hidden[id] != nil else { return false }
            let segment = view.segment(of: id)
            return [neighbour(of: id, \.above), neighbour(of: id, \.below)].allSatisfy {
                $0.map(segment.contains) ?? true
            }
        }
        for id in back { hidden[id] = nil }
    }

    /// The nearest post beside a hidden one that is not hidden too.
    private func neighbour(of id: PostID, _ side: KeyPath<(above: PostID?, below: PostID?), PostID?>)
        -> PostID?
    {
        var passed: Set<PostID> = []
        var id: PostID? = id
        while let next = id, let further = hidden[next] {
            if !passed.insert(next).inserted { return nil }
            id = further[keyPath: side]
        }
        return id
    }

    /// The answer put back posts that had left, and kept others, which arrived meanwhile, beside what was
    /// left of their neighbours: on which side of those that are back is unknown (Docs/rules.md, section 9).
    ///
    ///     [11 12 10 9] ~ [7]       a request for the top is on its way, answered by 11 10 9 before 12 was there
    ///     [11 12] ~ [9] ~ [7]      10 is evicted
    ///     [11 10 12 9 7]           the answer arrives
    mutating func doubtPlaces(of kept: [PostID]) {
        for id in kept { seen[id] = nil }
    }

    /// Hidden posts that stood beside one of these, on the far side of it or of other hidden ones.
    private func hidden(
        beside ids: [PostID], _ side: KeyPath<(above: PostID?, below: PostID?), PostID?>, in view: OracleView
    ) -> [PostID] {
        hidden.keys.filter { view.places[$0] == nil && neighbour(of: $0, side).map(ids.contains) ?? false }
    }

    mutating func reset() {
        seen = [:]
        coverage = CoverageMap()
    }

    /// Entries the server still shows where they were last seen: their order can be judged.
    func settled(in view: OracleView, on server: SimulatedServer) -> Set<PostID> {
        Set(view.entries.filter { server.shows($0) && seen[$0] == server.position(of: $0) })
    }

    /// A gap and an open end claim nothing: what was known about their range counts no more. The range
    /// ends at the nearest places that any cached entry was seen at; entries that are gone from the
    /// server still mark how far the knowledge of their segment reaches.
    mutating func forgetOpenRanges(of view: OracleView, on server: SimulatedServer) {
        let settled = settled(in: view, on: server)
        guard !view.lines.isEmpty else {
            coverage = CoverageMap()
            return
        }
        var open = view.lines.indices.filter { view.lines[$0].entry == nil }
        if !view.headIsClosed { open.append(0) }
        if !view.tailIsEnd { open.append(view.lines.count) }
        for line in open {
            var above = view.lines[..<line].compactMap { $0.entry?.id }
            var below = view.lines[line...].compactMap { $0.entry?.id }
            above += hidden(beside: above, \.above, in: view)
            below += hidden(beside: below, \.below, in: view)
            var high = above.filter(settled.contains).compactMap { seen[$0] }.min() ?? .max
            var low = below.filter(settled.contains).compactMap { seen[$0] }.max() ?? .min
            // What the segment below knows reaches to a post that is gone from the server, beyond the gap.
            if let upper = below.first, !server.shows(upper), seen[upper].map({ $0 > high }) ?? false {
                continue
            }
            high = above.compactMap { seen[$0] }.filter { low < $0 && $0 < high }.min() ?? high
            low = below.compactMap { seen[$0] }.filter { low < $0 && $0 < high }.max() ?? low
            let first = low == .min ? low : low + 1
            let last = high == .max ? high : high - 1
            if first <= last { coverage.forget(first...last) }
        }
    }

    /// The client gave up posts, and some of them had a gap between them and their neighbours on the server.
    /// For all that is still unverified, these may have arrived later: a gap can stand on the wrong side of a
    /// place whose post is gone from the server.
    ///
    ///     [8 7] ~ [21 6]      server: 8 21 6
    ///     [8 7] |…            given up: 21 6
    ///     [8 7 6]             the link of 7 leads to 6; that 21 is missing above 7 cannot be known
    mutating func forgetPlaces(givenUpFrom old: OracleView, to view: OracleView, on server: SimulatedServer) {
        let settled = settled(in: old, on: server)
        let kept = settled.filter { view.places[$0] != nil }.compactMap { id in
            seen[id].map { (id, place: $0) }
        }
        let segments = old.segments
        for id in old.entries where view.places[id] == nil && settled.contains(id) {
            guard let place = seen[id], let arrival = server.arrival(of: id) else { continue }
            let segment = old.segment(of: id)
            let above = kept.filter { $0.place > place }.min { $0.place < $1.place }
            let below = kept.filter { $0.place < place }.max { $0.place < $1.place }
            let isApartAbove = above.map { !segment.contains($0.0) } ?? (segment != segments.first)
            let isApartBelow = below.map { !segment.contains($0.0) } ?? (segment != segments.last)
            if isApartAbove || isApartBelow { coverage.forget(place...place, since: arrival) }
        }
    }

    /// Settled entries stand in the server's order: in feeds with keys everywhere, in others within
    /// each segment (Docs/rules.md, section 9).
    func requireOrder(in view: OracleView, on server: SimulatedServer, everywhere: Bool) throws {
        let settled = settled(in: view, on: server)
        for run in everywhere ? [view.entries] : view.provenRuns {
            let positions = run.filter(settled.contains).compactMap { server.position(of: $0) }
            for (upper, lower) in zip(positions, positions.dropFirst()) where upper <= lower {
                throw OracleFailure(.order, "\(view) against \(server.ids)")
            }
        }
    }

    /// I3. What the server shows between two settled neighbours arrived after the place was last covered; so
    /// did what it shows below an end and, where keys tell its place, above a closed head. (In a keyless feed
    /// a post may be found below one that is gone, and so on the wrong side of the head's, until the next
    /// refresh.)
    func requireNoHole(in view: OracleView, on server: SimulatedServer, _ mode: OracleMode) throws {
        let settled = settled(in: view, on: server)
        let segments = view.provenRuns
        for (at, run) in segments.enumerated() {
            var run: [PostID?] = run.filter(settled.contains)
            if run.isEmpty { continue }
            if at == 0 && view.headIsClosed && mode.hasKeys { run.insert(nil, at: 0) }
            if at == segments.count - 1 && view.tailIsEnd && !view.tailIsAssumed { run.append(nil) }
            for (upper, lower) in zip(run, run.dropFirst()) {
                let high = upper.map { seen[$0]! } ?? .max
                let low = lower.map { seen[$0]! } ?? .min
                let between = server.ids.filter { id in
                    server.position(of: id).map { low < $0 && $0 < high } ?? false
                }
                // A settled post elsewhere is a matter of order, not of completeness; so is one whose place
                // is in doubt.
                for id in between where hidden[id] == nil && !settled.contains(id) && !isInDoubt(id, view) {
                    // A false claim put it elsewhere.
                    if mode.isPositional && (view.places[id] != nil || misplaced.contains(id)) { continue }
                    try require(id, between: upper, lower, view, server)
                }
            }
        }
    }

    private func isInDoubt(_ id: PostID, _ view: OracleView) -> Bool {
        seen[id] == nil && view.places[id] != nil
    }

    private func require(
        _ id: PostID, between upper: PostID?, _ lower: PostID?, _ view: OracleView,
        _ server: SimulatedServer
    ) throws {
        guard let place = server.position(of: id), let arrival = server.arrival(of: id) else { return }
        let time = coverage.time(at: place)
        if let time, arrival > time { return }
        let why = time.map { "covered at \($0), there since \(arrival)" } ?? "never covered"
        throw OracleFailure(
            .hole,
            "\(id) between \(upper ?? "head") and \(lower ?? "end"), \(why), in \(view), server \(server.ids)"
        )
    }
}
