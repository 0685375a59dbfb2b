/// Reads the rows of one feed inside a transaction.
struct RowReader {
    let transaction: Transaction
    let feed: UInt32

    func record() throws -> FeedRecord { try transaction.feed(feed) }

    func gaps() throws -> [GapRow] {
        try KnownGaps(transaction, feed: feed).all.map { Self.row($0.record, at: $0.position) }
    }

    var chunks: ChunkReader { ChunkReader(transaction: transaction, feed: feed) }

    /// Returns up to `limit` rows below a position, or from the top if it is nil.
    func rows(after position: RowPosition?, limit: Int) throws -> [FeedRow] {
        var rows: [FeedRow] = []
        rows.reserveCapacity(min(limit, 1024))
        try forEachRow(after: position, limit: limit) {
            rows.append(.post($0))
        } gap: {
            rows.append(.gap($0))
        }
        return rows
    }

    /// Calls `post` or `gap` with each of these rows.
    @inline(__always)
    func forEachRow(
        after position: RowPosition?, limit: Int, post: (consuming PostRow) -> Void, gap: (GapRow) -> Void
    ) throws {
        var rest = limit
        var slot = position.map { $0.slot + 1 } ?? -1
        var gaps = NextGap(self)
        try chunks.eachColumns(from: position?.chunk ?? 0) { at, chunk in
            if slot < 0, rest > 0, let row = try gaps.gap(at: at) {
                gap(row)
                rest -= 1
            }
            let first = max(0, slot)
            // no sum with the limit, which may be the largest number
            let count = min(chunk.count - first, rest)
            if count > 0 {
                try each(of: chunk, upTo: first + count - 1) { i, id, entry in
                    if i >= first { post(PostRow(id, entry, i, at: at)) }
                }
                rest -= count
            }
            slot = -1
            return rest > 0
        }
    }

    /// Returns up to `limit` rows above a position, or from the bottom if it is nil, nearest first.
    func rows(before position: RowPosition?, limit: Int) throws -> [FeedRow] {
        var rows: [FeedRow] = []
        var slot = position.map(\.slot)
        try chunks.eachColumnsUpward(from: position?.chunk) { at, chunk in
            let end = max(0, min(slot ?? .max, chunk.count))
            let first = max(0, end - (limit - rows.count))
            var found: [FeedRow] = []
            if first < end {
                try each(of: chunk, upTo: end - 1) { i, id, entry in
                    if i >= first { found.append(.post(PostRow(id, entry, i, at: at))) }
                }
            }
            rows += found.reversed()
            if slot != -1, rows.count < limit, let gap = try gap(at: at) { rows.append(.gap(gap)) }
            slot = nil
            return rows.count < limit
        }
        return rows
    }

    /// Calls `body` with the entries of a chunk, up to that in the slot `last`.
    @inline(__always)
    private func each(
        of chunk: ChunkColumns, upTo last: Int = .max, _ body: (Int, PostID, Entry) -> Void
    ) throws(QuireError) {
        do throws(QuireError) {
            try chunk.forEachEntry(upTo: last) { i, entry throws(QuireError) in
                body(i, try chunk.id(i), entry)
            }
        } catch {
            throw .corrupt("a chunk of feed number \(feed)")
        }
    }

    func find(_ id: PostID, in collection: UInt32) throws -> PostRow? {
        guard let at = try PostIndex(transaction, of: collection).position(of: id, in: feed) else {
            return nil
        }
        var row: PostRow?
        try chunks.eachColumns(from: at) { position, chunk in
            guard position == at, let slot = try chunk.slot(of: id) else { return false }
            try each(of: chunk, upTo: slot) { if $0 == slot { row = PostRow(id, $2, slot, at: at) } }
            return false
        }
        guard let row else { throw QuireError.corrupt("the place of post \(id)") }
        return row
    }

    // MARK: Ranks

    /// Returns up to `limit` rows from the one with this rank on.
    func rows(from rank: Int, limit: Int) throws -> [FeedRow] {
        guard limit > 0, let position = try position(above: rank) else { return [] }
        return try rows(after: position, limit: limit)
    }

