/// Checks the rows, gaps, pages, tickets and counters of one feed.
struct FeedCheck {
    let transaction: Transaction
    let feed: UInt32
    let record: FeedRecord
    let counters: Counters
    let context: CheckContext
    private(set) var counts = FeedCounts()
    /// The posts and bodies that count for this feed: no feed with a lower number holds or shows them, or, if
    /// they are widespread, none that was checked before.
    private(set) var posts = PostTally()

    /// The numbers of the edges that lead down, and of those that lead up.
    private(set) var downs: [UInt64] = []
    private(set) var ups: [UInt64] = []
    private var segment = SegmentCount()
    private var lastKey: Int64?
    /// The row directly above, ignoring detached entries.
    private var above = Row.nothing
    /// The body record that was read last.
    private var shown: BodyRecordCursor
    /// What feeds that were checked before have shown of posts in many feeds.
    private let widespread: WidespreadPosts

    private enum Row { case nothing, gap, entry }

    init(
        _ transaction: Transaction, _ record: FeedRecord, _ feed: UInt32, _ counters: Counters,
        _ context: CheckContext, _ widespread: WidespreadPosts = WidespreadPosts(limit: 0)
    ) {
        (self.transaction, self.record, self.feed) = (transaction, record, feed)
        (self.counters, self.context, self.widespread) = (counters, context, widespread)
        shown = BodyRecordCursor(transaction)
    }

    func find(_ code: Finding.Code, _ message: @autoclosure () -> String) {
        if context.isMuted { return }
        context.find(code, "feed \(record.name)", message())
    }

    /// Runs the full check. `index` is the index of the feed's collection.
    mutating func run(_ index: PostIndex, _ bodies: BodyUsage, pagesAtOnce: Int) throws {
        checkNumbers()
        try checkGaps(index)
        let ranks = try RankIndex(transaction, of: feed)
        var rows = 0
        try eachChunk { check, position, chunk in
            check.counts.chunks += 1
            let expected = ranks.ranks(before: position).rows
            if expected != rows {
                check.find(.index, "the page index has \(expected) rows above a chunk, there are \(rows)")
                rows = expected
            }
            rows += chunk.entries.count
            if let gap = try check.gap(at: position) {
                check.check(gap)
                rows += 1
            }
            try check.check(chunk, at: position, index, bodies)
        }
        if context.isStopped { return }
        if above == .gap { find(.gap, "a gap lies at the tail") }
        if segment != record.lastSegment {
            find(.count, "the last segment has \(segment.entries) entries")
        }
        // a repeated pass only counts the next body records
        if context.isMuted { return }
        if ranks.total.rows != rows { find(.index, "the page index has \(ranks.total.rows) rows of \(rows)") }
        try checkPages(pagesAtOnce, ranks)
        if ranks.total.pages != counts.pages && !context.isStopped {
            find(.index, "the page index has \(ranks.total.pages) pages of \(counts.pages)")
        }
        try checkTicketsAndTombstones()
        if counts != record.counts && !context.isStopped {
            find(.count, "counters say \(record.counts), there are \(counts)")
        }
    }

    mutating func runQuickly() throws {
        checkNumbers()
        try checkGaps(nil)
        if counts.gaps != record.counts.gaps {
            find(.count, "says \(record.counts.gaps) gaps, there are \(counts.gaps)")
        }
        let first = try ChunkReader(transaction: transaction, feed: feed).firstPosition()
        if (first == nil) != (record.counts.chunks == 0) {
            find(.count, "says \(record.counts.chunks) chunks")
        }
        if let first, try gap(at: first) != nil { find(.gap, "a gap lies at the head") }
    }

    /// Calls `body` with each chunk. A chunk that does not decode is reported by the test of single records.
    private mutating func eachChunk(_ body: (inout FeedCheck, UInt64, ChunkRecord) throws -> Void) throws {
        do {
            try ChunkReader(transaction: transaction, feed: feed).eachChunk(from: 0) { position, chunk in
                try body(&self, position, chunk)
                context.step(UInt64(chunk.entries.count))
                return !context.isStopped
            }
        } catch let error as QuireError where error.code == .corrupt {
            find(.unreadable, error.message)
        }
    }

