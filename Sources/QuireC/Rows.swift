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
    /// Writes the rows of a cursor, without the first `skipped` posts of a page. Returns their number.
    /// - Parameters:
    ///   - first: The place of the first row.
    ///   - step: 1, or -1 if each row goes before the last one.
    func fill(
        _ cursor: inout RowCursor, skipping skipped: Int = 0, from first: Int = 0, step: Int = 1,
        _ arena: Arena
    ) throws -> Int {
        guard let start = start.map({ $0 + first }) else { return 0 }
        let limit = step < 0 ? first + 1 : capacity - first
        var (count, skipped) = (0, skipped)
        while count < limit {
            if let post = try cursor.next() {
                if skipped > 0 {
                    skipped -= 1
                } else {
                    (start + step &* count).initialize(to: quire_row(post))
                    count += 1
                }
            } else if try fillGap(&cursor, start + step &* count, arena) {
                count += 1
            } else {
                break
            }
        }
        return count
    }

    /// Writes the gap that comes next, if there is one. Not a part of the loop, because gaps are rare and
    /// take all registers.
    @inline(never)
    private func fillGap(
        _ cursor: inout RowCursor, _ row: UnsafeMutablePointer<quire_row>, _ arena: Arena
    ) throws -> Bool {
        guard let gap = try cursor.nextGap() else { return false }
        row.initialize(to: quire_row(gap, arena))
        return true
    }
}

extension quire_row {
    /// Returns the id as text. The digits of a number are written to the room, if there is any.
    func id(_ digits: UnsafeMutablePointer<CChar>?) -> quire_bytes {
        if flags & UInt32(QUIRE_ROW_NUMERIC_ID) == 0 { return id_text }
        guard let digits else { return quire_bytes() }
        let decimal = Decimal(id_number)
        decimal.write(to: digits)
        return quire_bytes(data: digits, size: decimal.count)
    }

    init(_ row: FeedRow, _ open: OpenSnapshot, _ arena: Arena) throws {
        switch row {
        case .post(let row): self = try quire_row(row, open, arena)
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

    /// Makes a row of a post that lies in the memory map, and so do its bytes.
    @inline(__always)
    init(_ post: borrowing PostView) {
        self.init()
        kind = Int32(QUIRE_ROW_POST)
        position.opaque = post.position.words
        if let number = post.number {
            (id_number, flags) = (number, UInt32(QUIRE_ROW_NUMERIC_ID))
        } else {
            let text = post.text
            id_text = quire_bytes(data: text.baseAddress, size: text.count)
        }
        post.body.withUnsafeBytes { body = quire_bytes(data: $0.baseAddress, size: $0.count) }
        set(
            post.key, post.page, post.doubt, post.detail, isDetached: post.isDetached,
            isPinned: post.isPinned, isPlaceholder: post.isPlaceholder, isChecked: post.isChecked,
            isOutdated: post.isOutdated)
    }

    init(_ row: PostRow, _ open: OpenSnapshot, _ arena: Arena) throws {
        self.init()
        kind = Int32(QUIRE_ROW_POST)
        position.opaque = row.position.words
        if let number = row.id.number {
            (id_number, flags) = (number, UInt32(QUIRE_ROW_NUMERIC_ID))
        } else {
            id_text = arena.bytes(row.id.bytes)
        }
        let bytes = try open.bytes(of: row)
        body = quire_bytes(data: bytes.baseAddress, size: bytes.count)
        set(
            row.key, row.page, row.doubt, row.detail, isDetached: row.isDetached, isPinned: row.isPinned,
            isPlaceholder: row.isPlaceholder, isChecked: row.isChecked, isOutdated: row.isOutdated)
    }

    @inline(__always)
    private mutating func set(
        _ key: Int64?, _ page: UInt64?, _ doubt: Doubt?, _ detail: Detail, isDetached: Bool, isPinned: Bool,
        isPlaceholder: Bool, isChecked: Bool, isOutdated: Bool
    ) {
        if let key { (self.key, flags) = (key, flags | UInt32(QUIRE_ROW_HAS_KEY)) }
        if let page { (self.page, flags) = (page, flags | UInt32(QUIRE_ROW_HAS_PAGE)) }
        if isDetached { flags |= UInt32(QUIRE_ROW_DETACHED) }
        if isPinned { flags |= UInt32(QUIRE_ROW_PINNED) }
        if isPlaceholder { flags |= UInt32(QUIRE_ROW_PLACEHOLDER) }
        if let doubt { (why, flags) = (doubt.number, flags | UInt32(QUIRE_ROW_UNVERIFIED)) }
        if isChecked { flags |= UInt32(QUIRE_ROW_CHECKED) }
        if isOutdated { flags |= UInt32(QUIRE_ROW_OUTDATED) }
        if detail < .full { flags |= UInt32(QUIRE_ROW_PARTIAL) }
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
