/// Loads what a rule must see of a feed: those pieces of the entries that it asks for, and the gaps next to them.
/// What is not loaded stands in the state as elided runs.
final class FeedLoader {
    let transaction: Transaction
    let feed: UInt32
    private(set) var record: FeedRecord
    private var clock: UInt64
    private let openIndex: (UInt32) throws -> PostIndex
    private var opened: PostIndex?
    private(set) var gaps: KnownGaps { didSet { rows = nil } }
    /// The loaded pieces; `next` is the position of the piece that follows, loaded or not.
    private(set) var pieces: [UInt64: Piece] = [:] { didSet { rows = nil } }
    /// What ``loadedRows()`` made of them.
    private var rows: FeedState?
    typealias Piece = (record: PieceRecord, next: UInt64?)
    private(set) var pages: [UInt64: PageRecord] = [:]
    var tombstones: [PostID: UInt64] = [:]
    var tickets: [TicketRecord] = []
    /// How many pieces the next `load(_:)` takes from the end of a run; doubles each time.
    private var stride = 2
    private var countsRuns: Bool { didSet { if countsRuns != oldValue { rows = nil } } }
    /// Where other feeds of the collection hold the posts that were asked for by name.
    private(set) var elsewhere: [PostID: [(feed: UInt32, position: UInt64)]] = [:]

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
        countsRuns = record.options.paging.isPositional  // they ask for ranks
    }

    /// Forgets what belonged to the operation before.
    func begin(clock: UInt64) {
        self.clock = clock
        (tombstones, tickets, elsewhere, opened) = ([:], [], [:], nil)
        stride = 2
        countsRuns = record.options.paging.isPositional
    }

    /// What was written is what is loaded: the next operation of the session on this feed, which is mostly
    /// near, does not read and decode it again.
    func replace(
        record: FeedRecord, gaps known: [KnownGaps.Known],
        pieces: [UInt64: Piece], pages: [UInt64: PageRecord]
    ) {
        self.record = record
        gaps.replace(known)
        (self.pieces, self.pages) = (pieces, pages)
    }

    func replace(record: FeedRecord) { self.record = record }

    /// The id index of the feed's collection, opened when it is first asked.
    func index() throws -> PostIndex {
        if let opened { return opened }
        let index = try openIndex(record.collection)
        opened = index
        return index
    }

    // MARK: What to load

    /// The piece of every known post among these, and their tombstones.
    func load(posts ids: some Collection<PostID>) throws {
        if ids.isEmpty { return }
        let index = try index()
        index.prefetch(ids)
        let hasTombstones = try transaction.withCursor(.tombstones(of: feed)) { try $0.first() != nil }
        for id in ids {
            var positions = index.positions(of: id)
            if let own = positions.firstIndex(where: { $0.feed == feed }) {
                try load(positions.remove(at: own).position)
            }
            if !positions.isEmpty { elsewhere[id] = positions }
            if !hasTombstones { continue }
            if let value = try transaction.get(.tombstones(of: feed), PostKey.bytes(id)) {
                tombstones[id] = try ByteReader.number(value, "the tombstone of post \(id)")
            }
        }
    }

    /// The pieces of posts that are to leave, and those next to them.
    func load(leaving ids: [PostID]) throws {
        try load(posts: ids)
        try loadNeighbours()
    }

    /// The pieces on both sides of the edges with these numbers, and the entries at which overlapping
    /// links start.
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

    /// The piece at a position.
    func load(_ position: UInt64) throws {
        if pieces[position] == nil { try load(from: position, count: 1) }
    }

    /// A piece that was read already.
    func load(_ piece: Piece, at position: UInt64) {
        if pieces[position] != nil { return }
        var piece = piece
        record.shifts.apply(to: &piece.record, at: position)
        pieces[position] = piece
    }

    /// What lies next to loaded pieces: whatever leaves them, the links of its neighbours are needed.
    func loadNeighbours() throws {
        for (position, piece) in pieces {
            if let next = piece.next { try load(next) }
            if let previous = try self.position(before: position) { try load(previous) }
        }
    }

    /// What a rule that stopped must see; `run` is that run in the state it stopped in.
    func load(_ need: Need, in run: Elided) throws {
        switch need {
        case .all: try load(from: run.pieces.lowerBound, count: .max, upTo: run.pieces.upperBound)
        case .top: try load(from: run.pieces.lowerBound, count: stride)
        case .bottom: try load(upTo: run.pieces.upperBound, count: stride)
        case .key(_, let key): try load(try position(ofKey: key, in: run.pieces))
        case .counts: countsRuns = true
        case .gaps: try gaps.load(in: run.pieces)
        }
        stride = min(stride * 2, 1 << 20)
    }

    // MARK: Walking the pieces

    private func load(from first: UInt64, count: Int, upTo last: UInt64 = .max) throws {
        try transaction.withCursor(.pieces(of: feed)) { cursor in
            var found = try cursor.seek(NumberKey(first))
            var count = count
            while count > 0, let (key, value) = found, let key = NumberKey(key), key.number <= last {
                let position = key.number
                var piece = try PieceRecord(value, "a piece of feed \(record.name)")
                record.shifts.apply(to: &piece, at: position)
                found = try cursor.next()
                pieces[position] = (piece, found.flatMap { NumberKey($0.key)?.number })
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
        try transaction.withCursor(.pieces(of: feed)) { cursor in
            try cursor.seek(NumberKey(position)).flatMap { NumberKey($0.key)?.number }
        }
    }

    /// The position before this one; nil as the argument means the end of the feed.
    func position(before position: UInt64?) throws -> UInt64? {
        try transaction.withCursor(.pieces(of: feed)) { cursor in
            let found = try position.map { try cursor.before(NumberKey($0)) } ?? cursor.last()
            return found.flatMap { NumberKey($0.key)?.number }
        }
    }

    /// The last piece of the range that begins with a key of at least this, by bisection: keys descend.
    private func position(ofKey key: Int64, in range: ClosedRange<UInt64>) throws -> UInt64 {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = low + (high - low) / 2 + 1
            guard let position = try position(atOrAfter: middle), position <= high else {
                guard let last = try self.position(before: middle), last > low else { break }
                high = last
                continue
            }
            let piece = try transaction.piece(at: position, of: feed)
            guard let first = piece.entries.lazy.compactMap(\.key).first, first < key else {
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
        var state = try loadedRows()
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

    /// A state that has only what was loaded. It stays as it is until more is loaded or something is
    /// written: a request and its answer, in one batch, share it.
    private func loadedRows() throws -> FeedState {
        if let rows { return rows }
        if gaps.areHidden { try gaps.load(around: pieces.keys.sorted()) }
        var state = FeedState(options: record.options)
        let count = pieces.values.reduce(0) { $0 + $1.record.entries.count }
        state.entries.reserveCapacity(count + 64)  // and those of an answer
        state.index.reserveCapacity(count + 64)
        try appendRows(to: &state)
        for piece in pieces.values where piece.record.page != 0 {
            state.pages[piece.record.page] = try page(piece.record.page).page
        }
        rows = state
        return state
    }

    func page(_ number: UInt64) throws(QuireError) -> PageRecord {
        if let page = pages[number] { return page }
        let page = try transaction.page(number, of: feed)
        pages[number] = page
        return page
    }

    private func appendRows(to state: inout FeedState) throws {
        var loaded = pieces.keys.sorted()
        var at = 0
        var expected = try position(atOrAfter: 0)
        let gaps = gaps.all
        for segment in 0...gaps.count {
            let gap = segment < gaps.count ? gaps[segment] : nil
            let end = gap?.position
            let total = gap?.record.above ?? record.lastSegment
            var rest = total
            let firstRun = state.elided.count
            while let position = expected, end.map({ position < $0 }) ?? true {
                if at < loaded.count && loaded[at] == position {
                    let piece = pieces[position]!
                    append(piece.record, at: position, to: &state, uncounted: &rest)
                    expected = piece.next
                    at += 1
                    continue
                }
                var bound = end
                if at < loaded.count, end.map({ loaded[at] < $0 }) ?? true { bound = loaded[at] }
                let last = try self.position(before: bound) ?? position
                if try hasOnlyRiders(position...last) {
                    try load(from: position, count: .max, upTo: last)
                    loaded = pieces.keys.sorted()
                    continue
                }
                let hidesGaps = gap?.hidesOthers ?? false
                state.elided.append(
                    Elided(count: 0, unkeyed: 0, pieces: position...last, hidesGaps: hidesGaps))
                state.rows.append(.elided(state.elided.count - 1))
                expected = bound
            }
            try settle(rest, in: firstRun..<state.elided.count, of: &state)
            if let gap {
                state.rows.append(.gap(state.gaps.count))
                state.gaps.append(gap.record.gap)
                expected = end
            }
        }
    }

    private func append(
        _ piece: PieceRecord, at position: UInt64, to state: inout FeedState,
        uncounted rest: inout SegmentCount
    ) {
        for (id, var entry) in zip(piece.ids, piece.entries) {
            entry.piece = position
            state.rows.append(.entry(state.entries.count))
            state.append(id, entry)
            if !entry.isRider {
                rest.entries -= 1
                if entry.key == nil { rest.unkeyed -= 1 }
            }
        }
    }

    /// What the segment holds beyond the loaded pieces belongs to its elided runs. How much each of
    /// several has is counted only when a rule asks: that reads every piece in them.
    private func settle(
        _ rest: SegmentCount, in runs: Range<Int>, of state: inout FeedState
    ) throws {
        guard let first = runs.first else { return }
        var rest = rest
        if countsRuns {
            for run in runs.dropFirst() {
                let count = try count(of: state.elided[run].pieces)
                (state.elided[run].count, state.elided[run].unkeyed) = (count.entries, count.unkeyed)
                rest.entries -= count.entries
                rest.unkeyed -= count.unkeyed
            }
        }
        state.elided[first].count = rest.entries
        state.elided[first].unkeyed = rest.unkeyed
    }

    /// To the rules an elided run is a run of entries; one without any must not be elided.
    private func hasOnlyRiders(_ range: ClosedRange<UInt64>) throws -> Bool {
        if record.counts.riders == 0 { return false }
        var isFound = false
        try PieceReader(transaction: transaction, feed: feed).eachPiece(from: range.lowerBound) {
            isFound = $0 <= range.upperBound && $1.entries.contains { !$0.isRider }
            return !isFound && $0 < range.upperBound
        }
        return !isFound
    }

    private func count(of range: ClosedRange<UInt64>) throws -> SegmentCount {
        var count = SegmentCount()
        try PieceReader(transaction: transaction, feed: feed).eachPiece(from: range.lowerBound) {
            if $0 > range.upperBound { return false }
            count.entries += $1.entries.count { !$0.isRider }
            count.unkeyed += $1.entries.count { !$0.isRider && $0.key == nil }
            return true
        }
        return count
    }
}
