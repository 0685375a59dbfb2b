/// Lends the rows of a feed or of one page, one after the other. Nothing is copied or allocated for a post:
/// what a program reads of it comes straight out of the memory map.
///
///     var cursor = try snapshot.cursor(ofPage: 7, in: feed)
///     while let post = try cursor.next() { total += post.body.byteCount }
public struct RowCursor: ~Copyable, ~Escapable {
    @usableFromInline var walk = ChunkWalk()
    private let transaction: Transaction
    private let memory: SnapshotMemory
    private let feed: UInt32
    /// Only posts of this page are wanted; 0 wants all rows.
    private let page: UInt64
    /// Bodies are looked up.
    private let lends: Bool
    /// Where the next chunk is looked for: at or below this position, or below it.
    private var at: UInt64
    private var isBelow = false
    /// The first wanted slot there; -1 is the gap above the chunk.
    private var start: Int
    /// How many rows are wanted behind those of the walk.
    private var rest: Int
    /// The gap above the chunk there comes next.
    private var isAtGap = false
    /// The first chunk of the page, if it is known where it is.
    private var known: UnsafeRawBufferPointer?

    /// Reads rows of a feed from a position on.
    @_lifetime(immortal)
    init(_ reader: RowReader, after position: RowPosition?, limit: Int, lends: Bool) {
        (transaction, feed, page, self.lends) = (reader.transaction, reader.feed, 0, lends)
        memory = reader.memory ?? SnapshotMemory()
        (at, start, rest) = (position?.chunk ?? 0, position.map { $0.slot + 1 } ?? -1, limit)
    }

    /// Reads the `count` posts of a page. Its first chunk is at `start`.
    @_lifetime(immortal)
    init(
        _ reader: RowReader, ofPage page: UInt64, count: Int, from start: UInt64, lends: Bool,
        place: PagePlace = PagePlace()
    ) {
        (transaction, feed, self.page, self.lends) = (reader.transaction, reader.feed, page, lends)
        memory = reader.memory ?? SnapshotMemory()
        (at, self.start, rest) = (start, 0, count)
        known = memory.chunk(at: place)
    }

    /// Lends the next post. Nil if a gap comes next, which ``nextGap()`` returns, or if there are no more
    /// rows.
    /// - Throws: ``QuireError`` as the methods of a snapshot do.
    @inlinable
    @_lifetime(copy self)
    public mutating func next() throws(QuireError) -> PostView? {
        if !walk.step() {
            if try !advance() { return nil }
        }
        return _overrideLifetime(PostView(walk), copying: self)
    }

    /// Returns the gap that comes next; nil if there is none between the post that was lent last and the next
    /// one.
    public mutating func nextGap() throws(QuireError) -> GapRow? {
        if !isAtGap, walk.isDone { _ = try enterChunk() }
        if !isAtGap { return nil }
        isAtGap = false
        return try memory.gap(transaction, feed, at: at)
    }

    /// Steps to the next post if that is not just a step inside its chunk. Returns false if there is none.
    @usableFromInline
    mutating func advance() throws(QuireError) -> Bool {
        while walk.isDone { if try !enterChunk() { return false } }
        if walk.step() { return true }
        do throws(QuireError) { try walk.stepOverExceptions() } catch { throw damaged }
        if lends {
            if walk.bytes == nil { try findBodies() }
            if !walk.hasBody { throw .corrupt("body record \(walk.record)") }
        }
        return true
    }

    private var damaged: QuireError { .corrupt("a chunk of feed number \(feed)") }

    /// Goes to the next chunk with wanted posts. Returns false if a gap comes first, or if there are no more
    /// rows.
    @inline(never)
    private mutating func enterChunk() throws(QuireError) -> Bool {
        while rest > 0, !isAtGap {
            let isPlaced = known != nil
            guard let (position, value) = try nextChunk() else {
                rest = 0
                return false
            }
            if position != at && !isBelow { start = min(start, page == 0 ? -1 : 0) }
            (at, isBelow) = (position, true)
            let columns = try ChunkColumns(value: value, "a chunk of feed number \(feed)")
            if page != 0 {
                if columns.page != page { continue }
            } else if start < 0, try memory.hasGap(transaction, feed, at: position) {
                (isAtGap, rest, isBelow, start) = (true, rest - 1, false, 0)
                return false
            }
            do throws(QuireError) {
                walk = try ChunkWalk(columns, at: position)
                try walk.want(from: max(0, start), count: rest)
            } catch {
                throw damaged
            }
            start = page == 0 ? -1 : 0
            if walk.isDone { continue }
            rest -= walk.rest
            if lends {
                try findBodies()
                if !isPlaced { prefetch() }
                walk.forEachBodyElsewhere { memory.prefetch($1, ofRecord: $0, transaction) }
            }
            return true
        }
        return false
    }

