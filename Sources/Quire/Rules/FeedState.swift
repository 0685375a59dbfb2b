// The data that the rules work on: one feed as a flat list of rows, top first. It has no storage, no lock,
// and no clock except the counter in the state.
//
// A long feed is only partly loaded. A run of entries that was not loaded is a single `unloaded` row. A rule
// never guesses its contents: if it needs them, it throws `Interruption.needs`. Storage then loads that part,
// and the rule starts again from the beginning.

/// The boundary between two segments.
struct Gap: Hashable {
    var id: GapID
    /// The edge below the entry above the gap.
    var down: Edge
    /// The edge above the entry below the gap.
    var up: Edge
    func has(edge number: UInt64) -> Bool { down.number == number || up.number == number }
    /// True if everything below waits for its upper link, an end in doubt (R11).
    var isEndInDoubt: Bool { down.link == .confirmEnd }
    /// True if one of its links begins at another post than the gap's neighbour, perhaps in another segment.
    var isOverlapping: Bool { down.isOverlapping || up.isOverlapping }
    /// Why the gap exists, and the clock of the change that opened it; 0 until it is written.
    var why = Doubt.unfetched
    var since: UInt64 = 0
}

/// One accepted response.
struct StoredPage: Hashable {
    var number: UInt64
    /// The link that was requested.
    var own: Link
    /// The link to what follows below `last`.
    var next: Link = .unknown
    /// The link to what precedes `first`.
    var previous: Link = .unknown
    /// The first and last entry as delivered. Nil after they left: then the links begin nowhere.
    var first: PostID?
    var last: PostID?
    /// True if `next` begins beyond `last`, at a post that was dropped; below, the same for `previous` (R16).
    var isLooseBelow = false
    var isLooseAbove = false
    var received = 0
    var new = 0
    var duplicates = 0
    var duplicatesInPage = 0
    var fetchedAt: Int64 = 0

    /// The last entry, if the server continued below it.
    var end: PostID? { next == .unknown || next == .end ? nil : last }
}

/// One row of a feed. The numbers of entries and gaps are indices into the tables of the state.
enum Row: Hashable {
    case entry(Int)
    case gap(Int)
    case unloaded(Int)

    var isUnloaded: Bool { if case .unloaded = self { true } else { false } }
    var isGap: Bool { if case .gap = self { true } else { false } }
    var entry: Int? { if case .entry(let entry) = self { entry } else { nil } }
    var gap: Int? { if case .gap(let gap) = self { gap } else { nil } }
}

/// A run of chunks that was not loaded. It covers part of one segment, or several whole segments with the
/// gaps between them. In the latter case it is between two gaps.
struct UnloadedSpan: Hashable {
    /// The number of the server's entries in it, without detached entries. If a segment has several runs, the
    /// first has the count of all, unless separate counts were requested. If a run covers several segments,
    /// only the lowest counts.
    var count: Int
    /// The number of these without a sort key.
    var unkeyed: Int
    /// The first and the last chunk in it, for storage.
    var chunks: ClosedRange<UInt64>
    var hidesGaps = false
    /// True if all of its entries are detached. It counts none, and stays below the row above it as they do.
    var isDetached = false
    /// True if all of it will leave. It has a count of its own, and no detached, pinned or unverified entry.
    var isLeaving = false
    /// True if it is known that none of its entries is a placeholder, or the end of a page.
    var lacksPlaceholders = false
    var lacksPageEnds = false
    /// What none of the gaps in it is.
    var lacksGaps: [SoughtGaps] = []
    /// By how much this operation shifts the estimated positions in it (R26.1); nil if it does not.
    var shift: Int?
}

/// The reason why a rule stopped before it changed anything.
enum Interruption: Error {
    /// The answer is refused with this verdict. Nothing may be written.
    case refused(Outcome.Verdict, help: Help? = nil)
    /// The rule needs part of an unloaded span. Load it and start again.
    case needs(Need)
}

/// The part of an unloaded span (given by its number) that a rule needs.
enum Need: Error, Hashable {
    case all(Int)
    case top(Int)
    case bottom(Int)
    /// The place where the keys pass this value.
    case key(Int, Int64)
    /// The number of entries in each run of its segment.
    case counts(Int)
    /// The nearest entry in it of a kind that the rule looks for.
    case sought(Int, Sought)
    /// The gaps in it that the rule looks for.
    indirect case gaps(Int, SoughtGaps)
}

extension Interruption {
    /// What a rule that stopped needs.
    var need: Need {
        switch self {
        case .needs(let need): return need
        case .refused(let verdict, _):
            preconditionFailure("\(verdict) is an outcome of a rule, not an error")
        }
    }
}

extension Need {
    /// The unloaded span concerned.
    var run: Int {
        switch self {
        case .all(let run), .top(let run), .bottom(let run), .key(let run, _),
            .counts(let run), .sought(let run, _), .gaps(let run, _):
            run
        }
    }
}

