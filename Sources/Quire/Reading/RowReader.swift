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
        var slot = position.map { $0.slot + 1 } ?? -1
        var gaps = NextGap(self)
        try chunks.eachColumns(from: position?.chunk ?? 0) { at, chunk in
            let rest = limit - rows.count
            if slot < 0, rest > 0, let gap = try gaps.gap(at: at) { rows.append(.gap(gap)) }
            let first = max(0, slot)
            let last = min(chunk.count - 1, first + limit - rows.count - 1)
            if first <= last {
                try each(of: chunk, upTo: last) { i, id, entry in
                    if i >= first { rows.append(.post(PostRow(id, entry, i, at: at))) }
                }
            }
            slot = -1
            return rows.count < limit
        }
        return rows
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

    // MARK: Pages

    /// Returns up to `limit` pages, starting at this index. Walks the chunks above the index and reads the
    /// first bytes of each.
    func pages(from index: Int, limit: Int) throws -> [PageInfo] {
        var pages: [PageInfo] = []
        var seen: Set<UInt64> = []
        try chunks.eachPage { at, number in
            guard number != 0, seen.insert(number).inserted else { return true }
            let rank = seen.count - 1
            if rank >= index && pages.count < limit {
                pages.append(try page(number, index: rank, start: at))
            }
            return pages.count < limit
        }
        return pages
    }

    private func page(_ number: UInt64, index: Int, start: UInt64) throws -> PageInfo {
        let record = try transaction.page(number, of: feed)
        let page = record.page
        return PageInfo(
            number: number, index: index, own: page.own, next: page.next, previous: page.previous,
            received: page.received, new: page.new, duplicates: page.duplicates,
            duplicatesInPage: page.duplicatesInPage, posts: record.entries,
            fetchedAt: page.fetchedAt, start: start)
    }

    /// Returns the posts that a page still has, in order.
    func rows(of page: PageInfo) throws -> [PostRow] {
        try rows(ofPage: page.number, count: page.posts, from: page.start)
    }

    /// Returns the posts of a page by its number.
    func rows(ofPage number: UInt64) throws -> [PostRow] {
        let key = NumberKey(newestFirst: number)
        guard let value = try transaction.get(.pages(of: feed), key) else { return [] }
        let record = try PageRecord(value, "page \(number) of feed number \(feed)")
        return try rows(ofPage: number, count: record.entries, from: record.start)
    }

    private func rows(ofPage number: UInt64, count: Int, from start: UInt64) throws -> [PostRow] {
        var rows: [PostRow] = []
        rows.reserveCapacity(count)
        try chunks.eachColumns(from: start) { at, chunk in
            if chunk.page == number {
                try each(of: chunk) { rows.append(PostRow($1, $2, $0, at: at)) }
            }
            return rows.count < count
        }
        return rows
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
            isDownOverlapping: record.gap.down.isOverlapping, up: record.gap.up.link,
            isUpOverlapping: record.gap.up.isOverlapping, why: record.gap.why, since: record.gap.since,
            postsAbove: record.above.entries,
            position: RowPosition(chunk: position, slot: -1))
    }
}

extension PostRow {
    @inline(__always)
    fileprivate init(_ id: PostID, _ entry: Entry, _ slot: Int, at position: UInt64) {
        self.init(
            id: id, key: entry.key, page: entry.page == 0 ? nil : entry.page,
            isDetached: entry.isDetached, isPinned: entry.isPinned, isPlaceholder: entry.isPlaceholder,
            doubt: entry.claim?.why, isChecked: entry.isChecked, detail: entry.detail,
            version: entry.version, isOutdated: entry.newest != nil, bodySize: Int(entry.body.length),
            position: RowPosition(chunk: position, slot: slot), body: entry.body)
    }
}
