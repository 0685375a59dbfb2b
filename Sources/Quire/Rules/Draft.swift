/// The effect of one answer, computed aside and committed only as a whole.
///
/// `state` keeps the rows as they were until `commit`; `rows` is the list being built, without detached
/// entries.
struct Draft {
    var state: FeedState
    let ticket: TicketRecord
    var answer: Answer
    /// R8. The answer reached the end of the range it was asked for. Of the feed's end that says nothing, so
    /// `answer.next` is unknown.
    let endsRange: Bool

    var rows: [Row]
    var head: Edge
    var tail: Edge
    let gapsBefore: [Gap]

    /// Posts of the answer by entry number; -1 for entries it does not show.
    private var shownPost: [Int]
    /// Position of each shown entry in the server's answer, sticky rows not counted.
    var serverPosition: EntryMap
    /// Entries of the page now placed in the feed, in order.
    var accepted: [Int] = []
    /// Known entries the answer showed without placing them: its border, or the one it is used below instead.
    var shown: [Int] = []
    /// `answer.next` continues directly at the border; otherwise below `standsAt`.
    var isPositioned = true
    var standsAt: Int?
    /// Nothing in the answer shows that the border still lives, where that matters (R9).
    var doubtsUpperBorder = false
    var doubtsLowerBorder = false
    var headChanged = false
    /// The page ends or begins at a gap.
    var farGap = false
    /// Overrides the verdict.
    var note: Outcome.Verdict?
    /// R25: entries joined to the one above without proof, and why.
    var claims: [Int: Doubt] = [:]
    /// R26: rows received, without those that are no entries.
    var rowsSeen = 0
    /// R26: this border stands at this position or below; nil: only that it is not known as the last of its
    /// page.
    var beyond: (border: Int, least: Int?)?
    /// R26: the last usable row of the page.
    var pageEnd: Int?
    /// R26: numbers of edges that this answer renewed.
    var renewedEdges: Set<UInt64> = []
    /// R26: known entries have a place.
    var hasLandmarks = false
    /// R26.10: it was placed by its own order, against what is cached.
    var isAgainstCache = false
    /// R26: below this unverified join the page above was shown again.
    var checkedJoin: Int?
    /// R27: this answer told the top of the list, and what was pushed meanwhile stands above it.
    var isTopTold = false
    var liftedEntries: [Int] = []
    /// R18: posts of this answer that stand inside a proven run.
    var insideRun = EntrySet()
    /// Known entries shown against the order class.
    var disorder: [Int] = []
    /// R21: bodies the server did not return. R29: what the server says is deleted, cached or not.
    var goneForGood: [Int] = []

    var new: [Int] = []
    var duplicates: [Int] = []
    var duplicatesInPage = 0
    var moved: [Int] = []
    var removed: [Int] = []
    var kept: [Int] = []
    var keptDetached: [Int] = []
    var displaced: [Int] = []
    var ignored: [Int] = []
    var sticky: [Int] = []

    init(_ state: FeedState, _ ticket: TicketRecord, _ answer: Answer) {
        self.state = state
        // The state is shared with the one before; one copy of it has room for the answer.
        let count = state.entries.count + answer.posts.count
        self.state.entries.reserveCapacity(count)
        self.state.index.reserveCapacity(count)
        self.ticket = ticket
        endsRange = ticket.isBounded && answer.next == .end
        var answer = answer
        if endsRange { answer.next = .unknown }
        self.answer = answer
        head = state.head
        tail = state.tail
        rows = state.serverRows
        shownPost = [Int](repeating: -1, count: state.entries.count)
        serverPosition = EntryMap(entries: state.entries.count)
        gapsBefore = state.gapRows.map { state.gaps[$0] }
        for (i, row) in rows.enumerated() {
            guard case .gap(let gap) = row else { continue }
            rows[i] = self.state.newGap(state.gaps[gap])
        }
    }

    // MARK: Cleaning (R4, R5, R6)

    /// The entries of the answer that may be placed, in order. Moved entries leave their old place.
    mutating func clean() throws(Interruption) -> [Int] {
        var page: [Int] = []
        var seen = EntrySet()
        var position = 0
        for (i, post) in answer.posts.enumerated() {
            let entry = number(of: post.id)
            if state.sticky.contains(post.id) {
                if !sticky.contains(entry) { sticky.append(entry) }
                continue
            }
            if serverPosition[entry] == nil { serverPosition[entry] = position }
            position += 1
            if !seen.insert(entry) {
                duplicatesInPage += 1  // R4: never evidence of overlap
                continue
            }
            shownPost[entry] = i
            if let deleted = state.tombstones[post.id], deleted >= ticket.issued {
                ignored.append(entry)  // R5: deleted after the request left
                continue
            }
            page.append(entry)
        }
        try requireDeclaredOrder(page)
        if state.options.order == .bump { page = compareKeys(page) }
        duplicates = page.filter { isEntry($0) }
        rowsSeen = position
        rowsWithout(moved)
        return page
    }

    /// The number of a post's entry, made on first sight.
    mutating func number(of id: PostID) -> Int {
        if let entry = state.index[id] { return entry }
        state.append(id, Entry(isCached: false))
        shownPost.append(-1)
        return state.entries.count - 1
    }

