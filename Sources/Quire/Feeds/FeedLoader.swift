/// Loads the part of a feed that a rule needs: the chunks of its entries and the gaps next to them. The rest
/// appears in the state as unloaded spans. It belongs to a ``WriteSession``, whose note on properties is true
/// of it, too; the next session may take it over.
final class FeedLoader {
    @exclusivity(unchecked) private(set) var transaction: Transaction
    let feed: UInt32
    let gapLimit: Int
    @exclusivity(unchecked) var record: FeedRecord
    @exclusivity(unchecked) private var clock: UInt64
    @exclusivity(unchecked) private var indexes: Indexes
    @exclusivity(unchecked) private var opened: PostIndex?
    @exclusivity(unchecked) private(set) var gaps: KnownGaps { didSet { rows = nil } }
    @exclusivity(unchecked) private(set) var chunks = LoadedChunks() { didSet { rows = nil } }
    /// The position of the topmost chunk, once it is known.
    @exclusivity(unchecked) private var top: UInt64?
    /// What a write left, until the next operation of the session needs it as loaded.
    @exclusivity(unchecked) private var written: FeedWriter.Written?
    /// The result of ``loadRows()``, if it is still valid.
    @exclusivity(unchecked) private var rows: FeedState?
    @exclusivity(unchecked) private(set) var pages = NumberTable<LoadedPage>()
    @exclusivity(unchecked) var tombstones: [PostID: UInt64] = [:]
    /// True if the feed has none, as far as was looked.
    @exclusivity(unchecked) private var lacksTombstones = false
    @exclusivity(unchecked) var tickets: [TicketRecord] = []
    /// How many chunks the next `load(_:)` takes from the end of a run.
    @exclusivity(unchecked) private var stride = LoadStride()
    /// What rules have looked for, and where it is in loaded chunks only.
    @exclusivity(unchecked) var lacking: [(what: Sought, positions: ClosedRange<UInt64>)] = [] {
        didSet { rows = nil }
    }
    /// True if each unloaded span needs a count of its own.
    @exclusivity(unchecked) private(set) var countsRuns: Bool {
        didSet { if countsRuns != oldValue { rows = nil } }
    }
    /// The locations, in other feeds of the collection, of posts that were loaded by id.
    @exclusivity(unchecked) private(set) var elsewhere = OtherPlaces()
    /// Chunks of which everything will leave, by position. Those that no rule asks for stay unloaded.
    @exclusivity(unchecked) private(set) var leaving: [LeavingChunk] = [] { didSet { rows = nil } }

    /// What a session opens for its loaders: the id index of a collection, and the page index of the feed. If
    /// that is not up to date, it is written, or nil.
    typealias Indexes = (
        posts: (UInt32) throws -> PostIndex, ranks: (_ mayWrite: Bool) throws -> RankIndex?
    )

    init(_ transaction: Transaction, feed: UInt32, clock: UInt64, gapLimit: Int, _ indexes: Indexes) throws {
        (self.transaction, self.feed, self.clock) = (transaction, feed, clock)
        (self.indexes, self.gapLimit) = (indexes, gapLimit)
        record = try transaction.feed(feed)
        let count = record.counts.gaps
        gaps = try KnownGaps(transaction, feed: feed, isWhole: count <= gapLimit, isEmpty: count == 0)
        countsRuns = record.options.paging.isPositional  // these need ranks
    }

    /// Starts an operation of another session, in the same transaction or in the next one.
    func begin(in transaction: Transaction, clock: UInt64, _ indexes: Indexes) {
        self.transaction = transaction
        gaps.goOn(in: transaction)
        self.indexes = indexes
        begin(clock: clock)
    }

    /// Starts an operation: forgets what belonged to the one before.
    func begin(clock: UInt64) {
        self.clock = clock
        (tombstones, tickets, elsewhere, opened) = ([:], [], OtherPlaces(), nil)
        if !leaving.isEmpty { leaving = [] }
        if let written = written.take() { written.load(into: &chunks) }
        if !lacking.isEmpty { lacking = [] }
        if !gaps.lacking.isEmpty { gaps.forgetLacking() }
        stride = LoadStride()
        countsRuns = record.options.paging.isPositional
    }

