import Quire
import QuirePaging
import Synchronization

/// A cache that is looked at. Answers come from snapshots, so writers never wait for them.
final class InspectedCache: Sendable {
    let cache: Cache
    /// What the caller named it.
    let name: String
    /// The maps that were made, by the number of the feed: zooming asks for the same one again and again.
    private let maps = Mutex<[UInt32: (map: FeedMap, change: UInt64)]>([:])

    private static let mapLimit = 16

    init(_ cache: Cache, name: String) { (self.cache, self.name) = (cache, name) }

    struct FeedsFigures: Encodable {
        let name: String
        let figures: CacheFigures
        let feeds: [Line]

        struct Line: Encodable {
            let number: UInt32
            let name: String
            var figures: FeedFigures?
            /// The rank of the post from which on everything is read.
            var marker: Int?
            /// Why the feed cannot be read.
            var error: String?
        }
    }

    func feeds() throws -> FeedsFigures {
        let feeds = try cache.feeds()
        return try cache.withSnapshot { snapshot in
            let lines = feeds.compactMap { feed -> FeedsFigures.Line? in
                var line = FeedsFigures.Line(number: feed.number, name: feed.name)
                do {
                    line.figures = try FeedFigures(feed, snapshot)
                    line.marker = try feed.markerRank(snapshot)
                } catch {
                    let error = error as? QuireError
                    if error?.code == .notFound { return nil }  // dropped since it was listed
                    line.error = error?.message ?? "it cannot be read"
                }
                return line
            }
            return FeedsFigures(
                name: name, figures: try CacheFigures(snapshot, fileBytes: fileSize(cache.path)),
                feeds: lines)
        }
    }

    /// The feed with this number, which stays when the feed is renamed.
    private func feed(_ number: UInt32) throws -> Feed {
        guard let feed = try cache.feeds().first(where: { $0.number == number }) else {
            throw QuireError.noSuchFeed(number)
        }
        return feed
    }

    func map(of number: UInt32, _ range: Range<Int>?, limits: MapFigures.Limits) throws -> MapFigures {
        let feed = try feed(number)
        let whole = try cache.withSnapshot { try map(of: feed, $0) }
        let all = 0..<whole.rows
        return MapFigures(whole, range.map { $0.clamped(to: all) } ?? all, limits: limits)
    }

    /// The map of a feed, made anew if a commit has changed the feed since.
    private func map(of feed: Feed, _ snapshot: borrowing Snapshot) throws -> FeedMap {
        let now = try snapshot.generation
        if let known = maps.withLock({ $0[feed.number] }) {
            if known.change == now { return known.map }
            if known.change < now, let changes = try snapshot.changes(since: known.change),
                !changes.contains(where: { $0.feed == feed.number })
            {
                maps.withLock { $0[feed.number] = (known.map, now) }
                return known.map
            }
        }
        let map = try FeedMap(of: feed, snapshot)
        maps.withLock {
            if $0.count >= Self.mapLimit { $0.removeAll() }
            $0[feed.number] = (map, now)
        }
        return map
    }

    struct RowsFigures: Encodable {
        let generation: UInt64
        let count: Int
        let rows: [RowFigures]
    }

    func rows(of number: UInt32, from rank: Int, limit: Int) throws -> RowsFigures {
        let feed = try feed(number)
        return try cache.withSnapshot { snapshot in
            var limits = BodyLimits()
            return RowsFigures(
                generation: try snapshot.generation, count: try snapshot.rowCount(of: feed),
                rows: try snapshot.figures(of: feed, from: rank, limit: limit, &limits))
        }
    }

    /// A post's rank; nil if the feed does not hold the post.
    func rank(of id: PostID, in number: UInt32) throws -> Int? {
        let feed = try feed(number)
        return try cache.withSnapshot { try $0.rank(of: id, in: feed) }
    }

    /// A post's body; nil if the feed does not hold the post.
    func body(of id: PostID, in number: UInt32, limit: Int) throws -> CutText? {
        let feed = try feed(number)
        return try cache.withSnapshot { snapshot in
            guard let post = try snapshot.find(id, in: feed) else { return nil }
            return try snapshot.body(of: post).withUnsafeBytes { CutText($0, limit: limit) }
        }
    }

    struct LogFigures: Encodable {
        let generation: UInt64
        let commits: [CommitFigures]
        let answers: [AnswerFigures]
    }

    /// The latest commits, and the latest answers of one feed.
    func log(of number: UInt32?, limit: Int) throws -> LogFigures {
        let feeds = try cache.feeds()
        return try cache.withSnapshot { snapshot in
            let feed = feeds.first { $0.number == number }
            return LogFigures(
                generation: try snapshot.generation,
                commits: try CommitFigures.latest(UInt64(limit), of: feeds, snapshot),
                answers: try feed.map { try AnswerFigures.latest(limit, of: $0, snapshot) } ?? [])
        }
    }

    var generation: UInt64 { get throws { try cache.withSnapshot { try $0.generation } } }
}

extension QuireError {
    static func noSuchFeed(_ number: UInt32) -> QuireError {
        QuireError(.notFound, "the cache has no feed \(number); was it dropped?")
    }
}
