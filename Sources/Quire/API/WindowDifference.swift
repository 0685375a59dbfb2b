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
            if isEmpty { return before }
            let count = max(0, before.count - removed.count) + inserted.count
            var rows: [Row] = []
            rows.reserveCapacity(count)
            var next = 0  // of the rows before
            var gone = removed[...]
            func keep(upTo count: Int) {
                while rows.count < count, next < before.count {
                    if gone.first == next {
                        (gone, next) = (gone.dropFirst(), next + 1)
                        continue
                    }
                    let end = min(gone.first ?? before.count, next + count - rows.count)
                    rows += before[next..<end]
                    next = end
                }
            }
            for index in inserted {
                keep(upTo: index)
                rows.append(try rowAfter(index))
            }
            keep(upTo: count)
            for index in updated where index < rows.count { rows[index] = try rowAfter(index) }
            return rows
        }
    }
}

extension FeedWindow.Difference {
    /// - Parameter touched: The posts whose bodies changed; nil: any may have.
    init(from before: [FeedRow], to after: [FeedRow], updated touched: Set<PostID>?) {
        // only the rows between the first and the last difference are looked up by name
        let same = before.commonEnds(after) { $0.name == $1.name }
        let between = (same.prefix..<before.count - same.suffix, same.prefix..<after.count - same.suffix)
        var places: [RowID: Int] = [:]
        places.reserveCapacity(between.0.count)
        for index in between.0 { places[before[index].name] = index }
        let common = between.1.compactMap { index in places[after[index].name].map { (old: $0, new: index) } }
        let stayed = longestIncreasing(common.map(\.old)).map { common[$0] }
        removed = Self.others(than: stayed.map(\.old), in: between.0)
        inserted = Self.others(than: stayed.map(\.new), in: between.1)
        func isTouched(_ row: FeedRow) -> Bool {
            guard case .post(let post) = row else { return false }
            return touched?.contains(post.id) ?? true
        }
        func note(_ new: Int, _ old: Int) {
            if after[new].looksOther(than: before[old]) || isTouched(after[new]) { updated.append(new) }
        }
        for index in 0..<same.prefix { note(index, index) }
        for row in stayed { note(row.new, row.old) }
        for index in between.1.upperBound..<after.count { note(index, index - after.count + before.count) }
    }

    /// Returns the numbers of a range that an ascending list does not have.
    private static func others(than listed: [Int], in range: Range<Int>) -> [Int] {
        var others: [Int] = []
        var next = range.lowerBound
        for index in listed {
            others += next..<index
            next = index + 1
        }
        return others + (next..<range.upperBound)
    }
}