    /// R6. A page of a stable feed has keys, strictly descending, and none of them has changed.
    private func requireDeclaredOrder(_ page: [Int]) throws(Interruption) {
        guard state.options.order == .stable, ticket.operation != .snapshot,
            ticket.operation != .bodies
        else { return }
        let keys = page.map(key)
        if keys.contains(nil) { throw .refused(.contradiction, help: .checkOptions) }
        for entry in page where isEntry(entry) {
            if let old = state.entries[entry].key, old != key(entry) {
                throw .refused(.contradiction, help: .checkOptions)
            }
        }
        if ticket.operation == .delta { return }  // in no order that counts
        for (upper, lower) in zip(keys, keys.dropFirst()) where upper! <= lower! {
            throw .refused(.contradiction, help: .checkOptions)
        }
    }

    /// R6. A grown key means moved; a smaller one is older than what is cached.
    private mutating func compareKeys(_ page: [Int]) -> [Int] {
        page.filter { entry in
            guard isEntry(entry), let shown = shownKey(entry), let old = state.entries[entry].key
            else { return true }
            if shown < old { ignored.append(entry) }
            if shown > old { moved.append(entry) }
            return shown >= old
        }
    }

    // MARK: Small queries

    /// True for a cached entry of the server's sequence.
    func isEntry(_ entry: Int) -> Bool {
        state.entries[entry].isCached && !state.entries[entry].isDetached
    }

    func shownKey(_ entry: Int) -> Int64? {
        shownPost[entry] < 0 ? nil : answer.posts[shownPost[entry]].key
    }

    /// The post of the answer that an accepted entry was made from.
    func post(of entry: Int) -> Post? {
        shownPost[entry] < 0 ? nil : answer.posts[shownPost[entry]]
    }

    /// The newest known key; an outdated one does not count.
    func key(_ entry: Int) -> Int64? {
        let cached = state.entries[entry].isCached ? state.entries[entry].key : nil
        guard let shown = shownKey(entry) else { return cached }
        if let cached, state.options.order == .bump, shown < cached { return cached }
        return shown
    }

    /// Moved entries leave their old place; the neighbours close up.
    mutating func rowsWithout(_ gone: [Int]) {
        if gone.isEmpty { return }
        let gone = EntrySet(gone)
        rows.removeAll { row in row.entry.map(gone.contains) ?? false }
    }

    /// Entry number -> row; nil for entries that have no row.
    func places() -> EntryMap {
        var places = EntryMap(entries: state.entries.count)
        for (i, row) in rows.enumerated() {
            if case .entry(let entry) = row { places[entry] = i }
        }
        return places
    }

    /// The row of the gap that owns the edge, `rows.count` for the tail, -1 for the head.
    func find(edge number: UInt64) -> Int {
        if let at = rows.firstIndex(where: { state.owns($0, edge: number) }) { return at }
        return number == tail.number ? rows.count : -1
    }

    /// Written after this request was issued: an older answer must not undo it.
    func isNewer(_ entry: Int) -> Bool { state.entries[entry].confirmed > ticket.issued }

    /// Entries leave the feed; pinned ones stay as detached entries.
    mutating func leave(_ entries: [Int]) {
        for entry in entries {
            if state.entries[entry].isPinned {
                keptDetached.append(entry)
                kept.append(entry)
            } else {
                removed.append(entry)
            }
        }
    }

    /// R9. No answer removes what it shows: it has the post on the other side of the border. (An entry
    /// dropped as outdated was not shown here: the next answer brings it back under its smaller key.)
    func requireShownStay() throws(Interruption) {
        let isShown = { (entry: Int) in shownPost[entry] >= 0 && !ignored.contains(entry) }
        if removed.contains(where: isShown) || keptDetached.contains(where: isShown) {
            throw .refused(.contradiction)
        }
    }

    /// All entries in these rows; none of them may be unloaded.
    func entries(in rows: some Sequence<Row>) throws(Interruption) -> [Int] {
        var entries: [Int] = []
        for row in rows {
            switch row {
            case .entry(let entry): entries.append(entry)
            case .unloaded(let run): throw .needs(.all(run))
            case .gap: continue
            }
        }
        return entries
    }

    /// R9. An answer without its border may begin elsewhere: in keyless feeds the border may have died
    /// somewhere else, and a loose link begins beyond it.
    var isDoubtful: Bool { state.options.order == .keyless || ticket.isLoose }

    /// R9. Another answer than the border's showed it, perhaps of a later moment: what the border's answer
    /// knew is as of when it was asked for, not of when it arrived.
    func isSeenLater(_ entry: Int, than border: Int) -> Bool {
        let (entry, border) = (state.entries[entry], state.entries[border])
        return entry.confirmed > border.asked && entry.confirmed != border.confirmed
    }

    /// R16. The answer's first or last item is not this entry, but one that was dropped, deleted or outdated
    /// meanwhile: the link begins beyond it.
    func isLoose(_ end: PageEnd, at entry: Int) -> Bool {
        if ignored.isEmpty { return false }
        let items = answer.posts.lazy.filter { !state.sticky.contains($0.id) }
        let outer = end == .first ? items.first : lastItem
        guard let outer, let shown = state.index[outer.id], shown != entry else { return false }
        return ignored.contains(shown)
    }

    enum PageEnd { case first, last }

    /// The last row that is not a repetition of one above it.
    private var lastItem: Post? {
        var last: (post: Post, position: Int)?
        for post in answer.posts where !state.sticky.contains(post.id) {
            guard let entry = state.index[post.id], let position = serverPosition[entry] else { continue }
            if last.map({ position > $0.position }) ?? true { last = (post, position) }
        }
        return last?.post
    }

    /// False if the last item of a recorded page was outdated: its link does not continue here.
    var isWhole: Bool {
        guard ticket.operation == .recorded, let last = answer.posts.last,
            let entry = state.index[last.id]
        else { return true }
        return !ignored.contains(entry)
    }
}
