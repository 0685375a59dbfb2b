// What the C API needs beyond the public API. A closure cannot cross a language border, so a snapshot
// gets a begin and an end there, and rows lend their bytes without the compiler's guard.

/// A snapshot that lasts as long as the object. It may move between threads, but only one at a time may
/// use it; the last release ends it, on whatever thread.
@_spi(Unstable) public final class OpenSnapshot {
    @_spi(Unstable) public let cache: Cache
    private let transaction: Transaction
    private let bodies: BodyReader

    @_spi(Unstable) public init(_ cache: Cache) throws {
        self.cache = cache
        transaction = try cache.environment.beginRead()
        bodies = BodyReader(transaction)
    }

    deinit { cache.environment.endRead(transaction) }

    @_spi(Unstable) public func read<R>(_ body: (borrowing Snapshot) throws -> R) throws -> R {
        try body(Snapshot(transaction, bodies, of: cache.environment))
    }

    /// Tells whether the answers to the links at the head and at the tail of a feed overlap its border.
    @_spi(Unstable) public func overlaps(of feed: Feed) throws -> (head: Bool, tail: Bool) {
        let record = try RowReader(transaction: transaction, feed: feed.number).record()
        return (record.head.isOverlapping, record.tail.isOverlapping)
    }

    /// Valid as long as this object.
    @_spi(Unstable) public func bytes(of row: PostRow) throws -> UnsafeRawBufferPointer {
        try bodies.bytes(row.body)
    }

    /// Valid as long as this object.
    @_spi(Unstable) public func bytes(of post: PostInfo) throws -> UnsafeRawBufferPointer {
        try bodies.bytes(post.body)
    }
}

extension Cache {
    /// True if both are open on the same file: they share one environment.
    @_spi(Unstable) public func isSameFile(as other: Cache) -> Bool { environment === other.environment }
}

extension RowPosition {
    /// The position as two numbers, and back. Those of a stranger give nil or a position that is
    /// somewhere in or around the feed.
    @_spi(Unstable) public var words: (UInt64, UInt64) { (chunk, UInt64(bitPattern: Int64(slot))) }

    @_spi(Unstable) public init?(words: (UInt64, UInt64)) {
        let slot = Int64(bitPattern: words.1)
        guard words.0 < .max, slot >= -1, slot <= Int64(Int32.max) else { return nil }
        self.init(chunk: words.0, slot: Int(slot))
    }
}

extension PostID {
    /// The number whose decimal text the id is; nil if it is other bytes.
    @_spi(Unstable) public var number: UInt64? {
        if case .integer(let number) = storage { number } else { nil }
    }
}
