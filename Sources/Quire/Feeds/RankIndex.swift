/// The page index of a feed: how many rows and pages are above a position, and which position a row or a page
/// has by its number from the top. Both take O(log n) of the feed's length.
///
/// Like the id index it is a list of runs, each one LMDB record: a commit adds a run with what it changed,
/// and runs are merged when there are many. The numbers of all runs are added up, so their order has no
/// meaning.
struct RankIndex {
    private let runs: [RankRun]

    /// Opens the index of a feed. Valid as long as the transaction's bytes.
    init(_ transaction: Transaction, of feed: UInt32) throws { try self.init(transaction, .ranks(of: feed)) }

    /// Opens the index in a table.
    init(_ transaction: Transaction, _ table: Table) throws {
        var runs: [RankRun] = []
        runs.reserveCapacity(8)
        try Self.forEachRun(transaction, table) { runs.append($1) }
        self.runs = runs
    }

    init(runs: [RankRun]) { self.runs = runs }

    private static func stored(
        _ transaction: Transaction, _ table: Table
    ) throws -> [(number: UInt64, run: RankRun)] {
        var runs: [(number: UInt64, run: RankRun)] = []
        runs.reserveCapacity(8)
        try forEachRun(transaction, table) { runs.append(($0, $1)) }
        return runs
    }

    private static func forEachRun(
        _ transaction: Transaction, _ table: Table, _ body: (UInt64, RankRun) -> Void
    ) throws {
        try transaction.withCursor(table) { cursor in
            var found = try cursor.first()
            while let record = found {
                let (number, run) = try run(record, table)
                body(number, run)
                found = try cursor.next()
            }
        }
    }

    private static func run(
        _ record: Cursor.Record, _ table: Table
    ) throws -> (number: UInt64, run: RankRun) {
        guard let key = NumberKey(ofRun: record.key), let run = RankRun(record.value) else {
            throw table.damagedRanks
        }
        return (key.number, run)
    }

    // MARK: Looking up

    /// Returns the numbers of rows and pages before a position. A gap counts at the chunk below it.
    func ranks(before position: UInt64) -> Ranks {
        var sum = Ranks()
        for run in runs { sum.add(run.sum(before: run.count(before: position, in: 0..<run.count))) }
        return sum
    }

    /// All rows and pages of the feed.
    var total: Ranks {
        var sum = Ranks()
        for run in runs { sum.add(run.sum(before: run.count)) }
        return sum
    }

    /// Returns the position at which the row with this number is, 0 is the topmost, and the number of its
    /// first row. Returns nil if there are fewer rows.
    func position(ofRow number: Int) -> (position: UInt64, first: Int)? {
        position(of: number) { $0.rows }.map { ($0, ranks(before: $0).rows) }
    }

    /// Returns the position at which the page with this number begins.
    func position(ofPage number: Int) -> UInt64? { position(of: number) { $0.pages } }

    /// Bisects all runs together: each step takes the middle of the longest part that is left, and drops from
    /// all runs what is on the wrong side of it.
    @inline(__always) private func position(of number: Int, _ kind: (Ranks) -> Int) -> UInt64? {
        if number < 0 || number >= kind(total) { return nil }
        var parts = runs.map { 0..<$0.count }
        var found: UInt64?
        while let longest = parts.indices.max(by: { parts[$0].count < parts[$1].count }),
            !parts[longest].isEmpty
        {
            let middle = runs[longest].position((parts[longest].lowerBound + parts[longest].upperBound) / 2)
            var sum = Ranks()
            var ends: [Int] = []
            ends.reserveCapacity(runs.count)
            for (run, part) in zip(runs, parts) {
                let end = run.count(before: middle, in: part)
                let isHere = end < part.upperBound && run.position(end) == middle
                sum.add(run.sum(before: isHere ? end + 1 : end))
                ends.append(end)
            }
            let isReached = kind(sum) > number
            if isReached { found = middle }
            let before = parts[longest].count
            for i in parts.indices {
                var end = ends[i]
                if !isReached && end < parts[i].upperBound && runs[i].position(end) == middle { end += 1 }
                parts[i] = isReached ? parts[i].lowerBound..<end : end..<parts[i].upperBound
            }
            // In a damaged run the positions need not ascend.
            if parts[longest].count >= before { return nil }
        }
        return found
    }

    // MARK: Writing

    /// Stores the changes of a commit as a run, merged with others if there are many.
    static func store(_ changes: [RankChange], of feed: UInt32, in transaction: Transaction) throws {
        try store(changes, .ranks(of: feed), in: transaction)
    }

    static func store(_ changes: [RankChange], _ table: Table, in transaction: Transaction) throws {
        let changes = RankChange.sum(changes)
        if changes.isEmpty { return }
        let last = try transaction.withCursor(table) { try $0.last() }
        if let last {
            let newest = try run(last, table)
            if newest.run.count + changes.count <= smallest {  // it stays in the lowest tier
                let all = RankChange.sum(changes, newest.run)
                if all.isEmpty { return try transaction.delete(table, NumberKey(newest.number)) }
                return try put(all, newest.number, table, in: transaction)
            }
        }
        let stored = try stored(transaction, table)
        let number = (stored.last?.number ?? 0) + 1
        let range = PostIndex.merge(stored.map(\.run.count) + [changes.count])
        let older = stored[range.lowerBound..<min(range.upperBound, stored.count)]
        let isNewMerged = range.upperBound > stored.count
        // a write may move what the runs lend, so all of them are read before
        var merged = isNewMerged ? changes : []
        for (_, run) in older.reversed() { merged = RankChange.sum(merged, run) }
        for (number, _) in older { try transaction.delete(table, NumberKey(number)) }
        if isNewMerged { return try put(merged, number, table, in: transaction) }
        if let newest = older.last { try put(merged, newest.number, table, in: transaction) }
        try put(changes, number, table, in: transaction)
    }

    /// The newest run absorbs changes until it has this many. That is cheaper than more runs, which must be
    /// merged.
    private static let smallest = 32

    private static func put(
        _ changes: [RankChange], _ number: UInt64, _ table: Table, in transaction: Transaction
    ) throws {
        if changes.isEmpty { return }
        try transaction.put(table, NumberKey(number), count: RankRun.size(of: changes)) {
            RankRun.write(changes, into: $0)
        }
    }
}

extension Table {
    fileprivate var damagedRanks: QuireError {
        let feed = UInt32(truncatingIfNeeded: prefix >> 24)
        return .corrupt("\(prefixCount == 6 ? "the page index" : "a view") of feed number \(feed)")
    }
}

extension Ranks {
    /// Damaged runs may have any numbers.
    mutating func add(_ other: Ranks) {
        rows &+= other.rows
        pages &+= other.pages
    }
}
