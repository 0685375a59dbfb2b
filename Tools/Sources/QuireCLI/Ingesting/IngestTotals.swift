import Quire
import QuireDumps

/// The totals of a run.
struct IngestTotals: Codable {
    var pages = 0
    var pagesFailed = 0
    var received = 0
    var new = 0
    var duplicates = 0
    var duplicatesInPage = 0
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

    mutating func add(_ outcome: Outcome, _ answer: Answer, _ page: InputPage) {
        pages += 1
        received += answer.posts.count - page.repeated
        new += outcome.new.count
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
