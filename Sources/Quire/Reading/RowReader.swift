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
        try chunks.eachChunk(from: position?.chunk ?? 0) { at, chunk in
            let rest = limit - rows.count
            if slot < 0, rest > 0, let gap = try gap(at: at) { rows.append(.gap(gap)) }
            for i in max(0, slot)..<max(slot, chunk.entries.count, 0) where rows.count < limit {
                rows.append(.post(PostRow(chunk, i, at: at)))
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
        try chunks.eachChunkUpward(from: position?.chunk) { at, chunk in
            for i in (0..<max(0, min(slot ?? .max, chunk.entries.count))).reversed()
            where rows.count < limit {
                rows.append(.post(PostRow(chunk, i, at: at)))
            }
            if slot != -1, rows.count < limit, let gap = try gap(at: at) { rows.append(.gap(gap)) }
            slot = nil
            return rows.count < limit
        }
        return rows
    }

    func find(_ id: PostID, in collection: UInt32) throws -> PostRow? {
        guard let at = try PostIndex(transaction, of: collection).position(of: id, in: feed) else {
            return nil
        }
        let chunk = try transaction.chunk(at: at, of: feed)
        guard let slot = chunk.ids.firstIndex(of: id) else {
            throw QuireError.corrupt("the place of post \(id)")
        }
        return PostRow(chunk, slot, at: at)
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
        try chunks.eachChunk(from: start) { at, chunk in
            if chunk.page == number {
                for i in chunk.entries.indices { rows.append(PostRow(chunk, i, at: at)) }
            }
            return rows.count < count
        }
        return rows
    }

    private func gap(at position: UInt64) throws -> GapRow? {
        guard let value = try transaction.get(.gaps(of: feed), NumberKey(position)) else { return nil }
        return Self.row(try GapRecord(value, "a gap of feed number \(feed)"), at: position)
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
    fileprivate init(_ chunk: ChunkRecord, _ slot: Int, at position: UInt64) {
        let entry = chunk.entries[slot]
        self.init(
            id: chunk.ids[slot], key: entry.key, page: entry.page == 0 ? nil : entry.page,
            isDetached: entry.isDetached, isPinned: entry.isPinned, isPlaceholder: entry.isPlaceholder,
            doubt: entry.claim?.why, isChecked: entry.isChecked, detail: entry.detail,
            version: entry.version, isOutdated: entry.newest != nil, bodySize: Int(entry.body.length),
            position: RowPosition(chunk: position, slot: slot), body: entry.body)
    }
}
