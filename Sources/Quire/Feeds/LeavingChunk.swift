/// A chunk of which every entry will leave: none is detached or pinned, has an unverified join, or is a
/// placeholder. So no rule needs its entries, and it is removed without being loaded.
struct LeavingChunk {
    let position: UInt64
    /// The position of the following chunk.
    let next: UInt64?
    let page: UInt64
    let count: SegmentCount
    let bodyBytes: Int
    /// The chunk itself. Valid until the next write.
    let columns: ChunkColumns

    /// Returns nil if an entry has more to it than a post in its place. `sums` are those of the chunk.
    init?(_ columns: ChunkColumns, _ sums: ChunkColumns.Sums, at position: UInt64, next: UInt64?) {
        if sums.flags & ChunkColumns.Flag.rare != 0 || columns.page == 0 { return nil }
        (self.position, self.next, page) = (position, next, columns.page)
        (self.columns, bodyBytes) = (columns, sums.bodyBytes)
        count = SegmentCount(entries: columns.count, unkeyed: sums.unkeyed)
    }
}

/// Chunks that were removed without having been loaded, and what the feed lost with them.
struct RemovedChunks {
    private(set) var counts = FeedCounts()
    /// In order.
    private(set) var positions: [UInt64] = []
    /// By how many entries each page shrank.
    private(set) var pages = NumberTable<Int>()
    /// What the page index must learn: first of each chunk, in order.
    private(set) var ranks: [RankChange] = []

    var isEmpty: Bool { positions.isEmpty }

    mutating func reserve(_ count: Int) {
        positions.reserveCapacity(count)
        ranks.reserveCapacity(2 * count)
    }

    /// Adds a chunk below the others.
    mutating func add(_ chunk: LeavingChunk) {
        positions.append(chunk.position)
        pages.add(chunk.count.entries, to: chunk.page)
        counts.chunks += 1
        counts.entries += chunk.count.entries
        counts.bodyBytes += chunk.bodyBytes
        ranks.append(RankChange(position: chunk.position, rows: -chunk.count.entries))
    }

    /// Returns true if there was a chunk at this position.
    func contains(_ position: UInt64) -> Bool { index(of: position) != nil }

    private func index(of position: UInt64) -> Int? {
        var (low, high) = (0, positions.count)
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low < positions.count && positions[low] == position ? low : nil
    }

    /// Notes that a page went with its chunks.
    mutating func removePage(_ page: PageHead) {
        counts.pages += 1
        if let chunk = index(of: page.start) {
            ranks[chunk].pages -= 1
        } else {
            ranks.append(RankChange(position: page.start, pages: -1))
        }
    }
}
