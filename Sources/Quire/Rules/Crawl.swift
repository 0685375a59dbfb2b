/// The progress of a crawl: the last entry of each of its pages (R24, R25).
///
/// Pages are identified by their numbers. Page n leads to page n + 1 unless its answer has a link of its own.
/// Pages may come in any order; leave out those that are missing. A crawl remembers the 1,024 pages with the
/// highest numbers, so its memory is bounded.
///
///     var crawl = Crawl(startingAt: .head(page: 1))
///     for page in pages { _ = try feed.ingest(page.answer, page: page.number, of: &crawl) }
public struct Crawl: Sendable, Hashable {
    /// The place of the crawl's first page.
    public enum Start: Sendable, Hashable {
        /// At the head: the page with this number is a refresh.
        case head(page: Int)
        /// Below the last entry.
        case tail
        /// Below the entry above this gap. If the gap has closed before a page was taken in, pages are stale.
        case gap(GapID)
    }

    /// Where the first page lies.
    public private(set) var start: Start
    private(set) var lastNumber: Int?
    /// The last field: with the optional behind it, valgrind takes the tags of operations for uninitialised.
    private(set) var pages = CrawlPages()

    /// Page numbers must not exceed this in magnitude, so that it is safe to count on from them.
    public static let numberLimit = 1 << 53

    /// Creates a crawl without pages.
    public init(startingAt start: Start) { self.start = start }

    init(start: Start, pages: CrawlPages, lastNumber: Int?) {
        (self.start, self.pages, self.lastNumber) = (start, pages, lastNumber)
    }

    var isFresh: Bool { lastNumber == nil }

    /// True if no page had an entry.
    var hasNoEnd: Bool { pages.descending.allSatisfy { $0.end == nil } }

    /// Returns the number of the page to record. A page without a number follows the previous one.
    func number(_ number: Int?) -> Int {
        if let number { return number }
        if let lastNumber { return lastNumber + 1 }
        if case .head(let page) = start { return page }
        return 1
    }

    /// Tells the crawl which link was followed to the page recorded next, if its request is known. The
    /// default is the link that the page before gave. A nil `page` means the page that follows.
    public mutating func follow(_ link: Link, to page: Int?) {
        let number = number(page)
        if number.magnitude > Self.numberLimit { return }  // such a page is refused
        pages.update(number - 1) { $0.next = link }
    }

    // MARK: Pages whose request is known

    /// Tells the crawl that the page recorded next answers the request for the first page, so nothing lay
    /// above it. `number` is the page's own number and `link` the link requested, if known. Returns its
    /// number in the crawl, which is `page` if the server numbers its pages.
    public mutating func beginAtHead(by link: Link?, _ number: Int?, page: Int? = nil) -> Int {
        let label = page ?? (isFresh ? self.number(number) : freeNumber)
        if let link = link ?? (isFresh ? nil : .head) { follow(link, to: label) }
        start = .head(page: label)
        return label
    }

    /// Tells the crawl that the page recorded next was requested by this link. It is not the first page, and
    /// need not continue any page of the crawl. Returns its number in the crawl.
    public mutating func leap(to link: Link, _ number: Int?) -> Int {
        let label = isFresh ? self.number(number) : freeNumber
        if start == .head(page: label) { beginBelowHead(label, .unknown) }
        follow(link, to: label)
        return label
    }

    /// Tells the crawl which link was followed to the page recorded next, if it is known. The page lies below
    /// the page that gave the link. `isFirst` is false if it cannot be the first page. Returns its number in
    /// the crawl, or nil if it follows the previous page. It is `page` if the server numbers its pages.
    public mutating func descend(by link: Link?, _ number: Int?, isFirst: Bool, page: Int? = nil) -> Int? {
        if let page {
            if let link, known(above: page)?.next != link { follow(link, to: page) }
            if !isFirst, start == .head(page: page) { beginBelowHead(page, .token("page=\(page &- 1)")) }
            return page
        }
        if let link, let known = self.number(for: link) { return known }
        let label = self.number(number)
        let isFree = isFresh || known(above: label) == nil && pages.last.map { label > $0.number } ?? true
        if let link, !isFree { return leap(to: link, number) }
        if !isFirst, start == .head(page: label) { beginBelowHead(label, .unknown) }
        if let link { follow(link, to: label) }
        return number
    }

    /// Notes that the page with this number is not the first one, but lies below the one at link `above`.
    private mutating func beginBelowHead(_ label: Int, _ above: Link) {
        if label.magnitude > Self.numberLimit { return }  // such a page is refused
        start = .head(page: label - 1)
        follow(above, to: label - 1)
    }

    /// Returns the number of the page at this link, if the recorded pages tell.
    private func number(for link: Link) -> Int? {
        if let page = pages.descending.first(where: { $0.next == link }) { return page.number + 1 }
        let page = pages.descending.first { page in
            page.end != nil && page.next == nil && self.link(to: page.number + 1) == link
        }
        return page.map { $0.number + 1 }
    }

    /// A number for a page that continues no page of the crawl.
    private var freeNumber: Int { max(lastNumber ?? 0, pages.last?.number ?? 0) + 2 }

    /// Returns what is remembered of the page before this one. Any number may be asked for.
    func known(above number: Int) -> CrawlPages.Page? { pages[number &- 1] }

    func isKnown(linkTo number: Int) -> Bool { known(above: number)?.next != nil }

    /// Returns the link that was followed to this page.
    func link(to number: Int) -> Link { known(above: number)?.next ?? .token("page=\(number)") }

    /// Returns the pages above this one, nearest first.
    func earlier(than number: Int) -> some Sequence<CrawlPages.Page> {
        pages.descending.lazy.drop { $0.number >= number }
    }

