// Dropping a feed, renaming it, and replacing an empty one.

extension WriteSession {
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
        try leaveCollection(record.options.collection)
        counters.feeds -= 1
        if counters.feeds == 0 { try forgetAliases(in: 0) }
    }

    /// Renames a feed. Its number, tickets and collection stay.
    func rename(_ feed: UInt32, to name: String) throws -> FeedRecord {
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
    fileprivate func deleteAll(of table: Table) throws {
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
