import Quire

/// Detects pages of a run that show posts in another order than an earlier page. Recorded pages may have been
/// fetched in any order, so the rules ignore this, but the user should know.
struct OrderWatch {
    private struct Sighting {
        let page: Int
        let row: Int
        let key: Int64?
    }

    private var seen: [PostID: Sighting] = [:]
    private var page = 0

    /// How many posts are remembered before it starts again.
    private static let limit = 100_000

    /// Returns true if two posts of the page were in the opposite order on the last page that showed both,
    /// with the same keys. Posts with equal keys may change places.
    mutating func contradicts(_ answer: Answer) -> Bool {
        if seen.count > Self.limit { seen.removeAll(keepingCapacity: true) }
        page += 1
        var lowest: [Int: Sighting] = [:]
        var contradicts = false
        for (row, post) in answer.posts.enumerated() {
            let now = Sighting(page: page, row: row, key: post.key)
            if let last = seen.updateValue(now, forKey: post.id), last.page != page, last.key == post.key {
                let above = lowest[last.page]
                if let above, above.row > last.row, post.key == nil || above.key != post.key {
                    contradicts = true
                }
                if last.row >= above?.row ?? 0 { lowest[last.page] = last }
            }
        }
        return contradicts
    }
}
