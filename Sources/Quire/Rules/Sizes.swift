// R26: the size of pages: what to request, what answers teach, and what disproves the stated policy.

/// What is known about the size of a server's pages.
struct LearnedSizes: Hashable {
    /// True after an answer did not fit the stated policy. Sizes are unknown since.
    var isDisproved = false
    /// The number of rows in a page, once learned.
    var size: Int?
    /// The size that requests repeat while the real size is unknown.
    var asked: Int?
    /// A page that had fewer rows than requested.
    var short: Short?
    /// The most rows that one page has shown.
    var most = 0

    /// An object, because sizes are copied with every state, and few feeds have such a page.
    final class Short: Hashable, Sendable {
        let own: Link
        let start: Int
        let rows: Int

        init(own: Link, start: Int, rows: Int) { (self.own, self.start, self.rows) = (own, start, rows) }

        static func == (a: Short, b: Short) -> Bool {
            a === b || a.own == b.own && a.start == b.start && a.rows == b.rows
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(own)
            hasher.combine(start)
            hasher.combine(rows)
        }
    }
}

extension FeedState {
    /// True if requests are computed from a position in the list.
    var isNumbered: Bool { options.paging.isPositional }

    /// The policy in effect: the stated one, until an answer disproves it.
    var sizePolicy: SizePolicy { sizes.isDisproved ? .unknown : options.sizes }

    /// True if the server chooses the page size, so only page numbers are certain.
    var isByNumber: Bool { options.paging == .page && sizePolicy != .free }

    /// True if no request names a size.
    var namesNoSize: Bool {
        if case .fixed = options.sizes { true } else { false }
    }

    /// The number of rows in a page, stated or learned.
    var knownSize: Int? {
        if case .fixed(let size) = sizePolicy { size } else { sizes.size }
    }

    /// The number of rows that a page number stands for.
    var unit: Int { isByNumber ? knownSize ?? sizes.asked ?? options.pageSize : 1 }

    /// Returns how many rows the answer to an offset will have, as far as is known.
    func rowsExpected(limit: Int) -> Int {
        guard let size = knownSize else { return limit }
        return namesNoSize || size > sizes.asked ?? limit ? size : min(limit, size)
    }

    private func rows(of answer: Answer) -> Int {
        answer.posts.count { !sticky.contains($0.id) }
    }

    /// Remembers the limit while sizes are unknown: the first one is requested again and again. A smaller
    /// limit starts over, and positions stay.
    mutating func takeLimit(_ limit: Int) throws(Interruption) {
        guard sizePolicy == .unknown, isByNumber, !namesNoSize else { return }
        if let asked = sizes.asked {
            if limit >= asked { return }
            if (sizes.size ?? asked) > limit, (sizes.size ?? 0) <= asked {
                let found = try positions()
                (sizes.size, sizes.short, sizes.most) = (nil, nil, 0)
                sizes.asked = limit
                for (entry, at, _) in found { entries[entry].spot = Spot(at: at, unit: unit) }
            }
        }
        sizes.asked = limit
    }

    /// Returns the positions of all entries that have one.
    private func positions() throws(Interruption) -> [(entry: Int, at: Int, isLast: Bool)] {
        var found: [(entry: Int, at: Int, isLast: Bool)] = []
        for row in rows {
            if case .unloaded(let run) = row { throw .needs(.all(run)) }
            if let entry = row.entry, let spot = entries[entry].spot {
                found.append((entry, spot.position(unit: unit), spot.isLast))
            }
        }
        return found
    }

    /// Learns the size from the rows received: more than requested, as many, or the same fewer rows twice.
    mutating func learnSize(_ answer: Answer, _ ticket: TicketRecord) {
        guard isNumbered, let span = ticket.span else { return }
        let rows = rows(of: answer)
        sizes.most = max(sizes.most, rows)
        guard isByNumber, sizePolicy == .unknown, rows > 0 else { return }
        if rows >= span.asked || sizes.size.map({ rows > $0 }) ?? false {
            sizes.size = rows
        } else if sizes.size == nil && answer.next != .end {
            if let short = sizes.short, short.rows == rows, short.own != ticket.own {
                sizes.size = rows
            }
            sizes.short = LearnedSizes.Short(own: ticket.own, start: span.start, rows: rows)
        }
    }

    /// R26.7. Returns true if the page reaches the known total. The row at which it starts must be certain.
    func isAtTotal(_ answer: Answer, _ ticket: TicketRecord) -> Bool {
        guard let total = answer.total, let span = ticket.span, isNumbered,
            !isByNumber || knownSize != nil
        else { return false }
        let rows = answer.posts.count + answer.opaqueRows
        // no list has rows below its end: the server showed another page of it
        if rows > 0 && total <= span.start { return false }
        let size = isByNumber ? knownSize! : 0
        let isUncertain = isByNumber ? sizes.most < size : options.paging == .page && sizes.short != nil
        if span.start > 0 && isUncertain { return rows == 0 && total <= span.start }
        return total <= span.start + max(rows, sizes.most >= size ? size : 0)
    }

    // MARK: A policy that is wrong

    /// Makes sizes unknown if the answer does not fit the stated policy. Returns that policy then.
    mutating func disprovePolicy(
        _ answer: Answer, _ ticket: inout TicketRecord
    ) throws(Interruption) -> SizePolicy? {
        let rows = rows(of: answer)
        let policy = sizePolicy
        guard policy != .unknown, let span = ticket.span, rows > 0,
            ticket.operation != .recorded
        else { return nil }
        var stated: Int?
        if case .fixed(let size) = policy { stated = size }
        var size = rows > span.rows ? rows : nil  // more than requested
        if rows < span.rows, answer.next != .end, stated.map({ sizes.most < $0 }) ?? true {
            if let short = sizes.short, short.rows == rows, short.start != span.start {
                size = rows  // twice the same smaller number
            }
            if sizes.short.map({ rows >= $0.rows }) ?? true {
                sizes.short = LearnedSizes.Short(own: ticket.own, start: span.start, rows: rows)
            }
        }
        if stated != nil, isByNumber, let total = answer.total, span.start >= total {
            size = max(sizes.most, rows)  // rows where the list should have ended
        }
        guard let size else { return nil }
        try forgetPolicy(&ticket, size: size)
        return policy
    }

    /// Keeps entries at the positions where they were seen, as far as these are certain.
    private mutating func forgetPolicy(_ ticket: inout TicketRecord, size: Int) throws(Interruption) {
        let span = ticket.span!
        let hadAnySize = options.paging == .page && !isByNumber
        let found = hadAnySize ? try positions() : []
        var border: Int?
        if ticket.mayClaim && firstServerRow() != nil { border = try self.border(of: ticket) }
        sizes = LearnedSizes(isDisproved: true, size: size, asked: namesNoSize ? nil : span.rows, most: size)
        (head.search, tail.search) = (nil, nil)
        for gap in try gaps(with: .searched) { (gaps[gap].down.search, gaps[gap].up.search) = (nil, nil) }
        if !hadAnySize { return }
        for (entry, at, isLast) in found {  // numbers meant other positions than assumed
            var spot = Spot(at: at, unit: unit)
            spot.isLast = isLast && (at + 1) % size == 0
            entries[entry].spot = spot
        }
        let page = span.start / span.rows
        (ticket.span!.page, ticket.span!.asked) = (page, span.rows)
        if ticket.mayClaim, let border {
            let (at, isLast) = try position(border)
            ticket.mayClaim = isLast && ticket.after == nil && at / size == page - 1
        }
    }
}