/// The gaps that a rule looks for.
enum SoughtGaps: Hashable {
    /// Those that this link fills from above.
    case filled(by: Link)
    /// Those with an edge that names one of these posts: as the start of its link, or in its search.
    case naming(Set<PostID>)
    /// Those at which it is searched for the place of an entry (R26).
    case searched
    /// Those with an end in doubt above them (R11).
    case endInDoubt
    /// Those below a segment in which an entry has no key.
    case belowUnkeyed

    /// True if the gap is one of these. `unkeyed` is the number of entries without a key in the segment
    /// above.
    func contains(_ gap: Gap, unkeyed: Int) -> Bool {
        switch self {
        case .filled(let link): gap.down.link == link
        case .naming(let posts): gap.down.names(posts) || gap.up.names(posts)
        case .searched: gap.down.search != nil || gap.up.search != nil
        case .endInDoubt: gap.isEndInDoubt
        case .belowUnkeyed: unkeyed > 0
        }
    }
}

/// A kind of entry that a rule looks for.
enum Sought {
    /// From the top down.
    case placeholder
    /// From the bottom up: the last entry of a page, if the server continued below it.
    case pageEnd
}

/// One feed. It is never copied by accident: a rule changes a state in place, and only ``copy()`` makes
/// another.
struct FeedState: ~Copyable {
    var options: FeedOptions
    /// The sticky posts of the options, by their names (R28).
    var sticky: Set<PostID>
    /// The number of resets. Tickets of an older resets are stale.
    var resets: UInt64
    /// The clock of the last accepted answer or eviction.
    var changed: UInt64
    /// The cache's counter of requests, deletions and ingests.
    var clock: UInt64
    var edgeNumbers: UInt64
    var pageNumbers: UInt64
    var ticketNumbers: UInt64
    var gapNumbers: UInt64

    /// R27: when the top of the list was last known, and whether the feed is live.
    var subscription: Subscription
    /// R29: the token with which to ask for changes.
    var deltaToken: DeltaToken?

    var head: Edge
    var tail: Edge
    /// R15: server entries evicted above the first cached one.
    var skippedAbove: Int
    /// R26: what is known about the size of the server's pages.
    var sizes: LearnedSizes
    /// The number of answers that showed known entries in an order that the class forbids.
    var answersAgainstOrder: Int

    var rows: [Row]
    var entries: [Entry]
    var index: EntryIndex
    var gaps: [Gap]
    var unloaded: [UnloadedSpan]
    /// The pages of the loaded entries, by number.
    var pages: NumberTable<StoredPage>
    /// When the posts that this operation concerns were deleted, by the clock.
    var tombstones: [PostID: UInt64]
    /// The tickets that may still be answered.
    var tickets: [TicketRecord]
    /// False if all gaps with an end in doubt, or with a link that overlaps, are among the rows.
    var mayHideEndsInDoubt: Bool
    var mayHideOverlaps: Bool

    /// Always nil. The compiler copies a large value to the stack for each call of a method that does not
    /// change it, unless it holds something like this, whose type is not known.
    private let staysInPlace: Any? = nil

    /// Creates an empty feed.
    init(options: FeedOptions) {
        self.options = options
        (resets, changed, clock, edgeNumbers, pageNumbers) = (0, 0, 0, 2, 0)
        (ticketNumbers, gapNumbers, skippedAbove, answersAgainstOrder) = (0, 0, 0, 0)
        (sticky, subscription, deltaToken, sizes) = ([], Subscription(), nil, LearnedSizes())
        (head, tail) = (Edge(link: .end, number: 1), Edge(link: .unknown, number: 2))
        (rows, entries, index, gaps, unloaded) = ([], [], EntryIndex(), [], [])
        (pages, tombstones, tickets) = (NumberTable(), [:], [])
        (mayHideEndsInDoubt, mayHideOverlaps) = (true, true)
    }

    private init(copying other: borrowing FeedState) {
        (options, sticky, resets, changed) = (other.options, other.sticky, other.resets, other.changed)
        (clock, edgeNumbers, pageNumbers) = (other.clock, other.edgeNumbers, other.pageNumbers)
        (ticketNumbers, gapNumbers) = (other.ticketNumbers, other.gapNumbers)
        (subscription, deltaToken) = (other.subscription, other.deltaToken)
        (head, tail, skippedAbove, sizes) = (other.head, other.tail, other.skippedAbove, other.sizes)
        answersAgainstOrder = other.answersAgainstOrder
        (rows, entries, index, gaps) = (other.rows, other.entries, other.index, other.gaps)
        (unloaded, pages, tombstones) = (other.unloaded, other.pages, other.tombstones)
        tickets = other.tickets
        (mayHideEndsInDoubt, mayHideOverlaps) = (other.mayHideEndsInDoubt, other.mayHideOverlaps)
    }

    /// Returns a state of its own, which shares the tables until one of both changes.
    func copy() -> FeedState { FeedState(copying: self) }
}

// MARK: Small queries

extension FeedState {
    mutating func tick() -> UInt64 {
        clock += 1
        return clock
    }

    mutating func newEdge(
        _ link: Link, after: PostID? = nil, triedLinks: [Link] = [], isLoose: Bool = false
    ) -> Edge {
        edgeNumbers += 1
        return Edge(link: link, number: edgeNumbers, after: after, triedLinks: triedLinks, isLoose: isLoose)
    }

