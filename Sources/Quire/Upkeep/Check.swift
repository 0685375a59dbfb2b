/// Something about a cache that must not be.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, CaseIterable {
        /// A record's checksum does not match its bytes.
        case checksum
        /// A record does not decode, or its key does not.
        case unreadable
        /// A record that another one names does not exist.
        case missing
        /// A record that nothing names.
        case orphan
        /// A stored count differs from what is there.
        case count
        /// An id stands twice in a feed, or the index names another place (I1, I5).
        case index
        /// A gap at the head, at the tail, below an end, or an edge used twice (I2, I4).
        case gap
        /// Keys do not descend as the order class promises.
        case order
        /// An entry shows another body than its post (I6).
        case body
        /// A page of LMDB's trees, or what it names, is not what LMDB writes. Found by `verify` only.
        case page
        /// Pages in use, free pages and the counts of both do not add up to the file. Found by `verify` only.
        case space
    }

    public let code: Code
    /// Where: a feed, a post, a table.
    public let place: String
    public let message: String

    public var description: String { "\(code.rawValue): \(place): \(message)" }
}

extension Cache {
    /// Tests every record and every invariant of RULES.md, section 2, in one snapshot, while others go
    /// on reading and writing. Changes nothing. Returns what it found, at most `limit` findings; none
    /// means that the cache is sound.
    public func check(limit: Int = 100) throws -> [Finding] {
        try environment.read { transaction in
            var check = try Check(transaction: transaction, limit: limit)
            try check.run()
            return check.findings
        }
    }
}

struct Check {
    let transaction: Transaction
    let limit: Int
    private(set) var findings: [Finding] = []
    private var index: PostIndex
    private var use = Use()
    private var feedNames: [UInt32: String] = [:]
    /// Entries of each feed, to be compared with the index.
    private var entries: [UInt32: Int] = [:]

    /// Distinct posts, and what they refer to.
    struct Use {
        var posts = 0
        var bytes = 0
        /// Body record -> bytes of it that posts refer to.
        var records: [UInt64: Int] = [:]
    }

    init(transaction: Transaction, limit: Int) throws {
        (self.transaction, self.limit) = (transaction, limit)
        do {
            index = try PostIndex(transaction)
        } catch {
            index = PostIndex(runs: [], transaction.file.seed)
            find(.unreadable, "locations", "a run of the id index")
        }
    }

    mutating func run() throws {
        try checkSeals()
        try checkFeeds()
        try checkIndex()
        try checkBodies()
        try checkRest()
    }

    mutating func find(_ code: Finding.Code, _ place: String, _ message: String) {
        if findings.count < limit {
            findings.append(Finding(code: code, place: place, message: message))
        }
    }

    /// Calls `body` for each record of a table; a record that does not decode is a finding.
    private mutating func each(
        _ table: Table, _ body: (inout Check, Cursor.Record) throws -> Void
    ) throws {
        try transaction.withCursor(table) { cursor in
            var found = try cursor.first()
            while let record = found {
                do {
                    try body(&self, record)
                } catch let error as QuireError where error.code == .corrupt {
                    find(.unreadable, table.name.description, error.message)
                }
                found = try cursor.next()
            }
        }
    }

    // MARK: Checksums

    /// Also that each record is of a table we know, and of a feed that exists.
    private mutating func checkSeals() throws {
        let feeds = Set(try transaction.feedNumbers())
        try transaction.forEachRecord { key, value in
            let text = key.prefix(24).map { String($0, radix: 16) }.joined(separator: " ")
            guard let (table, feed) = Table.owner(of: key) else {
                return find(.orphan, "key \(text)", "a record of no table")
            }
            if !ByteReader.isSealed(value) {
                find(.checksum, table.name.description, "key \(text)")
            }
            if let feed, !feeds.contains(feed) {
                find(.orphan, table.name.description, "key \(text): of no feed")
            }
        }
    }

    // MARK: Feeds

    private mutating func checkFeeds() throws {
        try each(.names) { check, record in
            let name = String(decoding: record.key, as: UTF8.self)
            let number = try ByteReader.number(record.value, "feed \(name)")
            check.feedNames[UInt32(truncatingIfNeeded: number)] = name
        }
        for number in feedNames.keys.sorted() {
            try each(.record(of: number)) { try $0.checkFeed(number, $1.value) }
        }
        for (number, name) in feedNames where entries[number] == nil {
            find(.missing, "feed \(name)", "has a name, but no record")
        }
    }

