/// Why posts may be missing at a gap, or why a join is not proven (Docs/rules.md, section 8).
public enum Doubt: String, Sendable, CaseIterable, Hashable {
    /// Nothing here was ever asked for.
    case unfetched
    /// Posts were evicted here (R15).
    case evicted
    /// The server said that nothing follows, although posts were cached below (R11).
    case endInDoubt = "end-in-doubt"
    /// The answer to a jump ends here (R18).
    case jump
    /// A page of a crawl is missing here (R24).
    case missingPage = "missing-page"
    /// An answer showed something else: where the join was asked about (R26.8), or against what the numbering
    /// had put here (R26.10).
    case contradiction
    /// The numbers of the pages have moved under the join (R26.8).
    case drift
    /// Only the server's numbering joins these two (R25, R26).
    case numbering
    /// A post left here against the order class of the feed (section 3).
    case disorder
    /// The server showed something here that has no place (section 3).
    case unplaced
    /// A message told of newer posts, but not that nothing lies between.
    case missed
    /// Posts were lost with a damaged file.
    case damage
}

/// A remedy after an answer that changed no posts (section 8).
public enum Help: String, Sendable, CaseIterable, Hashable {
    /// Send the same request again later.
    case retry
    /// Plan again: the engine knows better now.
    case planAgain = "plan-again"
    /// Ask for the head: refresh.
    case refresh
    /// Fill the gap above first.
    case fillFirst = "fill-first"
    /// The list may be empty on the server: ``Feed/reset()`` believes it.
    case reset
    /// The order class or the paging of the feed is perhaps not that of the server.
    case checkOptions = "check-options"
    /// The place of the request is no longer there: look at the feed again.
    case lookAgain = "look-again"
}
