import Foundation
import GRDB
import Quire

/// A table of posts by id, as all patterns on SQLite have it.
struct PostTable {
    let database: DatabasePool
    let meter = Meter()
    private let folder: URL

    init(folder: URL, _ others: String) throws {
        self.folder = folder
        database = try DatabasePool(path: folder.appendingPathComponent("posts.sqlite").path)
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE post (id INTEGER PRIMARY KEY, sort INTEGER NOT NULL, body BLOB NOT NULL);
                    CREATE INDEX post_sort ON post (sort);
                    """ + others)
        }
    }

    static func number(_ id: PostID) -> Int64 { Int64(id.description)! }

    /// Writes a page and what else belongs to it in one transaction.
    func commit(_ answer: Answer, _ other: (Database) throws -> Void) throws {
        try meter.commit(answer) {
            try database.write { db in
                try other(db)
                let insert = try db.cachedStatement(
                    sql: "INSERT OR REPLACE INTO post (id, sort, body) VALUES (?, ?, ?)")
                for post in answer.posts {
                    try insert.execute(
                        arguments: [Self.number(post.id), post.key, Data(answer.bytes[post.body])])
                }
            }
        }
    }

    /// All posts leave; those that the page brings back were not thrown away.
    func clear(_ db: Database, for answer: Answer) throws {
        let kept = Set(answer.posts.map { Self.number($0.id) })
        let all = try Int64.fetchAll(db, sql: "SELECT id FROM post")
        meter.thrownAway += all.count { !kept.contains($0) }
        try db.execute(sql: "DELETE FROM post")
    }

    func rows() throws -> [ShownRow] {
        try database.read { db in
            try Int64.fetchAll(db, sql: "SELECT id FROM post ORDER BY sort DESC").map {
                .post(PostID(UInt64($0)))
            }
        }
    }

    func count() throws -> Int {
        try database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM post")! }
    }

    func size() throws -> Int {
        ["posts.sqlite", "posts.sqlite-wal"].reduce(0) { sum, name in
            let path = folder.appendingPathComponent(name).path
            return sum + ((try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0)
        }
    }
}

/// The answer's own words for what follows; nil at the end.
func cursor(_ answer: Answer) -> String? {
    switch answer.next {
    case .token(let text): text
    case .below(let id): id.description
    default: nil
    }
}

func target(_ cursor: String) -> Request.Target {
    UInt64(cursor).map { .link(.below(PostID($0))) } ?? .link(.token(cursor))
}

/// Posts and the cursor of the deepest page. A refresh replaces what the first page shows.
struct CursorPattern: Pattern {
    static let title = "SQLite, a cursor column"
    private static let options = FeedOptions(order: .stable)
    private let table: PostTable
    var meter: Meter { table.meter }

    init(folder: URL) throws {
        table = try PostTable(folder: folder, "CREATE TABLE feed (next TEXT); INSERT INTO feed VALUES ('');")
    }

    func refresh(_ server: Server) throws {
        let answer = try server.page(.link(.head), Self.options)
        try table.commit(answer) { db in
            try db.execute(sql: "UPDATE feed SET next = ? WHERE next = ''", arguments: [cursor(answer)])
        }
    }

    func loadMore(_ server: Server) throws -> Bool {
        guard let next = try table.database.read({ try String.fetchOne($0, sql: "SELECT next FROM feed") }),
            !next.isEmpty
        else { return false }
        let answer = try server.page(target(next), Self.options)
        try table.commit(answer) { db in
            try db.execute(sql: "UPDATE feed SET next = ?", arguments: [cursor(answer)])
        }
        return true
    }

    func rows() throws -> [ShownRow] { try table.rows() }
    func size() throws -> Int { try table.size() }
}

/// Managed objects, unique by id. A refresh deletes all and fetches anew; more is fetched from the number of
/// objects on.
struct OffsetPattern: Pattern {
    static let title = "objects by id, offset = count"
    private static let options = FeedOptions(order: .stable, paging: .offset)
    private let table: PostTable
    var meter: Meter { table.meter }

    init(folder: URL) throws { table = try PostTable(folder: folder, "") }

    func refresh(_ server: Server) throws {
        let answer = try server.page(.position(offset: 0, limit: Server.pageSize), Self.options)
        try table.commit(answer) { try table.clear($0, for: answer) }
    }

    func loadMore(_ server: Server) throws -> Bool {
        let answer = try server.page(.position(offset: table.count(), limit: Server.pageSize), Self.options)
        try table.commit(answer) { _ in }
        return !answer.posts.isEmpty
    }

    func rows() throws -> [ShownRow] { try table.rows() }
    func size() throws -> Int { try table.size() }
}

/// Room's RemoteMediator: each post has the key of the page after its own. A refresh clears posts and keys;
/// more is fetched by the key of the last post.
struct RemoteKeysPattern: Pattern {
    static let title = "RemoteMediator, remote keys"
    private static let options = FeedOptions(order: .stable, paging: .page)
    private let table: PostTable
    var meter: Meter { table.meter }

    init(folder: URL) throws {
        table = try PostTable(
            folder: folder,
            "CREATE TABLE remote_keys (id INTEGER PRIMARY KEY, prevKey INTEGER, nextKey INTEGER);")
    }

    private func load(_ page: Int, _ server: Server, isRefresh: Bool) throws -> Bool {
        let answer = try server.page(.page(number: page, limit: Server.pageSize), Self.options)
        try table.commit(answer) { db in
            if isRefresh {
                try db.execute(sql: "DELETE FROM remote_keys")
                try table.clear(db, for: answer)
            }
            let keys: [Int?] = [page == 1 ? nil : page - 1, answer.posts.isEmpty ? nil : page + 1]
            for post in answer.posts {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO remote_keys VALUES (?, ?, ?)",
                    arguments: [PostTable.number(post.id), keys[0], keys[1]])
            }
        }
        return !answer.posts.isEmpty
    }

    func refresh(_ server: Server) throws { _ = try load(1, server, isRefresh: true) }

    func loadMore(_ server: Server) throws -> Bool {
        let key = try table.database.read { db in
            try Int.fetchOne(
                db, sql: "SELECT nextKey FROM remote_keys JOIN post USING (id) ORDER BY sort LIMIT 1")
        }
        guard let key else { return false }
        return try load(key, server, isRefresh: false)
    }

    func rows() throws -> [ShownRow] { try table.rows() }
    func size() throws -> Int { try table.size() }
}
