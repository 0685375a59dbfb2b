/// How much a check covers.
public enum CheckLevel: Sendable, Hashable {
    /// The format, the counters, and the gaps and edges of each feed: a few look-ups for each feed and each
    /// gap. Reads no records of posts, pages or bodies.
    case quick
    /// Every record, and every invariant of Docs/invariants.md that holds while a cache is open.
    case full
}

extension Cache {
    /// Checks every record and every invariant, as ``check(_:limit:progress:)`` does. Returns at most `limit`
    /// findings; none means that the cache is sound.
    public func check(limit: Int = 100) throws -> [Finding] {
        try check(.full, limit: limit) { _ in true }.findings
    }

    /// Checks the cache in one snapshot, while others may read and write. Changes nothing.
    ///
    /// Needs at most 16 MiB beside the map, and about 50 bytes for each feed and each gap. The snapshot stays
    /// open to the end, so space that others free meanwhile is reused only afterwards.
    /// - Parameters:
    ///   - level: Which records are read.
    ///   - limit: Stops after this many findings, at least 1.
    ///   - progress: Called from time to time on the calling thread; return false to stop. It must not write
    ///     to the cache.
    /// - Throws: ``QuireError`` if the cache cannot be read at all. Damage is reported as a finding.
    public func check(
        _ level: CheckLevel, limit: Int = 100, progress: (CheckProgress) -> Bool
    ) throws -> CheckReport {
        try check(level, limit: limit, atOnce: Check.atOnce, progress: progress)
    }

    func check(
        _ level: CheckLevel, limit: Int = 100, atOnce: Int, progress: (CheckProgress) -> Bool
    ) throws -> CheckReport {
        try withoutActuallyEscaping(progress) { progress in
            let context = CheckContext(limit: limit, report: progress)
            try environment.read { transaction in
                var check = Check(transaction, context, environment.views, atOnce: atOnce)
                switch level {
                case .quick: try check.runQuickly()
                case .full: try check.run()
                }
            }
            return context.result
        }
    }
}

/// Checks the invariants between the records of a cache, in one transaction.
struct Check {
    let transaction: Transaction
    let context: CheckContext
    private let functions: ViewFunctions
    private(set) var counters = Counters()
    private(set) var index: PostIndex
    private var posts = PostTally()
    /// For each feed, the number of its entries, to compare with the index, and its collection.
    private var entries: [UInt32: Int] = [:]
    private(set) var collections: [UInt32: UInt32] = [:]
    /// The distinct posts of each collection.
    private(set) var totals: [UInt32: PostTally] = [:]
    /// How many body records and pages are counted at a time: 16 and 24 bytes each.
    private let atOnce: Int
    static let atOnce = 1 << 18

    init(
        _ transaction: Transaction, _ context: CheckContext, _ functions: ViewFunctions = ViewFunctions(),
        atOnce: Int = Self.atOnce
    ) {
        (self.transaction, self.context, self.atOnce) = (transaction, context, atOnce)
        self.functions = functions
        index = PostIndex([], transaction.file.seed)
    }

    /// Runs the check. `isEachTested` skips the test of single records, which `verify` has already done.
    mutating func run(isEachTested: Bool = false) throws {
        context.expect((isEachTested ? 0 : transaction.recordCount()) + expectedEntries())
        if !isEachTested { try checkRecords() }
        guard try readCounters() else { return }
        try openIndex()
        var isRepeated = false
        var bodies = try BodyUsage(transaction, below: nil, atMost: atOnce)
        while !context.isStopped {
            // the first pass checks everything, later ones only count the next body records
            context.isMuted = isRepeated
            try checkFeeds(bodies)
            context.isMuted = false
            try checkBodies(bodies)
            isRepeated = true
            guard let last = bodies.last else { break }
            bodies = try BodyUsage(transaction, below: last, atMost: atOnce)
        }
        try checkIndex()
        try checkCollections()
        try checkTotals()
        try checkMembers()
        try checkFields()
        try checkAliases()
        try checkUse()
        try checkLog()
        checkCounters()
    }

    /// Returns the number of entries to expect, in rows and in the index, if the counters are right.
    private func expectedEntries() -> UInt64 {
        guard let value = try? transaction.get(.counters, NoKey()),
            let counters = try? Counters(value, "the counters")
        else { return 0 }
        let tallies = counters.bodyRecords / UInt64(atOnce) + 1
        return min(counters.entries, 1 << 40) * (min(tallies, 1 << 8) + 1)
    }

    mutating func runQuickly() throws {
        try checkFormat()
        guard try readCounters() else { return }
        context.expect(UInt64(counters.feeds))
        var all: UInt64 = 0
        try eachFeed { check, number, record in
            check.context.step()
            var feed = FeedCheck(check.transaction, record, number, check.counters, check.context)
            try feed.runQuickly()
            all &+= UInt64(clamping: record.counts.entries) &+ UInt64(clamping: record.counts.detached)
        }
        if all != counters.entries {
            find(.count, "counters", "say \(counters.entries) entries, the feeds have \(all)")
        }
    }

