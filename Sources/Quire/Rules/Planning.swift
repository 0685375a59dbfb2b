// R1: what to ask the server. Planning changes no rows; it issues a ticket.

/// A planned request before it has a ticket number.
struct PlannedRequest {
    var target: Request.Target
    var record: TicketRecord
    var isOverlapping = false
    var until: PostID?
}

extension FeedState {
    /// R1. Plans a request for a place, or returns the reason why there is none.
    mutating func plan(
        _ place: Place, limit: Int?, isBounded: Bool, link: Link?
    ) throws(Interruption) -> Result<Request, Refusal> {
        let limit = min(max(1, limit ?? options.pageSize), FeedOptions.countLimit)
        if options.paging == .ids { return try planIDs(place, limit: limit) }
        switch place {
        case .head:
            return .success(try planRefresh(limit: limit, isBounded: isBounded, link: link ?? .head))
        case .around(let target):
            if options.order == .ranked { return .failure(.unsupported) }
            var record = newTicket(.around, limit: limit)
            record.ids = [target]
            return .success(issue(PlannedRequest(target: .around(target), record: record)))
        case .page(let number): return try planPage(number, limit: limit)
        case .join(let id): return try planVerify(id, limit: limit)
        case .delta: return planDelta(limit: limit)
        case .bodies(let ids):
            return planBodies(of: wantingBodies(ids, limit: limit), limit: limit)
        case .openHead:
            return try planUp(head, gap: nil, isBounded: isBounded, limit: limit)
        case .tail:
            return try planDown(tail, gap: nil, isBounded: isBounded, limit: limit)
        case .gap(let id):
            guard let gap = gapRows.first(where: { gaps[$0].id == id }) else {
                return .failure(.noSuchGap)
            }
            return try planDown(gaps[gap].down, gap: gap, isBounded: isBounded, limit: limit)
        case .aboveGap(let id):
            guard let gap = gapRows.first(where: { gaps[$0].id == id }) else {
                return .failure(.noSuchGap)
            }
            return try planUp(gaps[gap].up, gap: gap, isBounded: isBounded, limit: limit)
        }
    }

    func newTicket(_ operation: TicketRecord.Operation, limit: Int) -> TicketRecord {
        TicketRecord(
            number: ticketNumbers + 1, operation: operation, resets: resets,
            issued: clock + 1, limit: limit)
    }

    /// Issues a ticket. Two equal requests on the same edge share one.
    mutating func issue(_ planned: PlannedRequest) -> Request {
        let shared = tickets.lastIndex {
            !$0.isCancelled && $0.resets == resets && $0.isSameRequest(as: planned.record)
        }
        if shared == nil {
            ticketNumbers += 1
            _ = tick()
            tickets.append(planned.record)
        }
        return Request(
            ticket: Ticket(tickets[shared ?? tickets.count - 1].number), target: planned.target,
            isOverlapping: planned.isOverlapping, until: planned.until)
    }

    // MARK: Refresh

    mutating func planRefresh(
        limit: Int, isBounded: Bool, link: Link = .head, confirming edge: Edge? = nil
    ) throws(Interruption) -> Request {
        var record = newTicket(.refresh, limit: limit)
        record.own = link
        record.edges = [head.number]
        record.isContinuation = edge != nil
        if let edge, edge.link == .confirmEnd { record.confirms = edge.number }
        var planned = PlannedRequest(target: .link(link), record: record)
        if isNumbered && link == .head {
            planned = try planNumberedRefresh(record, limit: limit)
        }
        if isBounded, let first = firstServerRow() {
            planned.until = id(of: try entry(of: first, from: .above))
            planned.record.isBounded = true
        }
        return issue(planned)
    }

    // MARK: Down

    private mutating func planDown(
        _ edge: Edge, gap: Int?, isBounded: Bool, limit: Int
    ) throws(Interruption) -> Result<Request, Refusal> {
        if firstServerRow() == nil { return try planSecond(edge, limit: limit) }
        if edge.link == .end { return .failure(.end) }
        if try hasEndInDoubt(above: gap) { return .failure(.fillFirst) }
        if isNumbered { return try planNumbered(edge, gap: gap, limit: limit) }
        var record = newTicket(.down, limit: limit)
        record.edges = [edge.number]
        record.gap = gap.map { gaps[$0].id }
        guard let border = try entryAbove(edge: edge.number) else { return .failure(.empty) }
        var (link, after, isLoose) = (edge.link, edge.after, edge.isLoose)
        if (link == .unknown || link == .confirmEnd) && options.paging == .keyset {
            if !leads(from: after, to: border) { after = nil }
            link = .below(after ?? id(of: border))  // R32: what was made from the border may be dead
            if after == nil { record.minted = id(of: border) }
        } else if [.unknown, .confirmEnd, .head].contains(link) || !leads(from: after, to: border) {
            (link, after, isLoose) = try nearestLink(border)
            if link == .head && edge.link == .head && edge.number < head.number && options.paging == .keyset {
                // R32: the head was asked for since, so its post is there
                let top = try entry(of: firstServerRow()!, from: .above)
                link = .below(id(of: top))
                (after, record.minted) = top == border ? (nil, id(of: top)) : (id(of: top), nil)
            }
        }
        if link == .unknown {
            let first = gapRows.first
            return .failure(first == nil || first == gap ? .noLink : .fillFirst)
        }
        if link == .head {  // no page ends above the border
            return .success(try planRefresh(limit: limit, isBounded: false, confirming: edge))
        }
        record.own = link
        record.after = after
        record.isOverlapping = after != nil
        record.isLoose = isLoose
        record.mayClaim = options.paging == .pages  // a position does not prove the place (R26.9)
        var planned = PlannedRequest(target: .link(link), record: record, isOverlapping: after != nil)
        if isBounded, let gap, let below = try entryBelow(edge: gaps[gap].up.number) {
            planned.until = id(of: below)
            planned.record.edges.append(gaps[gap].up.number)
            planned.record.isBounded = true
        }
        return .success(issue(planned))
    }

