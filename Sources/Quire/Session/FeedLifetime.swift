// Dropping a feed, renaming it, and replacing an empty one.

func requireFeedName(_ name: String) throws(QuireError) {
    if name.isEmpty || name.utf8.count > 255 {
        throw QuireError(.badArgument, "the name of a feed has 1 to 255 bytes")
    }
}

extension FeedOptions {
    /// Throws `.optionsDiffer` if the feed, which has these options, is wanted with others.
    func require(_ wanted: FeedOptions?, of name: String, in path: String) throws(QuireError) {
        guard let wanted, wanted != self else { return }
        if wanted.collection != collection {
            throw QuireError(
                .optionsDiffer,
                "\(path): feed \(name) is of collection \"\(collection)\", not of \"\(wanted.collection)\"")
        }
        throw QuireError(
            .optionsDiffer, "\(path): feed \(name) was created with \(differences(from: wanted))")
    }

    /// Names the options that are not the wanted ones.
    private func differences(from wanted: FeedOptions) -> String {
        var found: [String] = []
        func compare<T: Equatable>(_ name: String, _ mine: T, _ other: T) {
            if mine != other { found.append("\(name) \(mine), not \(other)") }
        }
        compare("order", order.rawValue, wanted.order.rawValue)
        compare("paging", paging.rawValue, wanted.paging.rawValue)
        compare("page size", pageSize, wanted.pageSize)
        compare("sizes", sizes, wanted.sizes)
        compare("first page", firstPage, wanted.firstPage)
        compare("minimum run", minimumRun, wanted.minimumRun)
        compare("sticky posts", sticky.map(\.description).sorted(), wanted.sticky.map(\.description).sorted())
        compare("trusted ends", trustsEnd, wanted.trustsEnd)
        compare("strict joins", isStrict, wanted.isStrict)
        return found.joined(separator: "; ")
    }
}

extension Transaction {
    /// The number of the feed with this name.
    func number(ofFeed name: String) throws(QuireError) -> UInt32? {
        try requireFeedName(name)
        guard let value = try get(.names, Array(name.utf8)) else { return nil }
        return UInt32(truncatingIfNeeded: try ByteReader.number(value, "the number of feed \(name)"))
    }
}

extension WriteSession {
    /// The feed with this name, created if there is none.
    func openFeed(
        named name: String, _ options: FeedOptions?
    ) throws -> (number: UInt32, record: FeedRecord) {
        guard let number = try transaction.number(ofFeed: name) else {
            return try createFeed(named: name, options ?? FeedOptions())
        }
        let record = try transaction.feed(number)
        try record.options.require(options, of: name, in: transaction.path)
        return (number, record)
    }

    /// Removes everything of the feed. Its number is never reused, so a remaining ``Feed`` value finds
    /// nothing.
    func drop(_ feed: UInt32) throws {
        try reset(feed)  // posts, bodies, the index, the log
        try forgetLoaded(feed)
        tickets.removeAll(of: feed)
        forgetRanks(of: feed)
        let record = try transaction.feed(feed)
        for table in Table.parts(of: feed) { try transaction.deleteAll(of: table) }
        try transaction.delete(.names, Array(record.name.utf8))
        try transaction.delete(.members, MemberKey.of(feed, in: record.collection))
        try leaveCollection(record.options.collection)
        counters.feeds -= 1
        if counters.feeds == 0 { try forgetAliases(in: 0) }
    }

    /// Renames a feed. Its number, tickets and collection stay.
    func rename(_ feed: UInt32, to name: String) throws -> FeedRecord {
        try requireFeedName(name)
        try forgetLoaded(feed)
        var record = try transaction.feed(feed)
        if record.name == name { return record }
        if try transaction.get(.names, Array(name.utf8)) != nil {
            throw QuireError(.badArgument, "\(transaction.path): there is a feed \(name) already")
        }
        touch()
        try transaction.delete(.names, Array(record.name.utf8))
        try setName(name, of: feed)
        record.name = name
        try transaction.put(.record(of: feed), NoKey(), record)
        return record
    }

    /// Replaces an empty feed by a new one of the same name. Requests planned for the old one must not be
    /// answered under other options.
    func replace(_ feed: UInt32, with options: FeedOptions) throws -> (UInt32, FeedRecord) {
        let record = try transaction.feed(feed)
        let held = record.counts.entries + record.counts.detached
        if held > 0 {
            throw QuireError(
                .optionsDiffer,
                "\(transaction.path): feed \(record.name) holds \(held) posts; only an empty feed takes other options"
            )
        }
        try drop(feed)
        return try createFeed(named: record.name, options)
    }
}

extension Transaction {
    func deleteAll(of table: Table) throws {
        while true {
            let keys = try withCursor(table) { cursor in
                var keys: [[UInt8]] = []
                var found = try cursor.first()
                while let (key, _) = found, keys.count < 1024 {
                    keys.append(Array(key))
                    found = try cursor.next()
                }
                return keys
            }
            if keys.isEmpty { return }
            for key in keys { try delete(table, key) }
        }
    }
}
