/// The changes of one feed in a commit, encoded one by one.
struct ChangeList: ~Copyable {
    /// The code of a row directly below that of the previous change, as for the rows of a page. Only its name
    /// follows.
    static let below: UInt8 = 5
    /// The code of the removal of several posts with integer ids: their number, and each id in eight bytes.
    static let removals: UInt8 = 6

    typealias Encoded = (count: Int, bytes: [UInt8])

    private var writer = ByteWriter(capacity: 512)
    private(set) var count = 0
    /// The row of the previous change, if that was an insertion.
    private var upper: RowID?
    /// Removed posts that are not written yet.
    private var removed: [UInt64] = []

    consuming func encoded() -> Encoded {
        writeRemoved()
        return (count, writer.bytes())
    }

    private mutating func writeRemoved() {
        if removed.isEmpty { return }
        if removed.count == 1 {
            writer.byte(2)
            RowID.post(PostID(removed[0])).encode(&writer)
        } else {
            writer.byte(Self.removals)
            writer.number(removed.count)
            removed.withUnsafeBufferPointer { ids in
                let target = writer.extend(by: ids.count * 8)
                for i in ids.indices {
                    target.storeBytes(of: ids[i].littleEndian, toByteOffset: i &* 8, as: UInt64.self)
                }
            }
        }
        removed.removeAll(keepingCapacity: true)
    }

    static func encoded(_ changes: [Change]) -> Encoded {
        var list = ChangeList()
        for change in changes { list.append(change) }
        return list.encoded()
    }

    mutating func append(_ change: Change) {
        count += 1
        if case .removed(.post(let id)) = change, case .integer(let number) = id.storage {
            upper = nil
            return removed.append(number)
        }
        writeRemoved()
        switch change {
        case .inserted(let row, let below?) where below == upper:
            writer.byte(Self.below)
            row.encode(&writer)
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
        if case .inserted(let row, _) = change { upper = row } else { upper = nil }
    }

    /// Adds the removal of posts.
    mutating func append(removed ids: PostIDs) {
        if let numbers = ids.numbers {
            removed.append(contentsOf: numbers)
            count += numbers.count
            upper = nil
        } else {
            for id in ids { append(.removed(.post(id))) }
        }
    }

    /// Adds the insertion of rows that are below each other, and all below the previous change's row.
    mutating func append(_ ids: PostIDs, of entries: some Collection<Int>) {
        writeRemoved()
        for entry in entries {
            writer.byte(Self.below)
            writer.byte(0)
            ids.encode(entry, &writer)
        }
        count += entries.count
        if let last = entries.reversed().first { upper = .post(ids[last]) }
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