    private mutating func nextChunk() throws(QuireError) -> SnapshotMemory.Found? {
        if let value = known {
            known = nil
            return (at, value)
        }
        if isBelow { return try memory.chunk(transaction, feed, below: at) }
        return try memory.chunk(transaction, feed, from: at)
    }

    /// Finds the record of the next body.
    private mutating func findBodies() throws(QuireError) {
        if walk.record == 0 { return walk.useNothing() }
        let record = try memory.record(walk.record, transaction)
        if record.count < 8 { throw .corrupt("body record \(walk.record)") }
        walk.use(UnsafeRawBufferPointer(rebasing: record[..<(record.count - 8)]))
    }

    /// Has the processor fetch the bodies of the chunk that are in one record.
    private func prefetch() {
        guard let bytes = walk.bytes else { return }
        let start = min(walk.next, walk.limit)
        PagePlace.prefetch(bytes, start..<min(start + walk.columns.lengthSum, walk.limit))
    }
}

/// A post that a snapshot lends: its body where it lies in the memory map, and what the feed knows about it.
/// The compiler keeps both inside the snapshot.
public struct PostView: ~Escapable {
    @usableFromInline let walk: ChunkWalk

    @inlinable
    @_lifetime(immortal)
    init(_ walk: ChunkWalk) { self.walk = walk }

    /// The bytes of its body, as received; empty if the post has none.
    @inlinable public var body: RawSpan {
        @_lifetime(copy self)
        get {
            let bytes = UnsafeRawBufferPointer(start: walk.bytes.map { $0 + walk.offset }, count: walk.length)
            return _overrideLifetime(RawSpan(_unsafeBytes: bytes), copying: self)
        }
    }

    /// What the feed knows about the post, as a value that may be kept.
    public var row: PostRow { PostRow(walk) }

    /// The id under which the post is known (R28).
    public var id: PostID { walk.id }
    /// The id if it is a number below 2⁶⁴; nil if it is any other text.
    @inlinable public var number: UInt64? { walk.number }
    /// The server's sort key; nil if the feed has none.
    @inlinable public var key: Int64? { walk.key }
    /// The number of the page that last delivered it; nil if none did.
    @inlinable public var page: UInt64? { walk.page == 0 ? nil : walk.page }
    /// The version of the body; nil if the server does not say.
    public var version: Int64? { walk.version }
    /// True if it is outside the server's sequence: a local post, a sticky one, or a pinned one that left.
    @inlinable public var isDetached: Bool { walk.flags & 1 != 0 }
    /// True if it is pinned: evictions and prunes keep it.
    @inlinable public var isPinned: Bool { walk.flags & 2 != 0 }
    /// True if its place is known but its body is missing.
    @inlinable public var isPlaceholder: Bool { walk.flags & 4 != 0 }
    /// True if a newer version was seen, but only with less detail: request it with ``Place/bodies(_:)``.
    @inlinable public var isOutdated: Bool { walk.isOutdated }
    /// How much of the post its body contains.
    @inlinable public var detail: Detail { walk.detail }
    /// Why it is not proven that this post follows the one above; see ``PostRow/doubt``.
    @inlinable public var doubt: Doubt? { walk.doubt }
    /// True if the page above an unverified join was requested again; see ``PostRow/isChecked``.
    @inlinable public var isChecked: Bool { walk.isChecked }
    /// The position in this snapshot.
    @inlinable public var position: RowPosition { RowPosition(chunk: walk.position, slot: walk.slot) }

    /// The bytes of the id if it is no number, where they lie in the memory map.
    @_spi(Unstable) @inlinable public var text: UnsafeRawBufferPointer { walk.text }
}

extension PostRow {
    @inline(__always)
    init(_ walk: ChunkWalk) {
        let flags = walk.flags
        self.init(
            id: walk.id, key: walk.key, isDetached: flags & ChunkColumns.Flag.detached != 0,
            isPinned: flags & ChunkColumns.Flag.pinned != 0,
            isPlaceholder: flags & ChunkColumns.Flag.placeholder != 0, isChecked: walk.isChecked,
            isOutdated: walk.isOutdated, doubt: walk.doubt, detail: walk.detail,
            page: walk.page == 0 ? nil : walk.page, version: walk.version, bodySize: walk.length,
            position: RowPosition(chunk: walk.position, slot: walk.slot), body: walk.body)
    }
}
