/// There is no free position between two chunks: load those around it and assign their positions again.
struct PositionsExhausted: Error {
    /// The last position in use above the place, and the first one below it.
    let above: UInt64?
    let below: UInt64?
}

/// Assigns the rows of a state to chunks, and positions to the chunks. An unchanged chunk keeps its position,
/// so a page put on top writes one new chunk.
struct Layout {
    struct Chunk {
        var page: UInt64
        /// Its entries, as a range of ``Layout/entries``.
        var range: Range<Int>
        /// The chunk from which these entries were read; 0 if all of them are new or changed their page.
        var home: UInt64
        var position: UInt64 = 0
    }

    enum Item {
        case chunk(Int)
        case gap(Int)
        case unloaded(ClosedRange<UInt64>)
    }

    /// The entries of all chunks, in order.
    private(set) var entries: [Int] = []
    private(set) var chunks: [Chunk] = []
    private(set) var items: [Item] = []
    /// What is above each gap, and below the last one.
    private(set) var segments: [Segment] = []
    private(set) var lastSegment = Segment()

    /// The size of a segment, and whether there are gaps in it that were not loaded.
    struct Segment {
        var count = SegmentCount()
        var hidesGaps = false
    }

    /// A stored chunk.
    typealias Home = (page: UInt64, entries: Int)

    /// `home` returns the stored chunk at a position. `spreads`: where there is no free position, the chunks
    /// that are loaded around the place get new ones.
    init(
        _ state: borrowing FeedState, tuning: Tuning, spreads: Bool, home: (UInt64) -> Home?
    ) throws {
        cut(state, home, tuning.chunkLimit)
        keepPositions()
        try allocatePositions(state, spreads, tuning)
    }

