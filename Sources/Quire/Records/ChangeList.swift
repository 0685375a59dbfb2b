/// The changes of one feed in a commit, encoded one by one.
struct ChangeList: ~Copyable {
    static let updated: UInt8 = 3
    /// The code of a row directly below that of the previous change, as for the rows of a page. Only its name
    /// follows.
    static let below: UInt8 = 5
    /// The code of up to `longestRun` posts whose ids are integers, each inserted directly below the row of
    /// the change before it. A byte with their number and the ids follow.
    static let postsBelow: UInt8 = 6
    static let longestRun: UInt8 = 127
    /// The code of the removal of several posts with integer ids: their number, and each id in eight bytes.
    static let postsRemoved: UInt8 = 7

    struct Encoded {
        let count: Int
        let bytes: [UInt8]
    }

    private var writer = ByteWriter(capacity: 512)
    private(set) var count = 0
    /// The row of the previous change, if that was an insertion.
    private var upper: RowID?
    /// Where the number of posts is in the run that the previous change belongs to; nil if it belongs to
    /// none.
    private var run: Int?
    /// Removed posts that are not written yet.
    private var removed: [UInt64] = []

    consuming func encoded() -> Encoded {
        writeRemoved()
        return Encoded(count: count, bytes: writer.bytes())
    }

    private mutating func writeRemoved() {
        if removed.isEmpty { return }
        if removed.count == 1 {
            writer.byte(2)
            RowID.post(PostID(removed[0])).encode(&writer)
        } else {
            writer.byte(Self.postsRemoved)
            writer.number(removed.count)
            let target = writer.extend(by: removed.count * 8)
            for i in removed.indices {
                target.storeBytes(of: removed[i].littleEndian, toByteOffset: i &* 8, as: UInt64.self)
            }
        }
        removed.removeAll(keepingCapacity: true)
    }

    static func encoded(_ changes: [Change]) -> Encoded {
        var list = ChangeList()
        for change in changes { list.append(change) }
        return list.encoded()
    }

    /// Returns the one change of a post whose body or fields are others.
    static func update(of id: PostID) -> Encoded {
        let bytes = ByteWriter.withBytes({
            $0.byte(Self.updated)
            id.encode(&$0)
        }) { [UInt8]($0) }
        return Encoded(count: 1, bytes: bytes)
    }

    mutating func append(_ change: Change) {
        switch change {
        case .inserted(.post(let id), let below?) where below == upper:
            if case .integer(let number) = id.storage {
                appendBelow(number)
            } else {
                append(Self.below)
                RowID.post(id).encode(&writer)
            }
        case .inserted(let row, let below?) where below == upper:
            append(Self.below)
            row.encode(&writer)
        case .inserted(let row, let below):
            append(1)
            row.encode(&writer)
            writer.optional(below) { $1.encode(&$0) }
        case .removed(.post(let id)):
            if case .integer(let number) = id.storage {
                (count, run) = (count + 1, nil)
                removed.append(number)
            } else {
                append(2)
                RowID.post(id).encode(&writer)
            }
        case .removed(let row):
            append(2)
            row.encode(&writer)
        case .updated(let id):
            append(Self.updated)
            id.encode(&writer)
        case .reset: append(4)
        }
        if case .inserted(let row, _) = change { upper = row } else { upper = nil }
    }

    private mutating func append(_ code: UInt8) {
        writeRemoved()
        (count, run) = (count + 1, nil)
        writer.byte(code)
    }

    /// Adds a post to the current run, or begins one.
    @inline(__always)
    private mutating func appendBelow(_ number: UInt64) {
        count += 1
        if let run, writer.byte(at: run) != Self.longestRun {
            writer.incrementByte(at: run)
        } else {
            writeRemoved()
            writer.byte(Self.postsBelow)
            run = writer.size
            writer.byte(1)
        }
        writer.number(number)
    }

    /// Adds the removal of posts.
    mutating func append(removed ids: PostIDs) {
        if let numbers = ids.numbers {
            removed.append(contentsOf: numbers)
            (count, run, upper) = (count + numbers.count, nil, nil)
        } else {
            for id in ids { append(.removed(.post(id))) }
        }
    }

    /// Adds the insertion of rows that are below each other, and all below the previous change's row.
    mutating func append(_ ids: PostIDs, of entries: some BidirectionalCollection<Int>) {
        for entry in entries {
            if let number = ids.number(at: entry) {
                appendBelow(number)
            } else {
                append(Self.below)
                RowID.post(ids[entry]).encode(&writer)
            }
        }
        if let last = entries.last { upper = .post(ids[last]) }
    }
}

/// The changes of a feed in a commit.
struct FeedChanges {
    let feed: UInt32
    let changes: ChangeList.Encoded

    init(_ feed: UInt32, _ changes: ChangeList.Encoded) { (self.feed, self.changes) = (feed, changes) }
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
