extension Transaction {
    /// The views of a feed, by their numbers.
    func views(of feed: UInt32) throws -> [(number: UInt8, record: ViewRecord)] {
        try withCursor(.views(of: feed)) { cursor in
            var views: [(number: UInt8, record: ViewRecord)] = []
            var found = try cursor.first()
            while let (key, value) = found {
                if key.count != 1 { throw QuireError.corrupt("a view of feed number \(feed)") }
                views.append((key[0], try ViewRecord(value, "a view of feed number \(feed)")))
                found = try cursor.next()
            }
            return views
        }
    }

    /// The matches of a view in a chunk; none if there is no record.
    func matches(of feed: UInt32, view: UInt8, at position: UInt64) throws(QuireError) -> ViewMatches {
        guard let value = try get(.matches(of: feed, view: view), NumberKey(position)) else {
            return ViewMatches([])
        }
        return try ViewMatches(value, "a view of feed number \(feed)")
    }

    /// The number of posts in a section of a view.
    func count(of section: [UInt8], of feed: UInt32, view: UInt8) throws(QuireError) -> UInt64 {
        guard let value = try get(.sections(of: feed, view: view), section) else { return 0 }
        return try ByteReader.number(value, "a view of feed number \(feed)")
    }
}
