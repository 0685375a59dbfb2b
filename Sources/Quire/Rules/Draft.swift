/// The effect of one answer. It is computed separately and committed as a whole.
///
/// `state` keeps the old rows until `commit`. `rows` is the new list, without detached entries.
struct Draft: ~Copyable {
    var state: FeedState
    let ticket: TicketRecord
    var answer: Answer
    /// R8. True if the answer reached the end of the requested range. That says nothing about the end of the
    /// feed, so `answer.next` is unknown.
    let endsRange: Bool

    var rows: [Row] { didSet { knownPlaces = nil } }
    /// What ``places()`` has found, as long as the rows stay.
    private var knownPlaces: EntryMap?
    var head: Edge
    var tail: Edge
    let gapsBefore: [Gap]

    /// The entry of each post of the answer.
    let numbers: [Int]
    /// For each entry number, the index of its post in the answer; -1 if the answer does not show it.
    private var shownPost: [Int]
    /// The entries of the page that are now placed in the feed, in order.
    var accepted: [Int] = []
    /// Known entries that the answer showed without placing them: its border, or the one used in its place.
    var shown: [Int] = []
    /// True if `answer.next` continues directly at the border, false if below `standsAt`.
    var isPositioned = true
    var standsAt: Int?
    /// True if the answer should show that the border still exists, and does not (R9).
    var doubtsUpperBorder = false
    var doubtsLowerBorder = false
    var headChanged = false
    /// True if the page ends or begins at a gap.
    var farGap = false
    /// A verdict that replaces the computed one.
    var note: Outcome.Verdict?
    /// R25: the entries joined without proof to the one above, and why.
    var claims: [(lower: Int, why: Doubt)] = []
    /// R26: the number of rows received, without those that are not entries.
    var rowsSeen = 0
    /// R26: this border is at the position `least` or below. If `least` is nil, it is only known not to be
    /// the last of its page.
    var beyond: (border: Int, least: Int?)?
    /// R26: the last usable row of the page.
    var pageEnd: Int?
    /// R26: the numbers of the edges that this answer renewed.
    var renewedEdges: Set<UInt64> = []
    /// R26: true if known entries have a place.
    var hasLandmarks = false
    /// R26.10: true if the page was placed by its own order, against the cached one.
    var isAgainstCache = false
    /// R26: the entry below an unverified join above which the page was shown again.
    var checkedJoin: Int?
    /// R27: true if this answer showed the top of the list, with posts pushed meanwhile above it.
    var isTopTold = false
    var liftedEntries: [Int] = []
    /// R27.4: the row that was directly below what was lifted.
    var liftedFrom: Row?
    /// R27.4: a gap there, in which what was pushed since may have been evicted, and the row below it.
    var gapBelowLifted: (gap: Int, below: Row?)?
    /// R29.3: the posts that a delta puts on top, unasked, as a message does.
    var onTop: [Int] = []
    /// R18: the posts of this answer that are inside a proven run.
    var insideRun = EntrySet()
    /// R6: the ends of the page at which its place among equal keys was a guess.
    var parted = (first: false, last: false)
    /// R6, R25.5: false if the keys of this page do not descend, so that they tell no place.
    var hasDescendingKeys = true
    /// The page of a crawl shows nothing that is cached (R25.3).
    var isAllNew = false
    /// R25.5: entries that this page of a crawl shows, and that stay where they are.
    var staying: [Int] = []
    /// R25.5. What of a page of a crawl is new and belongs further up than the rest.
    var strays: [Int] = []
    /// Known entries that were shown against the order class.
    var disorder: [Int] = []
    /// R21: posts whose bodies did not come back. R29: posts reported as deleted, cached or not.
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

    init(_ before: consuming FeedState, _ ticket: consuming TicketRecord, _ answer: consuming Answer) {
        state = before
        numbers = state.numbers(of: answer.posts)
        endsRange = ticket.isBounded && answer.next == .end
        if endsRange { answer.next = .unknown }
        self.ticket = ticket
        self.answer = answer
        head = state.head
        tail = state.tail
        rows = state.serverRows
        shownPost = Array(filled: state.entries.count, with: -1)
        gapsBefore = state.gapRows.map { [gaps = state.gaps] in gaps[$0] }
        if gapsBefore.isEmpty { return }
        for i in rows.indices {
            if case .gap(let gap) = rows[i] { rows[i] = state.newGap(state.gaps[gap]) }
        }
    }

