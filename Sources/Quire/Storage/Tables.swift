import CLMDB

/// One of LMDB's tables.
struct Table: Sendable {
    let dbi: MDB_dbi
    let name: StaticString
}

/// All tables of a cache; Docs/on-disk.md draws their records. An object, because every operation hands
/// it around: as a struct it cost more to copy than a look-up.
final class Tables: Sendable {
    /// "format" -> format version; "counters" -> `Counters`.
    let header: Table
    /// Feed name -> feed number.
    let names: Table
    /// Feed number -> `FeedRecord`.
    let feeds: Table
    /// Feed, position -> `PieceRecord`: the entries of a feed, in order.
    let pieces: Table
    /// Feed, page number -> `PageRecord`.
    let pages: Table
    /// Feed, position of the piece below -> `GapRecord`.
    let gaps: Table
    /// Run number -> `SortedRun`: the id index, where each feed holds each post.
    let locations: Table
    /// Post -> `FieldsRecord`: values that were updated one by one.
    let fields: Table
    /// Record number -> the bodies of one response, or of several of one commit.
    let bodies: Table
    /// Record number -> `BodyUse`: how much of it is still referred to, if not all.
    let bodyUse: Table
    /// Feed, post -> clock of its deletion.
    let tombstones: Table
    /// Feed, ticket number -> `TicketRecord`.
    let tickets: Table
    /// Feed, name -> what a program remembers about the feed.
    let attributes: Table
    /// Generation -> the changes of that commit.
    let log: Table

    /// Raised when an older program could misread the file.
    static let formatVersion: UInt64 = 2
    static let formatKey = Array("format".utf8)
    static let countersKey = Array("counters".utf8)

    /// The secret of this cache that spreads ids over the index: nobody can choose ids that collide.
    let seed: UInt64

    /// The path of the cache, for messages.
    let path: String

    private init(
        _ path: String, seed: UInt64, _ open: (StaticString) throws(QuireError) -> Table
    ) throws(QuireError) {
        (self.path, self.seed) = (path, seed)
        header = try open("header")
        names = try open("names")
        feeds = try open("feeds")
        pieces = try open("pieces")
        pages = try open("pages")
        gaps = try open("gaps")
        locations = try open("locations")
        fields = try open("fields")
        bodies = try open("bodies")
        bodyUse = try open("body-use")
        tombstones = try open("tombstones")
        tickets = try open("tickets")
        attributes = try open("attributes")
        log = try open("log")
    }

    var all: [Table] {
        [
            header, names, feeds, pieces, pages, gaps, locations, fields, bodies, bodyUse, tombstones,
            tickets, attributes, log,
        ]
    }

    /// Makes the tables of a new cache.
    static func create(in environment: OpaquePointer, path: String) throws(QuireError) {
        try begin(environment, path, flags: 0) { transaction throws(QuireError) in
            let seed = UInt64.random(in: .min ... .max)
            let tables = try Tables(path, seed: seed) { name throws(QuireError) in
                var dbi: MDB_dbi = 0
                try check(
                    mdb_dbi_open(transaction, name.description, UInt32(MDB_CREATE), &dbi),
                    "cannot create the cache", path)
                return Table(dbi: dbi, name: name)
            }
            let access = Transaction(handle: transaction, tables: tables)
            do {
                try access.put(tables.header, formatKey, encodedFormat(seed: seed))
                try access.put(tables.header, countersKey, Counters().encoded())
            } catch {
                throw error as? QuireError ?? QuireError(.io, "\(path): cannot create the cache")
            }
        }
    }

    /// Opens the tables of an existing cache, which must be one of ours and of a format we know. They
    /// are opened once, here: LMDB does not allow it concurrently.
    static func open(in environment: OpaquePointer, path: String) throws(QuireError) -> Tables {
        var found: Tables?
        try begin(environment, path, flags: UInt32(MDB_RDONLY)) { transaction throws(QuireError) in
            let seed = try requireFormat(transaction, path)
            found = try Tables(path, seed: seed) { name throws(QuireError) in
                var dbi: MDB_dbi = 0
                if mdb_dbi_open(transaction, name.description, 0, &dbi) != 0 {
                    throw QuireError(.notACache, "\(path): is not a Quire cache (no table \(name))")
                }
                return Table(dbi: dbi, name: name)
            }
        }
        return found!
    }

    private static func encodedFormat(seed: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.text("quire")
        writer.number(formatVersion)
        writer.number(seed)
        return writer.sealed()
    }

    /// The cache's seed, if it is of the format we know.
    private static func requireFormat(
        _ transaction: OpaquePointer, _ path: String
    ) throws(QuireError) -> UInt64 {
        let foreign = QuireError(.notACache, "\(path): is an LMDB file, but not a Quire cache")
        var dbi: MDB_dbi = 0
        if mdb_dbi_open(transaction, "header", 0, &dbi) != 0 { throw foreign }
        var value = MDB_val()
        let status = formatKey.withBytes { key in
            var key = MDB_val(bytes: key)
            return mdb_get(transaction, dbi, &key, &value)
        }
        if status != 0 { throw foreign }
        var reader: ByteReader
        var version: UInt64 = 0
        do throws(QuireError) {
            reader = try ByteReader(UnsafeRawBufferPointer(value))
            if try reader.text() == "quire" { version = try reader.number() }
        } catch {
            throw .corrupt("\(path): the header")
        }
        if version == 0 { throw foreign }
        if version > formatVersion {
            throw QuireError(
                .newerFormat,
                "\(path): was written by a newer Quire (format \(version), this one knows "
                    + "\(formatVersion))")
        }
        if version < formatVersion {
            throw QuireError(
                .notACache,
                "\(path): was written by a Quire before its first release (format \(version)): it must "
                    + "be filled anew")
        }
        return try reader.number()
    }

    private static func begin(
        _ environment: OpaquePointer, _ path: String, flags: UInt32,
        _ body: (OpaquePointer) throws(QuireError) -> Void
    ) throws(QuireError) {
        var begun: OpaquePointer?
        try check(
            mdb_txn_begin(environment, nil, flags, &begun), "cannot open the cache", path)
        do throws(QuireError) {
            try body(begun!)
        } catch {
            mdb_txn_abort(begun)
            throw error
        }
        try check(mdb_txn_commit(begun), "cannot open the cache", path)
    }
}
