import Quire

/// Whether anything is missing, computed in one way for all commands (R25): a feed is in sequence if it has
/// no gap and its head is closed. An open head is a gap above the first post. Only the answer to a request
/// for the head closes it.
struct Continuity {
    private(set) var gaps = 0
    private(set) var openHeads = 0
    private(set) var unverified = 0
    /// The number of answers that contradicted the order of their feed.
    private(set) var againstOrder = 0

    init(_ infos: FeedInfo...) {
        for info in infos { add(info) }
    }

    mutating func add(_ info: FeedInfo) {
        gaps += info.gaps
        openHeads += info.isHeadOpen ? 1 : 0
        unverified += info.unverifiedJoins
        againstOrder += info.answersAgainstOrder
    }

    var isWhole: Bool { gaps + openHeads == 0 }

    /// The result in words, with the unverified joins.
    var sentence: String {
        var missing: [String] = []
        if gaps > 0 { missing.append(counted(gaps, "gap")) }
        if openHeads > 0 { missing.append(counted(openHeads, "open head")) }
        let joins = counted(unverified, "join is unverified", "joins are unverified")
        return (missing.isEmpty ? "in sequence" : missing.joined(separator: " and "))
            + (unverified == 0 ? "" : "; \(joins)")
    }
}
