// What the rules work on: one feed as a flat list of rows, top first, and nothing else. No storage, no
// clock but the counter in the state, no lock.
//
// A long feed is not loaded whole. A run of entries that was left out stands in the list as one
// `unloaded` row. The rules never guess what is in it: a rule that needs it throws `Interruption.needs`,
// storage loads that part, and the rule starts again from the beginning.

/// An open side of the cached sequence: where a request may attach (Docs/rules.md, section 1).
struct Edge: Hashable {
    var link: Link
    /// Changes whenever the link changes; tickets name this number. Never reused within a feed.
    var number: UInt64
    /// Overlapping link: its answer starts below this entry, somewhere above the border.
    var after: PostID?
    /// Links followed here since the last new entry (R12).
    var triedLinks: [Link] = []
    /// "end" was reported once; confirming it takes several requests (R11).
    var isDoubtful = false
    /// The link begins beyond the border, at a post that was dropped when it arrived (R16).
    var isLoose = false
    /// This end was concluded: no answer showed it together with the border (R26.7).
    var isAssumed = false
    /// The position that the next request below this border asks for, in feeds paged by position (R26).
    var search: Search?

    var isOverlapping: Bool { after != nil }
}

/// The boundary between two segments.
struct Gap: Hashable {
    var id: GapID
    /// Continue below the entry above the gap.
    var down: Edge
    /// Continue above the entry below the gap.
    var up: Edge
    /// Why it exists, and the clock of the change that opened it; 0 until that is written.
    var why = Doubt.unfetched
    var since: UInt64 = 0
}

/// Why an entry is not proven to follow the one above it, and since which clock.
struct Claim: Hashable {
    var why = Doubt.numbering
    var since: UInt64 = 0
}

/// The place of a body's bytes. The rules only carry it along.
struct BodyReference: Hashable {
    /// Number of the record that holds the bodies of one response; 0 if there is no body.
    var record: UInt64 = 0
    var offset: UInt32 = 0
    var length: UInt32 = 0
}

/// The place of a post in one feed. It does not contain the post's id, which stands beside it: entries are
/// copied with every state, and without a reference in them that is one `memcpy`.
struct Entry {
    // Entries are copied with every state: small values stand behind one that leaves room for them.
    var key: Int64?
    /// Not part of the server's sequence: a local post, a sticky one, a pinned one that left (R13).
    var isDetached = false
    var isPinned = false
    /// The place is known, the body is missing.
    var isPlaceholder = false
    /// False for a post of an answer that the feed does not hold, or no longer.
    var isCached = true
    /// The page above an unproven join was asked for again and ended there as before (R26.8).
    var isChecked = false
    /// The detail of its body.
    var detail = Detail.full
    /// Number of the page that last delivered it, 0 if none did.
    var page: UInt64 = 0
    /// Clock at which an answer last wrote or confirmed it.
    var confirmed: UInt64 = 0
    /// Clock at which that answer was asked for.
    var asked: UInt64 = 0
    /// Clock at which the server pushed it; 0 if it did not (R27).
    var pushed: UInt64 = 0
    /// The record this entry was read from; storage's own business. 0: not stored yet.
    var chunk: UInt64 = 0
    var body = BodyReference()
    /// The state of the post that its body is of, nil if the server does not say.
    var version: Int64?
    /// The position at which it was last shown, in feeds paged by position (R26.1).
    var spot: Spot?
    /// The state that a body of less detail was of, if that is newer: the body is outdated.
    var newest: Int64?
    /// No answer has shown it together with the entry above, and what joins them all the same (R25).
    var claim: Claim?

    var isUnverified: Bool { claim != nil }

    /// True if nothing about the entry differs; both are the same entry of two states.
    func isSame(as other: Entry) -> Bool {
        key == other.key && page == other.page && confirmed == other.confirmed
            && asked == other.asked && pushed == other.pushed && spot == other.spot
            && isChecked == other.isChecked
            && isDetached == other.isDetached && isPinned == other.isPinned
            && isPlaceholder == other.isPlaceholder
            && claim == other.claim && isCached == other.isCached
            && hasSameBody(as: other) && chunk == other.chunk
    }
}

