import CQuire
@_spi(Unstable) import Quire

// Section 12 of quire.h, in the same order.

@_cdecl("quire_snapshot_begin") @implementation
public func quire_snapshot_begin(
    _ cache: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        let cache = try Handles.object(cache, as: CacheBox.self).cache
        out!.pointee = try Handles.add(try SnapshotBox(cache))
    }
}

@_cdecl("quire_snapshot_end") @implementation
public func quire_snapshot_end(_ snapshot: OpaquePointer?) {
    Handles.release(snapshot, as: SnapshotBox.self)
}

private func snapshot(_ handle: OpaquePointer?) throws(Failure) -> SnapshotBox {
    try Handles.object(handle)
}

@_cdecl("quire_snapshot_generation") @implementation
public func quire_snapshot_generation(
    _ handle: OpaquePointer?, _ out: UnsafeMutablePointer<UInt64>?
) -> quire_status {
    attempt(clear(out)) {
        out!.pointee = try snapshot(handle).use { open, _ in try open.read { try $0.generation } }
    }
}

// MARK: Info

@_cdecl("quire_feed_get_info") @implementation
public func quire_feed_get_info(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?,
    _ out: UnsafeMutablePointer<quire_feed_info>?
) -> quire_status {
    attempt(clearStructure(out)) {
        try snapshot(handle).use(with: feed) { open, arena, feed in
            out!.pointee.fill(try open.read { try $0.info(of: feed) }, feed.number, arena)
            let overlaps = try open.overlaps(of: feed)
            out!.pointee.head.is_overlapping = overlaps.head ? 1 : 0
            out!.pointee.tail.is_overlapping = overlaps.tail ? 1 : 0
        }
    }
}

extension quire_feed_info {
    fileprivate mutating func fill(_ info: FeedInfo, _ number: UInt32, _ arena: Arena) {
        self.number = number
        name = arena.text(info.name)
        let options = info.options
        (order, paging) = (options.order.number, options.paging.number)
        if options.trustsEnd { flags |= UInt32(QUIRE_FEED_TRUSTS_END) }
        if options.isStrict { flags |= UInt32(QUIRE_FEED_STRICT) }
        page_size = UInt32(clamping: options.pageSize)
        minimum_run = UInt32(clamping: options.minimumRun)
        first_page = UInt32(clamping: options.firstPage)
        sticky = arena.ids(Array(options.sticky))
        posts = count(info.posts)
        detached = count(info.detached)
        placeholders = count(info.placeholders)
        pages = count(info.pages)
        gaps = count(info.gaps)
        unverified_joins = count(info.unverifiedJoins)
        body_bytes = count(info.bodyBytes)
        head = arena.link(info.head)
        tail = arena.link(info.tail)
        is_in_sequence = info.isInSequence ? 1 : 0
        is_end_assumed = info.isEndAssumed ? 1 : 0
        collection = arena.text(options.collection)
        (sizes, rows_per_page) = options.sizes.numbers
        sizes_now = info.sizes.numbers.kind
        rows_known = UInt32(clamping: info.rowsPerPage ?? 0)
        answers_against_order = count(info.answersAgainstOrder)
    }
}

// MARK: Rows

@_cdecl("quire_doubt_name") @implementation
public func quire_doubt_name(_ doubt: Int32) -> UnsafePointer<CChar>? { Names.doubts[doubt] }

/// An array in C's memory for results.
private struct Room<T> {
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

@_cdecl("quire_read_after") @implementation
public func quire_read_after(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?, _ after: UnsafePointer<quire_position>?,
    _ rows: UnsafeMutablePointer<quire_row>?, _ capacity: Int,
    _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let position = try Arguments.position(after)
        let room = try Room(rows, capacity, "the rows")
        out!.pointee = try snapshot(handle).use(with: feed) { open, arena, feed in
            var count = 0
            var failure: (any Error)?
            try open.forEachRow(of: feed, after: position, limit: room.capacity) { row in
                do { try room.put(quire_row(row, open, arena), &count) } catch { failure = failure ?? error }
            } gap: { row in
                room.put(quire_row(row, arena), &count)
            }
            if let failure { throw failure }
            return count
        }
    }
}

@_cdecl("quire_read_before") @implementation
public func quire_read_before(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?, _ before: UnsafePointer<quire_position>?,
    _ rows: UnsafeMutablePointer<quire_row>?, _ capacity: Int,
    _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let position = try Arguments.position(before)
        let room = try Room(rows, capacity, "the rows")
        out!.pointee = try snapshot(handle).use(with: feed) { open, arena, feed in
            let rows = try open.read {
                try $0.rows(of: feed, before: position, limit: room.capacity)
            }
            return try room.fill(rows) { try quire_row($0, open, arena) }
        }
    }
}

