import Foundation
import Testing

@_spi(Unstable) @testable import Quire

/// A cache whose records are rewritten behind the engine's back, with right checksums.
struct Forgery {
    let storage: TemporaryCache

    /// Two feeds with shared posts, gaps, detached entries, a tombstone, an open ticket, fields and dead
    /// bodies.
    init() throws {
        storage = try TemporaryCache()
        let cache = storage.cache
        for (name, shift) in [("a", UInt64(0)), ("b", 4)] {
            let feed = try cache.feed(named: name, options: FeedOptions(order: .stable))
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
        _ = try cache.update(53, fields: ["likes": [7], "title": [8]], version: 3)
    }

    // MARK: Records

    typealias Stored = (table: Table, key: [UInt8], value: [UInt8])

    /// All of a table, whatever feed it is of, or of all tables.
    func records(_ name: String? = nil) throws -> [Stored] {
        try storage.cache.environment.read { transaction in
            var records: [Stored] = []
            try transaction.forEachRecord { key, value in
                let table = Table.owner(of: key)!.table
                if name == nil || table.name.description == name {
                    records.append((table, Array(table.key(key)!), Array(value)))
                }
            }
            return records
        }
    }

    func put(_ table: Table, _ key: [UInt8], _ value: [UInt8]?) throws {
        try storage.cache.environment.write { transaction in
            try transaction.delete(table, key)
            if let value { try transaction.put(table, key, value) }
        }
    }

    func remove(_ name: String) throws {
        let record = try #require(try records(name).first)
        try put(record.table, record.key, nil)
    }

    /// Gives the first record of a table another number.
    func renumber(_ name: String, _ number: UInt64) throws {
        let record = try #require(try records(name).first)
        try put(record.table, record.key, nil)
        try put(record.table, Self.number(number), record.value)
    }

    /// Changes the first record of a table for which `change` returns true.
    func edit<R: Record>(_ name: String, _ type: R.Type, _ change: (inout R) -> Bool) throws {
        for (table, key, value) in try records(name) {
            var record = try value.withUnsafeBytes { try R($0, name) }
            if change(&record) { return try put(table, key, record.encoded()) }
        }
        Issue.record("no record of \(name) could be changed")
    }

    /// The same for bytes, which are sealed again.
    func editBytes(_ name: String, _ change: (inout [UInt8]) -> Void) throws {
        let (table, key, value) = try #require(try records(name).first)
        var bytes = Array(value.dropLast(4))
        change(&bytes)
        try put(table, key, Self.sealed(bytes))
    }

    static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        var value = bytes + [0, 0, 0, 0]
        value.withUnsafeMutableBytes { Checksum.seal($0) }
        return value
    }

    static func number(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// Rewrites the id index as one run.
    func editIndex(_ change: (inout [Location]) -> Void) throws { try editRun { change(&$0.posts) } }

    /// The same with its marks.
    func editRun(_ change: (inout RunContents) -> Void) throws {
        var run = RunContents()
        try storage.cache.environment.read { transaction in
            let runs = try PostIndex.stored(transaction).reversed().map(\.run)
            run = try RunContents().merged(over: runs)
        }
        change(&run)
        run.posts.sort { $0.precedes($1) }
        run.marks.sort { $0.precedes($1) }
        for (table, key, _) in try records("locations") { try put(table, key, nil) }
        try storage.cache.environment.write { transaction in
            try transaction.put(.locations, NumberKey(1), run.encoded)
        }
    }

    static func encoded(_ changes: [RankChange]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: RankRun.size(of: changes))
        bytes.withUnsafeMutableBytes { RankRun.write(changes, into: $0) }
        return bytes
    }

    // MARK: The file

    /// A copy of the file as it is: the cache itself is open.
    func copy() throws -> String {
        let path = storage.folder + "/copy.quire"
        let data = try #require(FileManager.default.contents(atPath: storage.path))
        try data.write(to: URL(fileURLWithPath: path))
        return path
    }

    func checked() throws -> Set<Finding.Code> { Set(try storage.cache.check(limit: 1000).map(\.code)) }

    /// Also what `verify` throws, as a finding of its kind.
    func verified() throws -> Set<Finding.Code> {
        let path = try copy()
        do throws(QuireError) {
            return Set(try Cache.verify(at: path, limit: 1000).map(\.code))
        } catch {
            #expect([.notACache, .newerFormat].contains(error.code), "\(error)")
            return [.header]
        }
    }
}
