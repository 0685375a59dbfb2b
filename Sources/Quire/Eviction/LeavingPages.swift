/// A chunk that a walk has met.
struct SeenChunk {
    let position: UInt64
    let page: UInt64
    /// Nil if the chunk must be loaded to leave.
    var unloaded: LeavingChunk?
    let sum: Sum

    struct Sum {
        /// The number of entries with detached ones, and without.
        var count = 0
        var entries = 0
        var bodyBytes = 0
        /// True if one of the posts is pinned or visible.
        var isProtected = false

        var hasOnlyDetached: Bool { entries == 0 }

        mutating func add(_ other: Sum) {
            count += other.count
            entries += other.entries
            bodyBytes += other.bodyBytes
            isProtected = isProtected || other.isProtected
        }
    }

    init(_ columns: ChunkColumns, at position: UInt64, next: UInt64?, _ policy: PrunePolicy) throws {
        let sums = columns.sums
        (self.position, page) = (position, columns.page)
        unloaded = LeavingChunk(columns, sums, at: position, next: next)
        var isProtected = sums.flags & ChunkColumns.Flag.pinned != 0
        if !policy.visible.isEmpty && !isProtected {
            isProtected = try columns.ids().contains(where: policy.visible.contains)
        }
        sum = Sum(
            count: columns.count, entries: columns.count - sums.detached, bodyBytes: sums.bodyBytes,
            isProtected: isProtected)
    }
}

/// Chunks that are to leave.
struct LeavingPages {
    private(set) var chunks: [SeenChunk] = []
    private(set) var sum = SeenChunk.Sum()

    init() {}
    init(_ chunk: SeenChunk) { add(chunk) }

    mutating func add(_ chunk: SeenChunk) {
        chunks.append(chunk)
        sum.add(chunk.sum)
    }

    mutating func add(_ other: LeavingPages) {
        chunks += other.chunks
        sum.add(other.sum)
    }

    /// The chunks from the top down. They mostly came from the bottom up.
    var inOrder: [SeenChunk] {
        let reversed = Array(chunks.reversed())
        let isOrdered = zip(reversed, reversed.dropFirst()).allSatisfy { $0.position < $1.position }
        return isOrdered ? reversed : chunks.sorted { $0.position < $1.position }
    }

    /// Returns the chunks if these are the last of the feed, and none of them must be loaded.
    func asTail(_ chunks: [SeenChunk]) -> [LeavingChunk]? {
        var tail: [LeavingChunk] = []
        tail.reserveCapacity(chunks.count)
        for (i, chunk) in chunks.enumerated() {
            guard let unloaded = chunk.unloaded,
                unloaded.next == (i + 1 < chunks.count ? chunks[i + 1].position : nil)
            else { return nil }
            tail.append(unloaded)
        }
        return tail
    }

    /// Loads the chunks of a page that does not leave as a whole.
    mutating func load(page: UInt64) {
        for i in chunks.indices where chunks[i].page == page { chunks[i].unloaded = nil }
    }
}