    // MARK: Cleaning (R4, R5, R6)

    /// Returns the entries of the answer that may be placed, in order. Moved entries leave their old place.
    mutating func clean() throws(Interruption) -> [Int] {
        var page: [Int] = []
        var position = 0
        page.reserveCapacity(numbers.count)
        let hasSticky = !state.sticky.isEmpty
        let hasTombstones = !state.tombstones.isEmpty
        for (i, entry) in numbers.enumerated() {
            if hasSticky && isSticky(entry) {
                if !sticky.contains(entry) { sticky.append(entry) }
                continue
            }
            position += 1
            if shownPost[entry] >= 0 {
                duplicatesInPage += 1  // R4: repetition does not prove overlap
                continue
            }
            shownPost[entry] = i
            if hasTombstones, let deleted = tombstone(entry), deleted >= ticket.issued {
                ignored.append(entry)  // R5: deleted after the request left
                continue
            }
            page.append(entry)
        }
        try requireDeclaredOrder(page)
        if state.options.order == .bump { page = compareKeys(page) }
        for entry in page where isEntry(entry) { duplicates.append(entry) }
        rowsSeen = position
        rowsWithout(moved)
        return page
    }

    /// Returns the number of a post's entry, creating the entry if needed.
    mutating func number(of id: PostID) -> Int {
        let entry = state.number(of: id)
        if entry == shownPost.count { shownPost.append(-1) }
        return entry
    }

    /// R28. Returns true for an entry of a sticky post of the feed's options.
    func isSticky(_ entry: Int) -> Bool {
        !state.sticky.isEmpty && state.sticky.contains(state.id(of: entry))
    }

    /// Returns when the post was deleted, by the clock.
    func tombstone(_ entry: Int) -> UInt64? {
        state.tombstones.isEmpty ? nil : state.tombstones[state.id(of: entry)]
    }

    /// R6. Throws unless the page of a stable feed has strictly descending keys, none of them changed.
    private func requireDeclaredOrder(_ page: [Int]) throws(Interruption) {
        guard state.options.order == .stable, ticket.operation != .snapshot,
            ticket.operation != .bodies
        else { return }
        var upper = Int64.max
        var isFirst = true
        for entry in page {
            guard let key = key(entry) else { throw .refused(.contradiction, help: .checkOptions) }
            if isEntry(entry), let old = state.entries[entry].key, old != key {
                throw .refused(.contradiction, help: .checkOptions)
            }
            // in the answer to a delta the order has no meaning
            if !isFirst && upper <= key && ticket.operation != .delta {
                throw .refused(.contradiction, help: .checkOptions)
            }
            (upper, isFirst) = (key, false)
        }
    }

    /// R6. Handles changed keys: an entry with a larger key has moved; one with a smaller key is outdated.
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

    /// Returns true for a cached entry of the server's sequence.
    func isEntry(_ entry: Int) -> Bool {
        state.entries[entry].isCached && !state.entries[entry].isDetached
    }

    func shownKey(_ entry: Int) -> Int64? {
        shownPost[entry] < 0 ? nil : answer.posts[shownPost[entry]].key
    }

    /// Returns the position of a shown entry in the server's answer, not counting sticky rows.
    func serverPosition(_ entry: Int) -> Int? {
        guard shownPost[entry] >= 0 else { return nil }
        if state.sticky.isEmpty { return shownPost[entry] }
        return numbers[..<shownPost[entry]].count { !isSticky($0) }
    }

    /// Returns the index of the answer's post from which an accepted entry was made.
    func post(of entry: Int) -> Int? { shownPost[entry] < 0 ? nil : shownPost[entry] }

    /// Returns the newest known key, ignoring that of an outdated post.
    func key(_ entry: Int) -> Int64? {
        let cached = state.entries[entry].isCached ? state.entries[entry].key : nil
        guard let shown = shownKey(entry) else { return cached }
        if let cached, state.options.order == .bump, shown < cached { return cached }
        return shown
    }