extension Entry {
    /// True if both show one body and know the same of it.
    func hasSameBody(as other: Entry) -> Bool {
        body == other.body && version == other.version && detail == other.detail && newest == other.newest
    }

    /// True if a reader sees another body, or that it is outdated now.
    func showsOther(than other: Entry) -> Bool {
        body != other.body || (newest == nil) != (other.newest == nil)
    }

    /// Shows the body that another entry of the post shows.
    mutating func takeBody(of other: Entry) {
        (body, version, detail, newest) = (other.body, other.version, other.detail, other.newest)
    }

    /// A request for bodies brings something: there is none, it is not all, or it is outdated.
    var wantsBody: Bool { isPlaceholder || detail < .full || newest != nil }
}

/// One accepted response.
struct StoredPage: Hashable {
    var number: UInt64
    /// The link that was requested.
    var own: Link
    /// Continues below `last`.
    var next: Link = .unknown
    /// Continues above `first`.
    var previous: Link = .unknown
    /// The first and the last entry as delivered; nil once they left: the links begin nowhere then.
    var first: PostID?
    var last: PostID?
    /// `next` begins beyond `last`, at a post that was dropped; `previous` beyond `first` (R16).
    var isLooseBelow = false
    var isLooseAbove = false
    var received = 0
    var new = 0
    var duplicates = 0
    var duplicatesInPage = 0
    var fetchedAt: Int64 = 0
}

/// A row of a feed; entries and gaps are indices into the tables of the state.
enum Row: Hashable {
    case entry(Int)
    case gap(Int)
    case unloaded(Int)

    var isGap: Bool { if case .gap = self { true } else { false } }
    var entry: Int? { if case .entry(let entry) = self { entry } else { nil } }
    var gap: Int? { if case .gap(let gap) = self { gap } else { nil } }
}

/// A run of chunks that was not loaded. They are of one segment, or of several, each whole, with the gaps
/// between them; then it stands between two gaps.
struct UnloadedSpan: Hashable {
    /// Entries of the server's sequence in it; detached entries do not count. Of several runs of one segment
    /// the first has the count of all, unless counts were asked for. Of several segments only the lowest
    /// counts.
    var count: Int
    /// The number of entries without a sort key.
    var unkeyed: Int
    /// The first and the last chunk in it, for storage.
    var chunks: ClosedRange<UInt64>
    var hidesGaps = false
    /// By how much this operation moves the estimated positions in it (R26.1); nil if it does not touch them.
    var shift: Int?
}

/// Why a rule stopped before it changed anything.
enum Interruption: Error {
    /// The answer is refused with this verdict; nothing may be written.
    case refused(Outcome.Verdict, help: Help? = nil)
    /// The rule must see inside an unloaded span. Load that part and start again.
    case needs(Need)
}

/// The part of an unloaded span (by its number) that a rule must see.
enum Need: Error, Hashable {
    case all(Int)
    case top(Int)
    case bottom(Int)
    /// The place where the keys pass this value.
    case key(Int, Int64)
    /// The number of entries in each span of its segment.
    case counts(Int)
    /// The gaps in it.
    case gaps(Int)
}

struct FeedState {
    var options: FeedOptions
    /// Those of the options, by the names of their posts (R28).
    var sticky: Set<PostID> = []
    /// Counts resets; tickets of an older resets are stale.
    var resets: UInt64 = 0
    /// Clock of the last accepted answer or eviction.
    var changed: UInt64 = 0
    /// The cache's counter of requests, deletions and ingests.
    var clock: UInt64 = 0
    var edgeNumbers: UInt64 = 0
    var pageNumbers: UInt64 = 0
    var ticketNumbers: UInt64 = 0
    var gapNumbers: UInt64 = 0

