@testable import Quire

/// Everything a reader can see of a cache, to be compared with what another one shows.
struct CacheDump: Equatable {
    struct Post: Equatable {
        var id: PostID
        var key: Int64?
        var isDetached: Bool
        var isPinned: Bool
        var isPlaceholder: Bool
        var isUnverified: Bool
        var body: [UInt8]
        var fields: FieldsRecord?
    }

    enum Row: Equatable {
        case post(Post)
        case gap(GapID, down: Link, up: Link)

        var post: Post? { if case .post(let post) = self { post } else { nil } }
    }

    struct Feed: Equatable {
        var rows: [Row] = []
        var head: Link = .end
        var tail: Link = .unknown
        var picture = ""
        var attributes: [[UInt8]: [UInt8]] = [:]
        var tombstones: [[UInt8]: [UInt8]] = [:]

        /// Rows of the server's sequence.
        var sequence: [Row] { rows.filter { $0.post?.isDetached != true } }
        var posts: [PostID: Post] {
            Dictionary(uniqueKeysWithValues: rows.compactMap { row in row.post.map { ($0.id, $0) } })
        }
    }

    var feeds: [String: Feed] = [:]

    init(_ cache: Cache) throws {
        for feed in try cache.feeds() {
            var shown = Feed()
            shown.picture = try Picture.show(feed)
            try cache.environment.read { transaction in
                let reader = RowReader(transaction: transaction, feed: feed.number)
                for row in try reader.rows(after: nil, limit: .max) {
                    switch row {
                    case .gap(let gap): shown.rows.append(.gap(gap.id, down: gap.down, up: gap.up))
                    case .post(let row):
                        let body = try BodyStore(transaction: transaction).bytes(row.body)
                        shown.rows.append(
                            .post(
                                Post(
                                    id: row.id, key: row.key, isDetached: row.isDetached,
                                    isPinned: row.isPinned,
                                    isPlaceholder: row.isPlaceholder, isUnverified: row.isUnverified,
                                    body: Array(body),
                                    fields: try transaction.fields(of: row.id, in: feed.collection))))
                    }
                }
                let record = try reader.record()
                (shown.head, shown.tail) = (record.head.link, record.tail.link)
                shown.attributes = try Self.table(.attributes(of: feed.number), transaction)
                shown.tombstones = try Self.table(.tombstones(of: feed.number), transaction)
            }
            feeds[feed.name] = shown
        }
    }

    private static func table(_ table: Table, _ transaction: Transaction) throws -> [[UInt8]: [UInt8]] {
        try transaction.withCursor(table) { cursor in
            var records: [[UInt8]: [UInt8]] = [:]
            var found = try cursor.first()
            while let (key, value) = found {
                records[Array(key)] = Array(value)
                found = try cursor.next()
            }
            return records
        }
    }

    // MARK: Judging a repair

    /// What is wrong with a cache that was made of the damaged remains of the one that this shows: something
    /// was invented, or misses and nothing says so. Knows nothing of how repairs are done.
    func mistakes(of repaired: CacheDump) -> [String] {
        var mistakes = repaired.feeds.keys.filter { feeds[$0] == nil }.map { "feed \($0) was invented" }
        for (name, feed) in repaired.feeds {
            guard let original = feeds[name] else { continue }
            for mistake in Self.mistakes(original, feed) {
                mistakes.append("\(name): \(mistake)\n   \(original.picture)\n   \(feed.picture)")
            }
        }
        return mistakes
    }

    private static func mistakes(_ before: Feed, _ after: Feed) -> [String] {
        var mistakes: [String] = []
        let (old, new) = (before.sequence, after.sequence)
        let places = Dictionary(
            uniqueKeysWithValues: old.enumerated().compactMap { i, row in row.post.map { ($0.id, i) } })
        let known = before.posts
        for post in after.rows.compactMap(\.post) {
            guard let was = known[post.id] else {
                mistakes.append("post \(post.id) was invented")
                continue
            }
            if post.isPlaceholder || was.isPlaceholder { continue }
            if post.body != was.body { mistakes.append("post \(post.id) has another body") }
        }
        var above: Int?
        var isAfterGap = false
        for row in new {
            guard let post = row.post else {
                isAfterGap = true
                continue
            }
            guard let place = places[post.id] else { continue }
            if let above {
                if place <= above { mistakes.append("post \(post.id) stands elsewhere") }
                if !isAfterGap && place != above + 1 { mistakes.append("a hole above post \(post.id)") }
            } else if after.head == .end && (place != 0 || before.head != .end) {
                mistakes.append("a hole at the head")
            }
            (above, isAfterGap) = (place, false)
        }
        if above == nil && !old.isEmpty && after.head == .end && !isAfterGap {
            mistakes.append("all is lost, and nothing says so")
        }
        let isWhole = before.tail == .end && above.map { $0 == old.count - 1 } ?? old.isEmpty
        if after.tail == .end && !isWhole { mistakes.append("a hole at the tail") }
        return mistakes
    }
}
