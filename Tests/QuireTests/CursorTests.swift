import CLMDB
import QuireSimulator
import Testing

@_spi(Unstable) @testable import Quire

/// The cursors that a write transaction keeps, and the order of its keys, against a sorted array.
@Suite struct CursorTests {
    private struct Undone: Error {}

    /// Runs `body` in a write transaction that is undone.
    private func write(_ body: (Transaction) throws -> Void) throws {
        let storage = try TemporaryCache()
        do {
            try storage.cache.environment.write { transaction in
                try body(transaction)
                throw Undone()
            }
        } catch is Undone {}
    }

    /// Records of several tables, and the keys that they have.
    private struct Model {
        let tables: [Table] = [.chunks(of: 1), .tickets(of: 1), .pages(of: 1), .chunks(of: 2), .log, .bodies]
        var records: [[UInt64: [UInt8]]]

        init() { records = Array(repeating: [:], count: tables.count) }

        func keys(_ table: Int) -> [UInt64] { records[table].keys.sorted() }
    }

    /// What is written, replaced and removed is found again, wherever the cursors were before, and by walks
    /// that write and look up on their way.
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func randomRecords(seed: UInt64) throws {
        try write { transaction in
            var random = SplitMix64(seed: seed)
            var model = Model()
            for step in 0..<3_000 {
                let table = random.below(model.tables.count)
                let number = UInt64(random.below(300))
                switch random.below(8) {
                case 0...3:
                    let size = random.chance(0.05) ? 5_000 + random.below(9_000) : 16 + random.below(600)
                    let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: step), count: size)
                    try transaction.put(model.tables[table], NumberKey(number), bytes)
                    model.records[table][number] = bytes
                case 4, 5:
                    try transaction.delete(model.tables[table], NumberKey(number))
                    model.records[table][number] = nil
                default:
                    let found = try transaction.get(model.tables[table], NumberKey(number)).map { Array($0) }
                    #expect(found == model.records[table][number], "seed \(seed), step \(step)")
                }
                if step % 50 == 0 { try compareNeighbours(transaction, model, table, number) }
                if step % 500 == 0 { try walk(transaction, &model, table, &random) }
            }
            for table in model.tables.indices {
                let count = try transaction.count(model.tables[table])
                #expect(count == model.records[table].count, "seed \(seed)")
            }
        }
    }

    private func compareNeighbours(
        _ transaction: Transaction, _ model: Model, _ table: Int, _ number: UInt64
    ) throws {
        let keys = model.keys(table)
        try transaction.withCursor(model.tables[table]) { cursor in
            func own(_ record: Cursor.Record?) -> UInt64? { record.flatMap { NumberKey($0.key)?.number } }
            let found = [
                own(try cursor.first()), own(try cursor.last()), own(try cursor.seek(NumberKey(number))),
                own(try cursor.before(NumberKey(number))),
            ]
            #expect(found == [keys.first, keys.last, keys.first { $0 >= number }, keys.last { $0 < number }])
        }
    }

    /// Walks through a table, and on the way writes to others and walks through them.
    private func walk(
        _ transaction: Transaction, _ model: inout Model, _ table: Int, _ random: inout SplitMix64
    ) throws {
        var seen: [UInt64] = []
        try transaction.withCursor(model.tables[table]) { cursor in
            var found = try cursor.first()
            while let (key, _) = found {
                let number = NumberKey(key)!.number
                seen.append(number)
                let other = (table + 1 + random.below(model.tables.count - 1)) % model.tables.count
                let bytes = [UInt8](repeating: 1, count: 16 + random.below(900))
                try transaction.put(model.tables[other], NumberKey(number), bytes)
                model.records[other][number] = bytes
                let again = try transaction.get(model.tables[table], NumberKey(number)).map { Array($0) }
                #expect(again == model.records[table][number])
                #expect(try transaction.count(model.tables[other]) == model.records[other].count)
                found = try cursor.next()
            }
        }
        #expect(seen == model.keys(table))
    }

    /// LMDB compares keys byte by byte, then by length; so must we.
    @Test func orderOfKeys() {
        var random = SplitMix64(seed: 5)
        var keys: [[UInt8]] = [[]]
        for count in 1...40 {
            for _ in 0..<12 {
                var key = (0..<count).map { _ in [0, 1, 127, 128, 255][random.below(5)] as UInt8 }
                if random.chance(0.7), let other = keys.last {
                    let shared = random.below(min(count, other.count) + 1)
                    key.replaceSubrange(..<shared, with: other[..<shared])
                }
                keys.append(key)
            }
        }
        for a in keys {
            for b in keys {
                let order = a.withUnsafeBytes { a in
                    b.withUnsafeBytes { b in
                        var (x, y) = (MDB_val(bytes: a), MDB_val(bytes: b))
                        return quire_compare_keys(&x, &y).signum()
                    }
                }
                let expected: Int32 = a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
                if order != expected { Issue.record("\(a) and \(b): \(order)") }
            }
        }
    }
}
