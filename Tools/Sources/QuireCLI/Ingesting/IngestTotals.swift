import Quire
import QuireDumps

/// The totals of a run.
struct IngestTotals: Codable {
    var pages = 0
    var pagesFailed = 0
    /// Pages without posts, at the end of the run. Nil in runs of earlier versions, as the next one.
    private(set) var pagesEmpty: Int?
    /// Files that showed what a file with another number had shown.
    private(set) var pagesRepeated: Int?
    var received = 0
    var new = 0
    var duplicates = 0
    var duplicatesInPage = 0
    /// Posts that share the id of another one of their page. Nil in runs of earlier versions.
    private(set) var sharingID: Int?
    /// A field in which such posts differ.
    private(set) var tellingField: String?
    /// Rows without an id, which are no posts. Nil in runs of earlier versions.
    private(set) var opaqueRows: Int?
    /// Posts not placed: deleted or outdated meanwhile, or above a post that the server says is above them
    /// (R9).
    var ignored = 0
    var updated = 0
    var moved = 0
    var removed = 0
    var gapsOpened = 0
    var gapsClosed = 0
    var bytes = 0
    var evidence: OrderEvidence? = OrderEvidence()

    /// Counts a page without anything new, whose request was recorded.
    mutating func addNothingNew() { pages += 1 }

    mutating func addEmpty(_ count: Int) {
        if count == 0 { return }
        pages += count
        pagesEmpty = (pagesEmpty ?? 0) + count
    }

    mutating func addRepeated() { pagesRepeated = (pagesRepeated ?? 0) + 1 }

    mutating func add(_ shared: SharedIDs) {
        if shared.count == 0 { return }
        sharingID = (sharingID ?? 0) + shared.count
        tellingField = tellingField ?? shared.field
    }

    mutating func add(_ outcome: Outcome, _ answer: Answer, _ page: InputPage, isListOfIDs: Bool) {
        pages += 1
        received += answer.posts.count + answer.opaqueRows - page.repeated
        opaqueRows = (opaqueRows ?? 0) + answer.opaqueRows
        // Ids whose posts are still missing are no new posts for the engine, but new in the list.
        new +=
            isListOfIDs
            ? answer.posts.count - outcome.duplicates.count - outcome.duplicatesInPage - outcome.ignored.count
            : outcome.new.count
        duplicates += max(0, outcome.duplicates.count - page.repeated)
        duplicatesInPage += outcome.duplicatesInPage
        ignored += outcome.ignored.count
        updated += outcome.updated
        moved += outcome.moved.count
        removed += outcome.removed.count
        bytes += answer.bytes.count
        gapsOpened += outcome.gapsOpened
        gapsClosed += outcome.gapsClosed
        if case .rows = page.kind {
            // While a table comes in from the bottom up, each page closes the gap left by the previous one.
            let both = min(gapsOpened, gapsClosed)
            (gapsOpened, gapsClosed) = (gapsOpened - both, gapsClosed - both)
        }
    }
}
