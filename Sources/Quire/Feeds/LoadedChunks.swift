/// The chunks of a feed that are loaded, in the order of their positions, and their entries in the order in
/// which they were loaded. A state of the feed shares the entries and numbers them alike, so nothing is
/// copied or hashed for it.
struct LoadedChunks {
    struct Chunk {
        let position: UInt64
        let page: UInt64
        /// Its entries, as a range of ``LoadedChunks/entries``.
        let range: Range<Int>
        /// True if an entry has a position in the server's list.
        let isPlaced: Bool
        /// The position of the following chunk, loaded or not.
        let next: UInt64?
        /// The position of the chunk above it, loaded or not; nil if that is not known, or there is none.
        let previous: UInt64?
    }

    private(set) var all: [Chunk] = []
    private(set) var entries: [Entry] = []
    private(set) var index = EntryIndex()

    init() {
        // with room for an answer
        entries.reserveCapacity(64)
        index.reserveCapacity(64)
    }

    /// How many entries may stay in memory from one operation to the next, and from one session to the next:
    /// about 100 KB.
    static let keptLimit = 512

    /// Forgets all chunks, and keeps the memory of a few for others.
    mutating func removeAll() {
        if entries.count > Self.keptLimit { return self = LoadedChunks() }
        all.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        index.removeAll()
    }

    subscript(position: UInt64) -> Chunk? {
        let at = index(of: position)
        return at < all.count && all[at].position == position ? all[at] : nil
    }

    func contains(_ position: UInt64) -> Bool { self[position] != nil }

    /// Returns the index of the chunk at a position, or where it belongs.
    private func index(of position: UInt64) -> Int {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Adds a chunk that is read in place, with all shifts of positions applied.
    mutating func add(
        _ columns: ChunkColumns, at position: UInt64, next: UInt64?, previous: UInt64?,
        _ shifts: PositionShifts
    ) throws(QuireError) {
        let first = entries.count
        try columns.forEachEntry(at: position) { entries.append($1) }
        for slot in 0..<columns.count { index.append(try columns.id(slot)) }
        if let epoch = columns.epoch {
            shifts.apply(to: &entries, first..<entries.count, since: epoch, at: position)
        }
        insert(
            Chunk(
                position: position, page: columns.page, range: first..<entries.count,
                isPlaced: columns.epoch != nil, next: next, previous: previous))
    }

    /// Adds a chunk that was just written, with these entries of a state.
    mutating func add(
        _ chunk: Layout.Chunk, _ order: ArraySlice<Int>, of state: borrowing FeedState, next: UInt64?,
        previous: UInt64?
    ) {
        let first = entries.count
        var isPlaced = false
        for number in order {
            var entry = state.entries[number]
            entry.chunk = chunk.position
            if entry.isPlaced { isPlaced = true }
            entries.append(entry)
            index.append(state.id(of: number))
        }
        insert(
            Chunk(
                position: chunk.position, page: chunk.page, range: first..<entries.count,
                isPlaced: isPlaced, next: next, previous: previous))
    }

    private mutating func insert(_ chunk: Chunk) {
        let at = index(of: chunk.position)
        if at == all.count { all.append(chunk) } else { all.insert(chunk, at: at) }
    }
}

/// The record of a page. It is an object because a record is full of references, and tables copy what they
/// return.
final class LoadedPage {
    let record: PageRecord

    init(_ record: PageRecord) { self.record = record }
}