    func find(_ code: Finding.Code, _ location: String, _ message: String) {
        context.find(code, location, message)
    }

    /// Calls `body` for each record of a table until the check is stopped. Records that do not decode are
    /// skipped: the test of single records reports them.
    mutating func each(_ table: Table, _ body: (inout Check, Cursor.Record) throws -> Void) throws {
        try transaction.withCursor(table) { cursor in
            var found = try cursor.first()
            while let record = found, !context.isStopped {
                do {
                    try body(&self, record)
                } catch let error as QuireError where error.code == .corrupt {
                    find(.unreadable, table.name.description, error.message)
                }
                found = try cursor.next()
            }
        }
    }

    // MARK: Records by themselves

    private mutating func checkRecords() throws {
        var records = RecordCheck(context)
        try transaction.forEachRecord { key, value in
            if context.isStopped { return }
            records.test(key, value)
            context.step()
        }
        try checkFormat()
    }

    private func checkFormat() throws {
        guard let value = try transaction.get(.format, NoKey()) else {
            return find(.header, "format", "there is none")
        }
        let file = transaction.file
        if !CacheFile.encodedFormat(seed: file.seed, isReplica: file.isReplica).elementsEqual(value) {
            find(.header, "format", "has changed since the cache was opened")
        }
    }

    /// Reads the counters. Returns false if there are none.
    private mutating func readCounters() throws -> Bool {
        guard let value = try transaction.get(.counters, NoKey()) else {
            find(.missing, "counters", "there are none")
            return false
        }
        do throws(QuireError) {
            counters = try Counters(value, "the counters")
        } catch {
            find(.unreadable, "counters", error.message)
            return false
        }
        for (count, name) in [
            (counters.clock, "clock"), (counters.generation, "generation"),
            (counters.bodyRecords, "body records"),
        ] where count >= Numbers.limit { find(.ahead, "counters", "\(name): \(count)") }
        return true
    }

    // MARK: Feeds

    /// Calls `body` with each feed that has both a name and a record of that name.
    private mutating func eachFeed(_ body: (inout Check, UInt32, FeedRecord) throws -> Void) throws {
        var count: UInt64 = 0
        try each(.names) { check, name in
            count += 1
            let text = String(decoding: name.key, as: UTF8.self)
            let number = UInt32(truncatingIfNeeded: try ByteReader.number(name.value, "feed \(text)"))
            guard let value = try check.transaction.get(.record(of: number), NoKey()) else {
                return check.find(.missing, "feed \(text)", "has a name, but no record")
            }
            let record = try FeedRecord(value, "feed \(text)")
            if !record.name.utf8.elementsEqual(name.key) {
                check.find(.orphan, "feed \(record.name)", "no name leads to it")
            }
            if number > check.counters.feedNumbers {
                check.find(.ahead, "feed \(text)", "number \(number) of \(check.counters.feedNumbers)")
            }
            if record.used > check.counters.generation {
                check.find(
                    .ahead, "feed \(text)",
                    "was used in commit \(record.used) of \(check.counters.generation)")
            }
            let collection = try? check.transaction.collection(record.options.collection)
            if collection != record.collection {
                check.find(
                    .missing, "feed \(text)",
                    "its collection \"\(record.options.collection)\" is not number \(record.collection)")
            }
            try body(&check, number, record)
        }
        if count != UInt64(counters.feeds), !context.isStopped {
            find(.count, "counters", "say \(counters.feeds) feeds, there are \(count)")
        }
    }

    private mutating func checkFeeds(_ bodies: BodyUsage) throws {
        let widespread = WidespreadPosts(limit: atOnce / 4 * 3)
        try eachFeed { check, number, record in
            var feed = FeedCheck(
                check.transaction, record, number, check.counters, check.context, widespread)
            try feed.run(check.index.of(record.collection), bodies, pagesAtOnce: check.atOnce)
            if check.context.isMuted { return }
            let views = ViewCheck(
                transaction: check.transaction, feed: number, owner: record, context: check.context,
                functions: check.functions)
            try views.run()
            check.collections[number] = record.collection
            check.entries[number] = feed.counts.entries + feed.counts.detached
            check.posts.add(feed.posts)
            check.totals[record.collection, default: PostTally()].add(feed.posts)
        }
    }

    // MARK: The index

    /// A check of more runs would take minutes. The engine has a few dozen.
    private static let mostRuns = 1024

    private mutating func openIndex() throws {
        do {
            let opened = try PostIndex(transaction, of: 0)
            if opened.runs.count <= Self.mostRuns {
                index = opened
                return
            }
            find(.index, "locations", "the index has \(opened.runs.count) runs")
        } catch let error as QuireError where error.code == .corrupt {
            find(.unreadable, "locations", error.message)
        }
    }

