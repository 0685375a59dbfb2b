/// A range of the cache's B-tree: the records whose keys have the same prefix.
///
/// All tables share one tree, in this order, because a commit to disk pays for every separate LMDB page that
/// it writes. So what changes together is kept together. A page at the tail of a feed changes the last chunk,
/// the feed's record and the newest page record, which are neighbours. Every commit changes the end of the
/// log, the counters, the newest run of the index and the newest bodies, which are neighbours too. With a
/// tree for each table a commit wrote 16 extents; now it writes 9.
struct Table: Sendable, Hashable {
    /// The name used in messages.
    let name: StaticString
    /// The prefix of its keys, from the highest byte down, and the number of its bytes.
    let prefix: UInt64
    let prefixCount: Int

    private init(_ name: StaticString, _ kind: Kind) {
        (self.name, prefix, prefixCount) = (name, UInt64(kind.rawValue) << 56, 1)
    }

    /// A table whose records follow that of another kind.
    private init(_ name: StaticString, behind kind: Kind, _ part: UInt8) {
        (self.name, prefixCount) = (name, 2)
        prefix = UInt64(kind.rawValue) << 56 | UInt64(part) << 48
    }

    private init(_ name: StaticString, of feed: UInt32, _ part: Part) {
        self.name = name
        prefix =
            UInt64(Kind.feeds.rawValue) << 56 | UInt64(feed) << 24 | UInt64(part.rawValue) << 16
        prefixCount = 6
    }

    /// A table of one view of a feed. All of a view stands together: that changes together.
    private init(_ name: StaticString, of feed: UInt32, view: UInt8, _ part: ViewPart) {
        self.init(name, of: feed, .viewData)
        self = Table(
            name: name, prefix: prefix | UInt64(view) << 8 | UInt64(part.rawValue), prefixCount: 8)
    }

    private init(name: StaticString, prefix: UInt64, prefixCount: Int) {
        (self.name, self.prefix, self.prefixCount) = (name, prefix, prefixCount)
    }

    private enum Kind: UInt8 {
        case format = 1
        case names, feeds, fields, bodyUse, log, counters, locations, bodies, collections, aliases, members
    }

    private enum Part: UInt8 {
        case chunks = 1
        case gaps, gapPlaces, tombstones, tickets, ranks, record, pages, attributes, views, viewData
    }

    enum ViewPart: UInt8 {
        case matches = 1
        case ranks, sections, places, pending
    }

    // MARK: Of the cache

    /// No key -> format version and seed.
    static let format = Table("format", .format)
    /// Feed name -> feed number.
    static let names = Table("names", .names)
    /// Collection and post -> `FieldsRecord`: values that were updated separately.
    static let fields = Table("fields", .fields)
    /// Record number -> `BodyUse`: how much of it is in use, if not all.
    static let bodyUse = Table("body-use", .bodyUse)
    /// Generation -> the changes of that commit.
    static let log = Table("log", .log)
    /// No key -> `Counters`.
    static let counters = Table("counters", .counters)
    /// Collection number -> `CollectionTotals`, if it has a name and posts.
    static let totals = Table("totals", behind: .counters, 1)
    /// No key -> `EvictionStatistics`, once the budget has taken something.
    static let evictions = Table("evictions", behind: .counters, 2)
    /// Run number -> `SortedRun`: the id index, with the location of each post in each feed.
    static let locations = Table("locations", .locations)
    /// Record number, newest first -> the bodies of one response, or of several in one commit.
    static let bodies = Table("bodies", .bodies)
    /// Collection name -> `CollectionRecord`.
    static let collections = Table("collections", .collections)
    /// Collection and other id -> `AliasRecord`: several ids of one post.
    static let aliases = Table("aliases", .aliases)
    /// Collection and feed number -> nothing: which feeds a collection has.
    static let members = Table("members", .members)

    // MARK: Of a feed

