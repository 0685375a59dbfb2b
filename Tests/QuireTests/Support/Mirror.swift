import Quire

/// Follows every feed by the change log alone, and must always show what a reader sees.
struct Mirror {
    private var rows: [UInt32: [RowID]] = [:]
    private var generation: UInt64?

    struct Mismatch: Error { let feed, mirror, rows: String }

    mutating func follow(_ cache: Cache) throws {
        try cache.withSnapshot { snapshot in
            let changes = try generation.flatMap { try snapshot.changes(since: $0) }
            for (_, feed, changes) in changes ?? [] { apply(changes, to: feed) }
            generation = try snapshot.generation
            for feed in try cache.feeds() {
                let now = try snapshot.rows(of: feed, limit: .max).map(RowID.init)
                if changes == nil { rows[feed.number] = now }
                let mine = rows[feed.number] ?? now
                rows[feed.number] = now
                if mine != now {
                    throw Mismatch(feed: feed.name, mirror: "\(mine)", rows: "\(now)")
                }
            }
        }
    }

    private mutating func apply(_ changes: [Change], to feed: UInt32) {
        for change in changes {
            if rows[feed] == nil { return }  // after a reset it is read anew
            switch change {
            case .reset: rows[feed] = nil
            case .updated: continue
            case .removed(let row): rows[feed]?.removeAll { $0 == row }
            case .inserted(let row, let below):
                let at = below.map { rows[feed]!.firstIndex(of: $0)! + 1 } ?? 0
                rows[feed]?.insert(row, at: at)
            }
        }
    }
}

extension RowID {
    fileprivate init(_ row: FeedRow) {
        switch row {
        case .post(let post): self = .post(post.id)
        case .gap(let gap): self = .gap(gap.id)
        }
    }
}
