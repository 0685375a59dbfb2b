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
    /// The last entry of each page, by page number.
    private(set) var ends: [Int: PostID] = [:]
    /// The link that leads to each page, by page number, if it is known.
    private(set) var links: [Int: Link] = [:]
    private(set) var lastNumber: Int?
    /// The numbers of the pages with a known end or a known link to the next page, ascending.
    private var numbers: [Int] = []

    static let pageLimit = 1_024
    /// Page numbers must not exceed this in magnitude, so that it is safe to count on from them.
    public static let numberLimit = 1 << 53

    /// Creates a crawl without pages.
    public init(startingAt start: Start) { self.start = start }

    init(start: Start, ends: [Int: PostID], links: [Int: Link], lastNumber: Int?) {
        (self.start, self.ends, self.links, self.lastNumber) = (start, ends, links, lastNumber)
        numbers = Set(ends.keys).union(links.keys.map { $0 - 1 }).sorted()
    }

    var isFresh: Bool { lastNumber == nil }

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
        links[number] = link
        remember(number - 1)
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
            if let link, links[page] != link { follow(link, to: page) }
            if !isFirst, start == .head(page: page) { beginBelowHead(page, .token("page=\(page - 1)")) }
            return page
        }
        if let link, let known = self.number(for: link) { return known }
        let label = self.number(number)
        let isFree =
            isFresh || ends[label - 1] == nil && links[label] == nil && label > numbers.last ?? label - 1
        if let link, !isFree { return leap(to: link, number) }
        if !isFirst, start == .head(page: label) { beginBelowHead(label, .unknown) }
        if let link { follow(link, to: label) }
        return number
    }

    /// Notes that the page with this number is not the first one, but lies below the one at link `above`.
    private mutating func beginBelowHead(_ label: Int, _ above: Link) {
        start = .head(page: label - 1)
        follow(above, to: label - 1)
    }

    /// Returns the number of the page at this link, if the recorded pages tell.
    private func number(for link: Link) -> Int? {
        if let number = links.lazy.filter({ $0.value == link }).map(\.key).max() { return number }
        return numbers.last { ends[$0] != nil && links[$0 + 1] == nil && self.link(to: $0 + 1) == link }
            .map { $0 + 1 }
    }

    /// A number for a page that continues no page of the crawl.
    private var freeNumber: Int { max(lastNumber ?? 0, numbers.last ?? 0) + 2 }

    func isKnown(linkTo number: Int) -> Bool { links[number] != nil }

    /// Returns the link that was followed to this page.
    func link(to number: Int) -> Link { links[number] ?? .token("page=\(number)") }

    /// Returns the numbers of the pages above this one, nearest first.
    func earlier(than number: Int) -> ReversedCollection<ArraySlice<Int>> {
        numbers[..<place(of: number)].reversed()
    }

    /// Returns how many of the numbers are smaller.
    private func place(of number: Int) -> Int {
        if let last = numbers.last, last < number { return numbers.count }
        return numbers.firstIndex { $0 >= number } ?? numbers.count
    }

    /// What a page adds to a crawl.
    struct Step {
        let number: Int
        let end: PostID?
        let next: Link
    }

    mutating func note(_ step: Step) { note(step.number, endedAt: step.end, next: step.next) }

    mutating func note(_ number: Int, endedAt end: PostID?, next: Link) {
        if let end { ends[number] = end }
        if case .token(let text) = next, text != "page=\(number + 1)" { links[number + 1] = next }
        lastNumber = number
        remember(number)
    }

    private mutating func remember(_ number: Int) {
        if ends[number] == nil && links[number + 1] == nil { return }
        let place = place(of: number)
        if place < numbers.count && numbers[place] == number { return }
        numbers.insert(number, at: place)
        if numbers.count > Self.pageLimit { forget(numbers.removeFirst()) }
    }

    private mutating func forget(_ number: Int) {
        ends[number] = nil
        links[number + 1] = nil
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
        if crawl.ends.isEmpty, case .gap(let id) = crawl.start {
            gap = try allGaps().first { gaps[$0].id == id }
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

    /// R25.4. Links the head to the page above a crawl's topmost page if the crawl began further down. Only
    /// the answer to the head request closes the head.
    mutating func nameHead(above number: Int, in crawl: Crawl, _ answer: Answer) {
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
        for edge in try allGaps().map({ gaps[$0].down }) + [tail] where edge.link == own {
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