    /// Removes moved entries from their old places and joins the neighbours.
    mutating func rowsWithout(_ gone: [Int]) {
        if gone.isEmpty { return }
        let gone = EntrySet(gone)
        rows.removeAll { row in row.entry.map(gone.contains) ?? false }
    }

    /// Returns the row of each entry; nil for an entry without a row.
    mutating func places() -> EntryMap {
        if let knownPlaces { return knownPlaces }
        var places = EntryMap(entries: state.entries.count)
        for (i, row) in rows.enumerated() {
            if case .entry(let entry) = row { places[entry] = i }
        }
        knownPlaces = places
        return places
    }

    /// Returns the row of the gap that has the edge, `rows.count` for the tail, or -1 for the head.
    func find(edge number: UInt64) -> Int {
        if let at = rows.firstIndex(where: { state.owns($0, edge: number) }) { return at }
        return number == tail.number ? rows.count : -1
    }

    /// Returns true if the entry was written after this request was planned. The answer must not undo that.
    func isNewer(_ entry: Int) -> Bool { state.entries[entry].confirmed > ticket.issued }

    /// Removes entries from the feed; pinned ones stay as detached entries.
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

    /// R9. Throws if the answer would remove a post that it shows, which is then on the other side of the
    /// border. (A post dropped as outdated does not count as shown. The next answer restores it under its
    /// smaller key.)
    func requireShownStay() throws(Interruption) {
        func isShown(_ entry: Int) -> Bool { shownPost[entry] >= 0 && !ignored.contains(entry) }
        if removed.contains(where: { isShown($0) }) || keptDetached.contains(where: { isShown($0) }) {
            throw .refused(.contradiction)
        }
    }

    /// Returns all entries in these rows. Throws if one of the rows is unloaded.
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

    /// R9. True if an answer without its border may begin elsewhere: in keyless feeds the border may be gone
    /// from its place, and a loose link begins beyond it.
    var isDoubtful: Bool { state.options.order == .keyless || ticket.isLoose }

    /// R9. True if the answer may begin beyond the border: a server that leaves rows out of a page which it
    /// has cut leads on beyond them.
    var maySkip: Bool {
        if isDoubtful { return true }
        let options = state.options
        return options.order.hasKeys && ticket.minted == nil && !options.paging.isPositional
            && options.paging != .pages
    }

    /// R9. Returns true if an answer without its border must not take this entry away: it was seen later than
    /// the border, which came with the link. What arrived since the request was planned is kept in any case.
    func wouldHide(_ entry: Int, below border: Int) -> Bool {
        isSeenLater(entry, than: border) && (isDoubtful || !isNewer(entry))
    }

    /// R9. Returns true if another answer than the border's showed the entry, perhaps at a later moment. The
    /// border's answer is as of the time of its request, not of its arrival.
    func isSeenLater(_ entry: Int, than border: Int) -> Bool {
        let (entry, border) = (state.entries[entry], state.entries[border])
        return entry.confirmed > border.asked && entry.confirmed != border.confirmed
    }

    /// R16. Returns true if the answer's first or last item is not this entry, but one that was dropped,
    /// deleted or outdated meanwhile. Then the link begins beyond the entry.
    func isLoose(_ end: PageEnd, at entry: Int) -> Bool {
        if ignored.isEmpty { return false }
        let outer = end == .first ? firstItem : lastItem
        guard let outer, outer != entry else { return false }
        return ignored.contains(outer)
    }

    enum PageEnd { case first, last }

    private var firstItem: Int? {
        for entry in numbers where !isSticky(entry) { return entry }
        return nil
    }

    /// The last row that does not repeat one above it.
    private var lastItem: Int? {
        var last: (entry: Int, position: Int)?
        for entry in numbers where !isSticky(entry) {
            guard let position = serverPosition(entry) else { continue }
            if last.map({ position > $0.position }) ?? true { last = (entry, position) }
        }
        return last?.entry
    }

    /// False if the last item of a recorded page was outdated. Then its link does not continue here.
    var isWhole: Bool {
        guard ticket.operation == .recorded, let last = numbers.last else { return true }
        return !ignored.contains(last)
    }
}
