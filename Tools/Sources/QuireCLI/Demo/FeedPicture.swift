import Quire

/// Draws a feed on one line: `[41 … 30] ~<30~ [20 19] |<19`.
enum FeedPicture {
    static func draw(_ feed: Feed, _ snapshot: borrowing Snapshot) throws -> String {
        let info = try snapshot.info(of: feed)
        var parts = info.head == .end ? [] : ["\(shown(info.head))|"]
        var run: [PostID] = []
        try snapshot.eachRow(of: feed) { row in
            switch row {
            case .post(let post):
                run.append(post.id)
            case .gap(let gap):
                parts += [segment(run), "~\(shown(gap.down))~"]
                run = []
            }
            return true
        }
        return (parts + [segment(run), "|\(shown(info.tail))"]).joined(separator: " ")
    }

    /// Returns the ids, with numbers that count down by one shortened to the first and the last.
    private static func segment(_ ids: [PostID]) -> String {
        var words: [String] = []
        var start = ids.startIndex
        while start < ids.endIndex {
            var end = start
            while end + 1 < ids.endIndex, isStep(ids[end], ids[end + 1]) { end += 1 }
            if end - start >= 3 {
                words += [shown(ids[start]), "…", shown(ids[end])]
            } else {
                words += ids[start...end].map { shown($0) }
            }
            start = end + 1
        }
        return "[" + words.joined(separator: " ") + "]"
    }

    private static func isStep(_ upper: PostID, _ lower: PostID) -> Bool {
        guard let upper = Int64(upper.description), let lower = Int64(lower.description) else {
            return false
        }
        return upper - 1 == lower
    }
}
