// For what reads much and keeps little: no array of rows is made, and each body is found while its row is at
// hand.

extension Snapshot {
    /// Returns a cursor over the posts still stored for page `number`, in feed order. It has none if the feed
    /// has no such page.
    ///
    ///     var cursor = try snapshot.cursor(ofPage: 7, in: feed)
    ///     while let post = try cursor.next() { total += post.body.byteCount }
    @_lifetime(borrow self)
    public borrowing func cursor(ofPage number: UInt64, in feed: Feed) throws(QuireError) -> RowCursor {
        let reader = try readerOfRows(feed)
        let page = try reader.find(page: number)
        let cursor = RowCursor(
            reader, ofPage: number, count: page.count, from: page.start, lends: true, place: page.place)
        return _overrideLifetime(cursor, borrowing: self)
    }

    /// The same for a page that this snapshot has listed, which is then not looked up.
    @_lifetime(borrow self)
    public borrowing func cursor(of page: PageInfo, in feed: Feed) throws(QuireError) -> RowCursor {
        let cursor = RowCursor(
            try readerOfRows(feed), ofPage: page.number, count: page.posts, from: page.start, lends: true,
            place: page.place)
        return _overrideLifetime(cursor, borrowing: self)
    }

    /// Returns a cursor over the rows that ``rows(of:after:limit:)-(Feed,_,_)`` returns.
    ///
    ///     var cursor = try snapshot.cursor(of: feed, limit: 50)
    ///     repeat {
    ///         while let post = try cursor.next() { show(post.body) }
    ///     } while try cursor.nextGap() != nil
    /// - Parameters:
    ///   - feed: The feed. One that was dropped has no rows.
    ///   - position: Begin below this row; nil is the top.
    ///   - limit: The largest number of rows; 0 or less reads none.
    @_lifetime(borrow self)
    public borrowing func cursor(
        of feed: Feed, after position: RowPosition? = nil, limit: Int
    ) throws(QuireError) -> RowCursor {
        let cursor = RowCursor(try readerOfRows(feed), after: position, limit: max(0, limit), lends: true)
        return _overrideLifetime(cursor, borrowing: self)
    }

    /// Calls `body` with each post still stored for page `number`, in feed order; never if the feed has no
    /// such page.
    ///
    ///     try snapshot.forEachPost(ofPage: 7, in: feed) { total += $0.body.byteCount }
    /// - Throws: ``QuireError`` as all methods of a snapshot do, or what `body` throws, after which it is not
    ///   called again.
    @inlinable
    public borrowing func forEachPost(
        ofPage number: UInt64, in feed: Feed, _ body: (borrowing PostView) throws -> Void
    ) throws {
        var cursor = try cursor(ofPage: number, in: feed)
        while let post = try cursor.next() { try body(post) }
    }

    /// The same for a page that this snapshot has listed, which is then not looked up.
    @inlinable
    public borrowing func forEachPost(
        of page: PageInfo, in feed: Feed, _ body: (borrowing PostView) throws -> Void
    ) throws {
        var cursor = try cursor(of: page, in: feed)
        while let post = try cursor.next() { try body(post) }
    }

    /// Calls `post` or `gap` with each of the rows that ``rows(of:after:limit:)-(Feed,_,_)`` returns.
    /// - Parameters:
    ///   - feed: The feed. One that was dropped has no rows.
    ///   - position: Begin below this row; nil is the top.
    ///   - limit: The largest number of rows; 0 or less reads none.
    ///   - post: Gets each post.
    ///   - gap: Gets each gap.
    /// - Throws: ``QuireError`` as all methods of a snapshot do, or what a closure throws, after which none
    ///   is called again.
    @inlinable
    public borrowing func forEachRow(
        of feed: Feed, after position: RowPosition? = nil, limit: Int,
        post: (borrowing PostView) throws -> Void, gap: (GapRow) throws -> Void
    ) throws {
        var cursor = try cursor(of: feed, after: position, limit: limit)
        while true {
            while let next = try cursor.next() { try post(next) }
            guard let next = try cursor.nextGap() else { return }
            try gap(next)
        }
    }
}
