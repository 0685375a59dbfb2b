import CQuire
@_spi(Unstable) import Quire
import Synchronization

// Section 14 of quire.h, in the same order.

final class WindowBox: Handle {
    static let name: StaticString = "window"
    let window: Mutex<FeedWindow>
    init(_ window: FeedWindow) { self.window = Mutex(window) }
}

@_cdecl("quire_window_open") @implementation
public func quire_window_open(
    _ snapshot: OpaquePointer?, _ feed: OpaquePointer?, _ start: UnsafePointer<quire_window_start>?,
    _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        let options = try start.map { try Arguments.structure($0, "the start of a window") }
        let (above, below) = (options?.above ?? 50, options?.below ?? 50)
        try requireScreen(above, below)
        let place = try options.map(place) ?? .head
        out!.pointee = try Handles.object(snapshot, as: SnapshotBox.self).use(with: feed) { open, _, feed in
            let window = try open.read {
                try $0.window(of: feed, at: place, above: Int(above), below: Int(below))
            }
            return try Handles.add(WindowBox(window))
        }
    }
}

private func requireScreen(_ above: UInt32, _ below: UInt32) throws(Failure) {
    if max(above, below) > QUIRE_WINDOW_LIMIT {
        throw Arguments.bad("a window of \(above) rows above and \(below) below the anchor")
    }
}

private func place(_ start: quire_window_start) throws(Failure) -> FeedWindow.Start {
    switch Int(start.kind) {
    case QUIRE_START_HEAD: return .head
    case QUIRE_START_POST:
        guard start.ids.count == 1, let id = try Arguments.ids(start.ids, "the ids of a window's start").first
        else { throw Arguments.bad("the post to open at is not one id") }
        return .post(id)
    case QUIRE_START_NEAREST: return .nearest(try Arguments.ids(start.ids, "the ids of a window's start"))
    case QUIRE_START_KEY: return .key(start.key)
    case QUIRE_START_RANK: return .rank(Int(clamping: start.rank))
    default: throw Arguments.bad("a window's start of unknown kind \(start.kind)")
    }
}

@_cdecl("quire_window_close") @implementation
public func quire_window_close(_ window: OpaquePointer?) {
    Handles.release(window, as: WindowBox.self)
}

private func window(_ handle: OpaquePointer?) throws(Failure) -> WindowBox { try Handles.object(handle) }

@_cdecl("quire_window_get_info") @implementation
public func quire_window_get_info(
    _ handle: OpaquePointer?, _ out: UnsafeMutablePointer<quire_window_info>?
) -> quire_status {
    attempt(filling: out) { out in
        try window(handle).window.withLock { window in
            out.is_following_head = window.anchor == nil ? 1 : 0
            out.generation = window.generation
            out.row_count = count(window.rowCount)
            out.rank = count(window.rank)
            out.count = count(window.rows.count)
            out.anchor = count(window.anchorIndex)
        }
    }
}

@_cdecl("quire_window_look") @implementation
public func quire_window_look(
    _ handle: OpaquePointer?, _ index: UInt64, _ above: UInt32, _ below: UInt32
) -> quire_status {
    attempt {
        try requireScreen(above, below)
        try window(handle).window.withLock { window throws(Failure) in
            var row: RowID?
            if index != .max {
                guard index < window.rows.count else {
                    throw Arguments.bad("row \(index) of a window of \(window.rows.count)")
                }
                row = window.rows[Int(index)].name
            }
            window.look(at: row, above: Int(above), below: Int(below))
        }
    }
}

@_cdecl("quire_window_update") @implementation
public func quire_window_update(
    _ handle: OpaquePointer?, _ snapshot: OpaquePointer?, _ out: UnsafeMutablePointer<quire_difference>?
) -> quire_status {
    attempt(filling: out) { out in
        let box = try window(handle)
        try Handles.object(snapshot, as: SnapshotBox.self).use { open, arena in
            try box.window.withLock { window in
                try requireSameFile(window, open)
                let difference = try open.read { try window.update(to: $0) }
                out.fill(difference, arena)
            }
        }
    }
}

private func requireSameFile(_ window: FeedWindow, _ open: OpenSnapshot) throws(Failure) {
    if window.feed.cache.isSameFile(as: open.cache) { return }
    throw Arguments.bad("the window belongs to another cache than the snapshot")
}

extension quire_difference {
    fileprivate mutating func fill(_ difference: FeedWindow.Difference, _ arena: Arena) {
        (removed, removed_count) = Self.list(difference.removed, arena)
        (inserted, inserted_count) = Self.list(difference.inserted, arena)
        (updated, updated_count) = Self.list(difference.updated, arena)
    }

    private static func list(_ indices: [Int], _ arena: Arena) -> (UnsafePointer<UInt64>?, Int) {
        if indices.isEmpty { return (nil, 0) }
        let array = arena.array(indices.count, of: UInt64.self)
        for (at, index) in indices.enumerated() { (array + at).initialize(to: UInt64(index)) }
        return (UnsafePointer(array), indices.count)
    }
}

@_cdecl("quire_window_read") @implementation
public func quire_window_read(
    _ handle: OpaquePointer?, _ snapshot: OpaquePointer?, _ index: UInt64,
    _ rows: UnsafeMutablePointer<quire_row>?, _ capacity: Int, _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let room = try Room(rows, capacity, "the rows")
        let box = try window(handle)
        out!.pointee = try Handles.object(snapshot, as: SnapshotBox.self).use { open, arena in
            try box.window.withLock { window in
                try requireSameFile(window, open)
                let generation = try open.read { try $0.generation }
                if generation != window.generation {
                    throw Failure(
                        QUIRE_RESYNC,
                        "the window shows commit \(window.generation), the snapshot sees \(generation)")
                }
                let rows = window.rows.dropFirst(Int(clamping: index))
                return try room.fill(rows) { try quire_row($0, open, arena) }
            }
        }
    }
}

@_cdecl("quire_window_nearest") @implementation
public func quire_window_nearest(
    _ handle: OpaquePointer?, _ out: UnsafeMutablePointer<quire_list>?
) -> quire_status {
    attempt(filling: out) { out in
        let posts = try window(handle).window.withLock { $0.nearestPosts }
        let arena = Arena()
        let ids = arena.ids(posts)
        (out.items, out.count) = (ids.items, ids.count)
        out.owner = try arena.owner()
    }
}
