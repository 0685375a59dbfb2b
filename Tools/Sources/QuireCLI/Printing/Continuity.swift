import Quire

/// Is anything missing? One answer for all commands (R25): a feed is in sequence if it has no gap and its head is
/// closed. An open head is a gap above the first post; only an answer to the request for the head closes it.
struct Continuity {
    private(set) var gaps = 0
    private(set) var openHeads = 0
    private(set) var claimed = 0
    /// Answers that contradicted the order of their feed.
    private(set) var againstOrder = 0

    init(_ infos: FeedInfo...) {
        for info in infos { add(info) }
    }

    mutating func add(_ info: FeedInfo) {
        gaps += info.gaps
        openHeads += info.isHeadOpen ? 1 : 0
        claimed += info.claimedSeams
        againstOrder += info.answersAgainstOrder
    }

    var isWhole: Bool { gaps + openHeads == 0 }

    /// The answer in words, with the seams that only the numbering claims.
    var sentence: String {
        var missing: [String] = []
        if gaps > 0 { missing.append(counted(gaps, "gap")) }
        if openHeads > 0 { missing.append(counted(openHeads, "open head")) }
        let seams = counted(claimed, "seam is only claimed", "seams are only claimed")
        return (missing.isEmpty ? "in sequence" : missing.joined(separator: " and "))
            + (claimed == 0 ? "" : "; \(seams) by the numbering")
    }
}
