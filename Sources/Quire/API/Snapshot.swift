/// One consistent state of the whole cache; see ``Cache/withSnapshot(_:)``.
///
/// Rows, pages and gaps are plain values and may be kept. Bodies are lent out of the memory map: the
/// compiler keeps them inside the snapshot. A snapshot belongs to the thread that opened it.
///
/// Every method throws ``QuireError``: `.corrupt` if a record does not read back, `.io`, and all but those
/// for bodies `.snapshotExpired` if more commits were made since it began than
/// ``CacheOptions/maximumSnapshotAge`` allows. Bodies that were lent stay valid even then.
public struct Snapshot: ~Copyable {
    private let transaction: Transaction
    private let memory: SnapshotMemory
    /// Kept alive by the caller that lends the snapshot.
    private unowned(unsafe) let environment: Environment
    /// That of the environment. Every method asks for it, and would retain the environment.
    private let maximumAge: Int

    init(_ transaction: Transaction, _ memory: SnapshotMemory, of environment: Environment) {
        (self.transaction, self.memory, self.environment) = (transaction, memory, environment)
        maximumAge = environment.maximumSnapshotAge
    }

    /// Throws if the snapshot is older than the environment allows: it keeps too much of the file from reuse.
    private func requireYoung() throws(QuireError) {
        let age = transaction.age
        if age > maximumAge { throw environment.expired(age) }
    }

    func reader(_ feed: Feed) throws(QuireError) -> RowReader {
        try requireYoung()
        return RowReader(transaction: transaction, feed: feed.number, memory: memory)
    }

    private func record(of feed: Feed) throws -> FeedRecord {
        do { return try reader(feed).record() } catch { throw feed.naming(error) }
    }

    /// Returns the reader for rows that will be shown: the feed is used.
    @inline(__always)
    func readerOfRows(_ feed: Feed) throws(QuireError) -> RowReader {
        environment.budget?.noteRead(feed.number)
        return try reader(feed)
    }

    /// Number of commits made so far, by all processes.
    public var generation: UInt64 {
        get throws {
            try requireYoung()
            return try WriteSession.counters(transaction).generation
        }
    }

    /// Counts what the feed holds, from its counters. Costs O(1).
    public func info(of feed: Feed) throws -> FeedInfo {
        let record = try record(of: feed)
        var state = FeedState(options: record.options)
        state.take(record)
        return FeedInfo(
            name: record.name, options: record.options, posts: record.counts.entries,
            detached: record.counts.detached, placeholders: record.counts.placeholders,
            pages: record.counts.pages, gaps: record.counts.gaps,
            unverifiedJoins: record.counts.unverifiedJoins, bodyBytes: record.counts.bodyBytes,
            head: record.head.link, tail: record.tail.link, isEndAssumed: record.tail.isAssumed,
            answersAgainstOrder: record.answersAgainstOrder, sizes: state.sizePolicy,
            rowsPerPage: state.knownSize)
    }

    /// The value that a program remembers about the feed under a name, nil if there is none; see
    /// ``Feed/setAttribute(_:to:)``.
    public func attribute(_ name: String, of feed: Feed) throws -> [UInt8]? {
        try requireYoung()
        return try transaction.attribute(name, of: feed.number)
    }

    /// The value that ``Batch/setAttribute(_:to:)`` remembered about the cache, nil if there is none.
    public func attribute(_ name: String) throws -> [UInt8]? {
        try requireYoung()
        return try transaction.attribute(name, of: nil)
    }

    // MARK: Rows

    /// Reads rows of the feed, posts and gaps, top first.
    ///
    ///     var position: RowPosition?
    ///     repeat {
    ///         let rows = try snapshot.rows(of: feed, after: position, limit: 50)
    ///         for row in rows { show(row) }
    ///         position = rows.last?.position
    ///     } while position != nil
    ///
    /// Bodies are not read; ``body(of:)-(PostRow)`` lends each. Costs O(log n) of the cache's size to find
    /// the place, then O(1) a row.
    /// - Parameters:
    ///   - feed: The feed. One that was dropped has no rows.
    ///   - position: Begin below this row; nil is the top. A row that has left since is no obstacle: what
    ///     lies below its place is read.
    ///   - limit: The largest number of rows; 0 or less reads none.
    /// - Returns: The rows, which may outlive the snapshot. Empty at the end.
    public func rows(of feed: Feed, after position: RowPosition? = nil, limit: Int) throws -> [FeedRow] {
        try readerOfRows(feed).rows(after: position, limit: max(0, limit))
    }

