/// Tests the rows, gaps, pages and counters of one feed.
struct FeedCheck {
    let transaction: Transaction
    let index: PostIndex
    let feed: UInt32
    let record: FeedRecord
    private(set) var use: Check.Use
    private(set) var findings: [Finding] = []
    private(set) var counts = FeedCounts()

    /// Page -> how many entries it has, and the first piece with one.
    private var pages: [UInt64: (entries: Int, first: UInt64)] = [:]
    private var gaps: [UInt64: GapRecord] = [:]
    private var segment = SegmentCount()
    private var lastKey: Int64?
    /// What stands directly above, riders not counted.
    private var above = Row.nothing

    private enum Row { case nothing, gap, entry }

    init(
        transaction: Transaction, index: PostIndex, feed: UInt32, record: FeedRecord, use: Check.Use
    ) {
        (self.transaction, self.index) = (transaction, index)
        (self.feed, self.record, self.use) = (feed, record, use)
    }

    mutating func find(_ code: Finding.Code, _ message: String) {
        findings.append(Finding(code: code, place: "feed \(record.name)", message: message))
    }

    mutating func run() throws {
        for (position, gap) in try FeedLoader.gaps(transaction, feed) { gaps[position] = gap }
        let all = gaps
        try RowReader(transaction: transaction, feed: feed).eachPiece(from: 0) { position, piece in
            counts.pieces += 1
            if let gap = gaps.removeValue(forKey: position) { check(gap) }
            try check(piece, at: position)
            return true
        }
        for gap in gaps.values { find(.gap, "gap \(gap.gap.id) lies above no entry") }
        if above == .gap { find(.gap, "a gap lies at the tail") }
        if segment != record.lastSegment {
            find(.count, "the last segment has \(segment.entries) entries")
        }
        checkEdges(all.values.map(\.gap))
        try checkPages()
        counts.pages = pages.count
        counts.gaps = all.count
        if counts != record.counts {
            find(.count, "counters say \(record.counts), there are \(counts)")
        }
    }

    private mutating func check(_ gap: GapRecord) {
        if gap.above != segment {
            find(
                .count,
                "gap \(gap.gap.id) says \(gap.above.entries) entries in the segment above, there are "
                    + "\(segment.entries)")
        }
        if above != .entry { find(.gap, "gap \(gap.gap.id) lies at the head or below a gap") }
        if gap.gap.down.link == .end { find(.gap, "gap \(gap.gap.id) lies below an end") }
        segment = SegmentCount()
        above = .gap
    }

    private mutating func check(_ piece: PieceRecord, at position: UInt64) throws {
        if piece.entries.isEmpty { find(.missing, "a piece without entries") }
        var seen: Set<PostID> = []
        for (id, entry) in zip(piece.ids, piece.entries) {
            counts.add(entry, 1)
            if piece.page != 0 { pages[piece.page, default: (0, position)].entries += 1 }
            let positions = index.positions(of: id)
            if positions.first(where: { $0.feed == feed })?.position != position
                || !seen.insert(id).inserted
            {
                find(.index, "post \(id) stands where the index does not have it")
            }
            try checkBody(of: id, entry, positions)
            if entry.isRider { continue }
            if entry.isClaimed && above != .entry {
                find(.gap, "the seam above post \(id) is claimed, but there is none")
            }
            checkKey(of: id, entry)
            segment.entries += 1
            if entry.key == nil { segment.unkeyed += 1 }
            above = .entry
        }
    }

    /// All entries of a post show one body, except faults. The feed with the lowest number that shows it
    /// counts it.
    private mutating func checkBody(
        of id: PostID, _ entry: Entry, _ positions: [(feed: UInt32, position: UInt64)]
    ) throws {
        let lowest = positions.min { $0.feed < $1.feed }
        if lowest?.feed == feed { use.posts += 1 }
        if entry.isFault {
            if entry.body.record != 0 { find(.body, "post \(id) is a fault with a body") }
            return
        }
        var isCounted = false
        for (other, position) in positions where other != feed {
            let shown = try transaction.entry(of: id, at: position, of: other)
            if shown.isFault { continue }
            if shown.body != entry.body || shown.version != entry.version {
                find(.body, "post \(id) shows another body than in feed number \(other)")
            }
            isCounted = isCounted || other < feed
        }
        if entry.body.record == 0 { return }
        if !isCounted {
            use.bytes += Int(entry.body.length)
            use.records[entry.body.record, default: 0] += Int(entry.body.length)
        }
        do throws(QuireError) {
            _ = try BodyStore(transaction: transaction).bytes(entry.body)
        } catch {
            find(.body, "post \(id): \(error.message)")
        }
    }

    private mutating func checkKey(of id: PostID, _ entry: Entry) {
        // in a feed of ids the list is the order, whatever the keys say
        guard record.options.order == .stable, record.options.paging != .ids, let key = entry.key
        else { return }
        if let lastKey, lastKey <= key { find(.order, "post \(id) has a key out of order") }
        lastKey = key
    }

    private mutating func checkEdges(_ gaps: [Gap]) {
        let edges = [record.head, record.tail] + gaps.flatMap { [$0.down, $0.up] }
        var numbers: Set<UInt64> = []
        for edge in edges {
            if edge.number > record.edgeNumbers || !numbers.insert(edge.number).inserted {
                find(.gap, "edge \(edge.number) is used twice, or was never given out")
            }
        }
        if Set(gaps.map(\.id)).count != gaps.count { find(.gap, "two gaps have one id") }
    }

    private mutating func checkPages() throws {
        try transaction.withCursor(.pages(of: feed)) { cursor in
            var found = try cursor.first()
            var missing = pages
            while let (key, value) = found, let number = NumberKey(key)?.newestFirst {
                let page = try PageRecord(value, "page \(number) of feed \(record.name)")
                let (count, first) = missing.removeValue(forKey: number) ?? (0, .max)
                if page.start > first { find(.index, "page \(number) begins further up") }
                if page.entries != count {
                    find(.count, "page \(number) says \(page.entries) entries, it has \(count)")
                }
                found = try cursor.next()
            }
            for number in missing.keys.sorted() {
                find(.missing, "page \(number) has entries, but no record")
            }
        }
    }
}