    /// Keeps what was written as loaded. The next operation of the session on this feed mostly needs the same
    /// chunks, and does not read and decode them again.
    func replace(
        gaps known: [KnownGaps.Known], written: consuming FeedWriter.Written, pages: NumberTable<LoadedPage>
    ) {
        gaps.replace(known)
        top = written.top
        self.written = consume written
        self.pages = pages
    }

    /// How many entries are in memory.
    var entryCount: Int { written?.entryCount ?? chunks.entries.count }

    // MARK: The record

    /// Takes a rule's counters and position shifts over into the record.
    func take(_ new: borrowing FeedState, writesPositions: Bool) {
        record.take(new)
        if !new.tombstones.isEmpty { lacksTombstones = false }
        if writesPositions {
            record.shifts.clear()
        } else {
            record.shifts.add(new.unloaded, unit: new.unit, forgets: !record.keepsPlaces)
        }
    }

    func take(_ counts: FeedCounts, lastSegment: SegmentCount) {
        (record.counts, record.lastSegment) = (counts, lastSegment)
    }

    func storeRecord() throws { try transaction.put(.record(of: feed), NoKey(), record) }

    /// Returns the number of rows in these chunks and of the gaps between them; nil if only the chunks tell.
    func rows(in range: ClosedRange<UInt64>) throws -> Int? {
        // a write moves what is read in place: chunks that leave, and the id index
        guard range.upperBound < .max, let ranks = try indexes.ranks(leaving.isEmpty) else { return nil }
        opened = nil
        return ranks.ranks(before: range.upperBound + 1).rows &- ranks.ranks(before: range.lowerBound).rows
    }

    /// Returns the id index of the feed's collection, and opens it on first use.
    func index() throws -> PostIndex {
        if let opened { return opened }
        let index = try indexes.posts(record.collection)
        opened = index
        return index
    }

    // MARK: What to load

    /// Loads the chunks of those posts that are known, and their tombstones.
    func load(posts ids: some Collection<PostID>) throws {
        if ids.isEmpty { return }
        elsewhere.beginLookUp()
        for (i, holder, position) in try index().places(of: ids) {
            if holder == feed {
                try load(position)
            } else {
                elsewhere.add(ids[ids.index(ids.startIndex, offsetBy: i)], holder, position)
            }
        }
        if lacksTombstones { return }
        lacksTombstones = try transaction.withCursor(.tombstones(of: feed)) { try $0.first() == nil }
        if lacksTombstones { return }
        for id in ids {
            if let value = try transaction.get(.tombstones(of: feed), PostKey.bytes(id)) {
                tombstones[id] = try ByteReader.number(value, "the tombstone of post \(id)")
            }
        }
    }

    /// Loads the chunks on both sides of these edges, and the entries at which overlapping links start. `gap`
    /// is the gap to which they probably belong.
    func load(edges numbers: [UInt64], of gap: GapID? = nil) throws {
        for number in numbers {
            if number == record.head.number {
                try loadTop()
                try load(startOf: record.head)
            } else if number == record.tail.number {
                try loadBottom()
                try load(startOf: record.tail)
            } else if let owner = try gaps.gap(withEdge: number, probably: gap) {
                try load(owner)
            }
        }
    }

    /// Does the same for the edges of a gap.
    func load(gap id: GapID) throws {
        if let gap = try gaps.gap(id) { try load(gap) }
    }

    private func load(_ gap: KnownGaps.Known) throws {
        if let above = try position(before: gap.position) { try load(above) }
        try load(gap.position)
        try load(startOf: gap.record.gap.down)
        try load(startOf: gap.record.gap.up)
    }

    /// Loads the entry at which the link of an edge starts, if it is not the edge's own.
    private func load(startOf edge: Edge) throws {
        if let after = edge.after { try load(posts: [after]) }
        if let after = edge.search?.after { try load(posts: [after]) }
    }

