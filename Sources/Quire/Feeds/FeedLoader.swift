/// Loads the part of a feed that a rule needs: the chunks of its entries and the gaps next to them. The rest
/// appears in the state as unloaded spans.
final class FeedLoader {
    let transaction: Transaction
    let feed: UInt32
    private(set) var record: FeedRecord
    private var clock: UInt64
    private let openIndex: (UInt32) throws -> PostIndex
    private var opened: PostIndex?
    private(set) var gaps: KnownGaps { didSet { rows = nil } }
    /// The loaded chunks. `next` is the position of the following chunk, loaded or not.
    private(set) var chunks = NumberTable<Chunk>() { didSet { rows = nil } }
    /// The result of ``loadRows()``, if it is still valid.
    private var rows: FeedState?
    typealias Chunk = (record: ChunkRecord, next: UInt64?)
    private(set) var pages = NumberTable<PageRecord>()
    var tombstones: [PostID: UInt64] = [:]
    var tickets: [TicketRecord] = []
    /// How many chunks the next `load(_:)` takes from the end of a run. It doubles each time.
    private var stride = 2
    private var countsRuns: Bool { didSet { if countsRuns != oldValue { rows = nil } } }
    /// The locations, in other feeds of the collection, of posts that were loaded by id.
    typealias Elsewhere = [PostID: [(feed: UInt32, position: UInt64)]]
    private(set) var elsewhere: Elsewhere = [:]

    init(
        _ transaction: Transaction, feed: UInt32, clock: UInt64, gapLimit: Int,
        index: @escaping (UInt32) throws -> PostIndex
    ) throws {
        self.transaction = transaction
        self.feed = feed
        openIndex = index
        self.clock = clock
        record = try transaction.feed(feed)
        gaps = try KnownGaps(transaction, feed: feed, isWhole: record.counts.gaps <= gapLimit)
        countsRuns = record.options.paging.isPositional  // these need ranks
    }

    /// Starts an operation: forgets what belonged to the one before.
    func begin(clock: UInt64) {
        self.clock = clock
        (tombstones, tickets, elsewhere, opened) = ([:], [], [:], nil)
        stride = 2
        countsRuns = record.options.paging.isPositional
    }

    /// Keeps what was written as loaded. The next operation of the session on this feed mostly needs the same
    /// chunks, and does not read and decode them again.
    func replace(
        record: FeedRecord, gaps known: [KnownGaps.Known],
        chunks: NumberTable<Chunk>, pages: NumberTable<PageRecord>
    ) {
        self.record = record
        gaps.replace(known)
        (self.chunks, self.pages) = (chunks, pages)
    }

    func replace(record: FeedRecord) { self.record = record }

    /// Returns the id index of the feed's collection, and opens it on first use.
    func index() throws -> PostIndex {
        if let opened { return opened }
        let index = try openIndex(record.collection)
        opened = index
        return index
    }

    // MARK: What to load

    /// Loads the chunks of those posts that are known, and their tombstones.
    func load(posts ids: some Collection<PostID>) throws {
        if ids.isEmpty { return }
        for (i, holder, position) in try index().places(of: ids) {
            if holder == feed {
                try load(position)
            } else {
                let id = ids[ids.index(ids.startIndex, offsetBy: i)]
                let isKnown = elsewhere[id]?.contains { $0.feed == holder } ?? false
                if !isKnown { elsewhere[id, default: []].append((holder, position)) }
            }
        }
        let hasTombstones = try transaction.withCursor(.tombstones(of: feed)) { try $0.first() != nil }
        if !hasTombstones { return }
        for id in ids {
            if let value = try transaction.get(.tombstones(of: feed), PostKey.bytes(id)) {
                tombstones[id] = try ByteReader.number(value, "the tombstone of post \(id)")
            }
        }
    }

    /// Loads the chunks of posts that will leave, and the chunks next to them.
    func load(leaving ids: [PostID]) throws {
        try load(posts: ids)
        try loadNeighbours()
    }

    /// Loads the chunks on both sides of these edges, and the entries at which overlapping links start.
    func load(edges numbers: [UInt64]) throws {
        for number in numbers {
            var edges: [Edge] = []
            if number == record.head.number {
                try loadTop()
                edges.append(record.head)
            }
            if number == record.tail.number {
                try loadBottom()
                edges.append(record.tail)
            }
            if edges.isEmpty {
                let owner = try gaps.first { $0.down.number == number || $0.up.number == number }
                if let owner {
                    try load(owner.position)
                    edges = [owner.record.gap.down, owner.record.gap.up]
                }
            }
            try load(posts: edges.compactMap(\.after) + edges.compactMap(\.search?.after))
        }
    }

