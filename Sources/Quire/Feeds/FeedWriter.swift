/// Writes the difference between a feed's states before and after a rule. It is part of the LMDB transaction
/// that also has the caller's other writes.
struct FeedWriter: ~Copyable {
    private let loader: FeedLoader
    private let old: FeedState
    private let new: FeedState
    private let layout: Layout
    /// True if all chunks are loaded, and those with positions are rewritten with all shifts applied.
    private let writesPositions: Bool
    /// True if positions in chunks shift that were not loaded.
    private let hasShifts: Bool
    private let changes: EntryChanges
    private let removed: RemovedChunks
    /// What the page index must learn.
    private var ranks: [RankChange]
    /// The positions of the chunks that were written or deleted, if the feed has views.
    private var chunks: [UInt64] = []
    // What remains loaded after the write.
    private var written: [Written.Chunk] = []
    private var gaps: [KnownGaps.Known] = []
    private var pages = NumberTable<LoadedPage>()

    private var transaction: Transaction { loader.transaction }
    private var feed: UInt32 { loader.feed }

    init(
        _ loader: FeedLoader, from old: consuming FeedState, to new: consuming FeedState, _ layout: Layout,
        removed: RemovedChunks, writesPositions: Bool
    ) {
        (self.loader, self.layout, self.writesPositions, self.removed) = (
            loader, layout, writesPositions, removed
        )
        ranks = removed.ranks
        ranks.reserveCapacity(ranks.count + 8)
        let epoch = loader.record.shifts.epoch
        loader.take(new, writesPositions: writesPositions)
        hasShifts = loader.record.shifts.epoch != epoch
        changes = EntryChanges(from: old, to: new)
        self.old = old
        self.new = new
    }

    /// The chunks with new entries that a write left, for the next operation on the feed.
    struct Written: ~Copyable {
        typealias Chunk = (chunk: Layout.Chunk, next: UInt64?, previous: UInt64?)

        fileprivate let state: FeedState
        fileprivate let layout: Layout
        fileprivate let chunks: [Chunk]

        var entryCount: Int { state.entries.count }

        /// The position of the feed's topmost chunk; nil if it has none.
        var top: UInt64? { layout.top }

        /// Replaces what is loaded by these chunks.
        func load(into loaded: inout LoadedChunks) {
            loaded.removeAll()
            for (chunk, next, previous) in chunks.reversed() {
                loaded.add(chunk, layout.entries(of: chunk), of: state, next: next, previous: previous)
            }
        }
    }

    /// What a write changes outside the records of the feed.
    struct Difference {
        let locations: [Location]
        let ranks: [RankChange]
        let changes: ChangeList.Encoded
        /// By how many entries the feed grew.
        let entriesAdded: Int
        /// The positions of the chunks that are others now, if the feed has views.
        let chunks: [UInt64]
    }

    /// Writes rows, pages, gaps and counters. The new state already has its bodies.
    consuming func write() throws -> Difference {
        try writeChunks()
        let segments = try writeGaps()
        let added = try writePages()
        try writeTombstones()
        try writeFeed(lastSegment: segments, pagesAdded: added)
        noteRows()
        let difference = Difference(
            locations: try locations(), ranks: ranks,
            changes: RowChanges.between(old, new, changes.entries), entriesAdded: changes.added,
            chunks: chunks)
        let (loader, gaps, pages) = (loader, gaps, pages)
        let written = Written(state: new, layout: layout, chunks: written)
        loader.replace(gaps: gaps, written: written, pages: pages)
        return difference
    }

    // MARK: Chunks and the id index

    private mutating func writeChunks() throws {
        var next: UInt64?
        for (at, item) in layout.items.enumerated().reversed() {
            switch item {
            case .gap: continue
            case .unloaded(let range): next = range.lowerBound
            case .chunk(let number):
                let chunk = layout.chunks[number]
                if isChanged(chunk) {
                    try write(chunk)
                    if loader.record.hasViews { chunks.append(chunk.position) }
                    if layout.entries(of: chunk).contains(where: { $0 >= old.entries.count }) {
                        written.append((chunk, next, layout.position(above: at)))
                    }
                }
                next = chunk.position
            }
        }
        if loader.chunks.all.count == layout.chunks.count(where: { $0.position == $0.home }) { return }
        for stored in loader.chunks.all where layout.chunk(at: stored.position) == nil {
            try transaction.delete(.chunks(of: feed), NumberKey(stored.position))
            if loader.record.hasViews { chunks.append(stored.position) }
        }
    }

    private func write(_ chunk: Layout.Chunk) throws {
        try new.entries.withUnsafeBufferPointer { entries in
            try layout.entries(of: chunk).withUnsafeBufferPointer { order in
                let isPlaced = order.contains { entries[$0].isPlaced }
                let writer = ChunkWriter(
                    page: chunk.page, ids: new.index.ids, entries: entries, order: order,
                    epoch: isPlaced ? loader.record.shifts.epoch : nil)
                try transaction.put(.chunks(of: feed), NumberKey(chunk.position), count: writer.size) {
                    writer.write(into: $0)
                }
            }
        }
    }

