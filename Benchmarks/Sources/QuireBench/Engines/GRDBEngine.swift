import Foundation
import GRDB

/// SQLite as a Swift developer would use it: GRDB's records in a database pool, normalised.
final class GRDBEngine: Engine {
    private let pool: DatabasePool
    /// Readers and writers of other threads use the same pool, and leave it open.
    private let ownsPool: Bool
    private var staged: [StagedPage] = []
    private var reads: [PageAddress] = []
    private var pagesPerRead = 1
    private var ids: [Int64] = []
    private var idsFeed: Int64 = 0
    private var held: Set<Int64> = []

    /// A page in the form of its records.
    private struct StagedPage {
        var feed: Int64
        var posts: [(post: PostRecord, key: Int64)]
    }

    init(folder: String, durability: Durability) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -65536; PRAGMA mmap_size = 17179869184")
        }
        pool = try DatabasePool(path: folder + "/feeds.sqlite", configuration: configuration)
        ownsPool = true
        // A pool sets NORMAL, which may lose the last commits, after it has prepared its connection.
        if durability == .ordinary {
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        }
        try Self.migrator.migrate(pool)
    }

    private init(sharing pool: DatabasePool) { (self.pool, ownsPool) = (pool, false) }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("feeds") { database in
            try database.create(table: "post") { table in
                table.primaryKey("id", .integer)
                table.column("body", .blob).notNull()
            }
            try database.create(table: "entry", options: .withoutRowID) { table in
                table.primaryKey(["feed", "page", "slot"])
                table.column("feed", .integer).notNull()
                table.column("page", .integer).notNull()
                table.column("slot", .integer).notNull()
                table.column("key", .integer).notNull()
                table.column("post", .integer).notNull()
            }
            // Answers "does the feed hold it?" and "does any feed hold it?".
            try database.create(
                index: "entry_post", on: "entry", columns: ["post", "feed"], options: .unique)
        }
        return migrator
    }

    var name: String { "grdb" }
    var version: String {
        let sqlite = try? pool.read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
        return "GRDB \(Self.grdbVersion ?? "7"), SQLite \(sqlite ?? "?")"
    }
    var about: String {
        "GRDB DatabasePool, records, normalised; WAL, 64 MB cache, mmap, cached statements"
    }

    /// GRDB does not tell; the package manager has written down what it took.
    private static var grdbVersion: String? {
        struct Pins: Decodable {
            struct Pin: Decodable {
                struct State: Decodable { var version: String? }
                var identity: String
                var state: State
            }
            var pins: [Pin]
        }
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Package.resolved")
        guard let data = try? Data(contentsOf: package),
            let pins = try? JSONDecoder().decode(Pins.self, from: data)
        else { return nil }
        return pins.pins.first { $0.identity == "grdb.swift" }?.state.version
    }

    func close() { if ownsPool { try? pool.close() } }

    // MARK: Writing

    func stage(_ pages: [FeedPage]) {
        staged = pages.map { page in
            StagedPage(
                feed: Int64(page.feed),
                posts: page.posts.map {
                    (PostRecord(id: Int64($0.id), body: Data(page.bytes[$0.body])), $0.key)
                })
        }
    }

    func appendStaged() throws -> Int {
        try pool.write { database in
            var duplicates = 0
            for page in staged {
                let number = try Self.edge(of: page.feed, "max", database).map { $0 + 1 } ?? 0
                duplicates += try Self.insert(page, number: number, database)
            }
            return duplicates
        }
    }

    func prependStaged() throws -> Int {
        try pool.write { database in
            let number = try Self.edge(of: staged[0].feed, "min", database).map { $0 - 1 } ?? 0
            return try Self.insert(staged[0], number: number, database)
        }
    }

    private static func insert(_ page: StagedPage, number: Int64, _ database: Database) throws -> Int {
        let known = try held(page.posts.map(\.post.id), by: page.feed, database)
        var slot: Int64 = 0
        for (post, key) in page.posts where !known.contains(post.id) {
            // Another feed may hold it: one body for all.
            try post.insert(database, onConflict: .ignore)
            try EntryRecord(feed: page.feed, page: number, slot: slot, key: key, post: post.id)
                .insert(database)
            slot += 1
        }
        return known.count
    }

    private static func edge(of feed: Int64, _ function: String, _ database: Database) throws -> Int64? {
        let statement = try database.cachedStatement(
            sql: "SELECT \(function)(page) FROM entry WHERE feed = ?")
        return try Int64.fetchOne(statement, arguments: [feed])
    }

    private static func held(_ ids: [Int64], by feed: Int64, _ database: Database) throws -> Set<Int64> {
        let marks = databaseQuestionMarks(count: ids.count)
        let statement = try database.cachedStatement(
            sql: "SELECT post FROM entry WHERE feed = ? AND post IN (\(marks))")
        return try Int64.fetchSet(statement, arguments: [feed] + StatementArguments(ids))
    }

    func update(_ id: UInt64, body: [UInt8]) throws {
        try pool.write { try PostRecord(id: Int64(id), body: Data(body)).update($0) }
    }

    func prune(_ feed: Int) throws {
        try pool.write { database in
            guard let first = try Self.edge(of: Int64(feed), "min", database) else { return }
            let arguments: StatementArguments = [Int64(feed), first]
            let posts = try Int64.fetchAll(
                database, sql: "SELECT post FROM entry WHERE feed = ? AND page > ?",
                arguments: arguments)
            try database.execute(sql: "DELETE FROM entry WHERE feed = ? AND page > ?", arguments: arguments)
            let delete = try database.cachedStatement(
                sql: """
                    DELETE FROM post WHERE id = ?1
                    AND NOT EXISTS (SELECT 1 FROM entry WHERE post = ?1)
                    """)
            for post in posts { try delete.execute(arguments: [post]) }
        }
    }

    // MARK: Reading

    func stage(reads: [PageAddress], pages: Int) { (self.reads, pagesPerRead) = (reads, pages) }

    func readStaged(_ index: Int) throws -> ReadTotal {
        let address = reads[index]
        return try pool.read { database in
            guard let first = try Self.edge(of: Int64(address.feed), "min", database) else {
                return ReadTotal()
            }
            let from = first + Int64(address.index)
            let statement = try database.cachedStatement(
                sql: """
                    SELECT post.id, post.body FROM entry JOIN post ON post.id = entry.post
                    WHERE entry.feed = ? AND entry.page >= ? AND entry.page < ?
                    ORDER BY entry.page, entry.slot
                    """)
            let posts = try PostRecord.fetchAll(
                statement, arguments: [Int64(address.feed), from, from + Int64(pagesPerRead)])
            return posts.reduce(into: ReadTotal()) { total, post in
                post.body.withUnsafeBytes { total.add($0) }
            }
        }
    }

    func stage(ids: [UInt64], in feed: Int) {
        self.ids = ids.map { Int64($0) }
        idsFeed = Int64(feed)
    }

    func lookUpStaged() throws { held = try pool.read { try Self.held(ids, by: idsFeed, $0) } }

    var found: [Bool] { ids.map(held.contains) }

    func post(_ id: UInt64) throws -> ReadTotal {
        try pool.read { database in
            var total = ReadTotal()
            try PostRecord.fetchOne(database, key: Int64(id))?.body.withUnsafeBytes { total.add($0) }
            return total
        }
    }

    func pageCount(_ feed: Int) throws -> Int {
        try pool.read { database in
            guard let first = try Self.edge(of: Int64(feed), "min", database),
                let last = try Self.edge(of: Int64(feed), "max", database)
            else { return 0 }
            return Int(last - first) + 1
        }
    }

    // MARK: Other threads

    /// The pool gives each reading thread a connection of its own and lets writers take turns.
    func makeReader() throws -> any Engine { GRDBEngine(sharing: pool) }
    func makeWriter() throws -> any Engine { GRDBEngine(sharing: pool) }
}

// Both are spelled out, which is faster than records that are Codable.

/// One post, however many feeds hold it.
private struct PostRecord: FetchableRecord, PersistableRecord {
    static let databaseTableName = "post"
    var id: Int64
    var body: Data

    init(id: Int64, body: Data) { (self.id, self.body) = (id, body) }
    init(row: Row) { (id, body) = (row[0], row[1]) }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["body"] = body
    }
}

/// A post's place in one feed.
private struct EntryRecord: PersistableRecord {
    static let databaseTableName = "entry"
    var feed: Int64
    var page: Int64
    var slot: Int64
    var key: Int64
    var post: Int64

    func encode(to container: inout PersistenceContainer) {
        container["feed"] = feed
        container["page"] = page
        container["slot"] = slot
        container["key"] = key
        container["post"] = post
    }
}