    /// R11. Returns true if everything below this gap, or at the tail, is doubtful.
    private func hasEndInDoubt(above gap: Int?) throws(Interruption) -> Bool {
        if mayHideEndsInDoubt {
            return try gaps(with: .endInDoubt, above: gap).contains { gaps[$0].isEndInDoubt }
        }
        return gapRows.prefix { $0 != gap }.contains { gaps[$0].isEndInDoubt }
    }

    /// R7. Plans the request after a first page that had no entries but led on.
    private mutating func planSecond(
        _ edge: Edge, limit: Int
    ) throws(Interruption) -> Result<Request, Refusal> {
        var record = newTicket(.down, limit: limit)
        record.edges = [edge.number]
        if isNumbered, let search = edge.search {
            return .success(try planRows(from: search.skip * unit, record, limit: limit))
        }
        if !edge.link.isProven { return .failure(.empty) }
        record.own = edge.link
        return .success(issue(PlannedRequest(target: .link(edge.link), record: record)))
    }

    /// Returns true if the overlapping link's start lies above the border in the same segment, or if the link
    /// has no such start.
    func leads(from after: PostID?, to border: Int) -> Bool {
        guard let after else { return true }
        guard let start = cached(after) else { return false }
        let rows = serverRows
        guard let upper = rows.firstIndex(of: .entry(start)),
            let lower = rows.firstIndex(of: .entry(border)), upper < lower
        else { return false }
        return !rows[upper..<lower].contains(where: \.isGap)
    }

    // MARK: Up

    private mutating func planUp(
        _ edge: Edge, gap: Int?, isBounded: Bool, limit: Int
    ) throws(Interruption) -> Result<Request, Refusal> {
        if firstServerRow() == nil { return .failure(.empty) }
        if isByNumber && gap == nil && options.order != .ranked {
            return try planNumberedUp(limit: limit)
        }
        if options.order == .ranked { return .failure(.unsupported) }
        if isNumbered { return .failure(gap == nil ? .noLink : .unsupported) }
        if gap == nil && edge.link == .end && options.paging != .keyset { return .failure(.closed) }
        var record = newTicket(.up, limit: limit)
        record.own = edge.link
        if edge.link == .unknown || edge.link == .end {
            guard options.paging == .keyset, let border = try entryBelow(edge: edge.number) else {
                return .failure(.noLink)
            }
            record.own = .above(id(of: border))
            record.minted = id(of: border)
        }
        record.edges = [edge.number]
        record.gap = gap.map { gaps[$0].id }
        if isBounded, let gap { record.edges.append(gaps[gap].down.number) }
        record.isBounded = isBounded
        record.isOverlapping = edge.isOverlapping
        record.isLoose = edge.isLoose
        record.mayClaim = options.paging == .pages
        return .success(
            issue(
                PlannedRequest(target: .link(record.own), record: record, isOverlapping: edge.isOverlapping)))
    }

    // MARK: Id snapshots (R21)

    private mutating func planIDs(
        _ place: Place, limit: Int
    ) throws(Interruption) -> Result<Request, Refusal> {
        switch place {
        case .head:
            var record = newTicket(.snapshot, limit: limit)
            record.edges = [head.number]
            return .success(issue(PlannedRequest(target: .snapshot, record: record)))
        case .tail, .gap, .aboveGap:
            return planBodies(of: try placeholders(upTo: limit), limit: limit)
        case .bodies(let ids):
            return planBodies(of: wantingBodies(ids, limit: limit), limit: limit)
        case .delta: return planDelta(limit: limit)
        case .openHead, .around, .page, .join:
            return .failure(.unsupported)
        }
    }

    private func wantingBodies(_ ids: [PostID], limit: Int) -> [PostID] {
        var named: Set<PostID> = []
        let wanting = ids.filter { id in
            cached(id).map { entries[$0].wantsBody } ?? false && named.insert(id).inserted
        }
        return Array(wanting.prefix(limit))
    }

    private mutating func planBodies(of missing: [PostID], limit: Int) -> Result<Request, Refusal> {
        if missing.isEmpty { return .failure(rows.isEmpty ? .empty : .end) }
        var record = newTicket(.bodies, limit: limit)
        if options.paging == .ids { record.edges = [head.number] }  // otherwise no row is touched
        record.ids = missing
        return .success(issue(PlannedRequest(target: .bodies(missing), record: record)))
    }

    private func placeholders(upTo limit: Int) throws(Interruption) -> [PostID] {
        var missing: [PostID] = []
        for row in serverRows where missing.count < limit {
            switch row {
            case .entry(let entry) where entries[entry].isPlaceholder: missing.append(id(of: entry))
            case .unloaded(let run):
                if !unloaded[run].lacksPlaceholders { throw .needs(.sought(run, .placeholder)) }
            case .entry, .gap: continue
            }
        }
        return missing
    }
}
