import Quire

/// The rows of a feed, maintained from its changes only.
struct Mirror {
    typealias Name = RowID

    var generation: UInt64?
    var rows: [RowID] = []

    mutating func apply(_ changes: [Change]) {
        for change in changes {
            switch change {
            case .reset: rows = []
            case .updated: continue
            case .removed(let row): rows.removeAll { $0 == row }
            case .inserted(let row, let below):
                let at = below.map { (rows.firstIndex(of: $0) ?? -1) + 1 } ?? 0
                rows.insert(row, at: at)
            }
        }
    }
}

extension RowID {
    init(_ row: FeedRow) {
        switch row {
        case .post(let post): self = .post(post.id)
        case .gap(let gap): self = .gap(gap.id)
        }
    }
}
