/// What a snapshot found and need not look up again: its cursors, the last body record, where no gap is, the
/// runs of the id index. It goes on to the next snapshot of the same read transaction: what it found is true
/// for all snapshots of one commit, cursors serve any.
final class SnapshotMemory {
    private struct State {
        /// The commit that the rest is about, and where the file lies in memory.
        var number: UInt64 = .max
        var map: UInt64 = 0
        var chunks = KeptCursor()
        var bodies = KeptCursor()
        /// The feed and position of the chunk at which the cursor stands; feed 0 if it stands elsewhere.
        var at: (feed: UInt32, position: UInt64) = (0, 0)
        /// The body record that was found last; 0 if none was.
        var recordNumber: UInt64 = 0
        var record = UnsafeRawBufferPointer(start: nil, count: 0)
        /// The one before it, to which a reader of shared posts goes back.
        var previous = (number: 0 as UInt64, record: UnsafeRawBufferPointer(start: nil, count: 0))
        var records = FoundRecords()
        var pages = FoundPages()
        /// The feed in which no gap is from one position up to before another; 0 if none was looked for.
        var gapless: (feed: UInt32, from: UInt64, to: UInt64) = (0, 0, 0)
        var index: PostIndex?
        var counts: (aliases: UInt64, fields: UInt64)?
    }

    /// Behind a pointer, because the compiler guards the properties of classes against overlapping access,
    /// and every row would pay for that.
    private let state: UnsafeMutablePointer<State>

    init() {
        state = .allocate(capacity: 1)
        state.initialize(to: State())
    }