    func loadTop() throws {
        if let first = try topPosition() { try load(first) }
    }

    /// Returns the position of the topmost chunk.
    func topPosition() throws -> UInt64? {
        if top == nil { top = try position(atOrAfter: 0) }
        return top
    }

    func loadBottom() throws {
        if let last = chunks.all.last, last.next == nil { return }
        try transaction.withCursor(.chunks(of: feed)) { cursor in
            guard let (key, value) = try cursor.last(), let key = NumberKey(key) else { return }
            let previous = try cursor.previous().flatMap { NumberKey($0.key)?.number }
            try add(value, at: key.number, next: nil, previous: previous)
        }
    }

    func loadAll() throws {
        try gaps.loadAll()
        if let first = try topPosition() { try load(from: first, count: .max) }
    }

    /// Loads the chunk at a position.
    func load(_ position: UInt64) throws {
        if !chunks.contains(position) { try load(from: position, count: 1) }
    }

    /// Loads the neighbours of loaded chunks: if entries leave, the links of their neighbours are needed.
    func loadNeighbours() throws {
        for chunk in chunks.all {
            if let next = chunk.next { try load(next) }
            if let previous = try self.position(before: chunk.position) { try load(previous) }
        }
    }

    /// Prepares that everything in these chunks leaves: loads only what is next to them. Positions ascend.
    func prepare(leaving chunks: [LeavingChunk]) throws {
        leaving = chunks
        for (i, chunk) in chunks.enumerated() {
            if i == 0 || chunks[i - 1].next != chunk.position,
                let above = try position(before: chunk.position)
            {
                try load(above)
            }
            if let next = chunk.next, i + 1 == chunks.count || chunks[i + 1].position != next {
                try load(next)
            }
        }
    }

    /// Loads what a stopped rule needs. `run` is the unloaded span in the state in which it stopped.
    func load(_ need: Need, in run: UnloadedSpan) throws {
        switch need {
        case .all: try load(from: run.chunks.lowerBound, count: .max, upTo: run.chunks.upperBound)
        case .top:
            let count = stride.next(from: run.chunks.lowerBound, isDown: true)
            stride.goesOn(at: try load(from: run.chunks.lowerBound, count: count))
        case .bottom:
            let count = stride.next(from: run.chunks.upperBound, isDown: false)
            let first = try load(upTo: run.chunks.upperBound, count: count)
            stride.goesOn(at: try position(before: first))
        case .key(_, let key): try load(try position(ofKey: key, in: run.chunks))
        case .counts: countsRuns = true
        case .gaps(_, let sought): try gaps.load(sought, in: run.chunks)
        case .sought(_, let what): try load(what, in: run.chunks)
        }
    }

    /// Loads up to `reach` chunks on each side of a place without a free position; beyond 512, the whole
    /// feed.
    func load(around place: PositionsExhausted, reach: Int) throws {
        if reach > 512 { return try loadAll() }
        if let above = place.above { try load(upTo: above, count: reach) }
        if let below = place.below { try load(from: below, count: reach) }
    }

    // MARK: Walking the chunks

    /// Returns the position of the chunk below those that were loaded.
    @discardableResult
    private func load(from first: UInt64, count: Int, upTo last: UInt64 = .max) throws -> UInt64? {
        try transaction.withCursor(.chunks(of: feed)) { cursor in
            var found = try cursor.seek(NumberKey(first))
            var count = count
            while count > 0, let (key, value) = found, let key = NumberKey(key), key.number <= last {
                found = try cursor.next()
                if !chunks.contains(key.number) {
                    try add(value, at: key.number, next: found.flatMap { NumberKey($0.key)?.number })
                }
                count -= 1
            }
            return found.flatMap { NumberKey($0.key)?.number }
        }
    }

    private func add(
        _ value: UnsafeRawBufferPointer, at position: UInt64, next: UInt64?, previous: UInt64? = nil
    ) throws(QuireError) {
        let columns = try ChunkColumns(value: value, "a chunk of feed \(record.name)")
        do throws(QuireError) {
            try chunks.add(columns, at: position, next: next, previous: previous, record.shifts)
        } catch {
            throw .corrupt("a chunk of feed \(record.name)")
        }
    }

