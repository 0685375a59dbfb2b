@_spi(Unstable) @testable import Quire

/// Everything that can be read from a cache, but not where it stands on disk: two caches with the same
/// history have the same contents, however its steps were put into commits, and whatever their tuning.
struct CacheContents: Equatable {
    private(set) var lines: [String] = []

    init(_ cache: Cache) throws {
        for feed in try cache.feeds() {
            lines.append(try Picture.show(feed))
            try cache.environment.read { try addFeed(feed, $0) }
        }
        try cache.environment.read { transaction in
            var counters = try WriteSession.counters(transaction)
            (counters.generation, counters.bodyRecords) = (0, 0)
            lines.append("\(counters)")
            let exact = [
                "names", "tombstones", "tickets", "attributes", "fields", "collections", "aliases",
            ]
            try transaction.forEachRecord { key, value in
                let (table, _) = Table.owner(of: key)!
                if exact.contains(table.name.description) {
                    lines.append("\(table.name) \(Array(key)): \(Array(value))")
                }
            }
        }
    }

    private mutating func addFeed(_ feed: Feed, _ transaction: Transaction) throws {
        let reader = RowReader(transaction: transaction, feed: feed.number)
        var record = try reader.record()
        record.options.sticky = []
        record.counts.chunks = 0
        let shifts = record.shifts
        record.shifts = PositionShifts()
        lines.append("\(record)")
        for known in try KnownGaps(transaction, feed: feed.number).all { lines.append("\(known.record)") }
        let bodies = BodyStore(transaction: transaction)
        var pages: Set<UInt64> = []
        try reader.chunks.eachChunk(from: 0) { position, chunk in
            var chunk = chunk
            if let epoch = chunk.epoch {
                shifts.apply(to: &chunk.entries, chunk.entries.indices, since: epoch, at: position)
            }
            for (id, var entry) in zip(chunk.ids, chunk.entries) {
                let body = Array(try bodies.bytes(entry.body))
                (entry.body, entry.chunk) = (BodyReference(), 0)
                lines.append("\(id) \(entry) \(body)")
                if entry.page != 0 { pages.insert(entry.page) }
            }
            return true
        }
        for number in pages.sorted() {
            var page = try transaction.page(number, of: feed.number)
            page.start = 0
            lines.append("\(page) \(try reader.rows(ofPage: number).map(\.id))")
        }
    }

    /// The first line that differs.
    func difference(from other: CacheContents) -> String? {
        if self == other { return nil }
        for (a, b) in zip(lines, other.lines) where a != b { return "\(a)\n   instead of\n\(b)" }
        return "\(lines.count) instead of \(other.lines.count) lines"
    }
}
