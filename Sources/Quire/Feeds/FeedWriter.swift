/// Writes the difference between a feed's states before and after a rule. It is part of the LMDB transaction
/// that also has the caller's other writes.
struct FeedWriter {
    private let loader: FeedLoader
    let old: FeedState
    let new: FeedState
    private let record: FeedRecord
    /// True if all chunks are loaded, and those with positions are rewritten with all shifts applied.
    private let writesPositions: Bool
    // The chunks that remain loaded after the write.
    private var chunks = NumberTable<FeedLoader.Chunk>()
    private var gaps: [KnownGaps.Known] = []
    private var pages = NumberTable<PageRecord>()

    private var transaction: Transaction { loader.transaction }
    private var feed: UInt32 { loader.feed }

    /// The entries that are new, gone or different, in order.
    private let changed: [Int]
    /// What the page index must learn.
    private(set) var ranks: [RankChange]
    private let removed: RemovedChunks

    init(
        _ loader: FeedLoader, from old: consuming FeedState, to new: consuming FeedState,
        removed: RemovedChunks, writesPositions: Bool
    ) {
        (self.loader, self.writesPositions, self.removed) = (loader, writesPositions, removed)
        ranks = removed.ranks
        record = Self.record(loader, new, writesPositions: writesPositions)
        var changed: [Int] = []
        changed.reserveCapacity(new.entries.count)
        for entry in new.entries.indices {
            if entry >= old.entries.count || !new.entries[entry].isSame(as: old.entries[entry]) {
                changed.append(entry)
            }
        }
        (self.changed, self.old, self.new) = (changed, old, new)
    }

    /// Writes rows, pages, gaps and counters. The new state already has its bodies. Returns the changes for
    /// the index.
    mutating func write(_ layout: Layout) throws -> [Location] {
        try writeChunks(layout)
        let segments = try writeGaps(layout)
        let added = try writePages(layout)
        try writeTombstones()
        let record = try writeFeed(layout, lastSegment: segments, pagesAdded: added)
        let locations = try locations(layout)
        noteRows(layout)
        loader.replace(record: record, gaps: gaps, chunks: chunks, pages: pages)
        return locations
    }

    /// By how many entries the feed grew.
    var entriesAdded: Int {
        changed.reduce(0) {
            $0 + (new.entries[$1].isCached ? 1 : 0) - ($1 < old.entries.count ? 1 : 0)
        }
    }

    // MARK: Chunks and the id index

    private mutating func writeChunks(_ layout: Layout) throws {
        let changed = EntrySet(changed)
        var next: UInt64?
        for item in layout.items.reversed() {
            switch item {
            case .gap: continue
            case .unloaded(let range): next = range.lowerBound
            case .chunk(let number):
                let chunk = layout.chunks[number]
                let entries = layout.entries(of: chunk)
                if isChanged(chunk, entries, changed) {
                    let value = encoded(chunk, entries)
                    try transaction.put(.chunks(of: feed), NumberKey(chunk.position), value)
                    if entries.contains(where: { $0 >= old.entries.count }) {
                        let record = try value.withUnsafeBytes { try ChunkRecord($0, "a chunk") }
                        chunks[chunk.position] = (record, next)
                    }
                }
                next = chunk.position
            }
        }
        if loader.chunks.count == layout.chunks.count(where: { $0.position == $0.home }) { return }
        let kept = Set(layout.chunks.map(\.position))
        for (position, _) in loader.chunks where !kept.contains(position) {
            try transaction.delete(.chunks(of: feed), NumberKey(position))
        }
    }

    private func encoded(_ chunk: Layout.Chunk, _ order: ArraySlice<Int>) -> [UInt8] {
        new.entries.withUnsafeBufferPointer { entries in
            var writer = ByteWriter(capacity: 64 + order.count * 24)
            let epoch = ChunkWriter.isPlaced(entries, order) ? record.shifts.epoch : nil
            ChunkWriter(page: chunk.page, ids: new.index.ids, entries: entries, order: order, epoch: epoch)
                .write(&writer)
            return writer.sealed()
        }
    }

