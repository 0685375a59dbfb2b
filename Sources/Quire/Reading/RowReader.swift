/// Reads the rows of one feed inside a transaction.
struct RowReader {
    let transaction: Transaction
    let feed: UInt32
    /// Of the snapshot that reads; nil in a write, whose records change.
    var memory: SnapshotMemory?

    func record() throws -> FeedRecord { try transaction.feed(feed) }

    /// Returns up to `limit` gaps below a position, or from the top if it is nil.
    func gaps(after position: RowPosition?, limit: Int) throws -> [GapRow] {
        var gaps: [GapRow] = []
        guard limit > 0, position?.chunk != .max else { return gaps }
        // a gap is above the entries of its chunk
        let first = position.map { $0.chunk + 1 } ?? 0
        try KnownGaps(transaction, feed: feed, isEmpty: true).forEach(from: first) { gap in
            gaps.append(Self.row(gap.record, at: gap.position))
            return gaps.count < limit
        }
        return gaps
    }

    var chunks: ChunkReader { ChunkReader(transaction: transaction, feed: feed) }

    /// Returns up to `limit` rows below a position, or from the top if it is nil.
    func rows(after position: RowPosition?, limit: Int) throws(QuireError) -> [FeedRow] {
        var rows: [FeedRow] = []
        rows.reserveCapacity(min(limit, 1024))
        var cursor = RowCursor(self, after: position, limit: limit, lends: false)
        while true {
            while let post = try cursor.next() { rows.append(.post(post.row)) }
            guard let gap = try cursor.nextGap() else { return rows }
            rows.append(.gap(gap))
        }
    }

    /// Returns up to `limit` rows above a position, or from the bottom if it is nil, nearest first.
    func rows(before position: RowPosition?, limit: Int) throws -> [FeedRow] {
        guard let (start, count) = try start(ofRowsBefore: position, limit: limit) else { return [] }
        var rows = try rows(after: start, limit: count)
        rows.reverse()
        return rows
    }

    /// Returns below which position the nearest `limit` rows above another one begin (nil: above the bottom),
    /// and how many there are; nil if there are none. Reads the heads of their chunks only.
    func start(ofRowsBefore position: RowPosition?, limit: Int) throws -> (RowPosition, count: Int)? {
        var found: (RowPosition, count: Int)?
        var rest = limit
        try chunks.eachColumnsUpward(from: position?.chunk) { at, chunk in
            // the row at the position is in its chunk, unless that has left
            let slot = at == position?.chunk ? min(position!.slot, chunk.count) : chunk.count
            if rest <= 0 || slot < 0 { return rest > 0 }
            let hasGap = rest > slot ? try gap(at: at) != nil : false
            let taken = min(rest, slot + (hasGap ? 1 : 0))
            rest -= taken
            found = (RowPosition(chunk: at, slot: slot - taken - 1), limit - rest)
            return rest > 0
        }
        return found
    }

    /// Calls `body` with the posts in some slots of a chunk.
    func eachRow(
        of chunk: ChunkColumns, at position: UInt64, in slots: Range<Int>, _ body: (PostRow) -> Void
    ) throws(QuireError) {
        do throws(QuireError) {
            var walk = try ChunkWalk(chunk, at: position)
            try walk.want(from: slots.lowerBound, count: slots.count)
            while !walk.isDone {
                if !walk.step() { try walk.stepOverExceptions() }
                body(PostRow(walk))
            }
        } catch {
            throw .corrupt("a chunk of feed number \(feed)")
        }
    }

    func find(_ id: PostID, in collection: UInt32) throws -> PostRow? {
        let index =
            if let memory {
                try memory.index(transaction, of: collection)
            } else {
                try PostIndex(transaction, of: collection)
            }
        guard let at = index.position(of: id, in: feed) else { return nil }
        return try row(of: id, at: at)
    }

