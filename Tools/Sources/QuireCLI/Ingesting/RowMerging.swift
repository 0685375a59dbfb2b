import Quire
import QuireDumps

/// Merges the pages of a whole table, which come from the bottom up, into a feed ordered by id. A page covers
/// everything between its ids (R9): cached posts that it does not show are gone. Above the cached posts a
/// page is a refresh (R7), elsewhere a jump (R18). Each page ends with the top post of the page below it.
struct RowMerging {
    /// The highest id in the feed.
    private var top: Int64?

    init(_ feed: Feed?) throws {
        guard let feed else { return }
        top = try feed.cache.withSnapshot { snapshot in
            try snapshot.rows(of: feed, limit: 16).lazy.compactMap { $0.post?.key }.first
        }
    }

    /// Returns the outcome for a page with posts; nil if nothing can be requested there.
    mutating func merge(
        _ answer: Answer, isTop: Bool, in feed: Feed, _ batch: borrowing Batch
    ) throws -> Outcome? {
        guard let first = answer.posts.first, let key = first.key else { return nil }
        let isAbove = isTop || top.map { key >= $0 } ?? true
        let plan = try batch[feed].plan(isAbove ? .head : .around(first.id))
        guard let request = plan.request else { return nil }
        let outcome = try batch[feed].ingest(answer, for: request.ticket)
        if !outcome.isUnchanged { top = isAbove ? key : max(top ?? key, key) }
        return outcome
    }
}
