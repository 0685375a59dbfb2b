extension Snapshot {
    /// Reads rows of several feeds as one list, highest key first: the timeline of all accounts, the newest
    /// items of all subscriptions.
    ///
    ///     let merged = try snapshot.mergedRows(of: [friends, news], limit: 50)
    ///     for row in merged.rows { show(row) }
    ///     if case .frontier = merged.stop, let row = merged.rows.last { offerToLoad(row) }
    ///
    /// The list ends at the first *frontier*: a gap, the tail or the open head of one of the feeds. A post
    /// that is missing there may belong above all that follows in the other feeds, and would appear in the
    /// middle of what somebody has read. ``MergedRows/position`` reads on below a frontier, for a program
    /// that wants that, and `pastFrontiers` does so at once: frontiers are rows like posts then.
    ///
    /// A post is never above one that precedes it in its own feed, whatever its key. Of equal keys, that of
    /// the feed named first comes first. A post that several of the feeds hold is shown once, where its key
    /// is highest. Costs O(log n) for each feed, then O(log of the number of feeds) a row, and one look into
    /// each other feed for a post that is in several.
    /// - Parameters:
    ///   - feeds: Feeds of this cache whose order is that of keys, stable or bump. None twice.
    ///   - position: Begin below the last row of another read of this snapshot; nil is the top.
    ///   - limit: The largest number of rows; 0 or less reads none.
    ///   - pastFrontiers: True to read on below frontiers.
    /// - Throws: `.badArgument` for other feeds, and for a position that belongs to another number of feeds.
    public func mergedRows(
        of feeds: [Feed], after position: MergedPosition? = nil, limit: Int, pastFrontiers: Bool = false
    ) throws -> MergedRows {
        var merging = try Merging(feeds.map { try merged($0) }, from: position)
        return try merging.rows(limit: max(0, limit), pastFrontiers: pastFrontiers)
    }

    /// Returns the position from which ``mergedRows(of:after:limit:pastFrontiers:)`` reads rows with this key
    /// or lower ones: where a merged list opens that jumps to a date. Frontiers above it do not count.
    public func mergedPosition(atKey key: Int64, of feeds: [Feed]) throws -> MergedPosition {
        let feeds = try feeds.map { try merged($0) }
        _ = try Merging.numbers(of: feeds)
        return MergedPosition(sources: try feeds.map { try SourcePosition(atKey: key, $0.reader) })
    }

    private func merged(_ feed: Feed) throws -> MergedFeed {
        MergedFeed(
            reader: try reader(feed), name: feed.name, order: feed.options.order, collection: feed.collection)
    }
}
