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

func snapshot(_ handle: OpaquePointer?) throws(Failure) -> SnapshotBox {
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
    attempt(filling: out) { out in
        try snapshot(handle).use(with: feed) { open, arena, feed in
            out.fill(try open.read { try $0.info(of: feed) }, feed.number, arena)
            let overlaps = try open.overlaps(of: feed)
            out.head.is_overlapping = overlaps.head ? 1 : 0
            out.tail.is_overlapping = overlaps.tail ? 1 : 0
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

@_cdecl("quire_row_id") @implementation
public func quire_row_id(
    _ row: UnsafePointer<quire_row>?, _ digits: UnsafeMutablePointer<CChar>?
) -> quire_bytes {
    guard let row, Arguments.isAligned(row) else { return quire_bytes() }
    return row.pointee.id(digits)
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
            try open.read { snapshot in
                var cursor = try snapshot.cursor(of: feed, after: position, limit: capacity)
                return try room.fill(&cursor, arena)
            }
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
            guard
                let (above, count) = try open.start(ofRowsBefore: position, limit: room.capacity, of: feed)
            else { return 0 }
            // the nearest first, which the cursor reads last
            let filled = try open.read { snapshot in
                var cursor = try snapshot.cursor(of: feed, after: above, limit: count)
                return try room.fill(&cursor, from: count - 1, step: -1, arena)
            }
            if filled < count { throw Failure(QUIRE_CORRUPT, "feed \(feed.name): rows are missing") }
            return filled
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
        let position = try Arguments.position(after)
        let room = try Room(rows, capacity, "the rows")
        out!.pointee = try snapshot(handle).use(with: feed) { open, arena, feed in
            let gaps = try open.read { try $0.gaps(of: feed, after: position, limit: room.capacity) }
            return try room.fill(gaps) { try quire_row(.gap($0), open, arena) }
        }
    }
}

// MARK: Ranks

@_cdecl("quire_read_from_rank") @implementation
public func quire_read_from_rank(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?, _ rank: UInt64,
    _ rows: UnsafeMutablePointer<quire_row>?, _ capacity: Int,
    _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let room = try Room(rows, capacity, "the rows")
        out!.pointee = try snapshot(handle).use(with: feed) { open, arena, feed in
            guard let above = try open.position(above: Int(clamping: rank), of: feed) else { return 0 }
            return try open.read { snapshot in
                var cursor = try snapshot.cursor(of: feed, after: above, limit: capacity)
                return try room.fill(&cursor, arena)
            }
        }
    }
}

@_cdecl("quire_row_count") @implementation
public func quire_row_count(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?, _ out: UnsafeMutablePointer<UInt64>?
) -> quire_status {
    attempt(clear(out)) {
        out!.pointee = try snapshot(handle).use(with: feed) { open, _, feed in
            count(try open.read { try $0.rowCount(of: feed) })
        }
    }
}

@_cdecl("quire_rank_of_row") @implementation
public func quire_rank_of_row(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?, _ position: UnsafePointer<quire_position>?,
    _ out: UnsafeMutablePointer<UInt64>?
) -> quire_status {
    attempt(clear(out)) {
        guard let position = try Arguments.position(position) else {
            throw Arguments.bad("the position is NULL")
        }
        out!.pointee = try snapshot(handle).use(with: feed) { open, _, feed in
            count(try open.read { try $0.rank(of: position, in: feed) })
        }
    }
}

@_cdecl("quire_rank_of_post") @implementation
public func quire_rank_of_post(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?, _ id: quire_bytes,
    _ out: UnsafeMutablePointer<UInt64>?
) -> quire_status {
    attempt(clear(out)) {
        let id = try Arguments.id(id)
        out!.pointee = try snapshot(handle).use(with: feed) { open, _, feed in
            guard let rank = try open.read({ try $0.rank(of: id, in: feed) }) else {
                throw Failure(QUIRE_NOT_FOUND, "feed \(feed.name) does not hold post \(id)")
            }
            return count(rank)
        }
    }
}

@_cdecl("quire_rank_of_key") @implementation
public func quire_rank_of_key(
    _ handle: OpaquePointer?, _ feed: OpaquePointer?, _ key: Int64, _ out: UnsafeMutablePointer<UInt64>?
) -> quire_status {
    attempt(clear(out)) {
        out!.pointee = try snapshot(handle).use(with: feed) { open, _, feed in
            guard let rank = try open.read({ try $0.rank(ofKey: key, in: feed) }) else {
                throw Arguments.bad("the order of feed \(feed.name) is not that of keys")
            }
            return count(rank)
        }
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
            open.note(pages, of: feed)
            return room.fill(pages) { quire_page($0, arena) }
        }
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
            return try open.read { snapshot in
                var cursor = try snapshot.cursor(ofPage: number, in: feed)
                return try room.fill(&cursor, skipping: first < 0 ? .max : first, arena)
            }
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
    attempt(filling: out) { out in
        let collection = try Arguments.collection(collection)
        let id = try Arguments.id(id)
        try snapshot(handle).use { open, arena in
            guard let post = try open.read({ try $0.post(id, in: collection) }) else {
                throw Failure(QUIRE_NOT_FOUND, "no feed of collection \"\(collection)\" holds post \(id)")
            }
            let body = try open.bytes(of: post)
            out.fill(post, body, arena)
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