    /// Returns the row of a post to which the index refers.
    func row(of id: PostID, at position: UInt64) throws(QuireError) -> PostRow {
        var row: PostRow?
        let chunk = try transaction.columns(at: position, of: feed)
        if let slot = try chunk.slot(of: id) {
            try eachRow(of: chunk, at: position, in: slot..<slot + 1) { row = $0 }
        }
        guard let row else { throw .corrupt("the place of post \(id)") }
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

    /// Returns the chunk of a row with this rank, or of the gap above it, and the rank of its first row; nil
    /// if there are fewer rows.
    private func place(ofRow rank: Int, _ ranks: RankIndex) throws -> (position: UInt64, first: Int)? {
        guard let found = ranks.position(ofRow: rank) else {
            if rank >= 0 && rank < ranks.total.rows { throw damaged }
            return nil
        }
        // damaged runs may have any numbers
        guard 0...rank ~= found.first else { throw damaged }
        return found
    }

    var damaged: QuireError { .corrupt("the page index of feed number \(feed)") }

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
        try chunks.eachColumns(from: position) { at, chunk in
            if start >= limit { return false }
            if try gap(at: at) != nil { start &+= 1 }
            let end = start &+ chunk.count
            var rank: Int?
            for i in 0..<chunk.count where rank == nil {
                if chunk.flags(i) & ChunkColumns.Flag.detached != 0 { continue }
                guard let other = chunk.key(i) else { continue }
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
        if limit > 0 {
            try eachPage(from: index) {
                pages.append($0)
                return pages.count < limit
            }
        }
        return pages
    }

    /// Returns the page with this index; nil if there are fewer. No list is made: the runtime would first
    /// have to build its type.
    func page(at index: Int) throws -> PageInfo? {
        var page: PageInfo?
        try eachPage(from: index) {
            page = $0
            return false
        }
        return page
    }

    /// Calls `body` with the pages from this index on, while it returns true.
    private func eachPage(from index: Int, _ body: (PageInfo) -> Bool) throws {
        let memory = memory ?? SnapshotMemory()
        guard var found = try chunk(ofPage: index, memory) else { return }
        var (above, index): (UInt64, Int) = (0, index)
        while true {
            let (at, value) = found
            let chunk = try columns(value)
            // A page of several chunks is listed where it begins. What was listed is not kept in a set: the
            // runtime takes 0.1 ms to make the type of one, in a process that only opens and reads.
            if chunk.page != 0 && chunk.page != above {
                let record = try transaction.page(chunk.page, of: feed)
                if record.start == at {
                    let place = memory.place(value, chunk, transaction)
                    if !body(page(record, index: index, place)) { return }
                    index += 1
                }
            }
            above = chunk.page
            guard let next = try memory.chunk(transaction, feed, below: at) else { return }
            found = next
        }
    }

    /// Returns the first chunk of the page with this index. The topmost page mostly begins with the topmost
    /// chunk, and then the page index is not read.
    private func chunk(ofPage index: Int, _ memory: SnapshotMemory) throws -> SnapshotMemory.Found? {
        if index == 0 {
            guard let top = try memory.chunk(transaction, feed, from: 0) else { return nil }
            if try columns(top.value).page != 0 { return top }
        }
        guard let start = try RankIndex(transaction, of: feed).position(ofPage: index) else { return nil }
        return try memory.chunk(transaction, feed, from: start)
    }

    private func columns(_ value: UnsafeRawBufferPointer) throws(QuireError) -> ChunkColumns {
        try ChunkColumns(value: value, "a chunk of feed number \(feed)")
    }

    /// Returns the page with this number; nil if it has no posts any more.
    func page(_ number: UInt64) throws -> PageInfo? {
        guard let head = try head(ofPage: number) else { return nil }
        let index = try RankIndex(transaction, of: feed).ranks(before: head.start).pages
        let page = try page(at: index)
        if page?.number != number { throw damaged }
        return page
    }

    private func page(_ record: PageRecord, index: Int, _ place: PagePlace) -> PageInfo {
        let page = record.page
        return PageInfo(
            number: page.number, index: index, own: page.own, next: page.next, previous: page.previous,
            received: page.received, new: page.new, duplicates: page.duplicates,
            duplicatesInPage: page.duplicatesInPage, posts: record.entries,
            fetchedAt: page.fetchedAt, start: record.start, place: place)
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

    /// Returns where a page begins and how many posts it has; none if the feed has no such page. What was
    /// found is noted for the next reader.
    func find(page number: UInt64) throws(QuireError) -> FoundPages.Page {
        if let known = memory?.page(number, of: feed) { return known }
        guard let head = try head(ofPage: number) else { return FoundPages.Page() }
        var page = FoundPages.Page(start: head.start, count: head.entries)
        guard let memory, let (at, value) = try memory.chunk(transaction, feed, from: head.start),
            at == head.start
        else { return page }
        let columns = try columns(value)
        if columns.page == number { page.place = memory.place(value, columns, transaction) }
        memory.note(page, number, of: feed)
        return page
    }

    func head(ofPage number: UInt64) throws(QuireError) -> PageHead? {
        let key = NumberKey(newestFirst: number)
        guard let value = try transaction.get(.pages(of: feed), key) else { return nil }
        return try PageHead(value, ofPage: number, feed)
    }

    private func rows(
        ofPage number: UInt64, count: Int, from start: UInt64
    ) throws(QuireError) -> [PostRow] {
        var rows: [PostRow] = []
        rows.reserveCapacity(min(count, 1024))
        var cursor = RowCursor(self, ofPage: number, count: count, from: start, lends: false)
        while let post = try cursor.next() { rows.append(post.row) }
        return rows
    }

    private func gap(at position: UInt64) throws(QuireError) -> GapRow? {
        if let memory { return try memory.gap(transaction, feed, at: position) }
        guard let value = try transaction.get(.gaps(of: feed), NumberKey(position)) else { return nil }
        return Self.row(try GapRecord(value, "a gap of feed number \(feed)"), at: position)
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