    /// The last entry of the page after this one, if that was recorded by its number alone, before this page
    /// said which link leads there.
    func endBelow(_ number: Int) -> PostID? { isKnown(linkTo: number + 1) ? nil : pages[number + 1]?.end }

    /// What a page adds to a crawl.
    struct Step {
        let number: Int
        let end: PostID?
        let next: Link
    }

    mutating func note(_ step: Step) { note(step.number, endedAt: step.end, next: step.next) }

    mutating func note(_ number: Int, endedAt end: PostID?, next: Link) {
        lastNumber = number
        var link: Link?
        if case .token(let text) = next, text != "page=\(number + 1)" { link = next }
        if end == nil && link == nil { return }
        pages.update(number) { page in
            if let end { page.end = end }
            if let link { page.next = link }
        }
    }
}

extension FeedState {
    /// Issues the ticket for the next page of a crawl. `end` is the last entry of the page directly above it;
    /// `earlier` is the last entry of the nearest page above it that is still cached. Returns nil if the
    /// crawl begins at a gap that does not exist any more.
    mutating func planRecorded(
        _ number: Int, in crawl: Crawl, named own: Link?, end: PostID?, earlier: PostID?
    ) throws(Interruption) -> TicketRecord? {
        var gap: Int?
        if case .gap(let id) = crawl.start, crawl.hasNoEnd {
            gap = gapRows.first { gaps[$0].id == id }
            if gap == nil { return nil }
        }
        var record = newTicket(.recorded, limit: 0)
        record.own = own ?? crawl.link(to: number)
        if isByNumber, own?.isAbove != true {
            let page = number - options.firstPage
            record.span = TicketRecord.Span(
                start: page * unit, rows: unit, page: page, asked: sizes.asked ?? unit,
                isDisproved: sizes.isDisproved)
        }
        if case .head(page: number) = crawl.start {
            record.isAtHead = true
        } else if end.flatMap({ cached($0) }).map({ entries[$0].isDetached }) ?? true,
            firstServerRow() != nil, head.link == record.own
        {
            record.isAboveHead = true
        } else if own?.isAbove != true {  // otherwise it shows what it lies above
            let start = try border(
                from: gap, own: record.own, isNumbered: own != nil, end: end, earlier: earlier)
            if crawl.isFresh, own == nil, let start { record.own = start.link }
            record.after = start.map { id(of: $0.entry) }
            record.isBeyondMissing = start?.isBeyondMissing ?? false
        }
        ticketNumbers += 1
        _ = tick()
        return record
    }

    /// Takes in a page of a crawl. `below` is the last entry of the page after it, if that was recorded by
    /// its number alone (R25.2): a page that is accepted says which link leads there.
    mutating func ingest(
        _ answer: Answer, _ ticket: TicketRecord, page number: Int, of crawl: Crawl, below: PostID?
    ) throws(Interruption) -> Judgement {
        let counted = Link.token("page=\(number + 1)")
        name(pageEndingAt: below, by: answer.next, insteadOf: counted)
        let judged = try ingest(answer, ticket)
        if judged.isAccepted {
            nameHead(above: number, in: crawl, answer)
        } else {
            name(pageEndingAt: below, by: counted, insteadOf: answer.next)
        }
        return judged
    }

    /// Gives the page that ends at this entry the link that leads to it, if it has this other one.
    private mutating func name(pageEndingAt end: PostID?, by link: Link, insteadOf own: Link) {
        guard case .token = link, let entry = end.flatMap({ cached($0) }), let page = page(of: entry),
            page.own == own
        else { return }
        pages[page.number]!.own = link
    }

    /// R25.4. Links the head to the page above a crawl's topmost page if the crawl began further down. Only
    /// the answer to the head request closes the head.
    private mutating func nameHead(above number: Int, in crawl: Crawl, _ answer: Answer) {
        var first = options.firstPage
        if case .head(let page) = crawl.start { first = page }
        let topmost = answer.posts.first { cached($0.id) != nil }
        guard head.link == .unknown, number > first, case .entry(let top)? = firstServerRow(),
            topmost?.id == id(of: top)
        else { return }
        head = newEdge(crawl.link(to: number - 1))
    }

    /// Returns the end of the page before, else the edge that names this page, else (R24) the edge at which
    /// the nearest earlier page of the crawl ends, else the start of the crawl: the gap, or the tail. Returns
    /// nil in an empty feed. At the edge of an earlier page and at the tail, pages are missing above one that
    /// has a number.
    private func border(
        from gap: Int?, own: Link, isNumbered: Bool, end: PostID?, earlier: PostID?
    ) throws(Interruption) -> (entry: Int, link: Link, isBeyondMissing: Bool)? {
        let rows = serverRows
        if rows.isEmpty { return nil }
        func isInSequence(_ id: PostID?) -> Int? {
            guard let entry = id.flatMap({ cached($0) }), !entries[entry].isDetached else { return nil }
            return entry
        }
        if let entry = isInSequence(end) { return (entry, own, false) }
        if let gap, let entry = try entryAbove(edge: gaps[gap].down.number) {
            return (entry, gaps[gap].down.link, false)
        }
        for edge in try gaps(with: .filled(by: own)).map({ gaps[$0].down }) + [tail] where edge.link == own {
            if let entry = try entryAbove(edge: edge.number) { return (entry, own, false) }
        }
        let start = isInSequence(earlier).flatMap { rows.firstIndex(of: .entry($0)) }
        let bottom = start.flatMap { rows[$0...].firstIndex(where: \.isGap) } ?? rows.count
        let last = try entry(of: rows[bottom - 1], from: .below)
        return (last, tail.link, isNumbered)
    }
}

extension Link {
    fileprivate var isAbove: Bool {
        if case .above = self { true } else { false }
    }
}