    // MARK: Gaps and edges

    private func gap(at position: UInt64) throws -> GapRecord? {
        guard record.counts.gaps > 0 || counts.gaps > 0,
            let value = try transaction.get(.gaps(of: feed), NumberKey(position))
        else { return nil }
        return try? GapRecord(value, "a gap")
    }

    /// Checks that each gap lies above a chunk, and that no number is used twice.
    private mutating func checkGaps(_ index: PostIndex?) throws {
        var ids: [UInt64] = []
        (downs, ups) = ([record.tail.number], [record.head.number])
        check(record.head, index)
        check(record.tail, index)
        try transaction.withCursor(.gaps(of: feed)) { cursor in
            var found = try cursor.first()
            while let (key, value) = found, !context.isStopped {
                found = try cursor.next()
                guard let key = NumberKey(key), let gap = try? GapRecord(value, "a gap").gap else {
                    find(.unreadable, "a gap")
                    counts.gaps += 1
                    continue
                }
                counts.add(gap, 1)
                if try place(of: gap.id) != key.number {
                    find(.index, "the place of gap \(gap.id) is not known")
                }
                if try transaction.get(.chunks(of: feed), key) == nil {
                    find(.gap, "gap \(gap.id) lies above no entry")
                }
                if gap.since > counters.clock { find(.ahead, "gap \(gap.id) was opened in the future") }
                if gap.down.link == .end { find(.gap, "gap \(gap.id) lies below an end") }
                check(gap.down, index)
                check(gap.up, index)
                downs.append(gap.down.number)
                ups.append(gap.up.number)
                ids.append(gap.id.number)
            }
        }
        let places = try transaction.withCursor(.gapPlaces(of: feed)) { try $0.count() }
        if places != counts.gaps && !context.isStopped {
            find(.index, "\(places) places of \(counts.gaps) gaps")
        }
        downs.sort()
        ups.sort()
        checkNumbered(downs + ups, upTo: record.edgeNumbers, "edge")
        checkNumbered(ids, upTo: record.gapNumbers, "gap")
    }

    private func place(of gap: GapID) throws -> UInt64? {
        try transaction.get(.gapPlaces(of: feed), NumberKey(gap.number))
            .flatMap { try? ByteReader.number($0, "the place of a gap") }
    }

    private func check(_ edge: Edge, _ index: PostIndex?) {
        guard let after = edge.after, let index else { return }
        if index.position(of: after, in: feed) == nil {
            find(.gap, "edge \(edge.number) continues below post \(after), which is not there")
        }
    }

    private func checkNumbered(_ numbers: [UInt64], upTo last: UInt64, _ name: String) {
        let numbers = numbers.sorted()
        if let highest = numbers.last, highest > last { find(.ahead, "\(name) \(highest) of \(last)") }
        if numbers.first == 0 { find(.ahead, "\(name) 0") }
        for (one, next) in zip(numbers, numbers.dropFirst()) where one == next {
            find(.gap, "\(name) \(one) is used twice")
        }
    }

    // MARK: Rows

    private mutating func check(_ gap: GapRecord) {
        if gap.above != segment {
            find(
                .count,
                "gap \(gap.gap.id) says \(gap.above.entries) entries in the segment above, there are "
                    + "\(segment.entries)")
        }
        if above != .entry { find(.gap, "gap \(gap.gap.id) lies at the head or below a gap") }
        segment = SegmentCount()
        above = .gap
    }

