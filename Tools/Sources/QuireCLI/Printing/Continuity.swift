import Quire

/// Whether anything is missing, computed in one way for all commands (R25): a feed is in sequence if it has
/// no gap, its head is closed, and its last ingest came to an end. An open head is a gap above the first
/// post. Only the answer to a request for the head closes it.
struct Continuity {
    private(set) var gaps = 0
    private(set) var openHeads = 0
    private(set) var unverified = 0
    /// The number of answers that contradicted the order of their feed.
    private(set) var againstOrder = 0
    /// The names of the feeds whose ingest was interrupted.
    private(set) var interrupted: [String] = []

    init() {}

    init(_ info: FeedInfo, isInterrupted: Bool = false) { add(info, isInterrupted: isInterrupted) }

    init(of feed: Feed, _ snapshot: borrowing Snapshot) throws { try add(feed, snapshot) }

    mutating func add(_ feed: Feed, _ snapshot: borrowing Snapshot) throws {
        add(try snapshot.info(of: feed), isInterrupted: try ResumePoint.isInterrupted(feed, snapshot))
    }

    private mutating func add(_ info: FeedInfo, isInterrupted: Bool) {
        if isInterrupted { interrupted.append(info.name) }
        gaps += info.gaps
        openHeads += info.isHeadOpen ? 1 : 0
        unverified += info.unverifiedJoins
        againstOrder += info.answersAgainstOrder
    }

    var isWhole: Bool { gaps + openHeads + interrupted.count == 0 }

    /// The result in words, with the unverified joins.
    var sentence: String {
        var missing: [String] = []
        if gaps > 0 { missing.append(counted(gaps, "gap")) }
        if openHeads > 0 { missing.append(counted(openHeads, "open head")) }
        if !interrupted.isEmpty { missing.append(counted(interrupted.count, "interrupted ingest")) }
        let joins = counted(unverified, "join is unverified", "joins are unverified")
        return (missing.isEmpty ? "in sequence" : missing.joined(separator: " and "))
            + (unverified == 0 ? "" : "; \(joins)")
    }

    /// How the interrupted ingests go on.
    func help(for cache: String) -> [String] {
        interrupted.map {
            "the ingest of \(shown($0)) was interrupted: "
                + "quire ingest \(shown(cache)) \(shown($0)) … --resume goes on"
        }
    }
}