    func loadTop() throws {
        if let first = try position(atOrAfter: 0) { try load(first) }
    }

    func loadBottom() throws {
        if let last = try position(before: nil) { try load(last) }
    }

    func loadAll() throws {
        try gaps.loadAll()
        if let first = try position(atOrAfter: 0) { try load(from: first, count: .max) }
    }

    /// Loads the chunk at a position.
    func load(_ position: UInt64) throws {
        if !chunks.contains(position) { try load(from: position, count: 1) }
    }

    /// Keeps a chunk that was already read.
    func load(_ chunk: Chunk, at position: UInt64) {
        if chunks.contains(position) { return }
        var chunk = chunk
        record.shifts.apply(to: &chunk.record, at: position)
        chunks[position] = chunk
    }

    /// Keeps a page that was already read.
    func load(_ page: PageRecord) { pages[page.page.number] = page }

    /// Loads the neighbours of loaded chunks: if entries leave, the links of their neighbours are needed.
    func loadNeighbours() throws {
        for (position, chunk) in chunks {
            if let next = chunk.next { try load(next) }
            if let previous = try self.position(before: position) { try load(previous) }
        }
    }

    /// Loads what a stopped rule needs. `run` is the unloaded span in the state in which it stopped.
    func load(_ need: Need, in run: UnloadedSpan) throws {
        switch need {
        case .all: try load(from: run.chunks.lowerBound, count: .max, upTo: run.chunks.upperBound)
        case .top: try load(from: run.chunks.lowerBound, count: stride)
        case .bottom: try load(upTo: run.chunks.upperBound, count: stride)
        case .key(_, let key): try load(try position(ofKey: key, in: run.chunks))
        case .counts: countsRuns = true
        case .gaps: try gaps.load(in: run.chunks)
        }
        stride = min(stride * 2, 1 << 20)
    }

    // MARK: Walking the chunks

    private func load(from first: UInt64, count: Int, upTo last: UInt64 = .max) throws {
        try transaction.withCursor(.chunks(of: feed)) { cursor in
            var found = try cursor.seek(NumberKey(first))
            var count = count
            while count > 0, let (key, value) = found, let key = NumberKey(key), key.number <= last {
                let position = key.number
                var chunk = try ChunkRecord(value, "a chunk of feed \(record.name)")
                record.shifts.apply(to: &chunk, at: position)
                found = try cursor.next()
                chunks[position] = (chunk, found.flatMap { NumberKey($0.key)?.number })
                count -= 1
            }
        }
    }

