import Testing

@testable import Quire

/// `check` finds what is wrong, whatever it is, and nothing that is damaged crashes the process.
@Suite struct CheckTests {
    private let storage: TemporaryCache

    init() throws {
        storage = try TemporaryCache()
        try Self.fill(storage.cache)
    }

    /// Two feeds with shared posts, gaps, riders, a tombstone, an open ticket and dead bodies.
    private static func fill(_ cache: Cache) throws {
        let options = FeedOptions(order: .stable)
        for (name, shift) in [("a", UInt64(0)), ("b", 4)] {
            let feed = try cache.feed(named: name, options: options)
            for start in [10, 30, 50] as [UInt64] {
                var answer = Answer(next: .token("n\(start)"))
                for id in (start..<start + 6).reversed() {
                    answer.append(id: PostID(id + shift), key: Int64(id), body: Array("\(id) \(start)".utf8))
                }
                _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
            }
            try feed.insertLocal(PostID("L" + name)!, body: [1])
            try feed.delete(PostID(31 + shift))
            _ = try feed.plan(.tail)
            try feed.setAttribute("key", to: [1, 2, 3])
        }
        _ = try cache.update(52, body: Array("new".utf8))
    }

    /// Every record with one byte changed.
    @Test func changedBytesAreFound() throws {
        #expect(try storage.cache.check().isEmpty)
        for (table, key, value) in try records() {
            var damaged = value
            damaged[value.count / 2] ^= 0x40
            try damage(table, key, damaged, restoring: value) { findings in
                #expect(findings.contains { $0.code == .checksum }, "\(table.name)")
            }
        }
        #expect(try storage.cache.check().isEmpty)
    }

    /// Every record missing. Tickets, tombstones and attributes may go: nothing else names them.
    @Test func missingRecordsAreFound() throws {
        let forgettable = ["tickets", "tombstones", "attributes"]
        for (table, key, value) in try records() where !forgettable.contains(table.name.description) {
            if [.format, .counters].contains(table) { continue }  // without them nothing can be opened
            try damage(table, key, nil, restoring: value) { findings in
                #expect(!findings.isEmpty, "\(table.name): \(key)")
            }
        }
    }

    /// Records nobody asked for: of a feed that does not exist, of a table that does not.
    @Test func strangeRecordsAreFound() throws {
        let (_, _, piece) = try records().first { $0.table.name.description == "pieces" }!
        for table in Table.parts(of: 77) {
            try put(table, [0, 0, 0, 0, 0, 0, 0, 9], piece)
            #expect(try storage.cache.check().contains { $0.code == .orphan }, "\(table.name)")
            try put(table, [0, 0, 0, 0, 0, 0, 0, 9], nil)
        }
        try put(.bodies, [0, 0, 0, 0, 0, 0, 0, 9], [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])
        #expect(try !storage.cache.check().isEmpty)
        try put(.bodies, [0, 0, 0, 0, 0, 0, 0, 9], nil)
        #expect(try storage.cache.check().isEmpty)
    }

    /// Counts that are wrong although every record reads back.
    @Test func wrongCountsAreFound() throws {
        try change("feeds", FeedRecord.self) { $0.lastSegment.entries += 1 }
        try change("feeds", FeedRecord.self) { $0.lastSegment.unkeyed += 1 }
        try change("feeds", FeedRecord.self) { $0.counts.claimedSeams += 1 }
        try change("feeds", FeedRecord.self) { $0.tail.number = $0.head.number }
        try change("gaps", GapRecord.self) { $0.above.entries += 1 }
        try change("gaps", GapRecord.self) { $0.gap.down.link = .end }
        try change("gaps", GapRecord.self) { $0.gap.up.number = $0.gap.down.number }
        try change("pages", PageRecord.self) { $0.entries += 1 }
        try change("body-use", BodyUse.self) { $0.live += 1 }
        try change("body-use", BodyUse.self) { $0.total += 1 }
        try change("pieces", PieceRecord.self) { $0 = PieceRecord(page: $0.page, ids: $0.ids.dropLast(), entries: $0.entries.dropLast()) }
        try change("pieces", PieceRecord.self) { $0 = PieceRecord(page: $0.page, ids: $0.ids + $0.ids[..<1], entries: $0.entries + $0.entries[..<1]) }
        try change("pieces", PieceRecord.self) { $0.entries[0].body.length += 1 }
        try change("pieces", PieceRecord.self) { $0.entries[0].isClaimed.toggle() }
    }

    // MARK: Damage

    private func records() throws -> [(table: Table, key: [UInt8], value: [UInt8])] {
        try storage.cache.environment.read { transaction in
            var records: [(table: Table, key: [UInt8], value: [UInt8])] = []
            try transaction.forEachRecord { key, value in
                let table = Table.owner(of: key)!.table
                records.append((table, Array(table.key(key)!), Array(value)))
            }
            return records
        }
    }

    private func put(_ table: Table, _ key: [UInt8], _ value: [UInt8]?) throws {
        try storage.cache.environment.write { transaction in
            try transaction.delete(table, key)
            if let value { try transaction.put(table, key, value) }
        }
    }

    private func damage(
        _ table: Table, _ key: [UInt8], _ value: [UInt8]?, restoring old: [UInt8],
        _ judge: ([Finding]) -> Void
    ) throws {
        try put(table, key, value)
        judge((try? storage.cache.check()) ?? [Finding(code: .checksum, place: "all", message: "")])
        // whatever these answer, they answer
        _ = try? storage.cache.withSnapshot { snapshot in
            for feed in try storage.cache.feeds() {
                for row in try snapshot.rows(of: feed, limit: .max) {
                    if case .post(let post) = row { _ = try? snapshot.body(of: post).byteCount }
                }
                _ = try? snapshot.pages(of: feed, limit: .max)
            }
            _ = try? snapshot.statistics()
        }
        try put(table, key, old)
    }

    /// Changes each record of a table in turn and expects a finding.
    private func change<R: Record>(
        _ name: String, _ type: R.Type, _ change: (inout R) -> Void
    ) throws {
        for (table, key, value) in try records() where table.name.description == name {
            var record = try value.withUnsafeBytes { try R($0, table.name.description) }
            change(&record)
            try put(table, key, record.encoded())
            #expect(try !storage.cache.check().isEmpty, "\(table.name): \(key)")
            try put(table, key, value)
        }
    }
}
