import CQuire
@_spi(Unstable) import Quire

// Section 15 of quire.h, in the same order.

final class ViewBox: Handle {
    static let name: StaticString = "view"
    let view: StoredView
    init(_ view: StoredView) { self.view = view }
}

/// Where a read of a view's sections ended, for the read that goes on there.
struct SectionsRead {
    let view: StoredView
    /// The number of sections up to the last one.
    let count: UInt64
    let last: StoredViewSection

    /// In one snapshot a feed has one view of a name.
    func isOf(_ other: StoredView) -> Bool {
        (view.feed.number, view.name) == (other.feed.number, other.name)
    }
}

/// A callback of C with its context, which is released with this.
private final class ViewCallback: @unchecked Sendable {
    // @unchecked: its properties are constants. The program has promised, by quire.h, that the callback and
    // what its context points to may be used on any thread that writes, and on two at once.
    private let callback: quire_view_callback
    private let context: UnsafeMutableRawPointer?
    private let release: quire_release_callback?

    init(
        _ callback: @escaping quire_view_callback, _ context: UnsafeMutableRawPointer?,
        _ release: quire_release_callback?
    ) {
        (self.callback, self.context, self.release) = (callback, context, release)
    }

    deinit { release?(context) }

    func entry(of post: borrowing StoredViewPost) -> StoredViewEntry? {
        var row = quire_row()
        row.kind = Int32(QUIRE_ROW_POST)
        if let key = post.key { (row.key, row.flags) = (key, row.flags | UInt32(QUIRE_ROW_HAS_KEY)) }
        if post.isDetached { row.flags |= UInt32(QUIRE_ROW_DETACHED) }
        if post.isPlaceholder { row.flags |= UInt32(QUIRE_ROW_PLACEHOLDER) }
        return post.body.withUnsafeBytes { body in
            row.body = quire_bytes(data: body.baseAddress, size: body.count)
            if let number = post.id.number {
                (row.id_number, row.flags) = (number, row.flags | UInt32(QUIRE_ROW_NUMERIC_ID))
                return ask(&row)
            }
            return post.id.bytes.withUnsafeBytes { id in
                row.id_text = quire_bytes(data: id.baseAddress, size: id.count)
                return ask(&row)
            }
        }
    }

    private func ask(_ row: inout quire_row) -> StoredViewEntry? {
        var entry = quire_view_entry()
        if callback(context, &row, &entry) != 1 { return nil }
        return StoredViewEntry(
            section: bytes(entry.section, StoredViewEntry.sectionLimit),
            key: bytes(entry.key, StoredViewEntry.keyLimit))
    }

    private func bytes(_ bytes: quire_bytes, _ limit: Int) -> [UInt8] {
        guard let start = bytes.data, bytes.size > 0 else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: min(bytes.size, limit)))
    }
}

private func viewName(_ name: quire_bytes) throws(Failure) -> String {
    try Arguments.text(name, atMost: Int(QUIRE_NAME_LIMIT), "the name of a view")
}

@_cdecl("quire_view_open") @implementation
public func quire_view_open(
    _ feed: OpaquePointer?, _ name: quire_bytes, _ options: UnsafePointer<quire_view_options>?,
    _ callback: quire_view_callback?, _ context: UnsafeMutableRawPointer?,
    _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        let options = try options.map { try Arguments.structure($0, "the options of a view") }
        guard let callback else {
            options?.release?(context)
            throw Arguments.bad("the callback of a view is NULL")
        }
        let function = ViewCallback(callback, context, options?.release)
        let order = try order(options?.order ?? Int32(QUIRE_VIEW_FEED))
        let feed = try Handles.object(feed, as: FeedBox.self).feed
        let view = try feed.cache.view(
            named: try viewName(name), of: feed, order: order, version: options?.version ?? 1
        ) { post in function.entry(of: post) }
        out!.pointee = try Handles.add(ViewBox(view))
    }
}

private func order(_ order: Int32) throws(Failure) -> StoredViewOrder {
    switch Int(order) {
    case QUIRE_VIEW_FEED: return .feed
    case QUIRE_VIEW_KEYS: return .keys
    default: throw Arguments.bad("a view of unknown order \(order)")
    }
}

@_cdecl("quire_view_find") @implementation
public func quire_view_find(
    _ feed: OpaquePointer?, _ name: quire_bytes, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        let (feed, name) = (try Handles.object(feed, as: FeedBox.self).feed, try viewName(name))
        guard let view = try feed.cache.views(of: feed).first(where: { $0.name == name }) else {
            throw Failure(QUIRE_NOT_FOUND, "feed \(feed.name) has no view \(name)")
        }
        out!.pointee = try Handles.add(ViewBox(view))
    }
}

@_cdecl("quire_view_close") @implementation
public func quire_view_close(_ view: OpaquePointer?) { Handles.release(view, as: ViewBox.self) }

