import Quire

/// The pages without posts of a run. At its end they are what many servers send below the last page. Above
/// another page, something is missing there.
struct EmptyPages {
    private var places: [String] = []
    /// The first of them, if it is the page that the last one with posts leads to.
    private var first: Answer?
    /// The number of the last page with posts, and the link to the next one.
    private var above: (number: Int?, next: Link)?

    /// Adds a page without posts.
    mutating func add(_ answer: Answer, at place: String, _ number: Int?) {
        if places.isEmpty, let above {
            first = above.number.map { $0 + 1 } == number ? answer : nil
        }
        places.append(place)
    }

    /// Notes a page with posts, and its link. Returns the places of those without that stood above it.
    mutating func follow(_ number: Int?, _ next: Link) -> [String] {
        defer { (places, first, above) = ([], nil, (number, next)) }
        return places
    }

    /// Takes in what they say, at the end of the run. If the server said that nothing follows, and the page
    /// was asked for by the link of the tail, the feed ends there (R11). A page number proves no end (R26).
    mutating func end(_ feed: Feed, _ batch: borrowing Batch, _ totals: inout IngestTotals) throws {
        defer { (places, first) = ([], nil) }
        totals.addEmpty(places.count)
        guard let first, let next = above?.next, first.next == .end,
            [.cursor, .keyset].contains(feed.options.paging),
            let request = try batch[feed].plan(.tail).request
        else { return }
        if request.target == .link(next) {
            _ = try batch[feed].ingest(first, for: request.ticket)
        } else {
            try batch[feed].cancel(request.ticket)
        }
    }
}
