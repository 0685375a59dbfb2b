import CQuire
@_spi(Unstable) import Quire

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// Section 13 of quire.h, in the same order.

private func generation(_ cache: OpaquePointer?) throws -> UInt64 {
    try Handles.object(cache, as: CacheBox.self).cache.withSnapshot { try $0.generation }
}

@_cdecl("quire_generation") @implementation
public func quire_generation(_ cache: OpaquePointer?, _ out: UnsafeMutablePointer<UInt64>?) -> quire_status {
    attempt(clear(out)) { out!.pointee = try generation(cache) }
}

/// Polls, because a writer in another process cannot wake this one. A poll takes less than a microsecond. The
/// pauses grow from a quarter of a millisecond to 10 ms.
@_cdecl("quire_wait") @implementation
public func quire_wait(
    _ cache: OpaquePointer?, _ since: UInt64, _ timeout: UInt32,
    _ out: UnsafeMutablePointer<UInt64>?
) -> quire_status {
    attempt(clear(out)) {
        let deadline = microseconds() + Int64(timeout) * 1000
        var pause: Int64 = 250
        while true {
            // look up the handle each time, because it may be closed meanwhile
            let now = try generation(cache)
            let left = deadline - microseconds()
            if now > since || left <= 0 { out!.pointee = now }
            if now > since { return }
            if left <= 0 {
                throw Failure(QUIRE_TIMEOUT, "nothing was committed within \(timeout) ms")
            }
            usleep(useconds_t(min(pause, left)))
            pause = min(pause * 3 / 2, 10_000)
        }
    }
}

private func microseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
}

@_cdecl("quire_changes_since") @implementation
public func quire_changes_since(
    _ handle: OpaquePointer?, _ since: UInt64,
    _ outChanges: UnsafeMutablePointer<UnsafePointer<quire_change>?>?,
    _ outCount: UnsafeMutablePointer<Int>?
) -> quire_status {
    let isCountThere = clear(outCount)
    return attempt(clear(outChanges) && isCountThere) {
        let box = try Handles.object(handle, as: SnapshotBox.self)
        let changes = try box.use { open, arena in
            if let known = box.changesRead[since] { return known }
            let changes = try readChanges(since: since, open, arena)
            box.changesRead[since] = changes
            return changes
        }
        outChanges!.pointee = changes.baseAddress
        outCount!.pointee = changes.count
    }
}

private func readChanges(
    since: UInt64, _ open: OpenSnapshot, _ arena: Arena
) throws -> UnsafeBufferPointer<quire_change> {
    let now = try open.read { try $0.generation }
    if since > now {
        throw Failure(QUIRE_RESYNC, "commit \(since) is not in the cache: the snapshot sees commit \(now)")
    }
    guard let commits = try open.read({ try $0.changes(since: since) }) else {
        throw Failure(QUIRE_RESYNC, "the log does not reach back to commit \(since)")
    }
    let total = commits.reduce(0) { $0 + $1.changes.count }
    if total == 0 { return UnsafeBufferPointer(start: nil, count: 0) }
    let array = arena.array(total, of: quire_change.self)
    var at = 0
    for (generation, feed, changes) in commits {
        for change in changes {
            var row = quire_change(change, arena)
            (row.generation, row.feed) = (generation, feed)
            (array + at).initialize(to: row)
            at += 1
        }
    }
    return UnsafeBufferPointer(start: array, count: total)
}

extension quire_change {
    fileprivate init(_ change: Change, _ arena: Arena) {
        self.init()
        switch change {
        case .inserted(let row, let below):
            kind = Int32(QUIRE_CHANGE_INSERTED)
            (row_kind, id, gap) = Self.name(row, arena)
            if let below { (below_kind, below_id, below_gap) = Self.name(below, arena) }
        case .removed(let row):
            kind = Int32(QUIRE_CHANGE_REMOVED)
            (row_kind, id, gap) = Self.name(row, arena)
        case .updated(let post):
            kind = Int32(QUIRE_CHANGE_UPDATED)
            (row_kind, id, gap) = Self.name(.post(post), arena)
        case .reset: kind = Int32(QUIRE_CHANGE_RESET)
        }
    }

    private static func name(_ row: RowID, _ arena: Arena) -> (kind: Int32, id: quire_bytes, gap: UInt64) {
        switch row {
        case .post(let id): (Int32(QUIRE_ROW_POST), arena.id(id), 0)
        case .gap(let gap): (Int32(QUIRE_ROW_GAP), quire_bytes(), gap.number)
        }
    }
}
