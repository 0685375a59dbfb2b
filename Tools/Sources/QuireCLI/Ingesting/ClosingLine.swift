import Quire
import QuireDumps

/// The final lines of `ingest` and `fill`.
struct ClosingLine: Encodable {
    let againstOrder: Int
    let bytes: Int
    let unverified: Int
    let dryRun: Bool
    let duplicates: Int
    let duplicatesInPage: Int
    let elapsedMs: Int
    /// The options of an order that the pages do not contradict.
    @OrNull var fittingOrder: String?
    let gapsClosed: Int
    let gapsOpened: Int
    let inSequence: Bool
    /// True if not all was read, or not all of a list.
    let interrupted: Bool
    let moved: Int
    let new: Int
    /// Received rows without an id, which are no posts.
    let opaqueRows: Int
    let openHead: Bool
    let outdated: Int
    /// Numbers between those of the files for which there is no file; at most 256.
    let missingPages: [Int]
    let pages: Int
    /// How many of the pages came in with earlier calls of the run, which this one resumed.
    let pagesBefore: Int
    let pagesEmpty: Int
    let pagesFailed: Int
    let pagesRepeated: Int
    let received: Int
    let removed: Int
    /// Posts that share the id of another one of their page, but are other posts.
    let sharingID: Int
    /// A field in which they differ.
    @OrNull var tellingField: String?
    /// Received posts that have no place in the feed, because the server showed them above posts that stand
    /// higher; at most 256.
    let unplaced: [String]
    let unplacedCount: Int
    let updated: Int

    init(
        _ totals: IngestTotals, _ evidence: OrderEvidence, _ info: FeedInfo?, elapsed: Duration,
        isDryRun: Bool, isInterrupted: Bool, missingPages: [Int], pagesBefore: Int
    ) {
        self.pagesBefore = pagesBefore
        againstOrder = evidence.answers
        (outdated, unplaced, unplacedCount) = (evidence.outdated, evidence.unplaced, evidence.unplacedCount)
        openHead = info?.isHeadOpen ?? false
        bytes = totals.bytes
        unverified = info?.unverifiedJoins ?? 0
        dryRun = isDryRun
        duplicates = totals.duplicates
        duplicatesInPage = totals.duplicatesInPage
        elapsedMs = Int(elapsed / .milliseconds(1))
        gapsClosed = totals.gapsClosed
        gapsOpened = totals.gapsOpened
        inSequence = info.map { Continuity($0, isInterrupted: isInterrupted).isWhole } ?? true
        interrupted = isInterrupted
        moved = totals.moved
        new = totals.new
        self.missingPages = missingPages
        pages = totals.pages
        pagesEmpty = totals.pagesEmpty ?? 0
        pagesFailed = totals.pagesFailed
        pagesRepeated = totals.pagesRepeated ?? 0
        received = totals.received
        opaqueRows = totals.opaqueRows ?? 0
        removed = totals.removed
        sharingID = totals.sharingID ?? 0
        tellingField = totals.tellingField
        updated = totals.updated
    }

    /// True if nothing suggests that a post may be missing.
    var isFine: Bool {
        inSequence && againstOrder == 0 && unplacedCount == 0 && pagesRepeated == 0 && sharingID == 0
    }

    /// Returns the lines for people.
    func summary(_ info: FeedInfo, _ recognition: Recognition?) -> [String] {
        let (name, continuity) = (info.name, Continuity(info, isInterrupted: interrupted))
        let dryRun = dryRun ? ["nothing was changed; this is what would happen"] : []
        let bodies =
            info.placeholders == 0
            ? [] : ["  \(counted(info.placeholders, "post has no body", "posts have no body")) yet"]
        let end =
            (recognition.map { ["  " + $0.sentence] } ?? []) + missing + sharing + evidence + bodies + [
                "  now \(continuity.sentence)"
            ]
        if received + updated + moved + removed + gapsOpened + gapsClosed + pagesFailed == 0 {
            return dryRun + ["\(shown(name)): \(counted(pages, "page"))", "  nothing new"] + end
        }
        let seconds = Double(elapsedMs) / 1_000
        let time = pagesBefore == 0 ? " in \(seconds) s" : ""
        let earlier =
            pagesBefore == 0
            ? []
            : [
                "  counted from the start of the run: \(counted(pagesBefore, "page")) in earlier calls, "
                    + "\(grouped(pages - pagesBefore)) in this one (\(seconds) s)"
            ]
        let counts = [(pagesEmpty, "without posts"), (pagesRepeated, "repeated"), (pagesFailed, "failed")]
        let others = counts.filter { $0.0 > 0 }.map { ", \(grouped($0.0)) \($0.1)" }.joined()
        let old = outdated == 0 ? "" : ", \(grouped(outdated)) outdated: a newer state is cached"
        let repeats =
            duplicatesInPage == 0
            ? "" : ", \(grouped(duplicatesInPage)) repeated within a page"
        let rows = opaqueRows == 0 ? "" : ", \(grouped(opaqueRows)) without an id"
        return dryRun + [
            "\(shown(name)): \(counted(pages, "page"))\(others), \(sized(bytes))\(time)"
        ] + earlier + [
            "  \(grouped(received)) received: \(grouped(new)) new, "
                + "\(grouped(duplicates)) known already\(old)\(repeats)\(rows)",
            "  \(grouped(updated)) updated, \(grouped(moved)) moved, \(grouped(removed)) removed",
            "  \(counted(gapsOpened, "gap")) opened, \(grouped(gapsClosed)) closed",
        ] + end
    }

    /// The line about pages for which there is no file.
    private var missing: [String] {
        if missingPages.isEmpty { return [] }
        let names = missingPages.prefix(10).map { grouped($0) }.joined(separator: ", ")
        let rest = missingPages.count > 10 ? " and others" : ""
        return missingPages.count == 1
            ? ["  there is no file for page \(names)"] : ["  there are no files for pages \(names)\(rest)"]
    }

    /// The line about posts that share the id of another.
    private var sharing: [String] {
        sharingID == 0 ? [] : ["  " + sharedIDs(sharingID, tellingField)]
    }

    /// The lines about evidence against the order of the feed.
    private var evidence: [String] {
        var lines: [String] = []
        if againstOrder > 0 {
            lines.append("  \(counted(againstOrder, "answer")) against the order of the feed")
        }
        if unplacedCount > 0 {
            let names = unplaced.prefix(10).map { shown($0, limit: 40) }
            let rest = unplacedCount - names.count
            let others = rest > 0 ? " and \(grouped(rest)) more" : ""
            lines.append(
                "  \(counted(unplacedCount, "post")) unplaced: the server showed them above posts that stand "
                    + "higher: " + names.joined(separator: ", ") + others)
        }
        if let fittingOrder { lines.append("  the order that would fit, for a new feed: \(fittingOrder)") }
        return lines
    }
}

/// Says that posts are missing because they share an id, and what helps.
func sharedIDs(_ count: Int, _ field: String?) -> String {
    let difference = field.map { " in \(shown($0, limit: 60))" } ?? ""
    let posts =
        count == 1
        ? "1 post is missing: another one of its page has its id, and differs"
        : "\(grouped(count)) posts are missing: others of their pages have their ids, and differ"
    return "\(posts)\(difference); --id names what tells them apart, for a new feed"
}