    /// Checks that the index has no location without an entry, that it marks the posts that several feeds
    /// hold, and no post that no feed holds. ``FeedCheck`` checks that each entry has a location.
    private mutating func checkIndex() throws {
        var places: [UInt32: Int] = [:]
        var last: Location?
        var lastIsShared = false
        index.forEachPlace { location in
            context.step()
            if location.position == Location.gone { return !context.isStopped }
            if entries[location.feed] == nil {
                find(.index, "locations", "has a location in unknown feed number \(location.feed)")
            } else if let other = location.address.collection, other != collections[location.feed] {
                find(.index, "feed number \(location.feed)", "has a post of collection number \(other)")
            } else {
                places[location.feed, default: 0] += 1
            }
            let isSame = last?.address == location.address
            if isSame && !lastIsShared && !index.isMarked(location.address) {
                find(.index, "feed number \(location.feed)", "has a post of another feed without a mark")
            }
            (last, lastIsShared) = (location, isSame)
            return !context.isStopped
        }
        if context.isStopped { return }
        for (feed, count) in entries where places[feed, default: 0] != count {
            let found = places[feed, default: 0]
            find(.index, "feed number \(feed)", "\(found) in the index, \(count) in its rows")
        }
        index.forEachMarked { address in
            context.step()
            if !index.isHeld(address) { find(.index, "locations", "marks a post that no feed holds") }
            return !context.isStopped
        }
    }

    private mutating func checkFields() throws {
        var count: UInt64 = 0
        try each(.fields) { check, record in
            count += 1
            let fields = try FieldsRecord(record.value, "the fields of a post")
            let index = check.index.of(PostKey.collection(record.key) ?? 0)
            if index.positions(of: fields.id).isEmpty {
                check.find(.orphan, "post \(fields.id)", "has fields, but no feed holds it")
            }
        }
        if count != counters.fieldRecords, !context.isStopped {
            find(.count, "counters", "say \(counters.fieldRecords) posts with fields, there are \(count)")
        }
    }

    // MARK: Bodies

    /// Checks the body records whose bytes in use were counted.
    private mutating func checkBodies(_ bodies: BodyUsage) throws {
        try bodies.forEach { number, seen, value in
            let place = "body record \(number)"
            if number > counters.bodyRecords {
                find(.ahead, place, "the highest number is \(counters.bodyRecords)")
            }
            guard let payload = BodyStore.contents(value)?.payload else { return }
            var use = BodyUse(live: payload, total: payload)
            if let value = try transaction.get(.bodyUse, NumberKey(number)) {
                do throws(QuireError) {
                    use = try BodyUse(value, place)
                } catch {
                    return find(.unreadable, place, error.message)
                }
                if use.live == use.total { find(.count, place, "has a use record, but is all in use") }
            }
            if seen == 0 { return find(.orphan, place, "no post refers to it") }
            if use.live != seen {
                find(.count, place, "says \(use.live) bytes are in use, there are \(seen)")
            }
            if use.total != payload { find(.count, place, "says \(use.total) bytes in all") }
        }
    }

    private mutating func checkUse() throws {
        try each(.bodyUse) { check, record in
            guard let number = NumberKey(record.key)?.number,
                try check.transaction.get(.bodies, NumberKey(newestFirst: number)) != nil
            else {
                return check.find(.orphan, "body-use", "a record about bodies that do not exist")
            }
        }
    }

    // MARK: The log and the counters

    /// Checks that the log has exactly the commits from the oldest one it must hold to the last.
    private mutating func checkLog() throws {
        if counters.generation >= Numbers.limit { return }
        var expected = ChangeLog.oldest(at: counters.generation)
        try each(.log) { check, record in
            guard let number = NumberKey(record.key)?.number else { return }
            if number > check.counters.generation {
                return check.find(.ahead, "log", "commit \(number) of \(check.counters.generation)")
            }
            if number < expected { return check.find(.orphan, "log", "commit \(number) is too old") }
            if number > expected { check.find(.missing, "log", "commits \(expected)..<\(number)") }
            expected = number + 1
            for (feed, _) in try ChangeLog.entries(record.value, "the log of commit \(number)")
            where feed == 0 || feed > check.counters.feedNumbers {
                check.find(.orphan, "log", "commit \(number) changed feed number \(feed)")
            }
        }
        if expected <= counters.generation, !context.isStopped {
            find(.missing, "log", "it ends before commit \(expected)")
        }
    }

    private func checkCounters() {
        if context.isStopped { return }
        let all = entries.values.reduce(0) { $0 + UInt64($1) }
        for (name, stored, actual) in [
            ("entries", counters.entries, all), ("posts", counters.posts, posts.count),
            ("body bytes", counters.bodyBytes, posts.bytes),
        ] where stored != actual {
            find(.count, "counters", "say \(stored) \(name), there are \(actual)")
        }
    }
}

/// Limits of the engine's counts. No real cache has come near them, and sums beyond them could overflow.
enum Numbers {
    /// For clocks and for everything that is numbered.
    static let limit: UInt64 = 1 << 62
    /// For rows and pages and for the numbers that request them, positive or negative.
    static let mostRows = 1 << 40
}