    private func isChanged(
        _ chunk: Layout.Chunk, _ entries: ArraySlice<Int>, _ changed: EntrySet
    ) -> Bool {
        guard let stored = loader.chunks[chunk.position]?.record, stored.page == chunk.page,
            stored.ids.count == entries.count
        else { return true }
        if writesPositions && stored.epoch != nil { return true }
        if entries.contains(where: changed.contains) { return true }
        return old.index.ids[entries] != stored.ids
    }

    private func locations(_ layout: Layout) throws -> [Location] {
        let index = try loader.index()
        var locations: [Location] = []
        locations.reserveCapacity(changed.count)
        for chunk in layout.chunks where chunk.position != chunk.home || chunk.page == 0 {
            for entry in layout.entries(of: chunk) where new.entries[entry].chunk != chunk.position {
                let address = index.address(of: new.id(of: entry))
                locations.append(Location(address, feed: feed, position: chunk.position))
            }
        }
        for entry in changed where !new.entries[entry].isCached && entry < old.entries.count {
            let address = index.address(of: new.id(of: entry))
            locations.append(Location(address, feed: feed, position: Location.gone))
        }
        return locations
    }

    // MARK: Gaps

    /// Writes each gap under the position of the chunk below it. Returns the count of the last segment.
    private mutating func writeGaps(_ layout: Layout) throws -> SegmentCount {
        let segments = segments()
        let known = loader.gaps.all
        if known.isEmpty && segments.count == 1 { return segments[0].count }
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
            try transaction.put(.gaps(of: feed), NumberKey(position), record.encoded())
        }
        for position in stored.keys where !written.contains(position) {
            try transaction.delete(.gaps(of: feed), NumberKey(position))
        }
        for id in places.keys { try transaction.delete(.gapPlaces(of: feed), NumberKey(id.number)) }
        return segments[number].count
    }

    private func put(_ position: UInt64, of gap: GapID) throws {
        var writer = ByteWriter(capacity: 16)
        writer.number(position)
        try transaction.put(.gapPlaces(of: feed), NumberKey(gap.number), writer.sealed())
    }

    private func segments() -> [(count: SegmentCount, hidesGaps: Bool)] {
        var segments: [(count: SegmentCount, hidesGaps: Bool)] = []
        var (count, hidesGaps) = (SegmentCount(), false)
        for row in new.rows {
            switch row {
            case .gap:
                segments.append((count, hidesGaps))
                (count, hidesGaps) = (SegmentCount(), false)
            case .entry(let entry) where !new.entries[entry].isDetached:
                count.entries += 1
                if new.entries[entry].key == nil { count.unkeyed += 1 }
            case .entry: continue
            case .unloaded(let run):
                count.entries += new.unloaded[run].count
                count.unkeyed += new.unloaded[run].unkeyed
                hidesGaps = hidesGaps || new.unloaded[run].hidesGaps
            }
        }
        return segments + [(count, hidesGaps)]
    }

    // MARK: Pages

    /// Writes the pages whose entries or links changed, and removes those without entries. Returns by how
    /// many pages the feed grew.
    private mutating func writePages(_ layout: Layout) throws -> Int {
        var starts = NumberTable<UInt64>()
        for chunk in layout.chunks where chunk.position != chunk.home && starts[chunk.page] == nil {
            starts[chunk.page] = chunk.position
        }
        let change = pageChanges()
        var added = 0
        for (number, page) in new.pages {
            let before = loader.pages[number]
            if change[number] == nil, starts[number] == nil, page == before?.page,
                before.map({ !hasLeft(number, $0.start, layout) }) ?? true
            {
                pages[number] = before
                continue
            }
            let key = NumberKey(newestFirst: number)
            let entries = (before?.entries ?? 0) + (change[number] ?? 0)
            var start = min(starts[number] ?? .max, before?.start ?? .max)
            if let before, entries > 0, start == before.start, hasLeft(number, start, layout) {
                start = try firstChunk(of: number, from: start)
            }
            if let before { ranks.append(RankChange(position: before.start, pages: -1)) }
            if entries > 0 { ranks.append(RankChange(position: start, pages: 1)) }
            let record = PageRecord(page: page, entries: entries, start: start == .max ? 0 : start)
            if record.entries == 0 {
                if before != nil {
                    try transaction.delete(.pages(of: feed), key)
                    added -= 1
                }
            } else if record != before {
                try transaction.put(.pages(of: feed), key, record.encoded())
                if before == nil { added += 1 }
            }
            if record.entries > 0 { pages[number] = record }
        }
        return added
    }

    /// Returns true if the page had its first chunk at this position, and has it no longer. Positions of chunks
    /// that were not loaded stay as they are.
    private func hasLeft(_ page: UInt64, _ start: UInt64, _ layout: Layout) -> Bool {
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
    private mutating func noteRows(_ layout: Layout) {
        for chunk in layout.chunks {
            let before = loader.chunks[chunk.position]?.record.entries.count ?? 0
            if chunk.range.count == before { continue }
            ranks.append(RankChange(position: chunk.position, rows: chunk.range.count - before))
        }
        for (position, chunk) in loader.chunks where layout.chunk(at: position) == nil {
            ranks.append(RankChange(position: position, rows: -chunk.record.entries.count))
        }
        let known = loader.gaps.all
        if known.elementsEqual(gaps, by: { $0.position == $1.position }) { return }
        for gap in known { ranks.append(RankChange(position: gap.position, rows: -1)) }
        for gap in gaps { ranks.append(RankChange(position: gap.position, rows: 1)) }
    }

    /// Returns by how many entries each page grew. Adjacent entries with the same change are counted
    /// together.
    private func pageChanges() -> NumberTable<Int> {
        var change = NumberTable<Int>()
        for (page, count) in removed.pages { change[page] = -count }
        var (from, to, count): (UInt64, UInt64, Int) = (0, 0, 0)
        func note() {
            if from == to { return }
            change[from] = (change[from] ?? 0) - count
            change[to] = (change[to] ?? 0) + count
        }
        for entry in changed {
            let nextFrom = entry < old.entries.count ? old.entries[entry].page : 0
            let nextTo = new.entries[entry].isCached ? new.entries[entry].page : 0
            if nextFrom != from || nextTo != to {
                note()
                (from, to, count) = (nextFrom, nextTo, 0)
            }
            count += 1
        }
        note()
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

    private func writeFeed(
        _ layout: Layout, lastSegment: SegmentCount, pagesAdded: Int
    ) throws -> FeedRecord {
        var record = record
        record.lastSegment = lastSegment
        record.counts.pages += pagesAdded
        for gap in old.gapRows { record.counts.add(old.gaps[gap], -1) }
        for gap in new.gapRows { record.counts.add(new.gaps[gap], 1) }
        record.counts.chunks += layout.chunks.count - loader.chunks.count
        record.counts.pages -= removed.counts.pages
        record.counts.chunks -= removed.counts.chunks
        record.counts.entries -= removed.counts.entries
        record.counts.bodyBytes -= removed.counts.bodyBytes
        for entry in changed {
            if entry < old.entries.count { record.counts.add(old.entries[entry], -1) }
            if new.entries[entry].isCached { record.counts.add(new.entries[entry], 1) }
        }
        try transaction.put(.record(of: feed), NoKey(), record.encoded())
        return record
    }

    /// Returns the old record with the rule's counters and position shifts.
    static func record(_ loader: FeedLoader, _ new: FeedState, writesPositions: Bool) -> FeedRecord {
        var record = loader.record
        record.take(new)
        if writesPositions {
            record.shifts.clear()
        } else {
            record.shifts.add(new.unloaded, unit: new.unit, forgets: !record.keepsPlaces)
        }
        return record
    }
}

extension FeedCounts {
    mutating func add(_ entry: Entry, _ sign: Int) {
        if entry.isDetached { detached += sign } else { entries += sign }
        if entry.isPlaceholder { placeholders += sign }
        if entry.isPinned { pinned += sign }
        if entry.isUnverified { unverifiedJoins += sign }
        bodyBytes += sign * Int(entry.body.length)
    }

    mutating func add(_ gap: Gap, _ sign: Int) {
        gaps += sign
        if gap.isEndInDoubt { endsInDoubt += sign }
        if gap.isOverlapping { overlaps += sign }
    }
}
