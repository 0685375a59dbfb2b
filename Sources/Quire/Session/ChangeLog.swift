/// The last commits and their changes, as a bounded ring in the cache. Observers, also in other processes and
/// languages, replay it, or learn that they fell too far behind.
struct ChangeLog {
    let transaction: Transaction

    /// The minimum number of commits that can be replayed.
    static let length: UInt64 = 1024
    /// How many old commits are removed at once. Each removal dirties the oldest page of the table.
    private static let slack: UInt64 = 64

    func append(_ changes: [(feed: UInt32, changes: [Change])], generation: UInt64) throws {
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
    static func encoded(_ changes: [(feed: UInt32, changes: [Change])]) -> [UInt8] {
        var writer = ByteWriter()
        writer.list(changes) { writer, item in
            writer.number(UInt64(item.feed))
            encode(item.changes, &writer)
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

    // The new row is directly below the previous change's row, as for the rows of a page. Only its name
    // follows.

    private static let below: UInt8 = 5

    private static func encode(_ changes: [Change], _ writer: inout ByteWriter) {
        writer.number(changes.count)
        var upper: RowID?
        for change in changes {
            if case .inserted(let row, let below?) = change, below == upper {
                writer.byte(Self.below)
                row.encode(&writer)
            } else {
                change.encode(&writer)
            }
            if case .inserted(let row, _) = change { upper = row } else { upper = nil }
        }
    }

    private static func changes(_ reader: inout ByteReader) throws(QuireError) -> [Change] {
        var changes: [Change] = []
        var upper: RowID?
        for _ in 0..<(try reader.count()) {
            let kind = try reader.byte()
            if kind == Self.below {
                guard let above = upper else { throw ByteReader.damage }
                changes.append(.inserted(try RowID(&reader), below: above))
            } else {
                changes.append(try Change(kind, &reader))
            }
            if case .inserted(let row, _)? = changes.last { upper = row } else { upper = nil }
        }
        return changes
    }
}

extension Change {
    fileprivate func encode(_ writer: inout ByteWriter) {
        switch self {
        case .inserted(let row, let below):
            writer.byte(1)
            row.encode(&writer)
            writer.optional(below) { $1.encode(&$0) }
        case .removed(let row):
            writer.byte(2)
            row.encode(&writer)
        case .updated(let id):
            writer.byte(3)
            id.encode(&writer)
        case .reset: writer.byte(4)
        }
    }

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

extension RowID: Record {
    func encode(_ writer: inout ByteWriter) {
        switch self {
        case .post(let id):
            writer.byte(0)
            id.encode(&writer)
        case .gap(let gap):
            writer.byte(1)
            writer.number(gap.number)
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        self = try reader.byte() == 0 ? .post(try reader.postID()) : .gap(GapID(try reader.number()))
    }
}
