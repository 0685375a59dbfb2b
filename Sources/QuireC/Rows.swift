import CQuire
@_spi(Unstable) import Quire

// Rows and pages as C sees them.

/// An array in C's memory for results.
struct Room<T> {
    let start: UnsafeMutablePointer<T>?
    let capacity: Int

    init(_ start: UnsafeMutablePointer<T>?, _ capacity: Int, _ name: StaticString) throws(Failure) {
        _ = try Arguments.array(start.map { UnsafePointer($0) }, capacity, name)
        (self.start, self.capacity) = (start, capacity)
    }

    /// Writes an item behind those that were written. There must be room.
    @inline(__always)
    func put(_ item: @autoclosure () throws -> T, _ count: inout Int) rethrows {
        guard let start, count < capacity else { return }
        (start + count).initialize(to: try item())
        count += 1
    }

    /// Writes items from the first on, and returns their number.
    func fill<S: Collection>(_ items: S, _ each: (S.Element) throws -> T) rethrows -> Int {
        guard let start else { return 0 }
        var count = 0
        for item in items {
            if count == capacity { break }
            (start + count).initialize(to: try each(item))
            count += 1
        }
        return count
    }
}

extension Room<quire_row> {
    /// Fills it with rows of a feed below a position, or from the top if it is nil. Returns their number.
    func fill(below position: RowPosition?, of feed: Feed, _ open: OpenSnapshot, _ arena: Arena) throws -> Int
    {
        var count = 0
        var failure: (any Error)?
        try open.forEachRow(of: feed, after: position, limit: capacity) { row in
            do { try put(quire_row(row, open, arena), &count) } catch { failure = failure ?? error }
        } gap: { row in
            put(quire_row(row, arena), &count)
        }
        if let failure { throw failure }
        return count
    }
}

extension quire_row {
    init(_ row: FeedRow, _ open: OpenSnapshot, _ arena: Arena) throws {
        self.init()
        switch row {
        case .post(let row): try fill(row, open, arena)
        case .gap(let row): self = quire_row(row, arena)
        }
    }

    init(_ row: GapRow, _ arena: Arena) {
        self.init()
        kind = Int32(QUIRE_ROW_GAP)
        position.opaque = row.position.words
        gap = row.id.number
        down = arena.link(row.down, isOverlapping: row.isDownOverlapping)
        up = arena.link(row.up, isOverlapping: row.isUpOverlapping)
        posts_above = count(row.postsAbove)
        why = row.why.number
        since = row.since
    }

    init(_ row: PostRow, _ open: OpenSnapshot, _ arena: Arena) throws {
        self.init()
        try fill(row, open, arena)
    }

    private mutating func fill(_ row: PostRow, _ open: OpenSnapshot, _ arena: Arena) throws {
        kind = Int32(QUIRE_ROW_POST)
        position.opaque = row.position.words
        id = arena.id(row.id)
        let bytes = try open.bytes(of: row)
        body = quire_bytes(data: bytes.baseAddress, size: bytes.count)
        if let key = row.key { (self.key, flags) = (key, flags | UInt32(QUIRE_ROW_HAS_KEY)) }
        if let page = row.page { (self.page, flags) = (page, flags | UInt32(QUIRE_ROW_HAS_PAGE)) }
        if row.isDetached { flags |= UInt32(QUIRE_ROW_DETACHED) }
        if row.isPinned { flags |= UInt32(QUIRE_ROW_PINNED) }
        if row.isPlaceholder { flags |= UInt32(QUIRE_ROW_PLACEHOLDER) }
        if let doubt = row.doubt { (why, flags) = (doubt.number, flags | UInt32(QUIRE_ROW_UNVERIFIED)) }
        if row.isChecked { flags |= UInt32(QUIRE_ROW_CHECKED) }
        if row.isOutdated { flags |= UInt32(QUIRE_ROW_OUTDATED) }
        if row.detail < .full { flags |= UInt32(QUIRE_ROW_PARTIAL) }
    }
}

extension quire_page {
    init(_ page: PageInfo, _ arena: Arena) {
        self.init()
        number = page.number
        index = count(page.index)
        own = arena.link(page.own)
        next = arena.link(page.next)
        previous = arena.link(page.previous)
        received = count(page.received)
        added = count(page.new)
        duplicates = count(page.duplicates)
        duplicates_in_page = count(page.duplicatesInPage)
        posts = count(page.posts)
        fetched_at = page.fetchedAt
        is_full = page.isFull ? 1 : 0
    }
}