    private func isChanged(_ chunk: Layout.Chunk) -> Bool {
        guard let stored = loader.chunks[chunk.position], stored.page == chunk.page,
            stored.range.count == chunk.range.count
        else { return true }
        if writesPositions && stored.isPlaced { return true }
        // A note covers this chunk, too. Written in the new epoch, it is not shifted when it is read.
        if hasShifts && stored.isPlaced && loader.record.shifts.shiftsLast(chunk.position) { return true }
        var expected = stored.range.lowerBound
        for entry in layout.entries(of: chunk) {
            if entry != expected || changes.contains(entry) { return true }
            expected += 1
        }
        return false
    }

    private func locations() throws -> [Location] {
        let index = try loader.index()
        var locations: [Location] = []
        locations.reserveCapacity(changes.entries.count)
        for chunk in layout.chunks where chunk.position != chunk.home || chunk.page == 0 {
            for entry in layout.entries(of: chunk) where new.entries[entry].chunk != chunk.position {
                let address = index.address(of: new.id(of: entry))
                locations.append(Location(address, feed: feed, position: chunk.position))
            }
        }
        for entry in changes.entries where !new.entries[entry].isCached {
            let address = index.address(of: new.id(of: entry))
            locations.append(Location(address, feed: feed, position: Location.gone))
        }
        return locations
    }

    // MARK: Gaps

    /// Writes each gap under the position of the chunk below it. Returns the count of the last segment.
    private mutating func writeGaps() throws -> SegmentCount {
        let (segments, known) = (layout.segments, loader.gaps.all)
        if known.isEmpty && segments.isEmpty { return layout.lastSegment.count }
        var written: Set<UInt64> = []
        let stored = Dictionary(uniqueKeysWithValues: known.map { ($0.position, $0.record) })
        var places = Dictionary(known.map { ($0.record.gap.id, $0.position) }) { place, _ in place }
        var number = 0
        for (i, item) in layout.items.enumerated() {
            guard case .gap(let gap) = item else { continue }
            let position =
                switch layout.items[i + 1] {
                case .chunk(let chunk): layout.chunks[chunk].position
                case .unloaded(let range): range.lowerBound
                case .gap: preconditionFailure("gaps must not be adjacent")
                }
            written.insert(position)
            let record = GapRecord(gap: new.gaps[gap], above: segments[number].count)
            gaps.append(
                KnownGaps.Known(
                    position: position, record: record, hidesOthers: segments[number].hidesGaps))
            number += 1
            if places.removeValue(forKey: record.gap.id) != position {
                try put(position, of: record.gap.id)
            }
            if let same = stored[position], same.gap == record.gap, same.above == record.above {
                continue
            }
            try transaction.put(.gaps(of: feed), NumberKey(position), record)
        }
        for position in stored.keys where !written.contains(position) {
            try transaction.delete(.gaps(of: feed), NumberKey(position))
        }
        for id in places.keys { try transaction.delete(.gapPlaces(of: feed), NumberKey(id.number)) }
        return layout.lastSegment.count
    }

    private func put(_ position: UInt64, of gap: GapID) throws {
        var writer = ByteWriter(capacity: 16)
        writer.number(position)
        try transaction.put(.gapPlaces(of: feed), NumberKey(gap.number), writer.sealed())
    }

    // MARK: Pages

    /// Writes the pages whose entries or links changed, and removes those without entries. Only these remain
    /// loaded. Returns by how many pages the feed grew.
    private mutating func writePages() throws -> Int {
        var starts = NumberTable<UInt64>()
        for chunk in layout.chunks where chunk.position != chunk.home && starts[chunk.page] == nil {
            starts[chunk.page] = chunk.position
        }
        let change = removed.isEmpty ? changes.pages : pageChanges()
        var added = 0
        for i in 0..<new.pages.count {
            let number = new.pages.number(at: i)
            let before = loader.pages[number]
            if change[number] == nil, starts[number] == nil, let before,
                new.pages[at: i] == before.record.page,
                !hasLeft(number, before.record.start)
            {
                continue
            }
            let entries = (before?.record.entries ?? 0) + (change[number] ?? 0)
            if before == nil && entries == 0 { continue }
            added += try write(new.pages[at: i], before, entries: entries, start: starts[number])
        }
        return added
    }

