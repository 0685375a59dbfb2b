/// The result of an ingest (Docs/rules.md, section 8).
public struct Outcome: Sendable, Hashable {
    /// The verdict on an answer.
    public enum Verdict: String, Sendable, CaseIterable {
        /// The answer was taken in.
        case ok
        /// A gap closed.
        case joined
        /// The page ends at a gap.
        case gap
        /// The server said "end" although entries are cached below: plan again (R11).
        case confirmEnd = "confirm-end"
        /// Links or estimates changed, entries did not: plan again (R26).
        case drift
        /// The border may have died: plan again (R9).
        case replan
        /// The request failed; nothing changed (R3).
        case error
        /// The ticket no longer permits this answer; nothing changed (R2).
        case stale
        /// The answer contradicts what is cached or the order class; nothing changed.
        case contradiction
        /// The answer does not attach to the cached posts.
        case discontinuity
        /// Nothing new, and the link leads nowhere new; do not retry automatically (R12).
        case noProgress = "no-progress"
        /// An empty answer, which is never believed (I8).
        case empty
        /// An empty answer that claims the end.
        case emptyConfirm = "empty-confirm"
        /// A jump that cannot be placed; nothing changed (R18).
        case island
    }

    /// The verdict on the answer.
    public var verdict: Verdict
    /// Why, for `.error` and `.stale`: `used`, `generation`, `edge-changed`, `feed-changed`, `sizes-changed`,
    /// or the error.
    public var reason: String
    /// The remedy, if the answer changed no posts.
    public var help: Help?
    /// Posts the feed did not have, in the order of the page.
    public var new: [PostID]
    /// Posts of the page that the feed had already.
    public var duplicates: [PostID]
    /// Posts repeated within the page.
    public var duplicatesInPage: Int
    /// Posts that left their old place.
    public var moved: [PostID]
    /// Posts that left the feed.
    public var removed: [PostID]
    /// Posts missing from the answer's range that stay all the same (R9).
    public var kept: [PostID]
    /// Ranked feeds: posts pushed below the page.
    public var displaced: [PostID]
    /// Posts of the page that were not placed: deleted since, outdated, above the border, unrequested.
    public var ignored: [PostID]
    /// Known posts that the answer showed in another order than the feed's class allows: evidence that the
    /// class is not the server's (R6). Also filled where nothing else changed.
    public var disorder: [PostID]
    /// Posts received that are neither cached afterwards nor in another of these lists.
    public var unplaced: [PostID]
    /// The size policy of the feed, if this answer showed it to be wrong: sizes are ``SizePolicy/unknown``
    /// since, and learned (R26).
    public var disprovedSizes: SizePolicy?
    /// Rows without an id.
    public var opaqueRows: Int
    /// Sticky posts that the page showed.
    public var sticky: [PostID]
    /// Gaps that this answer closed.
    public var gapsClosed: Int
    /// Gaps that this answer opened.
    public var gapsOpened: Int
    /// The number of the page stored, nil if none was.
    public var page: UInt64?
    /// Posts, known before in whatever feed, whose stored body this answer replaced.
    public var updated: Int

    init(_ verdict: Verdict = .ok, reason: String = "", help: Help? = nil) {
        self.verdict = verdict
        self.reason = reason
        self.help = help ?? verdict.help
        new = []
        duplicates = []
        duplicatesInPage = 0
        moved = []
        removed = []
        kept = []
        displaced = []
        ignored = []
        disorder = []
        unplaced = []
        opaqueRows = 0
        sticky = []
        gapsClosed = 0
        gapsOpened = 0
        page = nil
        updated = 0
    }

    /// True if the answer left posts, gaps and links exactly as they were.
    public var isUnchanged: Bool {
        switch verdict {
        case .error, .stale, .contradiction, .noProgress, .empty, .emptyConfirm, .island: true
        case .discontinuity: page == nil && !changedEstimates
        case .ok, .joined, .gap, .confirmEnd, .drift, .replan: false
        }
    }

    /// R26.3: an answer that shows nothing known says where to look next.
    var changedEstimates = false
}

extension Outcome.Verdict {
    /// The remedy after an answer of this kind; nil if it changed posts.
    var help: Help? {
        switch self {
        case .ok, .joined, .gap: nil
        case .confirmEnd, .drift, .replan, .stale: .planAgain
        case .contradiction, .discontinuity: .refresh
        case .noProgress, .island: .checkOptions
        case .empty, .error: .retry
        case .emptyConfirm: .reset
        }
    }
}

/// The result of an update (R23).
public enum UpdateResult: String, Sendable, Hashable {
    /// The stored value is another one now.
    case changed
    /// The stored value was the same already.
    case same
    /// The stored body has a larger version, or is of more detail.
    case stale
    /// No feed of the collection holds the post.
    case missing
}
