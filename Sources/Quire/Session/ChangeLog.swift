/// The last commits and their changes, as a bounded ring in the cache. Observers, also in other processes and
/// languages, replay it, or learn that they fell too far behind.
struct ChangeLog {
    let transaction: Transaction

    /// The minimum number of commits that can be replayed.
    static let length: UInt64 = 1024
    /// How many old commits are removed at once. Each removal dirties the oldest page of the table.
    private static let slack: UInt64 = 64

    func append(_ changes: [FeedChanges], generation: UInt64) throws {
        try transaction.put(.log, NumberKey(generation)) { Self.encode(changes, &$0) }
        if generation > Self.length, generation.isMultiple(of: Self.slack) {
            let last = generation - Self.length
            for old in max(last, Self.slack) - Self.slack + 1...last {
                try transaction.delete(.log, NumberKey(old))
            }
        }
    }

    /// Returns the oldest commit in the log after `generation` commits.
    static func oldest(at generation: UInt64) -> UInt64 {
        let dropped = generation / slack * slack
        return dropped > length ? dropped - length + 1 : 1
    }

    /// Returns the commits after this generation, oldest first; nil if the log does not reach back that far.
    func changes(
        since generation: UInt64, now: UInt64
    ) throws -> [(generation: UInt64, feed: UInt32, changes: [Change])]? {
        if generation > now || now - generation > Self.length { return nil }
        var found: [(generation: UInt64, feed: UInt32, changes: [Change])] = []
        for number in generation..<now {
            let key = NumberKey(number + 1)
            guard let value = try transaction.get(.log, key) else { return nil }
            let items = try Self.entries(value, "the log of commit \(number + 1)")
            for (feed, changes) in items { found.append((number + 1, feed, changes)) }
        }
        return found
    }

    static func encode(_ feeds: [FeedChanges], _ writer: inout ByteWriter) {
        writer.list(feeds) { writer, item in
            writer.number(UInt64(item.feed))
            writer.number(item.changes.count)
            writer.raw(item.changes.bytes)
        }
    }

    /// Decodes a record of the log.
    static func entries(
        _ value: UnsafeRawBufferPointer, _ what: @autoclosure () -> String
    ) throws(QuireError) -> [(feed: UInt32, changes: [Change])] {
        try ByteReader.read(value, what()) { reader throws(QuireError) in
            try reader.list { reader throws(QuireError) in
                let feed = UInt32(truncatingIfNeeded: try reader.number())
                return (feed, try Self.changes(&reader))
            }
        }
    }

    private static func changes(_ reader: inout ByteReader) throws(QuireError) -> [Change] {
        var changes: [Change] = []
        var upper: RowID?
        let count = try reader.count()
        while changes.count < count {
            let kind = try reader.byte()
            switch kind {
            case ChangeList.below: changes.append(try inserted(try RowID(&reader), below: upper))
            case ChangeList.postsBelow:
                let size = try reader.count()
                guard size > 0, size <= count - changes.count else { throw ByteReader.damage }
                for _ in 0..<size {
                    let row = RowID.post(PostID(try reader.number()))
                    changes.append(try inserted(row, below: upper))
                    upper = row
                }
            case ChangeList.postsRemoved:
                let size = try reader.int()
                guard size >= 2, size <= count - changes.count else { throw ByteReader.damage }
                let ids = try reader.bytes(8 * size)
                for i in 0..<size {
                    let id = UInt64(littleEndian: ids.loadUnaligned(fromByteOffset: 8 * i, as: UInt64.self))
                    changes.append(.removed(.post(PostID(id))))
                }
            default: changes.append(try Change(kind, &reader))
            }
            if case .inserted(let row, _)? = changes.last { upper = row } else { upper = nil }
        }
        return changes
    }

    private static func inserted(_ row: RowID, below upper: RowID?) throws(QuireError) -> Change {
        guard let upper else { throw ByteReader.damage }
        return .inserted(row, below: upper)
    }
}

extension Change {
    fileprivate init(_ kind: UInt8, _ reader: inout ByteReader) throws(QuireError) {
        switch kind {
        case 1:
            let row = try RowID(&reader)
            self = .inserted(row, below: try reader.optional { r throws(QuireError) in try RowID(&r) })
        case 2: self = .removed(try RowID(&reader))
        case ChangeList.updated: self = .updated(try reader.postID())
        case 4: self = .reset
        default: throw ByteReader.damage
        }
    }
}
