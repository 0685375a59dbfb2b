/// Why posts may be missing at a gap, or why a join is not proven (Docs/rules.md, section 8).
public enum Doubt: String, Sendable, CaseIterable, Hashable {
    /// This part was never requested.
    case unfetched
    /// Posts were evicted here (R15).
    case evicted
    /// The server reported an end here, although posts were cached below (R11).
    case endInDoubt = "end-in-doubt"
    /// The answer to a jump ended here (R18).
    case jump
    /// A page of a crawl is missing here (R24).
    case missingPage = "missing-page"
    /// An answer contradicted this join: the answer to a request about it (R26.8), or one that conflicts with
    /// what the page numbers placed here (R26.10).
    case contradiction
    /// The page numbers have shifted under the join (R26.8).
    case drift
    /// Only the server's page numbers join these two posts (R25, R26).
    case numbering
    /// A post left this place against the feed's order class (section 3).
    case disorder
    /// The server showed a post here that could not be placed (section 3).
    case unplaced
    /// A pushed message announced newer posts, but did not prove that nothing lies between.
    case missed
    /// The posts here were lost with a damaged file.
    case damage
}

/// What the program should do after an answer that changed no posts (section 8).
public enum Help: String, Sendable, CaseIterable, Hashable {
    /// Send the same request again later.
    case retry
    /// Plan again: the engine knows more now.
    case planAgain = "plan-again"
    /// Ask for the head: refresh.
    case refresh
    /// Fill the gap above first.
    case fillFirst = "fill-first"
    /// The list may be empty on the server. ``Feed/reset()`` accepts that.
    case reset
    /// The feed's order class or paging may differ from the server's.
    case checkOptions = "check-options"
    /// The gap or join in question is no longer there: read the feed again.
    case lookAgain = "look-again"
}
