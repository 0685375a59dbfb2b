/// Rows that are added to the tail of a feed in one commit.
struct RebuildBatch {
    enum Row {
        case entry(PostID, Entry, body: Range<Int>)
        /// A post without its body, or one that a lost commit removed.
        case lost(PostID, Entry)
        case unknown
        case gap(Gap)
    }

    let record: FeedRecord
    private let pages: [UInt64: PageRecord]
    var rows: [Row] = []
    private(set) var bytes: [UInt8] = []
    /// The number of posts known to be lost, including those that lost only their body.
    var lost = 0
    private(set) var placeholders = 0
    private var isFirst = true
    /// The pages written in earlier batches.
    private var written: Set<UInt64> = []
    /// The numbers of the edges so far.
    private var edges: Set<UInt64>

    init(record: FeedRecord, pages: [UInt64: PageRecord]) {
        (self.record, self.pages) = (record, pages)
        edges = [record.head.number, record.tail.number]
    }

    private var isIDs: Bool { record.options.paging == .ids }

    var ids: [PostID] {
        rows.compactMap { row in
            switch row {
            case .entry(let id, _, _), .lost(let id, _): id
            case .unknown, .gap: nil
            }
        }
    }

    private var pageNumbers: Set<UInt64> {
        Set(
            rows.compactMap { row in
                switch row {
                case .entry(_, let entry, _), .lost(_, let entry): entry.page
                case .unknown, .gap: nil
                }
            }
        ).subtracting([0])
    }

    var pagesBefore: Set<UInt64> { pageNumbers.intersection(written) }

    /// True if the last row stays in the feed, whatever follows below it.
    var endsInEntry: Bool {
        if case .entry(_, let entry, _)? = rows.last { !entry.isDetached } else { false }
    }

    mutating func beginNext() {
        written.formUnion(pageNumbers)
        (rows, bytes, isFirst) = ([], [], false)
    }

    // MARK: Gathering

    mutating func add(_ id: PostID, _ entry: Entry, _ body: ArraySlice<UInt8>) {
        rows.append(.entry(id, entry, body: bytes.count..<bytes.count + body.count))
        bytes += body
    }

    /// Adds a lost entry. In a feed of ids its place stays. A detached entry is in no sequence and leaves no
    /// hole.
    mutating func addLost(_ id: PostID, _ entry: Entry) {
        if isIDs {
            var placeholder = entry
            (placeholder.isPlaceholder, placeholder.page) = (true, 0)
            rows.append(.entry(id, placeholder, body: 0..<0))
            placeholders += 1
        } else if entry.isDetached {
            lost += 1
        } else {
            rows.append(.lost(id, entry))
        }
    }

    /// Adds a gap. An edge that has the number of another one gets a number of its own.
    mutating func add(_ gap: Gap) {
        var gap = gap
        for side in Self.sides where !edges.insert(gap[keyPath: side].number).inserted {
            gap[keyPath: side].number = 0
        }
        rows.append(.gap(gap))
    }

    private static var sides: [WritableKeyPath<Gap, Edge>] { [\.down, \.up] }

    // MARK: The rule

    /// Adds the rows below those of the state and removes what is lost. Returns the bodies of the posts that
    /// stay, and how many posts left.
    func append(
        to state: inout FeedState
    ) throws(Interruption) -> (placements: [Placement], posts: [Post], lost: Int) {
        if isFirst {
            state.take(record)
            state.deltaToken = nil  // the recovered data may be older than the token
        }
        for number in pageNumbers { state.pages[number] = state.pages[number] ?? page(number) }
        var placements: [Placement] = []
        var posts: [Post] = []
        var leaving: [PostID] = []
        let before = state.gapRows.map { state.gaps[$0] }
        var lost = 0
        for row in rows {
            switch row {
            case .entry(let id, let entry, let body) where state.cached(id) == nil:
                place(id, entry, in: &state)
                if entry.isPlaceholder { continue }
                let post = Post(
                    id: id, key: entry.key, version: entry.version, detail: entry.detail, body: body)
                placements.append(Placement(entry: state.entries.count - 1, post: posts.count))
                posts.append(post)
            case .lost(let id, var entry) where state.cached(id) == nil:
                entry.isPinned = false
                place(id, entry, in: &state)
                leaving.append(id)
                lost += 1
            case .gap(var gap):
                for side in Self.sides where gap[keyPath: side].number == 0 {
                    gap[keyPath: side].number = state.newEdge(.unknown).number
                }
                state.rows.append(.gap(state.gaps.count))
                state.gaps.append(gap)
            case .unknown where isIDs, .entry where isIDs, .lost where isIDs:
                state.rows.append(
                    state.newGap(down: state.newEdge(.unknown), up: state.newEdge(.unknown), why: .damage))
            case .unknown, .entry, .lost:  // damage put the post into the feed twice
                leaving.append(placeholder(in: &state))
            }
        }
        if isIDs {
            try state.setRows(state.rows)
            _ = state.assignGapIDs(since: before)
            if state.serverRows.isEmpty && !rows.isEmpty { openEnds(of: &state) }
        } else {
            try evict(leaving, from: &state)
        }
        return (placements, posts, lost)
    }

    /// Evicts lost entries. An eviction may restore an end that the server once reported above them. Here it
    /// is unknown what is missing, so such an end is dropped.
    private func evict(_ leaving: [PostID], from state: inout FeedState) throws(Interruption) {
        let (head, tail) = (state.head, state.tail)
        try state.evict(leaving)
        if state.serverRows.isEmpty {
            if !leaving.isEmpty { openEnds(of: &state) }
            return
        }
        if state.head != head && state.head.link == .end { state.head = state.newEdge(.unknown) }
        if state.tail != tail && state.tail.link == .end { state.tail = state.newEdge(.unknown) }
    }

    /// Opens the ends of a feed that has lost all posts. Else it would count as one that never had any.
    private func openEnds(of state: inout FeedState) {
        state.head = state.newEdge(.unknown)
        state.tail = state.newEdge(.unknown)
    }

    private func place(_ id: PostID, _ entry: Entry, in state: inout FeedState) {
        var entry = entry
        (entry.body, entry.version, entry.chunk) = (BodyReference(), nil, 0)
        if entry.isPlaceholder || entry.newest == nil { entry.takeBody(of: Entry()) }
        state.rows.append(.entry(state.entries.count))
        state.append(id, entry)
    }

    private func placeholder(in state: inout FeedState) -> PostID {
        var number = state.entries.count
        while true {
            let id = PostID("\0lost \(number)")!
            if state.index[id] == nil {
                place(id, Entry(), in: &state)
                return id
            }
            number += 1
        }
    }

    /// Returns a page. If its record is lost, only its entries are known.
    private func page(_ number: UInt64) -> StoredPage {
        pages[number]?.page ?? StoredPage(number: number, own: .unknown)
    }
}