    /// Returns the edge after its page was fetched again, with that page's link unless it says nothing new.
    mutating func renewed(_ edge: Edge, _ link: Link, isLoose: Bool) -> Edge {
        if link == .unknown && options.paging == .keyset && edge.isOverlapping && !edge.link.isProven {
            return newEdge(edge.link == .head ? .unknown : edge.link)  // R32: the border is there after all
        }
        if link == .unknown || (link == edge.link && !edge.isOverlapping) { return edge }
        return newEdge(link, isLoose: isLoose)
    }

    /// Returns a new row for this gap. Its id is assigned when the draft is committed.
    mutating func newGap(down: Edge, up: Edge, why: Doubt = .unfetched) -> Row {
        newGap(Gap(id: GapID(0), down: down, up: up, why: why))
    }

    mutating func newGap(_ gap: Gap) -> Row {
        gaps.append(gap)
        return .gap(gaps.count - 1)
    }

    /// Returns the id of an entry's post.
    func id(of entry: Int) -> PostID { index.ids[entry] }

    /// Adds a post that is not among the entries. Its entry gets the next number.
    mutating func append(_ id: PostID, _ entry: Entry) {
        index.append(id)
        entries.append(entry)
    }

    /// Returns the number of a post's entry, creating the entry if needed.
    mutating func number(of id: PostID) -> Int {
        let entry = index.number(of: id)
        if entry == entries.count { entries.append(Entry(isCached: false)) }
        return entry
    }

    /// Does the same for the posts of an answer, in order.
    mutating func numbers(of posts: [Post]) -> [Int] {
        let numbers = index.numbers(of: posts)
        let new = index.ids.count - entries.count
        entries.append(contentsOf: repeatElement(Entry(isCached: false), count: new))
        return numbers
    }

    /// Returns the number of a cached entry, including detached entries.
    func cached(_ id: PostID) -> Int? {
        guard let entry = index[id], entries[entry].isCached else { return nil }
        return entry
    }

    func isDetached(_ row: Row) -> Bool {
        switch row {
        case .entry(let entry): entries[entry].isCached && entries[entry].isDetached
        case .unloaded(let run): unloaded[run].isDetached
        case .gap: false
        }
    }

    /// True if a row is detached.
    var hasDetached: Bool {
        unloaded.contains(where: \.isDetached) || entries.contains { $0.isDetached && $0.isCached }
    }

    /// The rows of the server's sequence.
    var serverRows: [Row] { hasDetached ? rows.filter { !isDetached($0) } : rows }

    /// Returns the first row of the server's sequence, from an index on; nil if there is none.
    func firstServerRow(from at: Int = 0) -> Row? { rows[at...].first { !isDetached($0) } }

    /// Returns the last row of the server's sequence, above an index.
    func lastServerRow(above at: Int) -> Row? { rows[..<at].last { !isDetached($0) } }

    /// The gaps that are not in an unloaded span.
    var gapRows: [Int] { gaps.isEmpty ? [] : rows.compactMap(\.gap) }

    /// Returns all gaps that a rule looks for, and others: those that are not in an unloaded span. `lower`:
    /// only those above this one.
    func gaps(with sought: SoughtGaps, above lower: Int? = nil) throws(Interruption) -> [Int] {
        var gaps: [Int] = []
        for row in rows {
            switch row {
            case .gap(lower): return gaps
            case .gap(let gap): gaps.append(gap)
            case .unloaded(let run): try requireKnown(sought, in: run)
            case .entry: continue
            }
        }
        return gaps
    }

    /// Throws if gaps that a rule looks for may be hidden in an unloaded span.
    func requireKnown(_ sought: SoughtGaps, in run: Int) throws(Interruption) {
        if unloaded[run].hidesGaps && !unloaded[run].lacksGaps.contains(sought) {
            throw .needs(.gaps(run, sought))
        }
    }

    /// Returns the next gap above this one, or above the tail.
    func gap(above lower: Int?) throws(Interruption) -> Int? {
        let end = lower.flatMap { rows.firstIndex(of: .gap($0)) } ?? rows.count
        for row in rows[..<end].reversed() {
            switch row {
            case .gap(let gap): return gap
            case .unloaded(let run) where unloaded[run].hidesGaps: throw .needs(.bottom(run))
            case .unloaded, .entry: continue
            }
        }
        return nil
    }

    /// Returns the page that last delivered an entry.
    func page(of entry: Int) -> StoredPage? {
        entries[entry].isCached ? pages[entries[entry].page] : nil
    }

    /// Returns the entry at a row. `side` says from which side to read an unloaded span. Two gaps meet where
    /// an answer moves all that is between them, so a rule must look past both. If one does not, the answer
    /// is refused: no answer may stop the process.
    func entry(of row: Row, from side: Side) throws(Interruption) -> Int {
        switch row {
        case .entry(let entry): return entry
        case .unloaded(let run): throw .needs(side == .above ? .top(run) : .bottom(run))
        case .gap: throw .refused(.contradiction)
        }
    }

    enum Side { case above, below }
}
