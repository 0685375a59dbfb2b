// Keeps the stored runs few.

extension PostIndex {
    /// How many runs of similar size are merged. With 4 instead of 8, a look-up visits half as many runs, and
    /// a location is written 7 instead of 5 times before it is in the largest one.
    private static let fanOut = 4
    private static let smallest = 32

    /// How many locations a merge may move in an index of `count`, which bounds the time and the memory of
    /// one commit: an eighth, if that is more than half a million. With a fixed limit, the number of runs
    /// would grow with an index of several million.
    static func mergeLimit(_ count: Int) -> Int { max(1 << 19, count / 8) }

    /// Returns which adjacent runs to merge when a new one, the last of `counts`, joins. A range of one run
    /// means none. Runs that were too large together may fit later, when nothing else is to be merged.
    static func merge(_ counts: [Int]) -> Range<Int> {
        let limit = mergeLimit(counts.reduce(0, +))
        for end in stride(from: counts.count, to: 1, by: -1) {
            let start = mergeStart(counts[..<end], limit)
            if start < end - 1 { return start..<end }
        }
        return counts.count - 1..<counts.count
    }

    /// Returns the start of the suffix of `counts` to merge.
    private static func mergeStart(_ counts: ArraySlice<Int>, _ limit: Int) -> Int {
        var start = counts.count - 1
        var total = counts[start]
        while true {
            var first = start
            var sum = total
            while first > 0, tier(counts[first - 1]) <= tier(total), sum + counts[first - 1] <= limit {
                first -= 1
                sum += counts[first]
            }
            let isFull = first > 0 && tier(counts[first - 1]) <= tier(total) && sum > limit / 2
            if first == start || start - first + 1 < fanOut && !isFull { return start }
            (start, total) = (first, sum)
        }
    }

    private static func tier(_ count: Int) -> Int {
        var (tier, size) = (0, smallest * fanOut)
        while count >= size { (tier, size) = (tier + 1, size * fanOut) }
        return tier
    }

    /// Stores the changes of a session, at least one, as one new run, merged with older ones if there are
    /// many. `live` is the number of entries in all feeds; any further locations in the runs are outdated.
    static func store(
        _ new: RunContents, after stored: [Stored], in transaction: Transaction, live: UInt64
    ) throws {
        let counts = stored.map(\.run.count) + [new.count]
        var range = merge(counts)
        if UInt64(counts.reduce(0, +)) > 3 * live + 1 << 16 { range = 0..<counts.count }
        let number = (stored.last?.number ?? 0) + 1
        let older = stored[range.lowerBound..<min(range.upperBound, stored.count)]
        let isNewMerged = range.upperBound > stored.count
        if older.isEmpty && !stored.isEmpty {
            return try new.withParts { try put($0, number, in: transaction) }
        }
        // a write may move what the runs lend, so all of them are read before
        let memory = transaction.mark.map(MergeMemory.of) ?? MergeMemory()
        let below = stored[..<range.lowerBound].reversed().map(\.run)
        try memory.merge(isNewMerged ? new : RunContents(), over: older.reversed().map(\.run), below: below) {
            merged in
            for (number, _) in older { try transaction.delete(.locations, NumberKey(number)) }
            if isNewMerged { return try put(merged, number, in: transaction) }
            try put(merged, older.last!.number, in: transaction)
            try new.withParts { try put($0, number, in: transaction) }
        }
    }

    private static func put(_ parts: RunParts, _ number: UInt64, in transaction: Transaction) throws {
        if parts.isEmpty { return }
        try transaction.put(.locations, NumberKey(number), count: parts.size) { parts.write(into: $0) }
    }
}
