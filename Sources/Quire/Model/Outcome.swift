/// The result of an ingest (Docs/rules.md, section 8).
public struct Outcome: Sendable, Hashable {
    /// The verdict on an answer.
    public enum Verdict: String, Sendable, CaseIterable {
        /// The answer was accepted.
        case ok
        /// A gap closed.
        case joined
        /// The page ends at a gap.
        case gap
        /// The server said "end" although entries are cached below: plan again (R11).
        case confirmEnd = "confirm-end"
        /// Links or estimates changed, but no entries: plan again (R26).
        case drift
        /// The post at the border may be gone on the server: plan again (R9).
        case replan
        /// The request failed; nothing changed (R3).
        case error
        /// The ticket no longer permits this answer; nothing changed (R2).
        case stale
        /// The answer contradicts the cached posts or the order class; nothing changed.
        case contradiction
        /// The answer does not attach to the cached posts.
        case discontinuity
        /// The answer brought nothing new, and its link leads nowhere new. Do not retry automatically (R12).
        /// Or, if ``Outcome/isUnchanged`` is false: eight pages in a row had no posts, and say that more
        /// follows. The place stays open, and its next request asks further below (R7, R26.7).
        case noProgress = "no-progress"
        /// The answer is empty. The engine never takes that as proof of an empty list (I8).
        case empty
        /// The answer is empty and claims the end.
        case emptyConfirm = "empty-confirm"
        /// The answer to a jump, which could not be placed; nothing changed (R18).
        case island
    }

    /// How the engine judged the answer.
    public var verdict: Verdict
    /// The reason for `.stale`: `used`, `other-feed` (the ticket is that of another feed), `reset`,
    /// `edge-changed`, `feed-changed`, `sizes-changed`, `repeated` (a message) or `no-such-gap` (a crawl).
    /// For `.error` its text.
    public var reason: String
    /// What the program should do if the answer changed no posts.
    public var help: Help?
    /// Posts the feed did not have, in the order of the page.
    public var new: [PostID]
    /// Posts of the page that were already in the feed.
    public var duplicates: [PostID]
    /// How often the page repeated one of its own posts.
    public var duplicatesInPage: Int
    /// Posts that left their old place.
    public var moved: [PostID]
    /// Posts that left the feed.
    public var removed: [PostID]
    /// Posts that the answer should have shown and did not, but that stay in the feed (R9).
    public var kept: [PostID]
    /// Ranked feeds: posts pushed below the page.
    public var displaced: [PostID]
    /// Posts of the page that were not placed because they were deleted since, outdated, above the border, or
    /// not requested.
    public var ignored: [PostID]
    /// Known posts that the answer showed in an order that the feed's class forbids. They are evidence that
    /// the server does not follow the class (R6). Also filled if nothing else changed.
    public var disorder: [PostID]
    /// Received posts that are neither cached now nor in another of these lists.
    public var unplaced: [PostID]
    /// The feed's size policy, if this answer disproved it. The policy is then ``SizePolicy/unknown``, and
    /// the engine learns the size (R26).
    public var disprovedSizes: SizePolicy?
    /// The number of rows without an id.
    public var opaqueRows: Int
    /// Sticky posts that the page showed.
    public var sticky: [PostID]
    /// The number of gaps that this answer closed.
    public var gapsClosed: Int
    /// The number of gaps that this answer opened.
    public var gapsOpened: Int
    /// The number of the stored page; nil if no page was stored.
    public var page: UInt64?
    /// The number of posts, already known in any feed, whose stored body this answer replaced.
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
        case .error, .stale, .contradiction, .empty, .emptyConfirm, .island: true
        case .discontinuity, .noProgress: page == nil && !changedEstimates
        case .ok, .joined, .gap, .confirmEnd, .drift, .replan: false
        }
    }

    /// True if an answer that showed nothing known changed where the next request looks (R26.3, R26.7).
    var changedEstimates = false
}

extension Outcome.Verdict {
    /// What to do after this verdict; nil if the answer changed posts.
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
    /// The stored value changed.
    case changed
    /// The stored value was already the same.
    case same
    /// The stored value has a larger version, or more detail, and was kept.
    case stale
    /// No feed of the collection holds the post.
    case missing
}

/// The result of uniting two ids (R28).
public enum AliasResult: String, Sendable, Hashable {
    /// The data of the two posts was united.
    case united
    /// Nothing was cached under the other id. The alias is known from now on.
    case noted
    /// They were already one post.
    case same
    /// The collection has no feed, or the feed has no such local post.
    case missing
}
