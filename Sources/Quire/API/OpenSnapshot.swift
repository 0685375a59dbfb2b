// What the C API needs in addition to the public API. Closures cannot cross a language border, so a snapshot
// has a begin and an end here, and rows lend their bytes without protection by the compiler.

/// A snapshot that lives as long as this object. It may move between threads, but only one may use it at a
/// time. The last release ends it, on any thread. The C API derives its own from it, which spares each
/// snapshot an object.
@_spi(Unstable) open class OpenSnapshot {
    @_spi(Unstable) public final let cache: Cache
    /// That of the cache, which keeps it alive: references to it are not counted.
    private final let environment: Unmanaged<Environment>
    private final let reader: Environment.Reader
    /// Belongs to the transaction.
    private final unowned(unsafe) let memory: SnapshotMemory
    private final var transaction: Transaction { reader.transaction }

    @_spi(Unstable) public init(_ cache: Cache) throws {
        self.cache = cache
        environment = Unmanaged.passUnretained(cache.environment)
        var reader = try environment._withUnsafeGuaranteedRef { try $0.beginRead() }
        memory = SnapshotMemory.of(&reader).takeUnretainedValue()
        self.reader = reader
    }

    deinit { environment._withUnsafeGuaranteedRef { $0.endRead(reader) } }

    @_spi(Unstable) public final func read<R>(_ body: (borrowing Snapshot) throws -> R) throws -> R {
        try body(Snapshot(transaction, memory, of: cache.environment))
    }

    /// Has pages that were listed in this snapshot read by their numbers without being looked up.
    @_spi(Unstable) public final func note(_ pages: [PageInfo], of feed: Feed) {
        for page in pages {
            let found = FoundPages.Page(start: page.start, count: page.posts, place: page.place)
            memory.note(found, page.number, of: feed.number)
        }
    }

    /// Returns whether the answers to the links at the feed's head and tail overlap its border.
    @_spi(Unstable) public final func overlaps(of feed: Feed) throws -> (head: Bool, tail: Bool) {
        let record = try RowReader(transaction: transaction, feed: feed.number).record()
        return (record.head.isOverlapping, record.tail.isOverlapping)
    }

    /// Returns the position below which ``Snapshot/cursor(of:after:limit:)`` begins with the row of this
    /// rank; nil if the feed has no such row.
    @_spi(Unstable) public final func position(above rank: Int, of feed: Feed) throws -> RowPosition? {
        let snapshot = Snapshot(transaction, memory, of: cache.environment)
        return try snapshot.reader(feed).position(above: rank)
    }

    /// Returns the position below which ``Snapshot/cursor(of:after:limit:)`` begins with the uppermost of the
    /// nearest `limit` rows above a position (nil: above the bottom), and how many there are; nil if there
    /// are none.
    @_spi(Unstable) public final func start(
        ofRowsBefore position: RowPosition?, limit: Int, of feed: Feed
    ) throws -> (RowPosition, count: Int)? {
        let snapshot = Snapshot(transaction, memory, of: cache.environment)
        return try snapshot.reader(feed).start(ofRowsBefore: position, limit: limit)
    }

    /// Returns the bytes of a row's body, valid as long as this object.
    @_spi(Unstable) public final func bytes(of row: PostRow) throws -> UnsafeRawBufferPointer {
        try memory.body(row.body, transaction)
    }

    /// Returns the bytes of a post's body, valid as long as this object.
    @_spi(Unstable) public final func bytes(of post: PostInfo) throws -> UnsafeRawBufferPointer {
        try memory.body(post.body, transaction)
    }
}

extension Cache {
    /// Returns true if both caches have the same file open and so share one environment.
    @_spi(Unstable) public func isSameFile(as other: Cache) -> Bool { environment === other.environment }
}

extension RowPosition {
    /// The position as two numbers. Arbitrary numbers convert back to nil or a position in or near the feed.
    @inlinable
    @_spi(Unstable) public var words: (UInt64, UInt64) { (chunk, UInt64(bitPattern: Int64(slot))) }

    @_spi(Unstable) public init?(words: (UInt64, UInt64)) {
        let slot = Int64(bitPattern: words.1)
        guard words.0 < .max, slot >= -1, slot <= Int64(Int32.max) else { return nil }
        self.init(chunk: words.0, slot: Int(slot))
    }
}

extension PostID {
    /// The number whose decimal text is the id; nil if the id is other bytes.
    @_spi(Unstable) public var number: UInt64? {
        if case .integer(let number) = storage { number } else { nil }
    }
}