@_cdecl("quire_read_gaps") @implementation
public func quire_read_gaps(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?, _ after: UnsafePointer<quire_position>?,
    _ rows: UnsafeMutablePointer<quire_row>?, _ capacity: Int,
    _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let position = try Arguments.position(after)?.words
        let room = try Room(rows, capacity, "the rows")
        out!.pointee = try snapshot(handle).use(with: feed) { open, arena, feed in
            let gaps = try open.read { try $0.gaps(of: feed) }
            let start = position.map { position in
                // a gap is above the entries of its chunk
                gaps.firstIndex { $0.position.words.0 > position.0 } ?? gaps.count
            }
            return try room.fill(gaps[(start ?? 0)...]) { try quire_row(.gap($0), open, arena) }
        }
    }
}

extension quire_row {
    fileprivate init(_ row: FeedRow, _ open: OpenSnapshot, _ arena: Arena) throws {
        self.init()
        switch row {
        case .post(let row): try fill(row, open, arena)
        case .gap(let row): self = quire_row(row, arena)
        }
    }

    fileprivate init(_ row: GapRow, _ arena: Arena) {
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

    fileprivate init(_ row: PostRow, _ open: OpenSnapshot, _ arena: Arena) throws {
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

// MARK: Pages

@_cdecl("quire_read_pages") @implementation
public func quire_read_pages(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?, _ index: UInt64,
    _ pages: UnsafeMutablePointer<quire_page>?, _ capacity: Int,
    _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let room = try Room(pages, capacity, "the pages")
        out!.pointee = try snapshot(handle).use(with: feed) { open, arena, feed in
            let pages = try open.read {
                try $0.pages(of: feed, from: Int(clamping: index), limit: room.capacity)
            }
            return room.fill(pages) { quire_page($0, arena) }
        }
    }
}

extension quire_page {
    fileprivate init(_ page: PageInfo, _ arena: Arena) {
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

@_cdecl("quire_read_page") @implementation
public func quire_read_page(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?, _ number: UInt64, _ first: Int,
    _ rows: UnsafeMutablePointer<quire_row>?, _ capacity: Int,
    _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let room = try Room(rows, capacity, "the rows")
        out!.pointee = try snapshot(handle).use(with: feed) { open, arena, feed in
            if number == 0 { return 0 }  // posts without a page do not form a page
            let posts = try open.read { try $0.posts(ofPage: number, in: feed) }
            let rest = first < 0 ? [] : posts.dropFirst(first)
            return try room.fill(rest) { try quire_row($0, open, arena) }
        }
    }
}

// MARK: Posts

@_cdecl("quire_find") @implementation
public func quire_find(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?, _ id: quire_bytes,
    _ out: UnsafeMutablePointer<quire_row>?
) -> quire_status {
    attempt(clear(out)) {
        let id = try Arguments.id(id)
        try snapshot(handle).use(with: feed) { open, arena, feed in
            guard let row = try open.read({ try $0.find(id, in: feed) }) else {
                throw Failure(QUIRE_NOT_FOUND, "feed \(feed.name) does not hold post \(id)")
            }
            out!.pointee = try quire_row(row, open, arena)
        }
    }
}

@_cdecl("quire_post_get_info") @implementation
public func quire_post_get_info(
    _ handle: OpaquePointer?, _ collection: quire_bytes, _ id: quire_bytes,
    _ out: UnsafeMutablePointer<quire_post_info>?
) -> quire_status {
    attempt(clearStructure(out)) {
        let collection = try Arguments.collection(collection)
        let id = try Arguments.id(id)
        try snapshot(handle).use { open, arena in
            guard let post = try open.read({ try $0.post(id, in: collection) }) else {
                throw Failure(QUIRE_NOT_FOUND, "no feed of the collection holds post \(id)")
            }
            let body = try open.bytes(of: post)
            out!.pointee.fill(post, body, arena)
        }
    }
}

extension quire_post_info {
    fileprivate mutating func fill(_ post: PostInfo, _ bytes: UnsafeRawBufferPointer, _ arena: Arena) {
        if let version = post.version { (self.version, has_version) = (version, 1) }
        feeds = count(post.feeds)
        (detail, is_outdated) = (UInt32(post.detail.rawValue), post.isOutdated ? 1 : 0)
        body = quire_bytes(data: bytes.baseAddress, size: bytes.count)
        if post.fields.isEmpty { return }
        let array = arena.array(post.fields.count, of: quire_field.self)
        for (at, (name, value)) in post.fields.sorted(by: { $0.key < $1.key }).enumerated() {
            (array + at).initialize(to: quire_field(name: arena.text(name), value: arena.bytes(value)))
        }
        fields = UnsafePointer(array)
        field_count = post.fields.count
    }
}

@_cdecl("quire_get_attribute") @implementation
public func quire_get_attribute(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?, _ name: quire_bytes,
    _ out: UnsafeMutablePointer<quire_bytes>?
) -> quire_status {
    attempt(clear(out)) {
        let name = try Arguments.attribute(name)
        try snapshot(handle).use(with: feed) { open, arena, feed in
            guard let value = try open.read({ try $0.attribute(name, of: feed) }) else {
                throw Failure(QUIRE_NOT_FOUND, "feed \(feed.name) has no attribute \(name)")
            }
            out!.pointee = arena.bytes(value)
        }
    }
}
