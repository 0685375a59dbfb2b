import Quire

/// What `ingest` and `fill` print in the end.
struct ClosingLine: Encodable {
    let bytes: Int
    let claimed: Int
    let dryRun: Bool
    let duplicates: Int
    let duplicatesInPage: Int
    let elapsedMs: Int
    let gapsClosed: Int
    let gapsOpened: Int
    let ignored: Int
    let inSequence: Bool
    let moved: Int
    let new: Int
    let pages: Int
    let pagesFailed: Int
    let received: Int
    let removed: Int
    let updated: Int

    init(_ totals: IngestTotals, _ info: FeedInfo?, elapsed: Duration, isDryRun: Bool) {
        bytes = totals.bytes
        claimed = info?.claimedSeams ?? 0
        dryRun = isDryRun
        duplicates = totals.duplicates
        duplicatesInPage = totals.duplicatesInPage
        elapsedMs = Int(elapsed / .milliseconds(1))
        gapsClosed = totals.gapsClosed
        gapsOpened = totals.gapsOpened
        ignored = totals.ignored
        inSequence = info.map { Continuity($0).isWhole } ?? true
        moved = totals.moved
        new = totals.new
        pages = totals.pages
        pagesFailed = totals.pagesFailed
        received = totals.received
        removed = totals.removed
        updated = totals.updated
    }

    /// The same for people.
    func summary(feed name: String, _ continuity: Continuity) -> [String] {
        let seconds = Double(elapsedMs) / 1_000
        let failures = pagesFailed == 0 ? "" : ", \(grouped(pagesFailed)) failed"
        let unplaced = ignored == 0 ? "" : ", \(grouped(ignored)) not placed"
        let repeats = duplicatesInPage == 0
            ? "" : ", \(grouped(duplicatesInPage)) repeated within a page"
        let dryRun = dryRun ? ["nothing was changed; this is what would happen"] : []
        let isNews = new + updated + moved + removed + gapsOpened + gapsClosed > 0 || pagesFailed > 0
        if !isNews && received == 0 {
            return dryRun + [
                "\(shown(name)): \(counted(pages, "page"))", "  nothing new",
                "  now \(continuity.sentence)",
            ]
        }
        return dryRun + [
            "\(shown(name)): \(counted(pages, "page"))\(failures), \(sized(bytes)) in \(seconds) s",
            "  \(grouped(received)) received: \(grouped(new)) new, "
                + "\(grouped(duplicates)) known already\(unplaced)\(repeats)",
            "  \(grouped(updated)) updated, \(grouped(moved)) moved, \(grouped(removed)) removed",
            "  \(counted(gapsOpened, "gap")) opened, \(grouped(gapsClosed)) closed",
            "  now \(continuity.sentence)",
        ]
    }
}