    /// Writes a page, or removes it with its last entry. `start` is its topmost chunk with a new position.
    /// Returns by how many pages the feed grew.
    private mutating func write(
        _ page: StoredPage, _ before: LoadedPage?, entries: Int, start new: UInt64?
    ) throws -> Int {
        let key = NumberKey(newestFirst: page.number)
        if let before { ranks.append(RankChange(position: before.record.start, pages: -1)) }
        if entries == 0 {
            try transaction.delete(.pages(of: feed), key)
            return -1
        }
        var start = min(new ?? .max, before?.record.start ?? .max)
        if let before, start == before.record.start, hasLeft(page.number, start) {
            start = try firstChunk(of: page.number, from: start)
        }
        ranks.append(RankChange(position: start, pages: 1))
        let record = PageRecord(page: page, entries: entries, start: start == .max ? 0 : start)
        let isSame = before.map { $0.record == record } ?? false
        if !isSame { try transaction.put(.pages(of: feed), key, record) }
        pages[page.number] = LoadedPage(record)
        return before == nil ? 1 : 0
    }

    /// Returns true if the page had its first chunk at this position, and has it no longer. Positions of
    /// chunks that were not loaded stay as they are.
    private func hasLeft(_ page: UInt64, _ start: UInt64) -> Bool {
        guard loader.chunks.contains(start) || removed.contains(start) else { return false }
        return layout.chunk(at: start)?.page != page
    }

    /// Returns the position of the page's first chunk, which is below this one. Chunks are written already.
    private func firstChunk(of page: UInt64, from start: UInt64) throws -> UInt64 {
        var found = UInt64.max
        try ChunkReader(transaction: transaction, feed: feed).eachPage(from: start) { at, other in
            if other == page { found = at }
            return other != page
        }
        return found
    }

    // MARK: The page index

    /// Notes where rows were added and removed: in chunks, and gaps above them.
    private mutating func noteRows() {
        for chunk in layout.chunks {
            let before = loader.chunks[chunk.position]?.range.count ?? 0
            if chunk.range.count == before { continue }
            ranks.append(RankChange(position: chunk.position, rows: chunk.range.count - before))
        }
        for stored in loader.chunks.all where layout.chunk(at: stored.position) == nil {
            ranks.append(RankChange(position: stored.position, rows: -stored.range.count))
        }
        let known = loader.gaps.all
        if known.elementsEqual(gaps, by: { $0.position == $1.position }) { return }
        for gap in known { ranks.append(RankChange(position: gap.position, rows: -1)) }
        for gap in gaps { ranks.append(RankChange(position: gap.position, rows: 1)) }
    }

    /// Returns by how many entries each page grew.
    private func pageChanges() -> NumberTable<Int> {
        var change = changes.pages
        for (page, count) in removed.pages { change.add(-count, to: page) }
        return change
    }

    // MARK: Tombstones and the feed

    private func writeTombstones() throws {
        let ids = Set(old.tombstones.keys).union(new.tombstones.keys)
        for id in ids where old.tombstones[id] != new.tombstones[id] {
            let key = PostKey.bytes(id)
            if let clock = new.tombstones[id] {
                var writer = ByteWriter()
                writer.number(clock)
                try transaction.put(.tombstones(of: feed), key, writer.sealed())
            } else {
                try transaction.delete(.tombstones(of: feed), key)
            }
        }
    }

    private func writeFeed(lastSegment: SegmentCount, pagesAdded: Int) throws {
        var counts = loader.record.counts
        counts.pages += pagesAdded
        for gap in old.gapRows { counts.add(old.gaps[gap], -1) }
        for gap in new.gapRows { counts.add(new.gaps[gap], 1) }
        counts.chunks += layout.chunks.count - loader.chunks.all.count
        counts.pages -= removed.counts.pages
        counts.chunks -= removed.counts.chunks
        counts.entries -= removed.counts.entries
        counts.bodyBytes -= removed.counts.bodyBytes
        counts.add(changes.counts)
        loader.take(counts, lastSegment: lastSegment)
        try loader.storeRecord()
    }
}

extension FeedCounts {
    /// Adds what entries changed.
    mutating func add(_ changes: FeedCounts) {
        entries += changes.entries
        detached += changes.detached
        placeholders += changes.placeholders
        pinned += changes.pinned
        unverifiedJoins += changes.unverifiedJoins
        bodyBytes += changes.bodyBytes
    }

    @inline(__always)
    mutating func add(_ entry: Entry, _ sign: Int) {
        bodyBytes += sign * Int(entry.body.length)
        if entry.isPlain {
            entries += sign
            return
        }
        if entry.isDetached { detached += sign } else { entries += sign }
        if entry.isPlaceholder { placeholders += sign }
        if entry.isPinned { pinned += sign }
        if entry.isUnverified { unverifiedJoins += sign }
    }

    mutating func add(_ gap: Gap, _ sign: Int) {
        gaps += sign
        if gap.isEndInDoubt { endsInDoubt += sign }
        if gap.isOverlapping { overlaps += sign }
    }
}
