extension FeedWindow {
    /// What changed in the rows of a window, as lists want it: indices to remove, then indices to insert at,
    /// then rows to draw anew. Rows that stayed are named by neither of the first two, and nothing jumps.
    public struct Difference: Sendable, Hashable {
        /// Indices into the rows before, ascending.
        public private(set) var removed: [Int] = []
        /// Indices into the rows after, ascending.
        public private(set) var inserted: [Int] = []
        /// Indices into the rows after, ascending: rows that stayed and look otherwise, because a body, a
        /// flag or a gap's link changed.
        public private(set) var updated: [Int] = []

        /// True if a list need not change.
        public var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && updated.isEmpty }

        /// Returns the rows after, made of the rows before and of those that came or changed.
        public func applied<Row>(to before: [Row], _ rowAfter: (Int) throws -> Row) rethrows -> [Row] {
            var rows = before
            for index in removed.reversed() { rows.remove(at: index) }
            for index in inserted { rows.insert(try rowAfter(index), at: index) }
            for index in updated { rows[index] = try rowAfter(index) }
            return rows
        }
    }
}

extension FeedWindow.Difference {
    /// - Parameter touched: The posts whose bodies changed; nil: any may have.
    init(from before: [FeedRow], to after: [FeedRow], updated touched: Set<PostID>?) {
        var places: [RowID: Int] = [:]
        places.reserveCapacity(before.count)
        for (index, row) in before.enumerated() { places[row.name] = index }
        let old = after.map { places[$0.name] }
        let common = old.indices.filter { old[$0] != nil }
        let stayed = longestIncreasing(common.map { old[$0]! }).map { common[$0] }
        removed = Self.others(than: stayed.map { old[$0]! }, of: before.count)
        inserted = Self.others(than: stayed, of: after.count)
        updated = stayed.filter { index in
            if after[index].looksOther(than: before[old[index]!]) { return true }
            guard let id = after[index].post?.id else { return false }
            return touched?.contains(id) ?? true
        }
    }

    /// Returns the numbers below a count that an ascending list does not have.
    private static func others(than listed: [Int], of count: Int) -> [Int] {
        var others: [Int] = []
        var next = 0
        for index in listed {
            others += next..<index
            next = index + 1
        }
        return others + (next..<count)
    }
}
