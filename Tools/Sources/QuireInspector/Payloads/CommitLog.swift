import Quire

/// One accepted answer of a server: what was asked, and what became of it.
struct AnswerFigures: Encodable {
    let page: UInt64
    let index: Int
    let asked: LinkText
    let next: LinkText
    let previous: LinkText
    let received: Int
    let new: Int
    let known: Int
    let twice: Int
    /// How many of its posts the page still has.
    let holds: Int
    let receivedAt: Int64

    init(_ page: PageInfo) {
        (self.page, index) = (page.number, page.index)
        (asked, next, previous) = (LinkText(page.own), LinkText(page.next), LinkText(page.previous))
        (received, new, known, twice) = (page.received, page.new, page.duplicates, page.duplicatesInPage)
        (holds, receivedAt) = (page.posts, page.fetchedAt)
    }

    /// The latest answers of a feed, latest first.
    static func latest(_ limit: Int, of feed: Feed, _ snapshot: borrowing Snapshot) throws -> [Self] {
        // Pages lie in the order of the feed: all are looked at, and a few more than asked for are kept.
        var latest: [PageInfo] = []
        var index = 0
        while true {
            let pages = try snapshot.pages(of: feed, from: index, limit: 1_024)
            latest += pages
            index += pages.count
            if latest.count > limit {
                latest.sort { $0.number > $1.number }
                latest.removeLast(latest.count - limit)
            }
            if pages.count < 1_024 { break }
        }
        return latest.sorted { $0.number > $1.number }.map { Self($0) }
    }
}

/// What one commit changed in one feed.
struct CommitFigures: Encodable {
    let commit: UInt64
    let feed: String
    var inserted = 0
    var removed = 0
    var updated = 0
    var gapsOpened: [String] = []
    /// Why, for those that are still there.
    var why: [String] = []
    var gapsClosed: [String] = []
    /// The feed was begun anew, or changed more than the log holds.
    var isReset = false
    /// The pages that now show the posts that came in.
    var pages: [UInt64] = []
    /// Some of the posts that came in.
    var posts: [String] = []

    private static let postLimit = 5
    /// So many posts are looked up, to learn which pages brought them.
    private static let lookUps = 40

    init(
        commit: UInt64, feed: Feed?, number: UInt32, changes: [Change], reasons: [GapID: String],
        _ snapshot: borrowing Snapshot
    ) throws {
        (self.commit, self.feed) = (commit, feed?.name ?? "feed \(number), dropped")
        var lookedUp = 0
        for change in changes {
            switch change {
            case .inserted(.post(let id), _):
                inserted += 1
                if posts.count < Self.postLimit { posts.append(brief(id)) }
                guard let feed, lookedUp < Self.lookUps else { continue }
                lookedUp += 1
                if let page = try snapshot.find(id, in: feed)?.page, !pages.contains(page) {
                    pages.append(page)
                }
            case .inserted(.gap(let id), _):
                gapsOpened.append(id.description)
                if let reason = reasons[id], !why.contains(reason) { why.append(reason) }
            case .removed(.post): removed += 1
            case .removed(.gap(let id)): gapsClosed.append(id.description)
            case .updated: updated += 1
            case .reset: isReset = true
            }
        }
        pages.sort(by: >)
        // A gap whose border moved left and came back: it neither opened nor closed.
        let moved = Set(gapsOpened).intersection(gapsClosed)
        gapsOpened = gapsOpened.filter { !moved.contains($0) }.prefix(20).map(\.self)
        gapsClosed = gapsClosed.filter { !moved.contains($0) }.prefix(20).map(\.self)
    }

    /// The latest commits of a cache, latest first.
    static func latest(_ limit: UInt64, of feeds: [Feed], _ snapshot: borrowing Snapshot) throws -> [Self] {
        let now = try snapshot.generation
        guard let changes = try snapshot.changes(since: now - min(now, limit)) else { return [] }
        let byNumber = Dictionary(uniqueKeysWithValues: feeds.map { ($0.number, $0) })
        var reasons: [UInt32: [GapID: String]] = [:]
        var commits: [Self] = []
        for entry in changes.reversed() {
            let feed = byNumber[entry.feed]
            if let feed, reasons[entry.feed] == nil {
                let gaps = try snapshot.gaps(of: feed).map { ($0.id, $0.why.rawValue) }
                reasons[entry.feed] = Dictionary(gaps) { first, _ in first }
            }
            commits.append(
                try Self(
                    commit: entry.generation, feed: feed, number: entry.feed, changes: entry.changes,
                    reasons: reasons[entry.feed] ?? [:], snapshot))
        }
        return commits
    }
}

/// Totals of a cache and of its file.
struct CacheFigures: Encodable {
    let feeds: Int
    let posts: Int
    let pages: Int
    let gaps: Int
    let bodyBytes: UInt64
    let deadBodyBytes: UInt64
    let generation: UInt64
    let usedBytes: UInt64
    let freeBytes: UInt64
    let fileBytes: UInt64
    /// Snapshots that others have open.
    let snapshots: Int
    let oldestSnapshotAge: Int
    let oldestSnapshotProcess: Int32
    let pinnedBytes: UInt64

    init(_ snapshot: borrowing Snapshot, fileBytes: UInt64) throws {
        let totals = try snapshot.statistics()
        (feeds, posts, pages, gaps) = (totals.feeds, totals.posts, totals.pages, totals.gaps)
        (bodyBytes, deadBodyBytes) = (totals.bodyBytes, totals.deadBodyBytes)
        generation = totals.generation
        (usedBytes, freeBytes, self.fileBytes) = (totals.usedBytes, totals.freeBytes, fileBytes)
        snapshots = max(0, totals.snapshots - 1)
        (oldestSnapshotAge, oldestSnapshotProcess) = (totals.oldestSnapshotAge, totals.oldestSnapshotProcess)
        pinnedBytes = totals.pinnedBytes
    }
}