    /// Returns the chunk at a position. Positions ascend.
    func chunk(at position: UInt64) -> Chunk? {
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if chunks[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low < chunks.count && chunks[low].position == position ? chunks[low] : nil
    }

    func entries(of chunk: Chunk) -> ArraySlice<Int> { entries[chunk.range] }

    /// Returns the position of the last chunk above an item; nil if there is none.
    func position(above item: Int) -> UInt64? {
        for item in items[..<item].reversed() {
            switch item {
            case .gap: continue
            case .unloaded(let range): return range.upperBound
            case .chunk(let chunk): return chunks[chunk].position
            }
        }
        return nil
    }

    /// The position of the first chunk; nil if there is none.
    var top: UInt64? {
        switch items.first {
        case .unloaded(let range): range.lowerBound
        case .chunk(let chunk): chunks[chunk].position
        case .gap, nil: nil
        }
    }

    private mutating func cut(_ state: borrowing FeedState, _ homes: (UInt64) -> Home?, _ limit: Int) {
        entries = [Int](unsafeUninitializedCapacity: state.rows.count) { order, count in
            state.entries.withUnsafeBufferPointer { cut(state, $0, homes, limit, into: order, &count) }
        }
    }

    private mutating func cut(
        _ state: borrowing FeedState, _ all: UnsafeBufferPointer<Entry>, _ homes: (UInt64) -> Home?,
        _ limit: Int, into order: UnsafeMutableBufferPointer<Int>, _ count: inout Int
    ) {
        var (cut, segment) = (Cut(), Segment())
        for row in state.rows {
            switch row {
            case .gap(let gap):
                cut.close(at: count)
                cut.items.append(.gap(gap))
                segments.append(segment)
                segment = Segment()
            case .unloaded(let run):
                let span = state.unloaded[run]
                cut.close(at: count)
                cut.items.append(.unloaded(span.chunks))
                segment.count.entries += span.count
                segment.count.unkeyed += span.unkeyed
                segment.hidesGaps = segment.hidesGaps || span.hidesGaps
            case .entry(let entry):
                let (page, chunk) = (all[entry].page, all[entry].chunk)
                if cut.start == count || page != cut.page || chunk != cut.chunk {
                    cut.open(page, chunk, at: count, chunk == 0 ? nil : homes(chunk), limit)
                }
                if count &- cut.start == limit { cut.close(at: count) }
                order.initializeElement(at: count, to: entry)
                count &+= 1
                if all[entry].isDetached { continue }
                segment.count.entries &+= 1
                if all[entry].key == nil { segment.count.unkeyed &+= 1 }
            }
        }
        cut.close(at: count)
        (chunks, items, lastSegment) = (cut.chunks, cut.items, segment)
    }

    /// Cuts rows into chunks: consecutive entries of one page and one home. A new entry without a page, which
    /// is a local post, joins the chunk below it while there is room.
    private struct Cut {
        var chunks: [Chunk] = []
        var items: [Item] = []
        /// The first entry of the open chunk, and what it was read from.
        private(set) var start = 0
        private(set) var page: UInt64 = 0
        private(set) var chunk: UInt64 = 0
        private var home: UInt64 = 0

        init() {
            chunks.reserveCapacity(4)
            items.reserveCapacity(4)
        }

        /// Closes the open chunk unless it continues with an entry of this page and stored chunk.
        mutating func open(_ page: UInt64, _ chunk: UInt64, at count: Int, _ stored: Home?, _ limit: Int) {
            let isHome = stored?.page == page
            let nextHome = isHome ? chunk : 0
            let joins =
                isHome && self.page == 0 && home == 0 && count - start + (stored?.entries ?? 0) <= limit
            if page != self.page || nextHome != home && !joins { close(at: count) }
            (self.page, self.chunk, home) = (page, chunk, nextHome)
        }

        mutating func close(at count: Int) {
            if start == count { return }
            items.append(.chunk(chunks.count))
            chunks.append(Chunk(page: page, range: start..<count, home: home))
            start = count
        }
    }

    /// Keeps chunks at their positions if the order of positions allows it.
    private mutating func keepPositions() {
        var last: UInt64 = 0
        var ceiling = ceiling(from: 0)
        for (i, item) in items.enumerated() {
            switch item {
            case .gap: continue
            case .unloaded(let range):
                (last, ceiling) = (range.upperBound, self.ceiling(from: i + 1))
            case .chunk(let chunk):
                let home = chunks[chunk].home
                if home > last && home < ceiling {
                    chunks[chunk].position = home
                    last = home
                }
            }
        }
    }

    /// Returns the first position of the next unloaded span.
    private func ceiling(from start: Int) -> UInt64 {
        for item in items[start...] {
            if case .unloaded(let range) = item { return range.lowerBound }
        }
        return .max
    }

    private mutating func allocatePositions(
        _ state: borrowing FeedState, _ spreads: Bool, _ tuning: Tuning
    ) throws {
        var floor: UInt64?
        var i = 0
        var isBelowGap = false
        while i < items.count {
            switch items[i] {
            case .gap: isBelowGap = true
            case .unloaded(let range): (floor, isBelowGap) = (range.upperBound, false)
            case .chunk(let chunk) where chunks[chunk].position != 0:
                (floor, isBelowGap) = (chunks[chunk].position, false)
            case .chunk(let chunk):
                let (count, ceiling) = unplaced(from: i)
                let hugsCeiling = isBelowGap || hasOnlyDetached(above: i, state)
                let found = Self.positions(
                    count, above: ceiling, below: floor, hugsCeiling: hugsCeiling, tuning)
                if let (first, step) = found {
                    for n in 0..<count { chunks[chunk + n].position = first + UInt64(n) * step }
                } else if !spreads || !spread(around: i, tuning) {
                    throw PositionsExhausted(above: floor, below: ceiling)
                }
                (floor, isBelowGap) = (chunks[chunk].position, false)
            }
            i += 1
        }
    }

    /// Returns true if no row of the server is above an item.
    private func hasOnlyDetached(above item: Int, _ state: borrowing FeedState) -> Bool {
        for item in items[..<item].reversed() {
            switch item {
            case .gap: return false
            case .unloaded(let chunks):
                guard state.unloaded.contains(where: { $0.isDetached && $0.chunks == chunks }) else {
                    return false
                }
            case .chunk(let chunk):
                for entry in entries(of: chunks[chunk]) where !state.entries[entry].isDetached {
                    return false
                }
            }
        }
        return true
    }

    /// Returns the number of chunks without a position from here on, and the next position in use.
    private func unplaced(from start: Int) -> (count: Int, ceiling: UInt64?) {
        var count = 0
        for item in items[start...] {
            switch item {
            case .gap: continue
            case .unloaded(let range): return (count, range.lowerBound)
            case .chunk(let chunk):
                if chunks[chunk].position != 0 { return (count, chunks[chunk].position) }
                count += 1
            }
        }
        return (count, nil)
    }

    /// Returns `count` positions between two in use, as the first and their distance. Downward fills of a gap
    /// append below its upper side, upward fills above its lower side, and what comes on top of the server's
    /// rows goes below the detached entries there. All must find room many times.
    /// Returns nil if there is no room.
    private static func positions(
        _ count: Int, above ceiling: UInt64?, below floor: UInt64?, hugsCeiling: Bool,
        _ tuning: Tuning
    ) -> (first: UInt64, step: UInt64)? {
        let number = UInt64(count)
        switch (floor, ceiling) {
        case (nil, nil):
            return (1 << 63, tuning.outerStride)
        case (nil, let ceiling?):
            let step = min(tuning.outerStride, (ceiling - 1) / number)
            if step == 0 { return nil }
            return (ceiling - number * step, step)
        case (let floor?, nil):
            let step = min(tuning.outerStride, (.max - floor) / number)
            if step == 0 { return nil }
            return (floor + step, step)
        case (let floor?, let ceiling?):
            let step = min(tuning.innerStride, (ceiling - floor - 1) / (number + 1))
            if step == 0 { return nil }
            return (hugsCeiling ? ceiling - number * step : floor + step, step)
        }
    }

    /// Spaces the chunks around an item evenly, as far as they are loaded. Returns false if they would still
    /// be crowded, and more must be loaded.
    private mutating func spread(around item: Int, _ tuning: Tuning) -> Bool {
        var (first, end) = (item, item)
        var (floor, ceiling): (UInt64?, UInt64?)
        while first > 0, floor == nil {
            if case .unloaded(let above) = items[first - 1] { floor = above.upperBound } else { first -= 1 }
        }
        while end < items.count, ceiling == nil {
            if case .unloaded(let below) = items[end] { ceiling = below.lowerBound } else { end += 1 }
        }
        let nearby = items[first..<end].compactMap { if case .chunk(let chunk) = $0 { chunk } else { nil } }
        let number = UInt64(nearby.count)
        let step = min(tuning.outerStride, ((ceiling ?? .max) - (floor ?? 0)) / (number + 1))
        let isWhole = floor == nil && ceiling == nil
        if step < tuning.innerStride && !isWhole { return false }
        // where the feed ends, room is left beyond
        let start = floor.map { $0 + step } ?? ceiling.map { $0 - number * step } ?? 1 << 63
        for (n, chunk) in nearby.enumerated() { chunks[chunk].position = start + UInt64(n) * step }
        return true
    }
}
