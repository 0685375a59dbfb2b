/// The last commits and their changes, as a bounded ring in the cache. Observers, also in other processes and
/// languages, replay it, or learn that they fell too far behind.
struct ChangeLog {
    let transaction: Transaction

    /// The minimum number of commits that can be replayed.
    static let length: UInt64 = 1024
    /// How many old commits are removed at once. Each removal dirties the oldest page of the table.
    private static let slack: UInt64 = 64

    func append(_ changes: [(feed: UInt32, changes: ChangeList.Encoded)], generation: UInt64) throws {
        try transaction.put(.log, NumberKey(generation), Self.encoded(changes))
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

    /// Encodes a record of the log.
    static func encoded(_ feeds: [(feed: UInt32, changes: ChangeList.Encoded)]) -> [UInt8] {
        var writer = ByteWriter(capacity: feeds.reduce(32) { $0 + $1.changes.bytes.count + 16 })
        writer.list(feeds) { writer, item in
            writer.number(UInt64(item.feed))
            writer.number(item.changes.count)
            writer.raw(item.changes.bytes)
        }
        return writer.sealed()
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
            case ChangeList.below:
                guard let above = upper else { throw ByteReader.damage }
                changes.append(.inserted(try RowID(&reader), below: above))
            case ChangeList.removals:
                let removed = try reader.int()
                guard removed >= 2, removed <= count - changes.count else { throw ByteReader.damage }
                let ids = try reader.bytes(8 * removed)
                for i in 0..<removed {
                    let id = UInt64(littleEndian: ids.loadUnaligned(fromByteOffset: 8 * i, as: UInt64.self))
                    changes.append(.removed(.post(PostID(id))))
                }
            default: changes.append(try Change(kind, &reader))
            }
            if case .inserted(let row, _)? = changes.last { upper = row } else { upper = nil }
        }
        return changes
    }
}

extension Change {
    fileprivate init(_ kind: UInt8, _ reader: inout ByteReader) throws(QuireError) {
        switch kind {
        case 1:
            let row = try RowID(&reader)
            self = .inserted(row, below: try reader.optional { r throws(QuireError) in try RowID(&r) })
        case 2: self = .removed(try RowID(&reader))
        case 3: self = .updated(try reader.postID())
        case 4: self = .reset
        default: throw ByteReader.damage
        }
    }
}