    /// Returns the position below which the row with this rank is the first; nil if the feed has no such row.
    func position(above rank: Int) throws -> RowPosition? {
        let ranks = try RankIndex(transaction, of: feed)
        guard let (position, first) = try place(ofRow: rank, ranks) else { return nil }
        let hasGap = try gap(at: position) != nil
        // the row above it: -1 is the gap, -2 what is above the chunk
        return RowPosition(chunk: position, slot: rank - first - (hasGap ? 2 : 1))
    }

    /// Returns the chunk of a row with this rank, or of the gap above it, and the rank of its first row; nil if
    /// there are fewer rows.
    private func place(ofRow rank: Int, _ ranks: RankIndex) throws -> (position: UInt64, first: Int)? {
        guard let found = ranks.position(ofRow: rank) else {
            if rank >= 0 && rank < ranks.total.rows { throw damaged }
            return nil
        }
        // damaged runs may have any numbers
        guard 0...rank ~= found.first else { throw damaged }
        return found
    }

    private var damaged: QuireError { .corrupt("the page index of feed number \(feed)") }

    /// Returns the rank of a row, which is the number of rows above it.
    func rank(of row: RowPosition) throws -> Int {
        let above = try RankIndex(transaction, of: feed).ranks(before: row.chunk).rows
        if row.slot < 0 { return above }
        return try above &+ row.slot &+ (gap(at: row.chunk) == nil ? 0 : 1)
    }

    /// Returns the rank of the first post of the server's sequence whose key is this one or lower; the number
    /// of rows if there is none. Keys descend, so chunks are bisected by their ranks.
    func rank(ofKey key: Int64) throws -> Int {
        let ranks = try RankIndex(transaction, of: feed)
        var best = ranks.total.rows
        var (low, high) = (0, best)
        while low < high {
            let middle = low + (high - low) / 2
            guard let (position, first) = try place(ofRow: middle, ranks) else { return best }
            guard let found = try firstKeyedChunk(from: position, first, below: high, key) else {
                high = first  // only detached entries
                continue
            }
            if let rank = found.rank {
                (best, high) = (rank, first)
            } else {
                if found.end <= middle { throw damaged }
                low = found.end
            }
        }
        return best
    }

    /// Returns of the first chunk with keys, from a position of a known rank on, the rank of its first post
    /// whose key is this one or lower, and the rank behind it.
    private func firstKeyedChunk(
        from position: UInt64, _ first: Int, below limit: Int, _ key: Int64
    ) throws -> (rank: Int?, end: Int)? {
        var start = first
        var found: (rank: Int?, end: Int)?
        try chunks.eachChunk(from: position) { at, chunk in
            if start >= limit { return false }
            if try gap(at: at) != nil { start &+= 1 }
            let end = start &+ chunk.entries.count
            var rank: Int?
            for (i, entry) in chunk.entries.enumerated() where !entry.isDetached && rank == nil {
                guard let other = entry.key else { continue }
                found = (nil, end)
                if other <= key { rank = start &+ i }
            }
            if found != nil { found = (rank, end) }
            start = end
            return found == nil
        }
        return found
    }

    // MARK: Pages

    /// Returns up to `limit` pages, starting at this index.
    func pages(from index: Int, limit: Int) throws -> [PageInfo] {
        var pages: [PageInfo] = []
        let ranks = try RankIndex(transaction, of: feed)
        guard limit > 0, let first = ranks.position(ofPage: index) else { return pages }
        var listed: Set<UInt64> = [0]
        try chunks.eachPage(from: first) { at, number in
            // a page of several chunks is listed where it begins
            if !listed.insert(number).inserted { return true }
            let record = try transaction.page(number, of: feed)
            if record.start == at { pages.append(page(record, index: index + pages.count)) }
            return pages.count < limit
        }
        return pages
    }

    private func page(_ record: PageRecord, index: Int) -> PageInfo {
        let page = record.page
        return PageInfo(
            number: page.number, index: index, own: page.own, next: page.next, previous: page.previous,
            received: page.received, new: page.new, duplicates: page.duplicates,
            duplicatesInPage: page.duplicatesInPage, posts: record.entries,
            fetchedAt: page.fetchedAt, start: record.start)
    }

