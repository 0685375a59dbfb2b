import Testing

@testable import Quire

/// `check` finds what is wrong, whatever it is, and nothing that is damaged crashes the process.
@Suite struct CheckTests {
    private let forgery: Forgery
    private var storage: TemporaryCache { forgery.storage }

    init() throws { forgery = try Forgery() }

    /// Every record with one byte changed.
    @Test func changedBytesAreFound() throws {
        #expect(try storage.cache.check().isEmpty)
        for (table, key, value) in try forgery.records() {
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
        for (table, key, value) in try forgery.records() where !forgettable.contains(table.name.description) {
            if [.format, .counters].contains(table) { continue }  // without them nothing can be opened
            try damage(table, key, nil, restoring: value) { findings in
                #expect(!findings.isEmpty, "\(table.name): \(key)")
            }
        }
    }

    /// Records that must not be there: of a feed that does not exist, of a table that does not.
    @Test func strangeRecordsAreFound() throws {
        let (_, _, chunk) = try forgery.records().first { $0.table.name.description == "chunks" }!
        for table in Table.parts(of: 77) {
            try forgery.put(table, [0, 0, 0, 0, 0, 0, 0, 9], chunk)
            #expect(try storage.cache.check().contains { $0.code == .orphan }, "\(table.name)")
            try forgery.put(table, [0, 0, 0, 0, 0, 0, 0, 9], nil)
        }
        try forgery.put(.bodies, [0, 0, 0, 0, 0, 0, 0, 9], [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])
        #expect(try !storage.cache.check().isEmpty)
        try forgery.put(.bodies, [0, 0, 0, 0, 0, 0, 0, 9], nil)
        #expect(try storage.cache.check().isEmpty)
    }

    /// Counts that are wrong although every record reads back.
    @Test func wrongCountsAreFound() throws {
        try change("feeds", FeedRecord.self) { $0.lastSegment.entries += 1 }
        try change("feeds", FeedRecord.self) { $0.lastSegment.unkeyed += 1 }
        try change("feeds", FeedRecord.self) { $0.counts.unverifiedJoins += 1 }
        try change("feeds", FeedRecord.self) { $0.tail.number = $0.head.number }
        try change("gaps", GapRecord.self) { $0.above.entries += 1 }
        try change("gaps", GapRecord.self) { $0.gap.down.link = .end }
        try change("gaps", GapRecord.self) { $0.gap.up.number = $0.gap.down.number }
        try change("pages", PageRecord.self) { $0.entries += 1 }
        try change("body-use", BodyUse.self) { $0.live += 1 }
        try change("body-use", BodyUse.self) { $0.total += 1 }
        try change("chunks", ChunkRecord.self) {
            $0 = ChunkRecord(page: $0.page, ids: PostIDs($0.ids.dropLast()), entries: $0.entries.dropLast())
        }
        try change("chunks", ChunkRecord.self) {
            $0 = ChunkRecord(
                page: $0.page, ids: PostIDs(Array($0.ids) + $0.ids[..<1]),
                entries: $0.entries + $0.entries[..<1])
        }
        try change("chunks", ChunkRecord.self) { $0.entries[0].body.length += 1 }
        try change("chunks", ChunkRecord.self) {
            $0.entries[0].claim = $0.entries[0].isUnverified ? nil : Claim()
        }
    }

    // MARK: Damage

    private func damage(
        _ table: Table, _ key: [UInt8], _ value: [UInt8]?, restoring old: [UInt8],
        _ judge: ([Finding]) -> Void
    ) throws {
        try forgery.put(table, key, value)
        judge((try? storage.cache.check()) ?? [Finding(code: .checksum, location: "all", message: "")])
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
        try forgery.put(table, key, old)
    }

    /// Changes each record of a table in turn and expects a finding.
    private func change<R: Record>(_ name: String, _ type: R.Type, _ change: (inout R) -> Void) throws {
        for (table, key, value) in try forgery.records(name) {
            var record = try value.withUnsafeBytes { try R($0, table.name.description) }
            change(&record)
            try forgery.put(table, key, record.encoded())
            #expect(try !storage.cache.check().isEmpty, "\(table.name): \(key)")
            try forgery.put(table, key, value)
        }
    }
}
