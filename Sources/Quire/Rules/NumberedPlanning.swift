// R26: requests in feeds paged by position, within the caller's limit.

/// A request for the rows from a position on, before its ticket is issued.
private struct PositionRequest {
    var target: Request.Target
    var own: Link = .unknown
    var span: TicketRecord.Span
}

extension FeedState {
    private mutating func request(from start: Int, limit: Int) throws(Interruption) -> PositionRequest {
        try takeLimit(limit)
        if options.paging == .offset {
            return PositionRequest(
                target: .position(offset: start, limit: namesNoSize ? nil : limit),
                span: TicketRecord.Span(start: start, rows: rowsExpected(limit: limit)))
        }
        if sizePolicy == .free {
            let page = start / limit + options.firstPage
            return PositionRequest(
                target: .page(number: page, limit: limit), own: .token("page=\(page)"),
                span: TicketRecord.Span(start: start / limit * limit, rows: limit))
        }
        let size = unit
        let page = start / size + options.firstPage
        return PositionRequest(
            target: .page(number: page, limit: sizes.asked), own: .token("page=\(page)"),
            span: TicketRecord.Span(start: start, rows: size, page: start / size))
    }

    private mutating func issue(_ request: PositionRequest, _ record: TicketRecord) -> Request {
        issue(PlannedRequest(target: request.target, record: spanning(request.span, record)))
    }

    /// Plans a request for the rows from a position on.
    mutating func planRows(
        from start: Int, _ record: TicketRecord, limit: Int
    ) throws(Interruption) -> Request {
        let request = try request(from: start, limit: limit)
        var record = record
        if isByNumber { record.own = request.own }
        return issue(request, record)
    }

    private func spanning(_ span: TicketRecord.Span, _ record: TicketRecord) -> TicketRecord {
        var record = record
        record.span = span
        record.span!.asked = sizes.asked ?? span.rows
        record.span!.isDisproved = sizes.isDisproved
        return record
    }

    mutating func planNumberedRefresh(_ record: TicketRecord, limit: Int) throws(Interruption)
        -> PlannedRequest
    {
        try takeLimit(limit)
        let request = try request(from: (head.search?.skip ?? 0) * unit, limit: limit)  // R7
        return PlannedRequest(target: request.target, record: spanning(request.span, record))
    }

    /// Plans a request for the page with this number, wherever it belongs (R18).
    mutating func planPage(_ number: Int, limit: Int) throws(Interruption) -> Result<Request, Refusal> {
        if !isByNumber || options.order == .ranked { return .failure(.unsupported) }
        try takeLimit(limit)
        let record = newTicket(.around, limit: limit)
        let first = min(max(0, number - options.firstPage), FeedOptions.countLimit)
        return .success(try planRows(from: first * unit, record, limit: limit))
    }

    // MARK: Down (R26.2)

    /// Plans a request for the page with the border if something may follow there, else for the next page.
    mutating func planNumbered(
        _ edge: Edge, gap: Int?, limit: Int
    ) throws(Interruption) -> Result<Request, Refusal> {
        try takeLimit(limit)
        guard let border = try entryAbove(edge: edge.number) else { return .failure(.empty) }
        var (at, isLast) = try position(border)
        let size = unit
        let search = search(of: edge, at: border)
        var floor = 0
        let higher = try self.gap(above: gap)
        if let higher, let above = try entryAbove(edge: gaps[higher].down.number) {
            floor = (try position(above).at / size + 1) * size
            if search.isLost { return .failure(.fillFirst) }
        }
        var landmark: Int?
        if search.back == 0, let after = search.after, leads(from: after, to: border) {
            landmark = cached(after)
        }
        var mayClaim = false
        var after: PostID?
        let start: Int
        if let probe = search.probe {
            start = probe * size
        } else if isByNumber {
            mayClaim = isLast && search.back == 0 && edge.link != .confirmEnd
            var page = at / size - search.back
            if mayClaim {
                page = at / size + 1 + search.skip
            } else if landmark != nil && search.hasEnded {
                page = search.page
            } else if landmark != nil && !(search.page + 1 < page && page < search.ceiling) {
                (page, mayClaim, after) = (search.page + 1 + search.skip, true, search.after)
            }
            start = page * size
        } else {
            if let landmark, at >= search.ceiling {  // start at the landmark, not at the border
                at = try position(landmark).at
                isLast = search.isStalled && !search.hasEnded
                if isLast { after = search.after }
            }
            mayClaim =
                isLast && (search.isStalled || limit == 1) && search.back == 0
                && edge.link != .confirmEnd
            start = mayClaim ? at + 1 + search.skip : at - search.back
        }
        if search.back > 0 && start < max(floor, 1) {  // the search reached what is above
            if higher != nil { return .failure(.fillFirst) }
            return .success(try planRefresh(limit: limit, isBounded: false))
        }
        var record = newTicket(.down, limit: limit)
        record.edges = [edge.number]
        record.gap = gap.map { gaps[$0].id }
        record.after = after
        record.isProbe = search.probe != nil
        record.mayClaim = mayClaim
        if options.paging == .page && sizePolicy == .free {
            let first = search.probe ?? at + 1 + (mayClaim ? search.skip : 0)
            return .success(
                planFree(
                    record, from: first, back: search.back, limit: limit,
                    isAgain: edge.search?.hasEnded ?? false || search.isSure && !isLast))
        }
        return .success(try planRows(from: max(0, start), record, limit: limit))
    }