    /// R27: what was told of the top of the list, and whether what comes on top is told.
    var subscription = Subscription()
    /// R29: the newest token.
    var deltaToken: DeltaToken?

    var head = Edge(link: .end, number: 1)
    var tail = Edge(link: .unknown, number: 2)
    /// R15: server entries evicted above the first cached one.
    var skippedAbove = 0
    /// R26: what is known of the size of the server's pages.
    var sizes = LearnedSizes()
    /// Answers that showed known entries in another order than the class allows.
    var answersAgainstOrder = 0

    var rows: [Row] = []
    var entries: [Entry] = []
    var index = EntryIndex()
    var gaps: [Gap] = []
    var unloaded: [UnloadedSpan] = []
    /// The pages of the loaded entries.
    var pages: [UInt64: StoredPage] = [:]
    /// Clock of deletion, for the ids this operation is about.
    var tombstones: [PostID: UInt64] = [:]
    /// Tickets that may still be answered.
    var tickets: [TicketRecord] = []

    init(options: FeedOptions) {
        self.options = options
        edgeNumbers = 2
    }
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

    /// The bordering page was fetched again: take its link unless it says nothing new.
    mutating func renewed(_ edge: Edge, _ link: Link, isLoose: Bool) -> Edge {
        if link == .unknown || (link == edge.link && !edge.isOverlapping) { return edge }
        return newEdge(link, isLoose: isLoose)
    }

    /// A new row for this gap; its id is settled when the draft is committed.
    mutating func newGap(down: Edge, up: Edge, why: Doubt = .unfetched) -> Row {
        newGap(Gap(id: GapID(0), down: down, up: up, why: why))
    }

    mutating func newGap(_ gap: Gap) -> Row {
        gaps.append(gap)
        return .gap(gaps.count - 1)
    }

    /// The post of an entry.
    func id(of entry: Int) -> PostID { index.ids[entry] }

    /// Adds a post that is not among the entries; the number of its entry is one above the last.
    mutating func append(_ id: PostID, _ entry: Entry) {
        index.append(id)
        entries.append(entry)
    }

    /// The number of a cached entry, detached entries included.
    func cached(_ id: PostID) -> Int? {
        guard let entry = index[id], entries[entry].isCached else { return nil }
        return entry
    }

    func isDetached(_ row: Row) -> Bool {
        guard case .entry(let entry) = row else { return false }
        return entries[entry].isCached && entries[entry].isDetached
    }

    /// The rows of the server's sequence.
    var serverRows: [Row] {
        let hasDetached = entries.contains { $0.isDetached && $0.isCached }
        return hasDetached ? rows.filter { !isDetached($0) } : rows
    }

    /// Those that are not in an unloaded span.
    var gapRows: [Int] { rows.compactMap(\.gap) }

    /// The gaps above this one, or all.
    func allGaps(above lower: Int? = nil) throws(Interruption) -> [Int] {
        var gaps: [Int] = []
        for row in rows {
            switch row {
            case .gap(lower): return gaps
            case .gap(let gap): gaps.append(gap)
            case .unloaded(let run) where unloaded[run].hidesGaps: throw .needs(.gaps(run))
            case .unloaded, .entry: continue
            }
        }
        return gaps
    }

    /// The page that last delivered an entry.
    func page(of entry: Int) -> StoredPage? {
        entries[entry].isCached ? pages[entries[entry].page] : nil
    }

    /// The entry directly at this row; `side` says from which side an unloaded span is approached.
    func entry(at row: Int, in rows: [Row], from side: Side) throws(Interruption) -> Int {
        switch rows[row] {
        case .entry(let entry): return entry
        case .unloaded(let run): throw .needs(side == .above ? .top(run) : .bottom(run))
        case .gap: preconditionFailure("two gaps are never neighbours")
        }
    }

    enum Side { case above, below }
}
