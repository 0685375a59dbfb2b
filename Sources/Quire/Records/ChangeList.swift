/// The changes of one feed in a commit, encoded one by one.
struct ChangeList: ~Copyable {
    static let updated: UInt8 = 3
    /// The code of a row directly below that of the previous change, as for the rows of a page. Only its name
    /// follows.
    static let below: UInt8 = 5
    /// The codes of up to `longestRun` posts whose ids are integers: each inserted directly below the row of the
    /// change before it, or each removed. A byte with their number and the ids follow.
    static let postsBelow: UInt8 = 6
    static let postsRemoved: UInt8 = 7
    static let longestRun: UInt8 = 127

    struct Encoded {
        let count: Int
        let bytes: [UInt8]
    }

    private var writer = ByteWriter(capacity: 512)
    private(set) var count = 0
    /// The row of the previous change, if that was an insertion.
    private var upper: RowID?
    /// The code of the run that the previous change belongs to, else 0, and where the number of its posts is.
    private var run = (code: 0 as UInt8, at: 0)

    consuming func encoded() -> Encoded { Encoded(count: count, bytes: writer.bytes()) }

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
        case .inserted(let row, let below?) where below == upper:
            append(row, Self.below, ofPost: Self.postsBelow)
        case .inserted(let row, let below):
            append(row, 1)
            writer.optional(below) { $1.encode(&$0) }
        case .removed(let row): append(row, 2, ofPost: Self.postsRemoved)
        case .updated(let id):
            append(Self.updated)
            id.encode(&writer)
        case .reset: append(4)
        }
        if case .inserted(let row, _) = change { upper = row } else { upper = nil }
    }

    private mutating func append(_ code: UInt8) {
        count += 1
        run.code = 0
        writer.byte(code)
    }

    private mutating func append(_ row: RowID, _ code: UInt8, ofPost runCode: UInt8? = nil) {
        if let runCode, case .post(let id) = row, case .integer(let number) = id.storage {
            return append(number, to: runCode)
        }
        append(code)
        row.encode(&writer)
    }

    /// Adds a post to the current run, or begins one.
    @inline(__always)
    private mutating func append(_ number: UInt64, to code: UInt8) {
        count += 1
        if run.code != code || writer.byte(at: run.at) == Self.longestRun {
            writer.byte(code)
            run = (code, writer.size)
            writer.byte(0)
        }
        writer.incrementByte(at: run.at)
        writer.number(number)
    }

    /// Adds the removal of posts.
    mutating func append(removed ids: PostIDs) {
        for i in ids.indices { append(ids, i, 2, ofPost: Self.postsRemoved) }
        upper = nil
    }

    /// Adds the insertion of rows that are below each other, and all below the previous change's row.
    mutating func append(_ ids: PostIDs, of entries: some BidirectionalCollection<Int>) {
        for entry in entries { append(ids, entry, Self.below, ofPost: Self.postsBelow) }
        if let last = entries.last { upper = .post(ids[last]) }
    }

    @inline(__always)
    private mutating func append(_ ids: PostIDs, _ i: Int, _ code: UInt8, ofPost runCode: UInt8) {
        if let number = ids.number(at: i) {
            append(number, to: runCode)
        } else {
            append(.post(ids[i]), code)
        }
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
