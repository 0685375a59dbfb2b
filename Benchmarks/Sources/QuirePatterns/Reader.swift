import Foundation
import Quire
import QuireSimulator

/// What readers of one pattern met.
struct Findings: Encodable {
    var pattern: String
    /// Posts that a reader scrolled past without any sign that they were missing.
    var missingSilently = 0
    /// Posts missing where the screen said so, after the reader had given it a chance to load them.
    var missingMarked = 0
    /// Sessions in which a post was missing silently.
    var sessionsWithHoles = 0
    /// Posts shown twice, and those shown although the server had deleted them.
    var twice = 0
    var deleted = 0
    var rowsRead = 0
    var requests = 0
    var downloaded = 0
    var downloadedAgain = 0
    var thrownAway = 0
    var microsecondsMedian = 0.0
    var microseconds99 = 0.0
    var bytes = 0
}

/// A person who opens the app, reads down some way, and leaves; a few hundred times.
struct Reader {
    let sessions: Int
    let seed: UInt64
    /// How often a reader tries to load what is missing in one place.
    private static let patience = 12

    func read<P: Pattern>(_ type: P.Type, in folder: URL) throws -> Findings {
        var (pattern, server) = (try P(folder: folder), Server(seed: seed))
        var findings = Findings(pattern: P.title)
        for session in 0..<sessions {
            server.begin(session: session)
            let time = server.list.now
            var random = SplitMix64(seed: seed ^ UInt64(session) << 20)
            let depth = random.number(in: 10...120)
            try? pattern.refresh(server)
            try scroll(to: depth, &pattern, &server)
            judge(try pattern.rows().prefix(depth), server.list, since: time, server, &findings)
        }
        (findings.requests, findings.downloaded) = (server.requests, server.downloaded)
        (findings.downloadedAgain, findings.thrownAway) = (pattern.meter.again, pattern.meter.thrownAway)
        (findings.microsecondsMedian, findings.microseconds99) = (
            pattern.meter.percentile(0.5), pattern.meter.percentile(0.99)
        )
        findings.bytes = try pattern.size()
        return findings
    }

    /// Loads what comes into view, until the reader is down there or nothing more comes.
    private func scroll<P: Pattern>(to depth: Int, _ pattern: inout P, _ server: inout Server) throws {
        var (tries, before) = (0, -1)
        while tries < Self.patience {
            let rows = try pattern.rows()
            let gap = rows.prefix(depth).lazy.compactMap { if case .gap(let id) = $0 { id } else { nil } }
                .first
            if gap == nil && rows.count >= depth { return }
            tries = rows.count > before ? 0 : tries + 1
            before = rows.count
            do {
                if let gap {
                    try pattern.fill(gap, server)
                } else if try !pattern.loadMore(server) {
                    return
                }
            } catch is Server.Unreachable {
                tries += 1
            }
        }
    }

    private func judge(
        _ rows: ArraySlice<ShownRow>, _ list: SimulatedServer, since time: Int, _ server: Server,
        _ findings: inout Findings
    ) {
        var (above, isMarked, seen, silent) = (PostID?.none, false, Set<PostID>(), 0)
        for row in rows {
            guard case .post(let id) = row else {
                isMarked = true
                continue
            }
            findings.rowsRead += 1
            if !seen.insert(id).inserted { findings.twice += 1 }
            if !list.shows(id) { findings.deleted += 1 }
            let missing = above.map { server.posts(between: $0, id, at: time) } ?? 0
            if isMarked { findings.missingMarked += missing } else { silent += missing }
            (above, isMarked) = (id, false)
        }
        findings.missingSilently += silent
        if silent > 0 { findings.sessionsWithHoles += 1 }
    }
}
