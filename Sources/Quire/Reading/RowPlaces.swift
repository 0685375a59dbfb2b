// Rows by their names.

extension RowReader {
    /// Returns the number of rows, posts and gaps, of the feed.
    func rowCount() throws -> Int { try RankIndex(transaction, of: feed).total.rows }

    /// Returns the rank of a row; nil if the feed does not hold it.
    func rank(of name: RowID, in collection: UInt32) throws -> Int? {
        try position(of: name, in: collection).map { try rank(of: $0) }
    }

    private func position(of name: RowID, in collection: UInt32) throws -> RowPosition? {
        switch name {
        case .post(let id): return try find(id, in: collection)?.position
        case .gap(let id):
            let gaps = try KnownGaps(transaction, feed: feed, isEmpty: true)
            return try gaps.gap(id).map { RowPosition(chunk: $0.position, slot: -1) }
        }
    }

    /// Returns those of these rows, top first, that the feed still holds in the same order: as many as
    /// possible.
    func stayed(_ names: [RowID], in collection: UInt32) throws -> Set<RowID> {
        var held: [(name: RowID, rank: Int)] = []
        for name in names {
            if let rank = try rank(of: name, in: collection) { held.append((name, rank)) }
        }
        return Set(longestIncreasing(held.map(\.rank)).map { held[$0].name })
    }
}

extension FeedRow {
    /// The row's name in changes.
    public var name: RowID {
        switch self {
        case .post(let post): .post(post.id)
        case .gap(let gap): .gap(gap.id)
        }
    }

    /// Returns true if a list shows another thing in the place of this row, apart from a post's body.
    func looksOther(than row: FeedRow) -> Bool {
        switch (self, row) {
        case (.post(let a), .post(let b)):
            a.key != b.key || a.version != b.version || a.detail != b.detail || a.bodySize != b.bodySize
                || a.isPlaceholder != b.isPlaceholder || a.isOutdated != b.isOutdated || a.doubt != b.doubt
                || a.isChecked != b.isChecked || a.isPinned != b.isPinned || a.isDetached != b.isDetached
        case (.gap(let a), .gap(let b)):
            a.down != b.down || a.up != b.up || a.why != b.why || a.postsAbove != b.postsAbove
                || a.isDownOverlapping != b.isDownOverlapping || a.isUpOverlapping != b.isUpOverlapping
        default: true
        }
    }
}