    private func load(upTo last: UInt64, count: Int) throws {
        var first = last
        for _ in 1..<count {
            guard let previous = try position(before: first) else { break }
            first = previous
        }
        try load(from: first, count: count, upTo: last)
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
            let chunk = try transaction.chunk(at: position, of: feed)
            guard let first = chunk.entries.lazy.compactMap(\.key).first, first < key else {
                low = position
                continue
            }
            guard let previous = try self.position(before: position), previous >= low else { break }
            high = previous
        }
        return low
    }

    // MARK: The state

    func state() throws -> FeedState {
        try loadRows()
        var state = rows!
        state.take(record)
        state.sticky = try sticky()
        state.clock = clock
        state.tombstones = tombstones
        state.tickets = tickets
        return state
    }

    private func sticky() throws -> Set<PostID> {
        try record.options.sticky.reduce(into: []) {
            try $0.insert(transaction.name(of: $1, in: record.collection))
        }
    }

    /// Builds a state with the loaded rows. It is valid until more is loaded or something is written, so a
    /// request and its answer in one batch share it.
    private func loadRows() throws {
        if rows != nil { return }
        if gaps.areHidden { try gaps.load(around: chunks.map(\.number)) }
        var state = FeedState(options: record.options)
        let count = chunks.reduce(0) { $0 + $1.value.record.entries.count }
        state.entries.reserveCapacity(count + 64)  // with room for an answer
        state.index.reserveCapacity(count + 64)
        try appendRows(to: &state)
        var last: UInt64 = 0
        for number in chunks.map(\.value.record.page).sorted() where number != last {
            state.pages[number] = try page(number).page
            last = number
        }
        rows = state
    }

    func page(_ number: UInt64) throws(QuireError) -> PageRecord {
        if let page = pages[number] { return page }
        let page = try transaction.page(number, of: feed)
        pages[number] = page
        return page
    }

    private func appendRows(to state: inout FeedState) throws {
        let loaded = chunks.map(\.number)
        var at = 0
        var expected = try position(atOrAfter: 0)
        let gaps = gaps.all
        for segment in 0...gaps.count {
            let gap = segment < gaps.count ? gaps[segment] : nil
            let end = gap?.position
            let total = gap?.record.above ?? record.lastSegment
            var rest = total
            let firstRun = state.unloaded.count
            while let position = expected, end.map({ position < $0 }) ?? true {
                if at < loaded.count && loaded[at] == position {
                    let chunk = chunks[position]!
                    append(chunk.record, at: position, to: &state, uncounted: &rest)
                    expected = chunk.next
                    at += 1
                    continue
                }
                var bound = end
                if at < loaded.count, end.map({ loaded[at] < $0 }) ?? true { bound = loaded[at] }
                guard let last = try self.position(before: bound), last >= position else {
                    throw QuireError.corrupt("the gap at \(position) of feed \(record.name)")
                }
                var span = UnloadedSpan(
                    count: 0, unkeyed: 0, chunks: position...last, hidesGaps: gap?.hidesOthers ?? false)
                if !span.hidesGaps, let detached = try detached(atTopOf: span.chunks) {
                    (span.chunks, span.isDetached) = (detached.chunks, true)
                    expected = detached.next ?? bound
                } else {
                    expected = bound
                }
                state.rows.append(.unloaded(state.unloaded.count))
                state.unloaded.append(span)
            }
            try distribute(rest, in: firstRun..<state.unloaded.count, of: &state)
            if let gap {
                state.rows.append(.gap(state.gaps.count))
                state.gaps.append(gap.record.gap)
                expected = end
            }
        }
    }

    private func append(
        _ chunk: ChunkRecord, at position: UInt64, to state: inout FeedState,
        uncounted rest: inout SegmentCount
    ) {
        let first = state.entries.count
        state.entries += chunk.entries
        for i in chunk.entries.indices {
            let entry = first + i
            state.entries[entry].chunk = position
            state.rows.append(.entry(entry))
            state.index.append(chunk.ids[i])
            if !state.entries[entry].isDetached {
                rest.entries -= 1
                if state.entries[entry].key == nil { rest.unkeyed -= 1 }
            }
        }
    }

    /// Assigns the rest of a segment's entries to its unloaded spans. If there are several, each is counted
    /// only when a rule asks, because that reads every chunk in them.
    private func distribute(_ rest: SegmentCount, in runs: Range<Int>, of state: inout FeedState) throws {
        let runs = runs.filter { !state.unloaded[$0].isDetached }
        guard let first = runs.first else { return }
        var rest = rest
        if countsRuns {
            for run in runs.dropFirst() {
                let count = try count(of: state.unloaded[run].chunks)
                (state.unloaded[run].count, state.unloaded[run].unkeyed) = (count.entries, count.unkeyed)
                rest.entries -= count.entries
                rest.unkeyed -= count.unkeyed
            }
        }
        state.unloaded[first].count = rest.entries
        state.unloaded[first].unkeyed = rest.unkeyed
    }

    /// Returns the chunks at the top of a range that have detached entries only, and the position of the chunk that
    /// follows them in the range. No rule needs these chunks: a local post is put above thousands of others.
    private func detached(
        atTopOf range: ClosedRange<UInt64>
    ) throws -> (chunks: ClosedRange<UInt64>, next: UInt64?)? {
        if record.counts.detached == 0 { return nil }
        var last: UInt64?
        var next: UInt64?
        try ChunkReader(transaction: transaction, feed: feed).eachColumns(from: range.lowerBound) {
            if $0 > range.upperBound { return false }
            if $1.hasDetachedOnly { last = $0 } else { next = $0 }
            return next == nil
        }
        return last.map { (range.lowerBound...$0, next) }
    }

    private func count(of range: ClosedRange<UInt64>) throws -> SegmentCount {
        var count = SegmentCount()
        try ChunkReader(transaction: transaction, feed: feed).eachChunk(from: range.lowerBound) {
            if $0 > range.upperBound { return false }
            count.entries += $1.entries.count { !$0.isDetached }
            count.unkeyed += $1.entries.count { !$0.isDetached && $0.key == nil }
            return true
        }
        return count
    }
}
