/// A chunk of which every entry will leave: none is detached or pinned, has an unverified join, or is a
/// placeholder. So no rule needs its entries, and it is removed without being loaded.
struct LeavingChunk {
    let position: UInt64
    /// The position of the following chunk.
    let next: UInt64?
    let page: UInt64
    let count: SegmentCount

    /// Returns nil if an entry has more to it than a post in its place.
    init?(_ columns: ChunkColumns, at position: UInt64, next: UInt64?) {
        var (all, unkeyed): (UInt8, Int) = (0, 0)
        for slot in 0..<columns.count {
            let flags = columns.flags(slot)
            all |= flags
            if flags & ChunkColumns.Flag.key == 0 { unkeyed += 1 }
        }
        if all & ChunkColumns.Flag.rare != 0 || columns.page == 0 { return nil }
        (self.position, self.next, page) = (position, next, columns.page)
        count = SegmentCount(entries: columns.count, unkeyed: unkeyed)
    }
}

/// Chunks that were removed without having been loaded, and what the feed lost with them.
struct RemovedChunks {
    private(set) var counts = FeedCounts()
    private(set) var chunks = NumberTable<LeavingChunk>()
    /// By how many entries each page shrank.
    private(set) var pages = NumberTable<Int>()
    private(set) var ranks: [RankChange] = []

    var isEmpty: Bool { chunks.isEmpty }

    mutating func add(_ chunk: LeavingChunk, bodyBytes: Int) {
        chunks[chunk.position] = chunk
        pages[chunk.page] = (pages[chunk.page] ?? 0) + chunk.count.entries
        counts.chunks += 1
        counts.entries += chunk.count.entries
        counts.bodyBytes += bodyBytes
        ranks.append(RankChange(position: chunk.position, rows: -chunk.count.entries))
    }

    /// Notes that a page went with its chunks.
    mutating func removePage(_ page: PageHead) {
        counts.pages += 1
        ranks.append(RankChange(position: page.start, pages: -1))
    }
}