    deinit {
        state.pointee.chunks.close()
        state.pointee.bodies.close()
        state.pointee.records.free()
        state.pointee.pages.free()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Returns the memory that came with a read transaction, or a new one. It lives as long as that.
    static func of(_ reader: inout Environment.Reader) -> Unmanaged<SnapshotMemory> {
        // nothing else puts a memory there
        let kept = reader.memory ?? .passRetained(SnapshotMemory())
        reader.memory = kept
        let memory = Unmanaged<SnapshotMemory>.fromOpaque(kept.toOpaque())
        memory._withUnsafeGuaranteedRef { $0.begin(reader.transaction, map: reader.map) }
        return memory
    }

    private func begin(_ transaction: Transaction, map: UInt64) {
        state.pointee.map = map
        state.pointee.chunks.begin()
        state.pointee.bodies.begin()
        state.pointee.at.feed = 0
        let number = transaction.number
        if number == state.pointee.number { return }
        state.pointee.number = number
        (state.pointee.recordNumber, state.pointee.previous.number) = (0, 0)
        state.pointee.gapless.feed = 0
        state.pointee.index = nil
        state.pointee.counts = nil
    }

    // MARK: Chunks

    typealias Found = (position: UInt64, value: UnsafeRawBufferPointer)

    /// Returns the first chunk of a feed from a position on. Readers scroll, so it often is the one at which
    /// the cursor stands, or the next one.
    func chunk(_ transaction: Transaction, _ feed: UInt32, from position: UInt64) throws(QuireError) -> Found?
    {
        let cursor = try state.pointee.chunks.inside(transaction, .chunks(of: feed))
        let at = state.pointee.at
        if at.feed == feed, feed != 0, at.position <= position {  // no feed has the number 0
            let found = note(at.position == position ? try cursor.current() : try cursor.next(), feed)
            if let found, found.position == position { return found }
        }
        return note(try cursor.seek(NumberKey(position)), feed)
    }

    /// Returns the chunk below that at a position. It is next to it if no other was looked up meanwhile.
    func chunk(_ transaction: Transaction, _ feed: UInt32, below position: UInt64) throws(QuireError)
        -> Found?
    {
        if state.pointee.at != (feed, position) {
            if position == .max { return nil }
            return try chunk(transaction, feed, from: position + 1)
        }
        return note(try state.pointee.chunks.inside(transaction, .chunks(of: feed)).next(), feed)
    }

    @inline(__always)
    private func note(_ record: Cursor.Record?, _ feed: UInt32) -> Found? {
        guard let (key, value) = record, let key = NumberKey(key) else {
            state.pointee.at.feed = 0
            return nil
        }
        state.pointee.at = (feed, key.number)
        return (key.number, value)
    }

    // MARK: Pages

    /// Notes where a page was found, for cursors over it.
    func place(
        _ chunk: UnsafeRawBufferPointer, _ columns: ChunkColumns, _ transaction: Transaction
    ) -> PagePlace {
        let first = columns.firstBody
        guard state.pointee.map != 0, first.record != 0,
            let record = try? record(first.record, transaction)
        else { return PagePlace() }
        let start = min(Int(first.offset), record.count)
        return PagePlace(
            map: state.pointee.map, commit: state.pointee.number, chunk: chunk, recordNumber: first.record,
            record: record, bodies: start..<min(start + columns.lengthSum, record.count))
    }

    /// Returns the chunk of a page if the place is one of this commit, and remembers its bodies.
    func chunk(at place: PagePlace) -> UnsafeRawBufferPointer? {
        if place.map == 0 || place.map != state.pointee.map || place.commit != state.pointee.number {
            return nil
        }
        place.prefetch()
        (state.pointee.recordNumber, state.pointee.record) = (place.recordNumber, place.record)
        return place.chunk
    }

    /// Returns where a page was found in this commit, and how many posts it has.
    func page(_ number: UInt64, of feed: UInt32) -> FoundPages.Page? {
        guard let page = state.pointee.pages[number, feed], page.place.map == state.pointee.map,
            page.place.commit == state.pointee.number
        else { return nil }
        return page
    }

    /// Notes where a page was found; not if the bodies of its first chunk were not.
    func note(_ page: FoundPages.Page, _ number: UInt64, of feed: UInt32) {
        if page.place.map != 0 { state.pointee.pages.note(page, number, feed) }
    }

    // MARK: Gaps

    /// Returns the gap above the chunk at a position.
    func gap(_ transaction: Transaction, _ feed: UInt32, at position: UInt64) throws(QuireError) -> GapRow? {
        guard let value = try gapBytes(transaction, feed, at: position) else { return nil }
        return RowReader.row(try GapRecord(value, "a gap of feed number \(feed)"), at: position)
    }

    /// Returns true if a gap is above the chunk at a position.
    func hasGap(_ transaction: Transaction, _ feed: UInt32, at position: UInt64) throws(QuireError) -> Bool {
        try gapBytes(transaction, feed, at: position) != nil
    }

    /// One look-up serves for all chunks up to the next gap.
    private func gapBytes(
        _ transaction: Transaction, _ feed: UInt32, at position: UInt64
    ) throws(QuireError) -> UnsafeRawBufferPointer? {
        let known = state.pointee.gapless
        if known.feed == feed, known.from <= position, position < known.to { return nil }
        let cursor = try state.pointee.bodies.inside(transaction, .gaps(of: feed))
        guard let (key, value) = try cursor.seek(NumberKey(position)), let key = NumberKey(key) else {
            state.pointee.gapless = (feed, position, .max)
            return nil
        }
        state.pointee.gapless = (feed, position, key.number)
        return key.number == position ? value : nil
    }

    // MARK: Bodies

    /// Returns the bytes of a body, valid as long as the transaction.
    func body(
        _ reference: BodyReference, _ transaction: Transaction
    ) throws(QuireError) -> UnsafeRawBufferPointer {
        if reference.record == 0 { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return try BodyStore.bytes(reference, in: record(reference.record, transaction))
    }

    /// Returns the bytes of a body record. The rows of a page share one, so a page costs one descent of the
    /// B-tree instead of one for each post.
    func record(
        _ number: UInt64, _ transaction: Transaction
    ) throws(QuireError) -> UnsafeRawBufferPointer {
        if number == state.pointee.recordNumber { return state.pointee.record }
        let last = (state.pointee.recordNumber, state.pointee.record)
        if number == state.pointee.previous.number {
            (state.pointee.recordNumber, state.pointee.record) = state.pointee.previous
        } else {
            (state.pointee.recordNumber, state.pointee.record) = (number, try found(number, transaction))
        }
        state.pointee.previous = last
        return state.pointee.record
    }

    private func found(
        _ number: UInt64, _ transaction: Transaction
    ) throws(QuireError) -> UnsafeRawBufferPointer {
        let commit = state.pointee.number
        if let known = state.pointee.records[number, commit] { return known }
        let cursor = try state.pointee.bodies.inside(transaction, .bodies)
        guard let value = try cursor.find(NumberKey(newestFirst: number)) else {
            throw .corrupt("body record \(number)")
        }
        state.pointee.records.note(number, commit, value)
        return value
    }

    /// Has the processor fetch the beginning of a body that will be lent between those of another record.
    func prefetch(_ offset: Int, ofRecord number: UInt64, _ transaction: Transaction) {
        guard let record = try? found(number, transaction), offset < record.count,
            let start = record.baseAddress
        else { return }  // lending it will tell the damage
        PagePlace.prefetch(start, offset..<offset + 1)
    }

    // MARK: The id index and counters

    func index(_ transaction: Transaction, of collection: UInt32) throws -> PostIndex {
        if let index = state.pointee.index {
            return index.collection == collection ? index : index.of(collection)
        }
        let index = try PostIndex(transaction, of: collection)
        state.pointee.index = index
        return index
    }

    /// Returns how many other ids of posts there are, and how many posts have values that were updated one by
    /// one.
    func counts(_ transaction: Transaction) throws -> (aliases: UInt64, fields: UInt64) {
        if let counts = state.pointee.counts { return counts }
        let counters = try WriteSession.counters(transaction)
        let counts = (counters.aliases, counters.fieldRecords)
        state.pointee.counts = counts
        return counts
    }
}
