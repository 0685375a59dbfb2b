import CQuire
@_spi(Unstable) import Quire
import Synchronization

// Several feeds as one list.

/// How far a list of several feeds was read.
final class MergeBox: Handle {
    static let name: StaticString = "merge"
    /// By its handle: a merge does not keep a snapshot from ending.
    private let snapshot: UInt
    private let feeds: [Feed]
    private let position: Mutex<MergedPosition?>

    init(_ snapshot: OpaquePointer, _ feeds: [Feed], at position: MergedPosition?) {
        (self.snapshot, self.feeds) = (UInt(bitPattern: snapshot), feeds)
        self.position = Mutex(position)
    }

    /// Fills the room with the next rows, and `sources` with their feeds. Returns how many.
    func read(_ room: Room<quire_row>, _ sources: UnsafeMutablePointer<UInt32>?) throws -> Int {
        let box = try Handles.object(OpaquePointer(bitPattern: snapshot), as: SnapshotBox.self)
        return try position.withLock { position in
            let (count, end) = try box.use { open, arena in
                let read = try open.read {
                    try $0.mergedRows(of: feeds, after: position, limit: room.capacity)
                }
                for (i, row) in read.rows.enumerated() { sources?[i] = UInt32(row.source) }
                return (try room.fill(read.rows) { try quire_row($0, open, arena) }, read.position)
            }
            position = end
            return count
        }
    }
}

extension quire_row {
    fileprivate init(_ row: MergedRow, _ open: OpenSnapshot, _ arena: Arena) throws {
        switch row {
        case .post(let post, _): self = try quire_row(post, open, arena)
        case .frontier(.gap(let gap), _): self = quire_row(gap, arena)
        case .frontier(.head(let link), _):
            self.init()
            (kind, up) = (Int32(QUIRE_ROW_HEAD), arena.link(link))
        case .frontier(.tail(let link), _):
            self.init()
            (kind, down) = (Int32(QUIRE_ROW_TAIL), arena.link(link))
        }
    }
}

@_cdecl("quire_merge_begin") @implementation
public func quire_merge_begin(
    _ handle: OpaquePointer?, _ feeds: UnsafePointer<OpaquePointer?>?, _ count: Int,
    _ key: UnsafePointer<Int64>?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        let box = try snapshot(handle)
        let merged = try Arguments.array(feeds, count, "the feeds").bindMemory(to: OpaquePointer?.self).map {
            try Handles.object($0, as: FeedBox.self).feed
        }
        let start = try key.map { try Arguments.array($0, 1, "the key").load(as: Int64.self) }
        let position = try box.use { open, _ in
            for feed in merged where !feed.cache.isSameFile(as: open.cache) {
                throw Arguments.bad("feed \(feed.name) belongs to another cache than the snapshot")
            }
            return try open.read { snapshot in
                _ = try snapshot.mergedRows(of: merged, limit: 0)  // refuses feeds that cannot be merged
                return try start.map { try snapshot.mergedPosition(atKey: $0, of: merged) }
            }
        }
        out!.pointee = try Handles.add(MergeBox(handle!, merged, at: position))
    }
}

@_cdecl("quire_merge_read") @implementation
public func quire_merge_read(
    _ merge: OpaquePointer?, _ rows: UnsafeMutablePointer<quire_row>?,
    _ sources: UnsafeMutablePointer<UInt32>?, _ capacity: Int, _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let room = try Room(rows, capacity, "the rows")
        if sources != nil { _ = try Room(sources, capacity, "the sources") }
        out!.pointee = try Handles.object(merge, as: MergeBox.self).read(room, sources)
    }
}

@_cdecl("quire_merge_end") @implementation
public func quire_merge_end(_ merge: OpaquePointer?) { Handles.release(merge, as: MergeBox.self) }
