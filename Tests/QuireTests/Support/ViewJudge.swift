@_spi(Unstable) @testable import Quire
import Testing

/// What a view must show, by its function and by the rows of the feed alone.
struct ViewJudge: Sendable {
    let name: String
    let order: StoredViewOrder
    var version: UInt64 = 1
    let choose: @Sendable (PostID, Int64?, [UInt8]) -> StoredViewEntry?

    func open(_ feed: Feed) throws -> StoredView {
        try feed.cache.view(named: name, of: feed, order: order, version: version) { post in
            choose(post.id, post.key, post.body.withUnsafeBytes { Array($0) })
        }
    }

    private struct Expected {
        let row: PostRow
        let entry: StoredViewEntry
        var key: [UInt8] {
            ViewPlace.key(
                section: entry.section, ViewMatch.Place(key: Array(entry.key.prefix(96)), id: row.id))
        }
    }

    private func expected(_ all: [FeedRow], _ snapshot: borrowing Snapshot) throws -> [Expected] {
        var expected: [Expected] = []
        for case .post(let row) in all {
            let body = try snapshot.body(of: row).withUnsafeBytes { Array($0) }
            if let entry = choose(row.id, row.key, body) { expected.append(Expected(row: row, entry: entry)) }
        }
        if order == .keys { expected.sort { $0.key.lexicographicallyPrecedes($1.key) } }
        return expected
    }

    /// The posts in the order of the feed, and one gap where others lie between two of them.
    private func withGaps(_ shown: Set<PostID>, of all: [FeedRow]) -> [FeedRow] {
        var rows: [FeedRow] = []
        for row in all {
            switch row {
            case .post(let post): if shown.contains(post.id) { rows.append(row) }
            case .gap: if rows.last?.gap == nil { rows.append(row) }
            }
        }
        return rows
    }

    /// Throws unless a view shows what it must. `mayWait` allows that it is not current.
    func require(_ view: StoredView, in snapshot: borrowing Snapshot, mayWait: Bool, _ what: String) throws {
        let all = try snapshot.rows(of: view.feed, limit: .max)
        let rows = try snapshot.rows(of: view, limit: .max)
        let info = try snapshot.info(of: view)
        var expected = try expected(all, snapshot)
        if !info.isCurrent {
            try #require(mayWait, "\(what): \(name) is not current")
            let shown = Set(rows.compactMap { $0.post?.id })
            let wrong = shown.subtracting(expected.map(\.row.id))
            try #require(wrong.isEmpty, "\(what): \(name) shows \(wrong)")
            expected.removeAll { !shown.contains($0.row.id) }
        }
        let posts = expected.map { FeedRow.post($0.row) }
        let right = order == .keys ? posts : withGaps(Set(expected.map(\.row.id)), of: all)
        try #require(
            rows == right, "\(what): \(name) shows \(names(rows)), not \(names(right)) of \(names(all))")
        try #require(info.posts == expected.count, "\(what): \(name) says \(info.posts) posts")
        for limit in [1, 2, 5] {
            try #require(try paged(view, limit, snapshot) == right, "\(what): \(name) by \(limit)")
        }
        try requireRanks(view, expected, right, snapshot, what)
    }

    private func paged(_ view: StoredView, _ limit: Int, _ snapshot: borrowing Snapshot) throws -> [FeedRow] {
        var (rows, position) = ([FeedRow](), RowPosition?.none)
        while true {
            let next = try snapshot.rows(of: view, after: position, limit: limit)
            rows += next
            guard let last = next.last else { return rows }
            position = last.post?.position ?? last.gap?.position
        }
    }

    private func requireRanks(
        _ view: StoredView, _ expected: [Expected], _ rows: [FeedRow], _ snapshot: borrowing Snapshot,
        _ what: String
    ) throws {
        for (rank, post) in expected.enumerated() {
            let place = try #require(try snapshot.place(of: post.row.id, in: view), "\(what): \(name)")
            try #require(place.rank == rank && place.section == post.entry.section, "\(what): \(name) ranks")
            let start = rows.firstIndex { $0.post?.id == post.row.id }!
            let read = try snapshot.rows(of: view, from: rank, limit: 3)
            try #require(read == Array(rows[start...].prefix(3)), "\(what): \(name) from rank \(rank)")
        }
        try #require(try snapshot.rows(of: view, from: expected.count, limit: 1) == [], "\(what): \(name)")
        let counts = Dictionary(grouping: expected, by: \.entry.section).mapValues(\.count)
        let sections = try snapshot.sections(of: view)
        try #require(
            sections.map(\.name) == counts.keys.sorted { $0.lexicographicallyPrecedes($1) }
                && sections.allSatisfy { counts[$0.name] == $0.posts }, "\(what): sections of \(name)")
    }

    private func names(_ rows: [FeedRow]) -> String {
        rows.map { $0.post.map { "\($0.id)" } ?? "~" }.joined(separator: " ")
    }
}