    /// Reads rows upwards: up to `limit` rows above a position (nil: from the bottom), the nearest first.
    /// Else as ``rows(of:after:limit:)-(Feed,_,_)``.
    public func rows(of feed: Feed, before position: RowPosition?, limit: Int) throws -> [FeedRow] {
        try readerOfRows(feed).rows(before: position, limit: max(0, limit))
    }

    /// Reads up to `limit` gaps below a position (nil: from the top), topmost first. Costs O(1) a gap, not
    /// O(posts).
    public func gaps(
        of feed: Feed, after position: RowPosition? = nil, limit: Int = .max
    ) throws -> [GapRow] { try reader(feed).gaps(after: position, limit: limit) }

    /// Reads up to `limit` pages from an index on; 0 is the topmost page. Costs O(log n) of the feed's
    /// length, then O(1) a page.
    public func pages(of feed: Feed, from index: Int = 0, limit: Int) throws -> [PageInfo] {
        try reader(feed).pages(from: max(0, index), limit: max(0, limit))
    }

    /// Returns the page with this index, 0 is the topmost; nil if there are fewer. Costs O(log n).
    public func page(at index: Int, of feed: Feed) throws -> PageInfo? {
        try reader(feed).page(at: index)
    }

    // MARK: Ranks

    /// Reads up to `limit` rows from a rank on. The rank of a row is the number of rows above it, and gaps
    /// are rows too: it is the row's index in a list that shows them all. Costs O(log n) of the feed's
    /// length, then O(1) a row.
    /// - Returns: The rows, which may outlive the snapshot. Empty if the feed has no row of this rank.
    public func rows(of feed: Feed, from rank: Int, limit: Int) throws -> [FeedRow] {
        try readerOfRows(feed).rows(from: rank, limit: max(0, limit))
    }

    /// Returns the number of rows, posts and gaps, of a feed. Costs O(log n).
    public func rowCount(of feed: Feed) throws -> Int {
        try requireYoung()
        return try RankIndex(transaction, of: feed.number).total.rows
    }

    /// Returns the rank of a row that this snapshot has read: the number of rows above it. The difference of
    /// two ranks is the number of rows from one row to the other. Costs O(log n).
    public func rank(of position: RowPosition, in feed: Feed) throws -> Int {
        try reader(feed).rank(of: position)
    }

    /// Returns the rank of a post by its id; nil if the feed does not hold it. Costs O(log n).
    public func rank(of id: PostID, in feed: Feed) throws -> Int? {
        guard let row = try find(id, in: feed) else { return nil }
        return try reader(feed).rank(of: row.position)
    }

    /// Returns the rank of the first post whose key is this one or lower: where a list opens that jumps to a
    /// date. It is ``rowCount(of:)`` if all keys are larger. Posts outside the server's sequence do not
    /// count. Nil for feeds whose order is not that of keys, stable or bump. Costs O(log n) times one chunk
    /// of posts.
    public func rank(ofKey key: Int64, in feed: Feed) throws -> Int? {
        let reader = try reader(feed)
        return try record(of: feed).options.order.hasKeys ? reader.rank(ofKey: key) : nil
    }

    // MARK: Pages

    /// The posts a page still has, in order.
    public func posts(of page: PageInfo, in feed: Feed) throws -> [PostRow] {
        try readerOfRows(feed).rows(of: page)
    }

    /// Returns the page that last delivered a post; nil if none did, or if the feed does not hold the post.
    public func page(of id: PostID, in feed: Feed) throws -> PageInfo? {
        guard let number = try find(id, in: feed)?.page else { return nil }
        return try reader(feed).page(number)
    }

    /// The posts still stored for page `number`, in feed order. Empty if the
    /// feed has no such page.
    public func posts(ofPage number: UInt64, in feed: Feed) throws -> [PostRow] {
        try readerOfRows(feed).rows(ofPage: number)
    }

    // MARK: Posts

    /// Tells which of these posts the feed holds, by the id index: one answer each, in the order asked. Costs
    /// O(log n) a post.
    public func contains(_ ids: [PostID], in feed: Feed) throws -> [Bool] {
        try requireYoung()
        let index = try memory.index(transaction, of: feed.collection)
        var found = index.contains(ids, in: feed.number)
        // only an id without a place may be another id of a post (R28)
        guard try found.contains(false) && hasAliases() else { return found }
        for i in ids.indices where !found[i] {
            let name = try transaction.name(of: ids[i], in: feed.collection)
            found[i] = index.position(of: name, in: feed.number) != nil
        }
        return found
    }

    private func hasAliases() throws -> Bool { try memory.counts(transaction).aliases > 0 }

