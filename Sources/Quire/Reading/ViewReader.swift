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
            var section: (name: [UInt8], rank: Int)?
            try eachSection { name, posts, first in
                if rank < first &+ posts { section = (Array(name), first) }
                return section == nil
            }
            guard let section else { throw damaged }
            return try rowsByKeys(from: ViewPlace.start(section.name), skipping: rank - section.rank, limit)
        }
    }

    /// The sections by their bytes, behind one that was read before, without the first `skipped` of them.
    func sections(after section: StoredViewSection?, skipping skipped: Int, limit: Int) throws
        -> [StoredViewSection]
    {
        if limit <= 0 || skipped < 0 { return [] }
        var found: [StoredViewSection] = []
        var left = skipped
        // the first key behind it, also if it is the beginning of another
        let start = section.map { $0.name + [0] } ?? []
        try eachSection(from: start, rank: section.map { $0.rank &+ $0.posts } ?? 0) { name, posts, rank in
            if left > 0 {
                left -= 1
                return true
            }
            found.append(StoredViewSection(name: Array(name), posts: posts, rank: rank))
            return found.count < limit
        }
        return found
    }

    /// Calls `body` with the name of each section, the number of its posts and of those before it, until it
    /// returns false.
    private func eachSection(
        from start: [UInt8] = [], rank: Int = 0, _ body: (UnsafeRawBufferPointer, Int, Int) throws -> Bool
    ) throws {
        try transaction.withCursor(.sections(of: feed, view: view)) { cursor in
            var rank = rank
            var found = try cursor.seek(start)
            while let (name, value) = found {
                let posts = Int(clamping: try ByteReader.number(value, record.name))
                if !(try body(name, posts, rank)) { return }
                rank &+= posts
                found = try cursor.next()
            }
        }
    }

    /// The number of posts in a section; 0 if there is none of this name.
    func posts(inSection name: [UInt8]) throws -> Int {
        Int(clamping: try transaction.count(of: name, of: feed, view: view))
    }

    /// Returns how many posts of the view are above a post, and its section; nil if the view does not show
    /// it.
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
        var above = 0
        try eachSection { name, posts, rank in
            if !name.lexicographicallyPrecedes(match.section) { return false }
            above = rank &+ posts
            return true
        }
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
        return (above &+ rank, match.section)
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

    /// Returns the topmost gap below the chunk at one position, and above the one at the other or anything
    /// above it.
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
