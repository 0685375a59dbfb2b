// Checks what is kept of each collection: its number, its feeds, its totals.

extension Check {
    /// Checks that each collection has a number of its own and the stored number of feeds.
    mutating func checkCollections() throws {
        var numbers: Set<UInt32> = []
        let counts = Dictionary(collections.values.map { ($0, 1 as UInt32) }, uniquingKeysWith: +)
        try each(.collections) { check, record in
            let name = String(decoding: record.key, as: UTF8.self)
            let collection = try CollectionRecord(record.value, "collection \(name)")
            let feeds = counts[collection.number] ?? 0
            if !numbers.insert(collection.number).inserted {
                check.find(.orphan, "collection \(name)", "another has its number \(collection.number)")
            }
            if collection.number > check.counters.collections {
                check.find(
                    .ahead, "collection \(name)",
                    "number \(collection.number) of \(check.counters.collections)")
            }
            if collection.feeds != feeds || feeds == 0 {
                check.find(.count, "collection \(name)", "says \(collection.feeds) feeds, there are \(feeds)")
            }
        }
    }

    /// Checks that the totals of each collection, and of all that have a name, are what recounting gives.
    mutating func checkTotals() throws {
        var named = CollectionTotals()
        var left = totals.filter { $0.key != 0 && $0.value != PostTally() }
        try each(.totals) { check, record in
            guard let key = NumberKey(record.key) else { return }
            let sums = try CollectionTotals(record.value, "the totals of collection number \(key.number)")
            named = named &+ sums
            let actual = left.removeValue(forKey: UInt32(truncatingIfNeeded: key.number)) ?? PostTally()
            if sums.posts != actual.count || sums.bodyBytes != actual.bytes {
                check.find(
                    .count, "collection number \(key.number)",
                    "says \(sums.posts) posts, \(sums.bodyBytes) bytes; there are \(actual.count), \(actual.bytes)"
                )
            }
        }
        if context.isStopped { return }
        for collection in left.keys { find(.missing, "collection number \(collection)", "has no totals") }
        if named != counters.named {
            find(
                .count, "counters",
                "say \(counters.named.posts) posts of \(counters.named.bodyBytes) bytes in named collections, "
                    + "there are \(named.posts) of \(named.bodyBytes)")
        }
    }

    /// Checks that each feed is among those of its collection, and that no others are.
    mutating func checkMembers() throws {
        var left = collections
        try each(.members) { check, record in
            guard let key = NumberKey(record.key) else { return }
            let (collection, feed) = MemberKey.parts(key)
            if left.removeValue(forKey: feed) != collection {
                check.find(.orphan, "collection number \(collection)", "names feed number \(feed)")
            }
        }
        if context.isStopped { return }
        for (feed, collection) in left {
            find(.missing, "feed number \(feed)", "is not among those of collection number \(collection)")
        }
    }
}
