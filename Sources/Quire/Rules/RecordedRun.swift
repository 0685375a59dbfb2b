/// Where a recorded crawl stands: which entry each of its pages ended at (R24, R25).
///
/// Pages are told apart by their numbers; page n leads to page n + 1 unless its answer carries a link of
/// its own. Pages may come in any order; a missing one is simply not recorded.
///
///     var run = RecordedRun(startingAt: .head(page: 1))
///     for page in pages { try feed.record(page.answer, page: page.number, in: &run) }
public struct RecordedRun: Sendable {
    /// Where the first page of the run lies.
    public enum Start: Sendable, Hashable {
        /// The page with this number is a refresh.
        case head(page: Int)
        /// The run goes on below the last entry.
        case tail
        /// The run goes on below the entry above this gap.
        case gap(GapID)
    }

    public let start: Start
    /// Page number -> its last entry.
    private(set) var ends: [Int: PostID] = [:]
    /// Page number -> the link that leads to it, where that is known.
    private var links: [Int: Link] = [:]
    private var lastNumber: Int?

    public init(startingAt start: Start) { self.start = start }

    var isFresh: Bool { lastNumber == nil }

    /// The number of the page to record; one without a number follows the page before.
    func number(_ number: Int?) -> Int {
        if let number { return number }
        if let lastNumber { return lastNumber + 1 }
        if case .head(let page) = start { return page }
        return 1
    }

    /// Says which link was followed to the page that is recorded next, where its request is known.
    /// Otherwise that is the one the page before gave. nil means the page that follows.
    public mutating func follow(_ link: Link, to page: Int?) { links[number(page)] = link }

    func isKnown(linkTo number: Int) -> Bool { links[number] != nil }

    /// The link that was followed to this page.
    func link(to number: Int) -> Link { links[number] ?? .token("page=\(number)") }

    /// The numbers of pages above this one, nearest first.
    func earlier(than number: Int) -> [Int] { ends.keys.filter { $0 < number }.sorted(by: >) }

    mutating func note(_ number: Int, endedAt end: PostID?, next: Link) {
        if let end { ends[number] = end }
        if case .token(let text) = next, text != "page=\(number + 1)" { links[number + 1] = next }
        lastNumber = number
    }
}

extension FeedState {
    /// The ticket for the next page of a recorded run. `end` is where the page directly above it ended,
    /// `earlier` where the nearest page above it that is still cached did.
    mutating func planRecorded(
        _ number: Int, in run: RecordedRun, named own: Link?, end: PostID?, earlier: PostID?
    ) throws(Interruption) -> TicketRecord {
        var record = newTicket(.recorded, limit: 0)
        record.own = own ?? run.link(to: number)
        if case .head(page: number) = run.start {
            record.isAtHead = true
        } else {
            let start = try border(of: run, own: record.own, end: end, earlier: earlier)
            if run.isFresh, own == nil, let start { record.own = start.link }
            record.after = start.map { id(of: $0.entry) }
        }
        ticketNumbers += 1
        _ = tick()
        return record
    }

    /// The end of the page before; else the edge that names this page; else (R24) the edge at which the
    /// nearest earlier page of the run ends, else where the run starts. nil in an empty feed.
    private func border(
        of run: RecordedRun, own: Link, end: PostID?, earlier: PostID?
    ) throws(Interruption) -> (entry: Int, link: Link)? {
        let rows = serverRows
        if rows.isEmpty { return nil }
        func isInSequence(_ id: PostID?) -> Int? {
            guard let entry = id.flatMap(cached), !entries[entry].isRider else { return nil }
            return entry
        }
        if let entry = isInSequence(end) { return (entry, own) }
        if run.isFresh, case .gap(let id) = run.start,
            let gap = gapRows.first(where: { gaps[$0].id == id }),
            let entry = try entryAbove(edge: gaps[gap].down.number)
        {
            return (entry, gaps[gap].down.link)
        }
        for edge in gapRows.map({ gaps[$0].down }) + [tail] where edge.link == own {
            if let entry = try entryAbove(edge: edge.number) { return (entry, own) }
        }
        let start = isInSequence(earlier).flatMap { rows.firstIndex(of: .entry($0)) }
        let bottom = start.flatMap { rows[$0...].firstIndex(where: \.isGap) } ?? rows.count
        return (try entry(at: bottom - 1, in: rows, from: .below), tail.link)
    }
}