    private mutating func checkFeed(_ number: UInt32, _ value: UnsafeRawBufferPointer) throws {
        let feed = try FeedRecord(value, "feed number \(number)")
        if feedNames[number] != feed.name {
            find(.orphan, "feed \(feed.name)", "no name leads to it")
        }
        var feedCheck = FeedCheck(
            transaction: transaction, index: index, feed: number, record: feed, use: use)
        do {
            try feedCheck.run()
        } catch let error as QuireError where error.code == .corrupt {
            feedCheck.find(.unreadable, error.message)
        }
        for finding in feedCheck.findings { find(finding.code, finding.place, finding.message) }
        use = feedCheck.use
        entries[number] = feedCheck.counts.entries + feedCheck.counts.riders
    }

    // MARK: The index

    /// Every entry is found by the index (``FeedCheck``); here, that it leads to no other place.
    private mutating func checkIndex() throws {
        var places: [UInt32: Int] = [:]
        let runs = index.runs
        for (age, run) in runs.enumerated() {
            run.forEach { location in
                if runs[..<age].contains(where: { $0.position(of: location) != nil }) { return }
                if location.position != Location.gone { places[location.feed, default: 0] += 1 }
            }
        }
        var all: UInt64 = 0
        for (feed, count) in places {
            all += UInt64(count)
            if entries[feed] == count { continue }
            let name = feedNames[feed] ?? "number \(feed)"
            find(.index, "feed \(name)", "\(count) in the index, \(entries[feed] ?? 0) in its rows")
        }
        var fields: UInt64 = 0
        try each(.fields) { check, record in
            fields += 1
            let fields = try FieldsRecord(record.value, "the fields of a post")
            if check.index.positions(of: fields.id).isEmpty {
                check.find(.orphan, "post \(fields.id)", "has fields, but no feed holds it")
            }
        }
        let counters = try WriteSession.counters(transaction)
        for (name, said, found) in [
            ("entries", counters.entries, all), ("posts", counters.posts, UInt64(use.posts)),
            ("body bytes", counters.bodyBytes, UInt64(use.bytes)),
            ("posts with fields", counters.fieldRecords, fields),
        ] where said != found {
            find(.count, "counters", "say \(said) \(name), there are \(found)")
        }
    }

    // MARK: Bodies

    private mutating func checkBodies() throws {
        try each(.bodies) { check, record in
            guard let number = NumberKey(record.key)?.newestFirst else {
                return check.find(.unreadable, "bodies", "a key of \(record.key.count) bytes")
            }
            let place = "body record \(number)"
            guard let contents = BodyStore.contents(record.value) else {
                return check.find(.unreadable, place, "its table of contents")
            }
            let seen = check.use.records.removeValue(forKey: number) ?? 0
            var use = BodyUse(live: contents.payload, total: contents.payload)
            if let value = try check.transaction.get(.bodyUse, NumberKey(number)) {
                use = try BodyUse(value, place)
            }
            if use.live != seen {
                check.find(.count, place, "says \(use.live) bytes are in use, there are \(seen)")
            }
            if use.total != contents.payload {
                check.find(.count, place, "says \(use.total) bytes in all")
            }
        }
        for number in use.records.keys.sorted() {
            find(.missing, "body record \(number)", "posts refer to it")
        }
        try each(.bodyUse) { check, record in
            guard let number = NumberKey(record.key)?.number,
                try check.transaction.get(.bodies, NumberKey(newestFirst: number)) != nil
            else { return check.find(.orphan, "body-use", "a record about bodies that do not exist") }
        }
    }

    // MARK: Tickets, tombstones, log

    private mutating func checkRest() throws {
        for feed in feedNames.keys {
            try each(.tickets(of: feed)) { _, record in
                _ = try TicketRecord(record.value, "a ticket")
            }
            try each(.attributes(of: feed)) { _, record in
                try ByteReader.read(record.value, "an attribute") { reader throws(QuireError) in
                    _ = try reader.blob()
                }
            }
            try each(.tombstones(of: feed)) { _, record in
                _ = try ByteReader.number(record.value, "a tombstone")
            }
        }
        let generation = try WriteSession.counters(transaction).generation
        let oldest = generation > ChangeLog.length ? generation - ChangeLog.length : 0
        let log = ChangeLog(transaction: transaction)
        if try log.changes(since: oldest, now: generation) == nil {
            find(.missing, "log", "it does not reach back to commit \(oldest + 1)")
        }
    }
}