@_cdecl("quire_view_remove") @implementation
public func quire_view_remove(
    _ feed: OpaquePointer?, _ name: quire_bytes, _ out: UnsafeMutablePointer<Int32>?
) -> quire_status {
    attempt(clear(out)) {
        let feed = try Handles.object(feed, as: FeedBox.self).feed
        out!.pointee = try feed.cache.removeView(named: try viewName(name), of: feed) ? 1 : 0
    }
}

/// Runs `body` with a view in a snapshot of its file.
private func read(
    _ view: OpaquePointer?, _ snapshot: OpaquePointer?,
    _ body: (borrowing Snapshot, StoredView, OpenSnapshot, Arena) throws -> Void
) throws {
    let view = try Handles.object(view, as: ViewBox.self).view
    try Handles.object(snapshot, as: SnapshotBox.self).use { open, arena in
        if !view.feed.cache.isSameFile(as: open.cache) {
            throw Arguments.bad("the view belongs to another cache than the snapshot")
        }
        try open.read { try body($0, view, open, arena) }
    }
}

@_cdecl("quire_view_get_info") @implementation
public func quire_view_get_info(
    _ snapshot: OpaquePointer?, _ view: OpaquePointer?, _ out: UnsafeMutablePointer<quire_view_info>?
) -> quire_status {
    attempt(filling: out) { out in
        try read(view, snapshot) { snapshot, view, _, _ in
            let info = try snapshot.info(of: view)
            out.order = Int32(info.order == .feed ? QUIRE_VIEW_FEED : QUIRE_VIEW_KEYS)
            out.version = info.version
            out.posts = count(info.posts)
            out.is_current = info.isCurrent ? 1 : 0
            out.is_complete = info.isComplete ? 1 : 0
        }
    }
}

@_cdecl("quire_view_read_after") @implementation
public func quire_view_read_after(
    _ snapshot: OpaquePointer?, _ view: OpaquePointer?, _ after: UnsafePointer<quire_position>?,
    _ rows: UnsafeMutablePointer<quire_row>?, _ capacity: Int, _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let room = try Room(rows, capacity, "the rows")
        let position = try Arguments.position(after)
        try read(view, snapshot) { snapshot, view, open, arena in
            let found = try snapshot.rows(of: view, after: position, limit: capacity)
            out!.pointee = try room.fill(found) { try quire_row($0, open, arena) }
        }
    }
}

@_cdecl("quire_view_read_from_rank") @implementation
public func quire_view_read_from_rank(
    _ snapshot: OpaquePointer?, _ view: OpaquePointer?, _ rank: UInt64,
    _ rows: UnsafeMutablePointer<quire_row>?, _ capacity: Int, _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let room = try Room(rows, capacity, "the rows")
        try read(view, snapshot) { snapshot, view, open, arena in
            let found = try snapshot.rows(of: view, from: Int(clamping: rank), limit: capacity)
            out!.pointee = try room.fill(found) { try quire_row($0, open, arena) }
        }
    }
}

extension quire_view_section {
    fileprivate init(_ name: [UInt8], posts: Int, rank: Int, _ arena: Arena) {
        self.init(name: arena.bytes(name), posts: count(posts), rank: count(rank))
    }
}

@_cdecl("quire_view_find_post") @implementation
public func quire_view_find_post(
    _ snapshot: OpaquePointer?, _ view: OpaquePointer?, _ id: quire_bytes,
    _ out: UnsafeMutablePointer<quire_view_section>?
) -> quire_status {
    attempt(clear(out)) {
        let id = try Arguments.id(id)
        try read(view, snapshot) { snapshot, view, _, arena in
            guard let place = try snapshot.place(of: id, in: view) else {
                throw Failure(QUIRE_NOT_FOUND, "view \(view.name) does not show post \(id)")
            }
            let posts = try snapshot.posts(inSection: place.section, of: view)
            out!.pointee = quire_view_section(place.section, posts: posts, rank: place.rank, arena)
        }
    }
}

@_cdecl("quire_view_sections") @implementation
public func quire_view_sections(
    _ snapshot: OpaquePointer?, _ view: OpaquePointer?, _ skip: UInt64,
    _ sections: UnsafeMutablePointer<quire_view_section>?, _ capacity: Int,
    _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let room = try Room(sections, capacity, "the sections")
        let box = try Handles.object(snapshot, as: SnapshotBox.self)
        try read(view, snapshot) { snapshot, view, _, arena in
            let start = box.sectionsRead.flatMap { $0.isOf(view) && $0.count <= skip ? $0 : nil }
            let found = try snapshot.sections(
                of: view, after: start?.last, skipping: Int(clamping: skip - (start?.count ?? 0)),
                limit: room.capacity)
            out!.pointee = room.fill(found) {
                quire_view_section($0.name, posts: $0.posts, rank: $0.rank, arena)
            }
            if let last = found.last {
                box.sectionsRead = SectionsRead(view: view, count: skip + UInt64(found.count), last: last)
            }
        }
    }
}
