@_spi(Unstable) @testable import Quire

/// Two files that went through the same operations in the same commits: the same records, byte by byte.
///
/// What a write had loaded may show in two places only. A post whose place in the server's list has moved has
/// the new one in its chunk if that was loaded, else the record of the feed has a shift. And the log of
/// changes lists those of a commit in the order in which rows were loaded, and may say of either of two rows
/// that it went past the other.
enum CacheRecords {
    /// Returns the first record that differs, unless what was loaded explains it.
    static func difference(_ mine: Cache, _ other: Cache) throws -> String? {
        var (a, b) = (try lines(of: mine), try lines(of: other))
        if a != b { (a, b) = (try explained(mine), try explained(other)) }
        for (mine, other) in zip(a, b) where mine != other { return "\(mine)\n   instead of\n\(other)" }
        return a.count == b.count ? nil : "\(a.count) records instead of \(b.count)"
    }

    private static func lines(of cache: Cache) throws -> [String] {
        try cache.environment.read { try lines(in: $0, without: []) }
    }

    private static func lines(in transaction: Transaction, without tables: Set<Table>) throws -> [String] {
        var lines: [String] = []
        try transaction.forEachRecord { key, value in
            let table = Table.owner(of: key)!.table
            if !tables.contains(table) { lines.append("\(table.name) \(Array(key)): \(Array(value))") }
        }
        return lines
    }

    /// The records without the log, and with the places in the server's list as they are now.
    private static func explained(_ cache: Cache) throws -> [String] {
        try cache.environment.read { transaction in
            var (lines, own): ([String], Set<Table>) = ([], [.log])
            for feed in try transaction.feedNumbers() {
                own.formUnion([.record(of: feed), .chunks(of: feed)])
                let reader = RowReader(transaction: transaction, feed: feed)
                var record = try reader.record()
                let shifts = record.shifts
                record.shifts = PositionShifts()
                lines.append("\(record.options.sticky.map(\.description).sorted())")
                record.options.sticky = []
                lines.append("\(record)")
                try reader.chunks.eachChunk(from: 0) { position, chunk in
                    var entries = chunk.entries
                    if let epoch = chunk.epoch {
                        shifts.apply(to: &entries, entries.indices, since: epoch, at: position)
                    }
                    lines.append("\(feed), \(position): page \(chunk.page)")
                    for (id, entry) in zip(chunk.ids, entries) { lines.append("\(id) \(entry)") }
                    return true
                }
            }
            return try lines + Self.lines(in: transaction, without: own)
        }
    }
}
