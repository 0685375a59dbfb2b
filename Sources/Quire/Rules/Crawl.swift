/// The state of a crawl: the last entry of each of its pages (R24, R25).
///
/// Pages are told apart by their numbers; page n leads to page n + 1 unless its answer carries a link of
/// its own. Pages may come in any order; a missing one is simply not recorded. Of a long crawl the 1,024
/// pages with the highest numbers are remembered, so that it takes no more memory the longer it gets.
///
///     var crawl = Crawl(startingAt: .head(page: 1))
///     for page in pages { try feed.ingest(page.answer, page: page.number, of: &crawl) }
public struct Crawl: Sendable {
    /// The place of the crawl's first page.
    public enum Start: Sendable, Hashable {
        /// The page with this number is a refresh.
        case head(page: Int)
        /// The crawl goes on below the last entry.
        case tail
        /// The crawl goes on below the entry above this gap.
        case gap(GapID)
    }

    /// The place of its first page.
    public private(set) var start: Start
    /// Page number -> its last entry.
    private(set) var ends: [Int: PostID] = [:]
    /// Page number -> the link that leads to it, where that is known.
    private(set) var links: [Int: Link] = [:]
    private(set) var lastNumber: Int?
    /// The numbers of the pages whose end is known, or the link of the page that follows; ascending.
    private var numbers: [Int] = []

    static let pageLimit = 1_024
    /// Page numbers beyond this, either way, cannot be counted on from.
    public static let numberLimit = 1 << 53

    /// A crawl without pages yet.
    public init(startingAt start: Start) { self.start = start }

    init(start: Start, ends: [Int: PostID], links: [Int: Link], lastNumber: Int?) {
        (self.start, self.ends, self.links, self.lastNumber) = (start, ends, links, lastNumber)
        numbers = Set(ends.keys).union(links.keys.map { $0 - 1 }).sorted()
    }

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
    public mutating func follow(_ link: Link, to page: Int?) {
        let number = number(page)
        if number.magnitude > Self.numberLimit { return }  // such a page is refused
        links[number] = link
        remember(number - 1)
    }

    // MARK: Pages whose request is known

    /// Says that the page recorded next answers the request for the first page: nothing lay above it.
    /// `number` is how it is counted, `link` what it was asked for by, if that is known. Returns its number
    /// in the crawl. A server that counts its pages gives it its `page`.
    public mutating func beginAtHead(by link: Link?, _ number: Int?, page: Int? = nil) -> Int {
        let label = page ?? (isFresh ? self.number(number) : freeNumber)
        if let link = link ?? (isFresh ? nil : .head) { follow(link, to: label) }
        start = .head(page: label)
        return label
    }

    /// Says that the page recorded next was asked for by this link, which need not continue any page of the
    /// crawl, and is not the first one. Returns its number in the crawl.
    public mutating func leap(to link: Link, _ number: Int?) -> Int {
        let label = isFresh ? self.number(number) : freeNumber
        if start == .head(page: label) { beginBelowHead(label, .unknown) }
        follow(link, to: label)
        return label
    }

    /// Says which link was followed to the page that is recorded next, where that is known: it lies below the
    /// page that gave the link. `isFirst` is false if it cannot be the first page. Returns its number in the
    /// crawl, nil if it follows the page before. A server that counts its pages gives it its `page`.
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

    /// The page with this number is not the first one, but the one below the page that a link leads to.
    private mutating func beginBelowHead(_ label: Int, _ above: Link) {
        start = .head(page: label - 1)
        follow(above, to: label - 1)
    }

    /// The number of the page that this link leads to, as far as the pages recorded say.
    private func number(for link: Link) -> Int? {
        if let number = links.lazy.filter({ $0.value == link }).map(\.key).max() { return number }
        return numbers.last { ends[$0] != nil && links[$0 + 1] == nil && self.link(to: $0 + 1) == link }
            .map { $0 + 1 }
    }

    /// The number of a page that continues none of the crawl.
    private var freeNumber: Int { max(lastNumber ?? 0, numbers.last ?? 0) + 2 }

    func isKnown(linkTo number: Int) -> Bool { links[number] != nil }

    /// The link that was followed to this page.
    func link(to number: Int) -> Link { links[number] ?? .token("page=\(number)") }

    /// The numbers of pages above this one, nearest first.
    func earlier(than number: Int) -> ReversedCollection<ArraySlice<Int>> {
        numbers[..<place(of: number)].reversed()
    }

    /// The count of smaller numbers.
    private func place(of number: Int) -> Int {
        if let last = numbers.last, last < number { return numbers.count }
        return numbers.firstIndex { $0 >= number } ?? numbers.count
    }

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
    /// The ticket for the next page of a crawl. `end` is where the page directly above it ended,
    /// `earlier` where the nearest page above it that is still cached did.
    mutating func planRecorded(
        _ number: Int, in crawl: Crawl, named own: Link?, end: PostID?, earlier: PostID?
    ) throws(Interruption) -> TicketRecord {
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
        } else if end.flatMap(cached).map({ entries[$0].isDetached }) ?? true, !serverRows.isEmpty,
            head.link == record.own
        {
            record.isAboveHead = true
        } else if own?.isAbove != true {  // else it shows what it lies above
            let start = try border(of: crawl, own: record.own, end: end, earlier: earlier)
            if crawl.isFresh, own == nil, let start { record.own = start.link }
            record.after = start.map { id(of: $0.entry) }
        }
        ticketNumbers += 1
        _ = tick()
        return record
    }

    /// R25.4. Only the head request closes the head: above the topmost page of a crawl that began further
    /// down, its link names the page above.
    mutating func nameHead(above number: Int, in crawl: Crawl, _ answer: Answer) {
        var first = options.firstPage
        if case .head(let page) = crawl.start { first = page }
        let topmost = answer.posts.first { cached($0.id) != nil }
        guard head.link == .unknown, number > first, case .entry(let top)? = serverRows.first,
            topmost?.id == id(of: top)
        else { return }
        head = newEdge(crawl.link(to: number - 1))
    }

    /// The end of the page before; else the edge that names this page; else (R24) the edge at which the
    /// nearest earlier page of the crawl ends, else where the crawl starts. nil in an empty feed.
    private func border(
        of crawl: Crawl, own: Link, end: PostID?, earlier: PostID?
    ) throws(Interruption) -> (entry: Int, link: Link)? {
        let rows = serverRows
        if rows.isEmpty { return nil }
        func isInSequence(_ id: PostID?) -> Int? {
            guard let entry = id.flatMap(cached), !entries[entry].isDetached else { return nil }
            return entry
        }
        if let entry = isInSequence(end) { return (entry, own) }
        if crawl.isFresh, case .gap(let id) = crawl.start,
            let gap = try allGaps().first(where: { gaps[$0].id == id }),
            let entry = try entryAbove(edge: gaps[gap].down.number)
        {
            return (entry, gaps[gap].down.link)
        }
        for edge in try allGaps().map({ gaps[$0].down }) + [tail] where edge.link == own {
            if let entry = try entryAbove(edge: edge.number) { return (entry, own) }
        }
        let start = isInSequence(earlier).flatMap { rows.firstIndex(of: .entry($0)) }
        let bottom = start.flatMap { rows[$0...].firstIndex(where: \.isGap) } ?? rows.count
        return (try entry(at: bottom - 1, in: rows, from: .below), tail.link)
    }
}

extension Link {
    fileprivate var isAbove: Bool {
        if case .above = self { true } else { false }
    }
}
