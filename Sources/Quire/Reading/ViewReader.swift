/// Reads the rows of one view inside a transaction.
struct ViewReader {
    let rows: RowReader
    let view: UInt8
    let record: ViewRecord

    private var transaction: Transaction { rows.transaction }
    private var feed: UInt32 { rows.feed }

    /// Returns nil if the feed has no such view.
    init?(_ rows: RowReader, _ view: UInt8, named name: String) throws {
        guard let value = try rows.transaction.get(.views(of: rows.feed), [view]) else { return nil }
        record = try ViewRecord(value, "view \(name) of feed number \(rows.feed)")
        if record.name != name { return nil }
        (self.rows, self.view) = (rows, view)
    }

    var damaged: QuireError { .corrupt("view \(record.name) of feed number \(feed)") }

    /// Returns up to `limit` rows below a row of the view or a gap, or from the top if it is nil.
    func rows(after position: RowPosition?, limit: Int) throws -> [FeedRow] {
        if limit <= 0 { return [] }
        switch record.order {
        case .feed: return try rowsOfFeed(after: position, limit)
        case .keys:
            guard let position else { return try rowsByKeys(from: [], limit) }
            let matches = try transaction.matches(of: feed, view: view, at: position.chunk).all
            guard let match = matches.first(where: { $0.slot == position.slot }) else {
                throw QuireError(.badArgument, "a position that is no row of view \(record.name)")
            }
            guard let place = match.place else { throw damaged }
            // the first key behind it: none is the beginning of another
            return try rowsByKeys(from: ViewPlace.key(section: match.section, place) + [0], limit)
        }
    }

    /// Returns up to `limit` rows, the post with this many posts of the view above it first.
    func rows(from rank: Int, limit: Int) throws -> [FeedRow] {
        if limit <= 0 || rank >= Int(clamping: record.posts) { return [] }
        let rank = max(0, rank)
        switch record.order {
        case .feed:
            let ranks = try RankIndex(transaction, .viewRanks(of: feed, view: view))
            guard let (position, first) = ranks.position(ofRow: rank) else { throw damaged }
            let matches = try transaction.matches(of: feed, view: view, at: position).all
            guard matches.indices.contains(rank - first) else { throw damaged }
            return try rowsOfFeed(
                after: RowPosition(chunk: position, slot: matches[rank - first].slot - 1), limit)
        case .keys:
            var above = 0
            for section in try sections() {
                if rank < above + section.count {
                    let start = ViewPlace.start(section.name)
                    return try rowsByKeys(from: start, skipping: rank - above, limit)
                }
                above += section.count
            }
            throw damaged
        }
    }

    /// The sections with the number of their posts, by their bytes.
    func sections() throws -> [(name: [UInt8], count: Int)] {
        try transaction.withCursor(.sections(of: feed, view: view)) { cursor in
            var sections: [(name: [UInt8], count: Int)] = []
            var found = try cursor.first()
            while let (key, value) = found {
                sections.append((Array(key), Int(clamping: try ByteReader.number(value, record.name))))
                found = try cursor.next()
            }
            return sections
        }
    }

    /// Returns how many posts of the view are above a post, and its section; nil if the view does not show it.
    func place(of position: RowPosition) throws -> (rank: Int, section: [UInt8])? {
        let matches = try transaction.matches(of: feed, view: view, at: position.chunk)
        let index = matches.index(from: position.slot)
        guard index < matches.all.count, matches.all[index].slot == position.slot else { return nil }
        let match = matches.all[index]
        if record.order == .feed {
            let ranks = try RankIndex(transaction, .viewRanks(of: feed, view: view))
            return (ranks.ranks(before: position.chunk).rows &+ index, match.section)
        }
        guard let place = match.place else { throw damaged }
        let above = try sections().prefix { $0.name.lexicographicallyPrecedes(match.section) }
        let end = ViewPlace.key(section: match.section, place)
        let rank = try transaction.withCursor(.places(of: feed, view: view)) { cursor in
            var count = 0
            var found = try cursor.seek(ViewPlace.start(match.section))
            while let (key, _) = found, !key.elementsEqual(end) {
                count += 1
                found = try cursor.next()
            }
            return count
        }
        return (above.reduce(0) { $0 + $1.count } + rank, match.section)
    }

    // MARK: In the order of the feed

    /// The gaps of the feed are rows between those of the view: one for all between two posts, the topmost.
    private func rowsOfFeed(after position: RowPosition?, _ limit: Int) throws -> [FeedRow] {
        var found: [FeedRow] = []
        found.reserveCapacity(min(limit, 1024))
        // below this position no gap was shown yet; nil if the row above is one
        var above = position.map { $0.slot < 0 ? nil : $0.chunk } ?? 0
        var slot = (position?.slot ?? -1) + 1
        try transaction.withCursor(.matches(of: feed, view: view)) { cursor in
            var next = try cursor.seek(NumberKey(position?.chunk ?? 0))
            while let (key, value) = next, found.count < limit, let at = NumberKey(key)?.number {
                let matches = try ViewMatches(value, record.name)
                let first = at == position?.chunk ? matches.index(from: slot) : 0
                slot = 0
                next = try cursor.next()
                if first == matches.all.count { continue }
                if let known = above, let gap = try gap(below: known, to: at) { found.append(.gap(gap)) }
                above = at
                try append(matches.all[first...], at: at, limit, &found)
            }
        }
        if found.count < limit, let known = above, let gap = try gap(below: known, to: .max) {
            found.append(.gap(gap))
        }
        return found
    }

    private func append(
        _ matches: ArraySlice<ViewMatch>, at position: UInt64, _ limit: Int, _ found: inout [FeedRow]
    ) throws(QuireError) {
        let chunk = try transaction.columns(at: position, of: feed)
        for match in matches.prefix(limit - found.count) {
            if match.slot >= chunk.count { throw damaged }
            try rows.eachRow(of: chunk, at: position, in: match.slot..<match.slot + 1) {
                found.append(.post($0))
            }
        }
    }

    /// Returns the topmost gap below the chunk at one position, and above the one at the other or anything above it.
    private func gap(below first: UInt64, to last: UInt64) throws -> GapRow? {
        try transaction.withCursor(.gaps(of: feed)) { cursor in
            guard first < .max, let (key, value) = try cursor.seek(NumberKey(first + 1)),
                let at = NumberKey(key)?.number, at <= last
            else { return nil }
            return RowReader.row(try GapRecord(value, "a gap of feed number \(feed)"), at: at)
        }
    }

    // MARK: By keys

    private func rowsByKeys(from key: [UInt8], skipping count: Int = 0, _ limit: Int) throws -> [FeedRow] {
        var places: [ViewPlace] = []
        try transaction.withCursor(.places(of: feed, view: view)) { cursor in
            var next = try cursor.seek(key)
            for _ in 0..<count where next != nil { next = try cursor.next() }
            while let (_, value) = next, places.count < limit {
                places.append(try ViewPlace(value, record.name))
                next = try cursor.next()
            }
        }
        return try places.map { .post(try rows.row(of: $0.id, at: $0.chunk)) }
    }
}