    /// The id that the post is known by (R28).
    private func name(of id: PostID, in collection: UInt32) throws -> PostID {
        try hasAliases() ? transaction.name(of: id, in: collection) : id
    }

    /// Finds a post in its place in the feed by its id, nil if the feed does not hold it. Costs O(log n).
    public func find(_ id: PostID, in feed: Feed) throws -> PostRow? {
        let reader = try reader(feed)
        if let row = try reader.find(id, in: feed.collection) { return row }
        let name = try name(of: id, in: feed.collection)
        return name == id ? nil : try reader.find(name, in: feed.collection)
    }

    /// Describes a post of a collection, nil if none of its feeds holds it; see
    /// ``FeedOptions/collection``.
    public func post(_ id: PostID, in collection: String = "") throws -> PostInfo? {
        try requireYoung()
        guard let number = try transaction.collection(collection) else { return nil }
        let index = try memory.index(transaction, of: number)
        var (id, positions) = (id, index.positions(of: id))
        if positions.isEmpty {
            id = try name(of: id, in: number)
            positions = index.positions(of: id)
        }
        var shown: PostRow?
        for (feed, position) in positions where shown?.isPlaceholder ?? true {
            shown = try RowReader(transaction: transaction, feed: feed).row(of: id, at: position)
        }
        guard let shown else { return nil }
        let hasFields = try memory.counts(transaction).fields > 0
        let fields = try hasFields ? transaction.fields(of: id, in: number)?.fields ?? [] : []
        return PostInfo(
            id: id, version: shown.version, detail: shown.detail, isOutdated: shown.isOutdated,
            feeds: positions.count, bodySize: shown.bodySize,
            fields: Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) }), body: shown.body)
    }

    /// Values of a row's post that were updated one by one (R23), by name, but those that its body is newer
    /// than: what the post is, is its body with these (R31.6).
    public func fields(of row: PostRow, in feed: Feed) throws -> [String: [UInt8]] {
        try requireYoung()
        if try memory.counts(transaction).fields == 0 { return [:] }
        let fields = try transaction.fields(of: row.id, in: feed.collection)?.fields ?? []
        let current = fields.filter { field in row.version.map { field.version >= $0 } ?? true }
        return Dictionary(uniqueKeysWithValues: current.map { ($0.name, $0.value) })
    }

    /// Lends the bytes of a row's body, as received; empty if the post has none. Nothing is copied: they lie
    /// in the memory map, and the compiler refuses to let them leave the snapshot.
    ///
    ///     let text = try snapshot.body(of: post).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    @_lifetime(borrow self)
    public borrowing func body(of row: PostRow) throws(QuireError) -> RawSpan {
        let bytes = RawSpan(_unsafeBytes: try memory.body(row.body, transaction))
        // The map does not move and its records do not change while the transaction is open, and it
        // is open as long as this snapshot exists.
        return _overrideLifetime(bytes, borrowing: self)
    }

    /// The bytes of a post's body, lent in the same way.
    @_lifetime(borrow self)
    public borrowing func body(of post: PostInfo) throws(QuireError) -> RawSpan {
        let bytes = RawSpan(_unsafeBytes: try memory.body(post.body, transaction))
        return _overrideLifetime(bytes, borrowing: self)
    }

    // MARK: Changes

    /// Lists what each commit after `generation` changed, oldest first; nil if the log, which holds the last
    /// 1,024 commits, no longer reaches back that far: read the feeds anew.
    public func changes(
        since generation: UInt64
    ) throws -> [(generation: UInt64, feed: UInt32, changes: [Change])]? {
        try ChangeLog(transaction: transaction).changes(since: generation, now: try self.generation)
    }

    /// Totals of the cache and of its file.
    public func statistics() throws -> CacheStatistics {
        try requireYoung()
        return try CacheStatistics(transaction, of: environment)
    }

    /// What the budget has taken away, as ``CacheStatistics/evictions`` says it. Takes the same time in every
    /// cache.
    @_spi(Unstable) public func evictions() throws -> EvictionStatistics {
        try requireYoung()
        return try transaction.evictions(of: environment)
    }
}

/// A post as it is stored, however many feeds of its collection hold it.
public struct PostInfo: Sendable, Hashable {
    /// The id that the post is known by (R28).
    public let id: PostID
    /// The version of its body, nil if the server does not say.
    public let version: Int64?
    /// The detail of its body.
    public let detail: Detail
    /// A newer version was seen, but only with less detail.
    public let isOutdated: Bool
    /// Number of feeds that hold it.
    public let feeds: Int
    /// Size of the body in bytes.
    public let bodySize: Int
    /// Values that were updated one by one (R23).
    public let fields: [String: [UInt8]]
    let body: BodyReference
}
