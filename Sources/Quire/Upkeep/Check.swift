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
            var check = Check(transaction: transaction, limit: limit)
            try check.run()
            return check.findings
        }
    }
}

struct Check {
    let transaction: Transaction
    let limit: Int
    private(set) var findings: [Finding] = []
    /// Per body record: the posts that refer to it and their bytes.
    private var bodyUse: [UInt64: (posts: Int, live: Int)] = [:]
    private var feedNames: [UInt32: String] = [:]
    /// Entries of each feed, to be compared with the index.
    private var entries: [UInt32: Int] = [:]

    var tables: Tables { transaction.tables }

    init(transaction: Transaction, limit: Int) {
        (self.transaction, self.limit) = (transaction, limit)
    }

    mutating func run() throws {
        try checkSeals()
        try checkFeeds()
        try checkPosts()
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
                    find(.unreadable, table.name, error.message)
                }
                found = try cursor.next()
            }
        }
    }

    // MARK: Checksums

    private mutating func checkSeals() throws {
        for table in tables.all {
            try each(table) { check, record in
                if !ByteReader.isSealed(record.value) {
                    let key = record.key.prefix(24).map { String($0, radix: 16) }
                    check.find(.checksum, table.name, "key \(key.joined(separator: " "))")
                }
            }
        }
    }

    // MARK: Feeds

    private mutating func checkFeeds() throws {
        try each(tables.names) { check, record in
            let name = String(decoding: record.key, as: UTF8.self)
            var reader = try ByteReader(record.value, "feed \(name)")
            check.feedNames[UInt32(truncatingIfNeeded: try reader.number())] = name
        }
        try each(tables.feeds) { check, record in
            guard let key = NumberKey(record.key) else {
                return check.find(.unreadable, "feeds", "a key of \(record.key.count) bytes")
            }
            let number = UInt32(truncatingIfNeeded: key.number)
            let feed = try FeedRecord(record.value, "feed number \(number)")
            if check.feedNames[number] != feed.name {
                check.find(.orphan, "feed \(feed.name)", "no name leads to it")
            }
            var feedCheck = FeedCheck(transaction: check.transaction, feed: number, record: feed)
            do {
                try feedCheck.run()
            } catch let error as QuireError where error.code == .corrupt {
                feedCheck.find(.unreadable, error.message)
            }
            for finding in feedCheck.findings {
                check.find(finding.code, finding.place, finding.message)
            }
            check.entries[number] = feedCheck.counts.entries + feedCheck.counts.riders
        }
        for (number, name) in feedNames where entries[number] == nil {
            find(.missing, "feed \(name)", "has a name, but no record")
        }
    }

    // MARK: Posts and the index

    private mutating func checkPosts() throws {
        var places: [UInt32: Int] = [:]
        var posts: UInt64 = 0
        var bytes: UInt64 = 0
        var holders = 0
        var open: (name: String, record: PostRecord)?
        func close(_ check: inout Check) {
            if let open, open.record.holders != holders {
                check.find(
                    .count, open.name, "says \(open.record.holders) feeds, the index \(holders)")
            }
        }
        try each(tables.posts) { check, record in
            guard let (id, feed) = PostKey.parse(record.key) else {
                return check.find(.unreadable, "posts", "a key of \(record.key.count) bytes")
            }
            if feed != 0 {
                holders += 1
                places[feed, default: 0] += 1
                if open == nil { check.find(.orphan, "posts", "a place without its post") }
                return
            }
            close(&check)
            let post = try PostRecord(record.value, "a post")
            let name = "post \((id ?? post.longID)?.description ?? "?")"
            (open, holders) = ((name, post), 0)
            posts += 1
            bytes += UInt64(post.body.length)
            if post.body.record != 0 {
                let use = check.bodyUse[post.body.record] ?? (0, 0)
                check.bodyUse[post.body.record] = (
                    use.posts + 1, use.live + Int(post.body.length)
                )
            }
        }
        close(&self)
        for (feed, count) in places where entries[feed] != count {
            let name = feedNames[feed] ?? "number \(feed)"
            find(.index, "feed \(name)", "\(count) in the index, \(entries[feed] ?? 0) in its rows")
        }
        let counters = try WriteSession.counters(transaction)
        if counters.posts != posts {
            find(.count, "counters", "say \(counters.posts) posts, there are \(posts)")
        }
        if counters.bodyBytes != bytes {
            find(.count, "counters", "say \(counters.bodyBytes) body bytes, there are \(bytes)")
        }
    }

    // MARK: Bodies

    private mutating func checkBodies() throws {
        try each(tables.bodies) { check, record in
            guard let key = NumberKey(record.key) else {
                return check.find(.unreadable, "bodies", "a key of \(record.key.count) bytes")
            }
            let place = "body record \(key.number)"
            guard let contents = BodyStore.contents(record.value) else {
                return check.find(.unreadable, place, "its table of contents")
            }
            guard let value = try check.transaction.get(check.tables.bodyUse, key) else {
                return check.find(.missing, place, "nothing says what uses it")
            }
            let use = try BodyUse(value, place)
            let seen = check.bodyUse.removeValue(forKey: key.number) ?? (0, 0)
            if use.posts != seen.posts || use.live != seen.live {
                check.find(
                    .count, place,
                    "says \(use.posts) posts with \(use.live) bytes, there are \(seen.posts) with "
                        + "\(seen.live)")
            }
            if use.total != contents.reduce(0, { $0 + $1.reference.length }) {
                check.find(.count, place, "says \(use.total) bytes in all")
            }
        }
        for number in bodyUse.keys.sorted() {
            find(.missing, "body record \(number)", "posts refer to it")
        }
        if transaction.count(tables.bodies) != transaction.count(tables.bodyUse) {
            find(.orphan, "body-use", "a record about bodies that do not exist")
        }
    }

    // MARK: Tickets, tombstones, log

    private mutating func checkRest() throws {
        try each(tables.tickets) { check, record in
            _ = try TicketRecord(record.value, "a ticket")
            if FeedKey(record.key).map({ check.feedNames[$0.feedNumber] == nil }) ?? true {
                check.find(.orphan, "tickets", "a ticket of no feed")
            }
        }
        try each(tables.attributes) { _, record in
            var reader = try ByteReader(record.value, "an attribute")
            _ = try reader.blob()
            try reader.end()
        }
        try each(tables.tombstones) { _, record in
            var reader = try ByteReader(record.value, "a tombstone")
            _ = try reader.number()
            try reader.end()
        }
        let generation = try WriteSession.counters(transaction).generation
        let oldest = generation > ChangeLog.length ? generation - ChangeLog.length : 0
        let log = ChangeLog(transaction: transaction)
        if try log.changes(since: oldest, now: generation) == nil {
            find(.missing, "log", "it does not reach back to commit \(oldest + 1)")
        }
    }
}