    /// Returns the search state of the edge, or a new one if the border has changed since.
    func search(of edge: Edge, at border: Int) -> Search {
        if let search = edge.search, search.border == id(of: border) { return search }
        return Search(id(of: border))
    }

    /// Plans a page, of any size up to the limit, with the border, the row below it and the most new rows.
    private mutating func planFree(
        _ ticket: TicketRecord, from first: Int, back: Int, limit: Int, isAgain: Bool
    ) -> Request {
        var record = ticket
        let wanted = ticket.mayClaim || ticket.isProbe
        var fits = Self.sizes(upTo: limit) { wanted || first % $0 > back ? $0 - first % $0 : nil }
        // an end, or what would take entries away, is accepted only if the border is still there
        if fits == nil && back == 0 && !isAgain {
            record.mayClaim = true
            fits = Self.sizes(upTo: limit) { first % $0 == 0 ? $0 : nil }
        }
        if ticket.isProbe { record.mayClaim = false }
        let size = fits ?? limit
        let start = (fits == nil ? max(0, first - 1 - back) : first) / size * size
        return issue(
            PositionRequest(
                target: .page(number: start / size + options.firstPage, limit: size),
                span: TicketRecord.Span(start: start, rows: size)), record)
    }

    /// Returns the size up to the limit with the highest worth, the larger of equals; nil if none has any.
    private static func sizes(upTo limit: Int, worth: (Int) -> Int?) -> Int? {
        var best: (worth: Int, size: Int)?
        // for a huge limit, only the sizes next to it: they are as good, and planning stays fast
        for size in max(1, limit - 4_095)...limit {
            guard let worth = worth(size) else { continue }
            if best.map({ worth >= $0.worth }) ?? true { best = (worth, size) }
        }
        return best?.size
    }

    // MARK: Up (R26.5) and verifying (R26.8)

    /// Plans a request for the page above the first entry of an open head.
    mutating func planNumberedUp(limit: Int) throws(Interruption) -> Result<Request, Refusal> {
        if head.link == .end { return .failure(.closed) }
        let size = unit
        guard let border = try entryBelow(edge: head.number) else { return .failure(.empty) }
        let at = try position(border).at
        if at == 0 { return .success(try planRefresh(limit: limit, isBounded: false)) }
        var record = newTicket(.up, limit: limit)
        record.edges = [head.number]
        record.mayClaim = at % size == 0
        return .success(try planRows(from: (at - 1) / size * size, record, limit: limit))
    }

    /// Requests the page with the entry above an unverified join again; `id` is the entry below the join.
    mutating func planVerify(_ id: PostID, limit: Int) throws(Interruption) -> Result<Request, Refusal> {
        guard let lower = cached(id), entries[lower].isUnverified, let upper = try entryAbove(lower)
        else { return .failure(.noSuchJoin) }
        var record = newTicket(.verify, limit: limit)
        record.join = TicketRecord.Join(upper: self.id(of: upper), lower: id)
        if !isNumbered {
            if options.paging != .cursor && options.paging != .pages { return .failure(.unsupported) }
            let own = page(of: upper)?.own ?? .unknown
            switch own {
            // or the server refused it (R32)
            case .unknown, .end, .confirmEnd, .more: return .failure(.noLink)
            case .head, .token, .below, .above: break
            }
            record.own = own
            return .success(issue(PlannedRequest(target: .link(own), record: record)))
        }
        let (at, size) = (try position(upper).at, unit)
        if options.paging == .page && sizePolicy == .free {
            let size = Self.sizes(upTo: limit) { (at + 1) % $0 == 0 ? nil : $0 - (at + 1) % $0 } ?? limit
            return .success(
                issue(
                    PositionRequest(
                        target: .page(number: at / size + options.firstPage, limit: size),
                        span: TicketRecord.Span(start: at / size * size, rows: size)), record))
        }
        let start = isByNumber ? at / size * size : at
        return .success(try planRows(from: start, record, limit: limit))
    }
}