    /// Position -> `ChunkRecord`: the entries of a feed, in order.
    static func chunks(of feed: UInt32) -> Table { Table("chunks", of: feed, .chunks) }
    /// Position of the chunk below -> `GapRecord`.
    static func gaps(of feed: UInt32) -> Table { Table("gaps", of: feed, .gaps) }
    /// Gap id -> the key of the gap.
    static func gapPlaces(of feed: UInt32) -> Table { Table("gap-places", of: feed, .gapPlaces) }
    /// Ticket number -> `TicketRecord`.
    static func tickets(of feed: UInt32) -> Table { Table("tickets", of: feed, .tickets) }
    /// Run number -> `RankRun`: how many rows and pages there are above a position.
    static func ranks(of feed: UInt32) -> Table { Table("ranks", of: feed, .ranks) }
    /// No key -> `FeedRecord`.
    static func record(of feed: UInt32) -> Table { Table("feeds", of: feed, .record) }
    /// Page number, newest first -> `PageRecord`.
    static func pages(of feed: UInt32) -> Table { Table("pages", of: feed, .pages) }
    /// Name -> a value that a program stored with the feed.
    static func attributes(of feed: UInt32) -> Table { Table("attributes", of: feed, .attributes) }
    /// Post -> clock of its deletion.
    static func tombstones(of feed: UInt32) -> Table { Table("tombstones", of: feed, .tombstones) }

    /// View number -> `ViewRecord`.
    static func views(of feed: UInt32) -> Table { Table("views", of: feed, .views) }
    /// View number and part -> the records of all views: the tables of a view, below.
    static func viewData(of feed: UInt32) -> Table { Table("view-data", of: feed, .viewData) }

    // MARK: Of a view

    /// Position of a chunk -> `ViewMatches`: which of its posts the view shows. None if it shows none.
    static func matches(of feed: UInt32, view: UInt8) -> Table {
        Table("view-matches", of: feed, view: view, .matches)
    }
    /// Run number -> `RankRun`: how many posts of the view are above a position.
    static func viewRanks(of feed: UInt32, view: UInt8) -> Table {
        Table("view-ranks", of: feed, view: view, .ranks)
    }
    /// Section -> the number of its posts.
    static func sections(of feed: UInt32, view: UInt8) -> Table {
        Table("view-sections", of: feed, view: view, .sections)
    }
    /// `ViewPlaceKey` -> `ViewPlace`: the posts of a view that has an order of its own.
    static func places(of feed: UInt32, view: UInt8) -> Table {
        Table("view-places", of: feed, view: view, .places)
    }
    /// Position of a chunk -> nothing: it has changed, and the view has not seen it since.
    static func pending(of feed: UInt32, view: UInt8) -> Table {
        Table("view-pending", of: feed, view: view, .pending)
    }

    // MARK: Keys

    /// Returns the part after the prefix; nil if the key belongs to another table.
    func key(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard bytes.count >= prefixCount else { return nil }
        var word: UInt64 = 0
        if bytes.count >= 8 {
            word = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        } else {
            for (i, byte) in bytes.enumerated() { word |= UInt64(byte) << UInt64(56 - 8 * i) }
        }
        if (word ^ prefix) >> UInt64(64 - 8 * prefixCount) != 0 { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[prefixCount...])
    }

    /// Lends the first key after all records of the table.
    func withEnd<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        let end = prefix &+ 1 << UInt64(64 - 8 * prefixCount)
        return try withUnsafeBytes(of: end.bigEndian) { bytes throws(E) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<prefixCount]))
        }
    }

    /// True if the table belongs to a feed.
    var isOfFeed: Bool { prefixCount >= 6 }

    /// Returns the table of a whole key, and its feed; nil if there is no such table. Those that stand behind
    /// another come first.
    static func owner(of key: UnsafeRawBufferPointer) -> (table: Table, feed: UInt32?)? {
        var feed: UInt32?
        if key.count >= 5, key[0] == Kind.feeds.rawValue {
            feed = UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
        }
        let tables = feed.map(parts) ?? ofCache
        return tables.first { $0.key(key) != nil }.map { ($0, feed) }
    }

    /// The tables that belong to no feed.
    private static let ofCache = [
        format, names, fields, bodyUse, log, totals, evictions, counters, locations, bodies, collections,
        aliases, members,
    ]

    /// Returns the tables of a feed.
    static func parts(of feed: UInt32) -> [Table] {
        [
            chunks(of: feed), gaps(of: feed), gapPlaces(of: feed), tickets(of: feed), ranks(of: feed),
            record(of: feed), pages(of: feed), attributes(of: feed), tombstones(of: feed), views(of: feed),
            viewData(of: feed),
        ]
    }

    /// Returns the tables of a view.
    static func parts(of feed: UInt32, view: UInt8) -> [Table] {
        [
            matches(of: feed, view: view), viewRanks(of: feed, view: view), sections(of: feed, view: view),
            places(of: feed, view: view), pending(of: feed, view: view),
        ]
    }

    static func == (a: Table, b: Table) -> Bool { a.prefix == b.prefix }
    func hash(into hasher: inout Hasher) { hasher.combine(prefix) }
}
