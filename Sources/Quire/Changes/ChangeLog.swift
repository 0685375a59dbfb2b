/// The last commits and what they changed, as a bounded ring in the cache: observers, other processes
/// and other languages replay it, or are told that they fell behind.
struct ChangeLog {
    let transaction: Transaction

    /// So many commits can be replayed.
    static let length: UInt64 = 1024

    func append(_ changes: [(feed: UInt32, changes: [Change])], generation: UInt64) throws {
        var writer = ByteWriter()
        writer.list(changes) { writer, item in
            writer.number(UInt64(item.feed))
            writer.list(item.changes) { $1.encode(&$0) }
        }
        let log = transaction.tables.log
        try transaction.put(log, NumberKey(generation), writer.sealed())
        if generation > Self.length {
            try transaction.delete(log, NumberKey(generation - Self.length))
        }
    }

    /// What was committed after this generation, oldest first; nil if the log no longer reaches back.
    func changes(
        since generation: UInt64, now: UInt64
    ) throws -> [(generation: UInt64, feed: UInt32, changes: [Change])]? {
        if generation > now || now - generation > Self.length { return nil }
        var found: [(generation: UInt64, feed: UInt32, changes: [Change])] = []
        for number in generation..<now {
            let key = NumberKey(number + 1)
            guard let value = try transaction.get(transaction.tables.log, key) else { return nil }
            var reader = try ByteReader(value, "the log of commit \(number + 1)")
            let items = try reader.list { reader throws(QuireError) in
                let feed = UInt32(truncatingIfNeeded: try reader.number())
                return (feed, try reader.list { r throws(QuireError) in try Change(&r) })
            }
            for (feed, changes) in items { found.append((number + 1, feed, changes)) }
        }
        return found
    }
}

extension Change: Record {
    func encode(_ writer: inout ByteWriter) {
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

    init(_ reader: inout ByteReader) throws(QuireError) {
        switch try reader.byte() {
        case 1:
            let row = try RowID(&reader)
            self = .inserted(row, below: try reader.optional { r throws(QuireError) in try RowID(&r) })
        case 2: self = .removed(try RowID(&reader))
        case 3: self = .updated(try reader.postID())
        case 4: self = .reset
        default: throw reader.damage
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
