// Records by their names.

extension Transaction {
    /// Throws `.notFound` if there is no such feed.
    func feed(_ feed: UInt32) throws(QuireError) -> FeedRecord {
        guard let value = try get(tables.feeds, NumberKey(UInt64(feed))) else {
            throw QuireError(.notFound, "\(path): there is no feed number \(feed)")
        }
        return try FeedRecord(value, "feed number \(feed)")
    }

    /// A page that an entry names.
    func page(_ number: UInt64, of feed: UInt32) throws(QuireError) -> PageRecord {
        let what = "page \(number) of feed number \(feed)"
        guard let value = try get(tables.pages, FeedKey(feed, number)) else { throw .corrupt(what) }
        return try PageRecord(value, what)
    }

    /// A piece that the index names.
    func piece(at position: UInt64, of feed: UInt32) throws(QuireError) -> PieceRecord {
        let what = "a piece of feed number \(feed)"
        guard let value = try get(tables.pieces, FeedKey(feed, position)) else {
            throw .corrupt(what)
        }
        return try PieceRecord(value, what)
    }
}