    /// Returns the posts that a page still has, in order.
    func rows(of page: PageInfo) throws -> [PostRow] {
        try rows(ofPage: page.number, count: page.posts, from: page.start)
    }

    /// Returns the posts of a page by its number.
    func rows(ofPage number: UInt64) throws -> [PostRow] {
        guard let page = try head(ofPage: number) else { return [] }
        return try rows(ofPage: number, count: page.entries, from: page.start)
    }

    private func head(ofPage number: UInt64) throws -> PageHead? {
        let key = NumberKey(newestFirst: number)
        guard let value = try transaction.get(.pages(of: feed), key) else { return nil }
        return try PageHead(value, ofPage: number, feed)
    }

    private func rows(ofPage number: UInt64, count: Int, from start: UInt64) throws -> [PostRow] {
        var rows: [PostRow] = []
        rows.reserveCapacity(count)
        try forEachPost(ofPage: number, count: count, from: start) { rows.append($0) }
        return rows
    }

    /// Calls `body` with each post of a page.
    @inline(__always)
    func forEachPost(ofPage number: UInt64, _ body: (consuming PostRow) -> Void) throws {
        guard let page = try head(ofPage: number) else { return }
        try forEachPost(ofPage: number, count: page.entries, from: page.start, body)
    }

    /// Calls `body` with each post that a page still has, in order.
    @inline(__always)
    func forEachPost(of page: PageInfo, _ body: (consuming PostRow) -> Void) throws {
        try forEachPost(ofPage: page.number, count: page.posts, from: page.start, body)
    }

    @inline(__always)
    private func forEachPost(
        ofPage number: UInt64, count: Int, from start: UInt64, _ body: (consuming PostRow) -> Void
    ) throws {
        var rest = count
        try chunks.eachColumns(from: start) { at, chunk in
            if chunk.page == number {
                try each(of: chunk) { body(PostRow($1, $2, $0, at: at)) }
                rest -= chunk.count
            }
            return rest > 0
        }
    }

    private func gap(at position: UInt64) throws -> GapRow? {
        guard let value = try transaction.get(.gaps(of: feed), NumberKey(position)) else { return nil }
        return Self.row(try GapRecord(value, "a gap of feed number \(feed)"), at: position)
    }

    /// Answers for ascending positions which gap is directly above the chunk there. One look-up serves for all
    /// chunks up to the next gap.
    private struct NextGap {
        private let reader: RowReader
        /// The position of the gap that the last look-up found; nil if there was none yet.
        private var next: UInt64?

        init(_ reader: RowReader) { self.reader = reader }

        mutating func gap(at position: UInt64) throws -> GapRow? {
            if let next, position < next { return nil }
            var row: GapRow?
            try reader.transaction.withCursor(.gaps(of: reader.feed)) { cursor in
                guard let (key, value) = try cursor.seek(NumberKey(position)), let key = NumberKey(key) else {
                    next = .max
                    return
                }
                next = key.number
                if key.number != position { return }
                let record = try GapRecord(value, "a gap of feed number \(reader.feed)")
                row = RowReader.row(record, at: position)
            }
            return row
        }
    }

    static func row(_ record: GapRecord, at position: UInt64) -> GapRow {
        GapRow(
            id: record.gap.id, down: record.gap.down.link,
            isDownOverlapping: record.gap.down.isOverlapping,
            isUpOverlapping: record.gap.up.isOverlapping, why: record.gap.why,
            above: UInt32(clamping: record.above.entries), up: record.gap.up.link, since: record.gap.since,
            position: RowPosition(chunk: position, slot: -1))
    }
}

extension PostRow {
    @inline(__always)
    fileprivate init(_ id: PostID, _ entry: Entry, _ slot: Int, at position: UInt64) {
        self.init(
            id: id, key: entry.key, isDetached: entry.isDetached, isPinned: entry.isPinned,
            isPlaceholder: entry.isPlaceholder, isChecked: entry.isChecked, isOutdated: entry.newest != nil,
            doubt: entry.claim?.why, detail: entry.detail, page: entry.page == 0 ? nil : entry.page,
            version: entry.version, bodySize: Int(entry.body.length),
            position: RowPosition(chunk: position, slot: slot), body: entry.body)
    }
}
