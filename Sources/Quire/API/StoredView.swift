/// A part of a feed that is kept in the cache: the posts that a function chooses, in the order of the feed or
/// in one of its own, with the number of posts in each section. A value that any thread may use.
///
///     let unread = try cache.view(named: "unread", of: feed) { post in
///         isUnread(post.body) ? StoredViewEntry(section: day(post.key)) : nil
///     }
///     let rows = try cache.withSnapshot { try $0.rows(of: unread, limit: 20) }
///
/// A commit that changes the feed changes its views too, so a snapshot shows both as of one moment. The rows
/// are those of the feed: a post in its place there, and gaps. A view in the feed's order shows the feed's
/// gaps between its own posts, one for all that lie between two of them: load there, and the feed closes it.
/// In a view ordered by keys a missing post may belong anywhere, so look at ``StoredViewInfo/isComplete``.
///
/// The function is no part of the cache. A process that does not know it writes the feed nevertheless: the
/// view then shows no posts of the chunks that changed, says that it is not current, and the next process
/// that opens it with the function sees them. Fields of posts (R23) do not reach it. See Docs/views.md.
public struct StoredView: Sendable {
    /// The feed that it is a part of.
    public let feed: Feed
    /// Its name, which no other view of the feed has.
    public let name: String
    let number: UInt8
}

/// What a view shows.
public struct StoredViewInfo: Sendable, Hashable {
    /// How its posts are ordered.
    public let order: StoredViewOrder
    /// The version of its function.
    public let version: UInt64
    /// The number of its posts.
    public let posts: Int
    /// True if it shows what its function says of each post of the feed. If false, a process without the
    /// function has changed the feed, or the view is being made.
    public let isCurrent: Bool
    /// True if the feed may miss no post: it has no gap, its head is closed, and the server has said where it
    /// ends.
    public let isFeedComplete: Bool

    /// True if no post is missing, as far as the server has said what there is.
    public var isComplete: Bool { isCurrent && isFeedComplete }
}

extension Cache {
    /// Opens a view of a feed for writing, and makes it if there is none. From now on this process keeps it.
    ///
    /// One of another order or version is made anew, and whatever has waited for the function is caught up
    /// with, in commits of 256 chunks: the first time costs a look at each post of the feed.
    /// - Parameters:
    ///   - name: 1 to 255 bytes of UTF-8. A feed has up to 255 views.
    ///   - feed: The feed.
    ///   - order: How the posts are ordered.
    ///   - version: Another number for each function that says something else.
    ///   - function: Decides what the view shows.
    /// - Throws: ``QuireError``: `.notFound` if the feed was dropped, `.noPermission` in a replica.
    public func view(
        named name: String, of feed: Feed, order: StoredViewOrder = .feed, version: UInt64 = 1,
        _ function: @escaping StoredViewFunction
    ) throws -> StoredView {
        let number: UInt8
        do {
            number = try write { try $0.openView(named: name, order, version: version, of: feed.number) }
        } catch {
            throw feed.naming(error)
        }
        let functions = environment.views
        functions.set(function, version: version, of: feed.number, name)
        let view = StoredView(feed: feed, name: name, number: number)
        let isCurrent = try withSnapshot { try $0.info(of: view).isCurrent }
        if isCurrent { return view }
        while try write({ try $0.catchUp(number, of: feed.number, functions, atMost: 256) }) {}
        return view
    }

    /// The views of a feed, for reading. This process keeps those that it has opened with
    /// ``view(named:of:order:version:_:)``.
    public func views(of feed: Feed) throws -> [StoredView] {
        try environment.read { transaction in
            try transaction.views(of: feed.number).map {
                StoredView(feed: feed, name: $0.record.name, number: $0.number)
            }
        }
    }

    /// Removes a view. Returns false if the feed has none of this name.
    @discardableResult
    public func removeView(named name: String, of feed: Feed) throws -> Bool {
        try write { session in
            let isRemoved = try session.removeView(named: name, of: feed.number)
            // within this turn: a view that another thread opens next keeps its function
            environment.views.remove(of: feed.number, name)
            return isRemoved
        }
    }
}

extension Snapshot {
    private func reader(_ view: StoredView, _ rows: RowReader) throws -> ViewReader {
        guard let reader = try ViewReader(rows, view.number, named: view.name) else {
            throw QuireError(.notFound, "feed \(view.feed.name) has no view \(view.name)")
        }
        return reader
    }

    /// Counts what a view shows, from its counters. Costs O(log n).
    public func info(of view: StoredView) throws -> StoredViewInfo {
        let record = try reader(view, try reader(view.feed)).record
        let feed = try info(of: view.feed)
        return StoredViewInfo(
            order: record.order, version: record.version, posts: Int(clamping: record.posts),
            isCurrent: record.isCurrent, isFeedComplete: feed.isInSequence && feed.tail == .end)
    }

    /// Reads rows of a view, posts and gaps, top first, as ``rows(of:after:limit:)-(Feed,_,_)`` does of a
    /// feed. Costs O(log n) of the feed's size to find the place, then O(1) a row.
    /// - Parameters:
    ///   - view: The view.
    ///   - position: Begin below this row, which this snapshot has read of the view; nil is the top.
    ///   - limit: The largest number of rows; 0 or less reads none.
    public func rows(of view: StoredView, after position: RowPosition? = nil, limit: Int) throws -> [FeedRow]
    {
        try reader(view, try readerOfRows(view.feed)).rows(after: position, limit: limit)
    }

    /// Reads up to `limit` rows from a post on, given by its rank: the number of posts of the view above it.
    /// Gaps do not count, since they come together and part as posts leave and come. Costs O(log n) in the
    /// feed's order; by keys O(sections), then O(1) for each post above it in its section.
    /// - Returns: The rows. Empty if the view has no post of this rank.
    public func rows(of view: StoredView, from rank: Int, limit: Int) throws -> [FeedRow] {
        try reader(view, try readerOfRows(view.feed)).rows(from: rank, limit: limit)
    }

    /// Returns the rank of a post in a view and the section it is in; nil if the view does not show it. Costs
    /// as ``rows(of:from:limit:)-(StoredView,_,_)``.
    public func place(of id: PostID, in view: StoredView) throws -> (rank: Int, section: [UInt8])? {
        guard let row = try find(id, in: view.feed) else { return nil }
        return try reader(view, try reader(view.feed)).place(of: row.position)
    }

    /// Returns the number of posts in a section of a view; 0 if there is none of this name. Costs O(log n).
    public func posts(inSection name: [UInt8], of view: StoredView) throws -> Int {
        try reader(view, try reader(view.feed)).posts(inSection: name)
    }

    /// The sections of a view, by their bytes. Costs O(log n) to find the place, then O(1) for each that is
    /// skipped or returned.
    /// - Parameters:
    ///   - view: The view.
    ///   - section: Begin behind this one, which this snapshot has read of the view; nil is the first.
    ///   - skipped: The number of sections to leave out at the beginning.
    ///   - limit: The largest number of sections; 0 or less reads none.
    public func sections(
        of view: StoredView, after section: StoredViewSection? = nil, skipping skipped: Int = 0,
        limit: Int = .max
    ) throws -> [StoredViewSection] {
        try reader(view, try reader(view.feed)).sections(after: section, skipping: skipped, limit: limit)
    }
}