    private mutating func check(
        _ chunk: ChunkRecord, at position: UInt64, _ index: PostIndex, _ bodies: BodyUsage
    ) throws {
        if chunk.entries.isEmpty { find(.missing, "a chunk without entries") }
        if let epoch = chunk.epoch, epoch > record.shifts.epoch {
            find(.ahead, "a chunk of epoch \(epoch) of \(record.shifts.epoch)")
        }
        var seen = Set<PostID>(minimumCapacity: chunk.ids.count)
        let everywhere = places(of: chunk.ids, index)
        var next = everywhere.startIndex
        for (i, (id, entry)) in zip(chunk.ids, chunk.entries).enumerated() {
            counts.add(entry, 1)
            let places = everywhere[next...].prefix { $0.id == i }
            next = places.endIndex
            if places.first(where: { $0.feed == feed })?.position != position
                || !seen.insert(id).inserted
            {
                find(.index, "post \(id) is not where the index has it")
            }
            checkTimes(of: id, entry)
            if places.count > WidespreadPosts.few || !widespread.isEmpty,
                let seen = widespread.see(index.address(of: id), places: places.count)
            {
                let here = WidespreadPosts.Shown(position: position, feed: feed)
                checkBody(of: id, entry, here, seen, index.address(of: id), bodies)
            } else {
                checkBody(of: id, entry, places, bodies)
            }
            if entry.body.record != 0,
                let damage = try shown.damage(of: entry.body, for: index.address(of: id))
            {
                find(damage.code, "post \(id): \(damage.what)")
            }
            if entry.isDetached { continue }
            if entry.isUnverified && above != .entry {
                find(.gap, "the join above post \(id) is unverified, but there is none")
            }
            checkKey(of: id, entry)
            segment.entries += 1
            if entry.key == nil { segment.unkeyed += 1 }
            above = .entry
        }
    }

    /// Returns the places of these posts by post and feed: all of them, but of a widespread post that in this
    /// feed only.
    private func places(of ids: PostIDs, _ index: PostIndex) -> [PostIndex.Place] {
        if widespread.isEmpty { return index.places(of: ids).sorted { ($0.id, $0.feed) < ($1.id, $1.feed) } }
        var (known, others): ([Int], [Int]) = ([], [])
        for (i, id) in ids.enumerated() {
            if widespread.contains(index.address(of: id)) { known.append(i) } else { others.append(i) }
        }
        var places = index.places(of: others.map { ids[$0] }).map { (others[$0.id], $0.feed, $0.position) }
        for (i, position) in zip(known, index.positions(of: known.map { ids[$0] }, in: feed)) {
            if let position { places.append((i, feed, position)) }
        }
        return places.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
    }

    private func checkTimes(of id: PostID, _ entry: Entry) {
        for (time, what) in [
            (entry.confirmed, "seen"), (entry.asked, "asked for"), (entry.pushed, "pushed"),
            (entry.claim?.since ?? 0, "joined by a claim"),
        ] where time > counters.clock { find(.ahead, "post \(id) was \(what) in the future") }
    }

    /// Checks that all entries of a post show the same body, except placeholders: each is compared with that
    /// of the next lower feed and of the next higher one. The feed with the lowest number that shows a body
    /// counts it. `places` ascend by feed.
    private mutating func checkBody(
        of id: PostID, _ entry: Entry, _ places: ArraySlice<PostIndex.Place>,
        _ bodies: BodyUsage
    ) {
        if !places.contains(where: { $0.feed < feed }) { posts.count += 1 }
        if checkPlaceholder(of: id, entry) { return }
        let isCounted = showsBody(of: id, entry, places.prefix { $0.feed < feed }.reversed())
        _ = showsBody(of: id, entry, places.drop { $0.feed <= feed })
        checkBody(of: id, entry, isCounted, bodies)
    }

    /// Does the same for a widespread post: each entry is compared with the first one that showed a body, in
    /// the order in which feeds are checked. That one counts it.
    private mutating func checkBody(
        of id: PostID, _ entry: Entry, _ here: WidespreadPosts.Shown, _ seen: WidespreadPosts.Seen,
        _ address: PostAddress, _ bodies: BodyUsage
    ) {
        var shown: WidespreadPosts.Shown?
        switch seen {
        case .first: posts.count += 1
        case .again(let before): shown = before
        }
        if checkPlaceholder(of: id, entry) { return }
        if let shown {
            _ = showsBody(of: id, entry, CollectionOfOne((0, shown.feed, shown.position)))
        } else {
            widespread.show(address, here)
        }
        checkBody(of: id, entry, shown != nil, bodies)
    }

    /// Returns whether the entry is a placeholder, which must have no body.
    private func checkPlaceholder(of id: PostID, _ entry: Entry) -> Bool {
        if entry.isPlaceholder && entry.body.record != 0 {
            find(.body, "post \(id) is a placeholder with a body")
        }
        return entry.isPlaceholder
    }