    /// Returns the position of the topmost chunk that was loaded.
    @discardableResult
    private func load(upTo last: UInt64, count: Int) throws -> UInt64 {
        var first = last
        for _ in 1..<count {
            guard let previous = try position(before: first) else { break }
            first = previous
        }
        try load(from: first, count: count, upTo: last)
        return first
    }

    func position(atOrAfter position: UInt64) throws -> UInt64? {
        try transaction.withCursor(.chunks(of: feed)) { cursor in
            try cursor.seek(NumberKey(position)).flatMap { NumberKey($0.key)?.number }
        }
    }

    /// Returns the position before this one; nil as the argument means the end of the feed.
    func position(before position: UInt64?) throws -> UInt64? {
        try transaction.withCursor(.chunks(of: feed)) { cursor in
            let found = try position.map { try cursor.before(NumberKey($0)) } ?? cursor.last()
            return found.flatMap { NumberKey($0.key)?.number }
        }
    }

    /// Returns the last chunk that begins with a key of at least this one, by bisection, since keys descend.
    private func position(ofKey key: Int64, in range: ClosedRange<UInt64>) throws -> UInt64 {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = low + (high - low) / 2 + 1
            guard let position = try position(atOrAfter: middle), position <= high else {
                guard let last = try self.position(before: middle), last > low else { break }
                high = last
                continue
            }
            let chunk = try transaction.columns(at: position, of: feed)
            guard let first = (0..<chunk.count).lazy.compactMap(chunk.key).first, first < key else {
                low = position
                continue
            }
            guard let previous = try self.position(before: position), previous >= low else { break }
            high = previous
        }
        return low
    }

    // MARK: The state

    /// Returns the state for a rule. ``keep(_:)`` gives it back if nothing was written.
    func takeState() throws -> FeedState {
        try loadRows()
        var state = rows.take()!
        state.take(record)
        state.sticky = try sticky()
        state.clock = clock
        state.tombstones = tombstones
        state.tickets = tickets
        state.mayHideEndsInDoubt =
            gaps.areHidden && record.counts.endsInDoubt > gaps.all.count(where: \.record.gap.isEndInDoubt)
        state.mayHideOverlaps =
            gaps.areHidden && record.counts.overlaps > gaps.all.count(where: \.record.gap.isOverlapping)
        return state
    }

    func keep(_ state: consuming FeedState) { rows = consume state }

    private func sticky() throws -> Set<PostID> {
        try record.options.sticky.reduce(into: []) {
            try $0.insert(transaction.name(of: $1, in: record.collection))
        }
    }

    /// Builds a state with the loaded rows. It is valid until more is loaded or something is written, so a
    /// request and its answer in one batch share it.
    private func loadRows() throws {
        if rows != nil { return }
        if gaps.areHidden {
            try gaps.load(around: (chunks.all.map(\.position) + leaving.map(\.position)).sorted())
        }
        if !leaving.isEmpty {  // a link that begins at a post that leaves must change (R14)
            let edges =
                [record.head, record.tail] + gaps.all.flatMap { [$0.record.gap.down, $0.record.gap.up] }
            try load(posts: edges.compactMap(\.after))
        }
        var state = FeedState(options: record.options)
        (state.entries, state.index) = (chunks.entries, chunks.index)
        state.rows.reserveCapacity(state.entries.count + 64)  // with room for an answer
        try appendRows(to: &state)
        for chunk in chunks.all where chunk.page != 0 && !state.pages.contains(chunk.page) {
            state.pages[chunk.page] = try page(chunk.page).record.page
        }
        rows = consume state
    }

    @discardableResult
    func page(_ number: UInt64) throws(QuireError) -> LoadedPage {
        if let page = pages[number] { return page }
        let page = LoadedPage(try transaction.page(number, of: feed))
        pages[number] = page
        return page
    }
}
