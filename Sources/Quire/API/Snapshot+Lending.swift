/// A post that a snapshot lends: its row, which is a value and may be kept, and its body where it lies in the memory
/// map. The compiler keeps the view and the body inside the closure that gets it.
public struct PostView: ~Escapable {
    /// What the feed knows about the post.
    public let row: PostRow
    /// The bytes of its body, as received; empty if the post has none.
    public let body: RawSpan

    @_lifetime(copy body)
    fileprivate init(_ row: consuming PostRow, _ body: RawSpan) {
        self.row = row
        self.body = body
    }
}

// For what reads much and keeps little: no array of rows is made, and each body is found while its row is at hand.

extension Snapshot {
    /// Calls `body` with each post still stored for page `number`, in feed order; never if the feed has no such
    /// page.
    ///
    ///     try snapshot.forEachPost(ofPage: 7, in: feed) { total += $0.body.byteCount }
    /// - Throws: ``QuireError`` as all methods of a snapshot do, or what `body` throws, after which it is not
    ///   called again.
    public borrowing func forEachPost(
        ofPage number: UInt64, in feed: Feed, _ body: (borrowing PostView) throws -> Void
    ) throws {
        let lender = Lender(bodies)
        try reader(feed).forEachPost(ofPage: number) { (row: consuming PostRow) in lender.lend(row, to: body)
        }
        try lender.finish()
    }

    /// The same for a page that this snapshot has listed, which is then not looked up.
    public borrowing func forEachPost(
        of page: PageInfo, in feed: Feed, _ body: (borrowing PostView) throws -> Void
    ) throws {
        let lender = Lender(bodies)
        try reader(feed).forEachPost(of: page) { (row: consuming PostRow) in lender.lend(row, to: body) }
        try lender.finish()
    }

    /// Calls `post` or `gap` with each of the rows that ``rows(of:after:limit:)`` returns.
    /// - Parameters:
    ///   - feed: The feed. One that was dropped has no rows.
    ///   - position: Begin below this row; nil is the top.
    ///   - limit: The largest number of rows; 0 or less reads none.
    ///   - post: Gets each post.
    ///   - gap: Gets each gap.
    /// - Throws: ``QuireError`` as all methods of a snapshot do, or what a closure throws, after which none is
    ///   called again.
    public borrowing func forEachRow(
        of feed: Feed, after position: RowPosition? = nil, limit: Int,
        post: (borrowing PostView) throws -> Void, gap: (GapRow) throws -> Void
    ) throws {
        let lender = Lender(bodies)
        try reader(feed).forEachRow(after: position, limit: max(0, limit)) { (row: consuming PostRow) in
            lender.lend(row, to: post)
        } gap: { row in
            lender.attempt { try gap(row) }
        }
        try lender.finish()
    }
}

/// Lends bodies to a closure until it throws.
private final class Lender {
    private let bodies: BodyReader
    private var failure: (any Error)?

    init(_ bodies: BodyReader) { self.bodies = bodies }

    @inline(__always)
    func lend(_ row: consuming PostRow, to body: (borrowing PostView) throws -> Void) {
        if failure != nil { return }
        do {
            let bytes = try RawSpan(_unsafeBytes: bodies.bytes(row.body))
            try body(PostView(row, bytes))
        } catch {
            failure = error
        }
    }

    @inline(__always)
    func attempt(_ body: () throws -> Void) {
        if failure != nil { return }
        do { try body() } catch { failure = error }
    }

    func finish() throws { if let failure { throw failure } }
}
