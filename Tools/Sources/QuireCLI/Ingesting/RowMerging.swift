import Quire
import QuireDumps

/// Puts the pages of a whole table, which come from the bottom up, into a feed ordered by id. A page
/// speaks for everything between its ids (R9): what is cached there and not shown is gone. Above what is
/// cached a page is a refresh (R7), elsewhere a jump (R18); each ends with the top of the page below it.
struct RowMerging {
    /// The highest id in the feed.
    private var top: Int64?

    init(_ feed: Feed?) throws {
        guard let feed else { return }
        top = try feed.cache.withSnapshot { snapshot in
            try snapshot.rows(of: feed, limit: 16).lazy.compactMap { $0.post?.key }.first
        }
    }

    /// What became of the page, which has posts; nil if the feed takes none there.
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