    private mutating func checkBody(of id: PostID, _ entry: Entry, _ isCounted: Bool, _ bodies: BodyUsage) {
        if let newest = entry.newest, entry.version.map({ $0 >= newest }) ?? true {
            find(.body, "post \(id) is marked outdated, but no newer version was seen")
        }
        if entry.body.record == 0 { return }
        if !isCounted {
            posts.bytes += UInt64(entry.body.length)
            bodies.add(Int(entry.body.length), of: entry.body.record)
        }
    }

    /// Compares an entry with the first in these places that is no placeholder. Returns false if there is
    /// none.
    private mutating func showsBody(
        of id: PostID, _ entry: Entry, _ places: some Sequence<PostIndex.Place>
    ) -> Bool {
        for (_, other, position) in places {
            guard let shown = try? transaction.entry(of: id, at: position, of: other) else {
                find(.index, "post \(id) is not where the index has it in feed number \(other)")
                continue
            }
            if shown.isPlaceholder { continue }
            if !shown.hasSameBody(as: entry) {
                find(.body, "post \(id) shows another body than in feed number \(other)")
            }
            return true
        }
        return false
    }

    private mutating func checkKey(of id: PostID, _ entry: Entry) {
        // in a feed of ids the order comes from the list, not from keys
        guard record.options.order == .stable, record.options.paging != .ids, let key = entry.key
        else { return }
        if let lastKey, lastKey <= key { find(.order, "post \(id) has a key out of order") }
        lastKey = key
    }

    // MARK: Pages

    /// Checks that each page has its stored number of entries, begins where it says and the page index has
    /// it, and that no entry's page is missing.
    private mutating func checkPages(_ atOnce: Int, _ ranks: RankIndex) throws {
        var owned = 0
        var next: UInt64? = 0  // bitwise complement of the number, as in keys
        while let from = next, !context.isStopped {
            var (keys, tallies): ([UInt64], [(entries: Int, first: UInt64)]) = ([], [])
            next = try transaction.withCursor(.pages(of: feed)) { cursor in
                var found = try cursor.seek(NumberKey(from))
                while let (key, _) = found, keys.count < atOnce {
                    if let key = NumberKey(key) { keys.append(key.number) }
                    found = try cursor.next()
                }
                return found.flatMap { NumberKey($0.key)?.number }
            }
            tallies = Array(repeating: (0, .max), count: keys.count)
            try ChunkReader(transaction: transaction, feed: feed).eachChunkSize { position, page, count in
                guard let at = keys.place(of: ~page) else { return }
                tallies[at].entries += count
                tallies[at].first = min(tallies[at].first, position)
            }
            for (key, tally) in zip(keys, tallies) {
                owned += tally.entries
                try check(pageWithKey: key, tally.entries, tally.first, ranks)
                context.step()
            }
            counts.pages += keys.count
        }
        var all = 0
        try ChunkReader(transaction: transaction, feed: feed).eachChunkSize { _, page, count in
            if page != 0 { all += count }
        }
        if all != owned && !context.isStopped {
            find(.missing, "\(all - owned) entries are of pages that have no record")
        }
    }

    private func check(
        pageWithKey key: UInt64, _ entries: Int, _ first: UInt64, _ ranks: RankIndex
    ) throws {
        guard let value = try transaction.get(.pages(of: feed), NumberKey(key)) else { return }
        let record = try PageRecord(value, "page \(~key) of feed \(record.name)")
        let number = record.page.number
        if number == 0 || number > self.record.pageNumbers {
            find(.ahead, "page \(number) of \(self.record.pageNumbers)")
        }
        if entries == 0 { return find(.orphan, "page \(number) has no entries") }
        if record.start != first {
            find(.index, "page \(number) does not begin where it says")
        } else if ranks.ranks(before: first + 1).pages <= ranks.ranks(before: first).pages {
            find(.index, "the page index does not have page \(number)")
        }
        if record.entries != entries {
            find(.count, "page \(number) says \(record.entries) entries, it has \(entries)")
        }
    }
}
