// R2, R3 and the way from a judged answer into the feed.

extension FeedState {
    /// Judges an answer and, if it is accepted, takes it in. Returns the state after it, nil if nothing
    /// changed, and the draft that says which posts were placed.
    func ingest(
        _ answer: Answer, _ ticket: TicketRecord
    ) throws(Interruption) -> (outcome: Outcome, draft: Draft?) {
        if let reason = try staleReason(ticket) { return (Outcome(.stale, reason: reason), nil) }
        var draft = Draft(self, ticket, answer)
        do {
            let page = try draft.clean()
            switch ticket.operation {
            case .refresh: try draft.refresh(page)
            case .down: try draft.down(page)
            case .up: try draft.up(page)
            case .around: try draft.around(page)
            case .snapshot: try draft.snapshot(page)
            case .bodies: try draft.bodies(page)
            case .recorded: try draft.recorded(page)
            }
            try draft.requireShownStay()
            return (try draft.commit(), draft)
        } catch .refused(let verdict) {
            var outcome = Outcome(verdict)
            outcome.duplicatesInPage = draft.duplicatesInPage
            return (outcome, nil)
        }
    }
}

extension Draft {
    /// Writes the draft into the state and says what it did.
    mutating func commit() throws(Interruption) -> Outcome {
        keepUnplaced()
        let now = state.tick()
        state.changed = now
        let (oldRows, borders) = (state.rows, state.borders())
        state.forgetBorders((removed + moved).filter { state.entries[$0].isCached })
        settleEntries(now)
        var page: UInt64?
        if !accepted.isEmpty { page = storePage() }
        (state.head, state.tail) = (head, tail)
        (state.drift, state.overlap) = (drift, overlap)
        if ticket.operation == .refresh && headChanged { state.skippedAbove = 0 }
        try settleClaims(oldRows)
        try state.setRows(state.withRiders(rows, old: oldRows))
        for claim in claims { state.entries[claim].isClaimed = true }
        try state.rederive(from: borders, gone: EntrySet(moved + removed))
        try putStickyOnTop(now)
        return outcome(page: page)
    }

    /// An entry that moved, but was not placed after all, stays where it was: moving must not lose it.
    private mutating func keepUnplaced() {
        if moved.isEmpty { return }
        let placed = EntrySet(rows.lazy.compactMap(\.entry))
        let lost = moved.filter { isEntry($0) && !placed.contains($0) }
        if lost.isEmpty { return }
        rows = state.reattach(rows, old: state.serverRows, wanderers: lost.map(Row.entry))
        moved.removeAll(where: lost.contains)
    }

    private mutating func settleEntries(_ now: UInt64) {
        new = accepted.filter {
            !state.entries[$0].isCached || state.entries[$0].isRider || state.entries[$0].isFault
        }
        for entry in rows.compactMap(\.entry) {
            if !state.entries[entry].isCached {
                state.entries[entry].isCached = true
                state.entries[entry].isFault = ticket.operation == .snapshot
                state.entries[entry].confirmed = now
            }
            state.entries[entry].isRider = false
        }
        for entry in shown { state.entries[entry].confirmed = now }
        for entry in accepted {
            state.entries[entry].confirmed = now
            state.entries[entry].isFault = false
            if let key = shownKey(entry) { state.entries[entry].key = key }
            state.tombstones[state.id(of: entry)] = nil
        }
        for entry in keptAsRiders { state.entries[entry].isRider = true }
        for entry in removed { state.entries[entry].isCached = false }
        for entry in goneForGood { state.tombstones[state.id(of: entry)] = now }
    }

    /// R16. Each accepted response becomes a page.
    private mutating func storePage() -> UInt64 {
        state.pageNumbers += 1
        var page = StoredPage(number: state.pageNumbers, own: ticket.own)
        page.first = state.id(of: accepted[0])
        page.last = isWhole ? state.id(of: accepted[accepted.count - 1]) : nil
        page.received = accepted.count + duplicatesInPage
        page.new = new.count
        page.duplicates = accepted.count - new.count
        page.duplicatesInPage = duplicatesInPage
        page.fetchedAt = answer.fetchedAt
        switch ticket.operation {
        case .refresh, .recorded: page.next = answer.next
        case .down:
            page.next = answer.next
            let isComplete = accepted.count == answer.posts.count + answer.opaqueRows
            if isComplete { page.previous = answer.previous }
        case .around: (page.next, page.previous) = (answer.next, answer.previous)
        case .up: page.previous = answer.previous
        case .snapshot, .bodies: break
        }
        state.pages[page.number] = page
        for entry in accepted { state.entries[entry].page = page.number }
        return page.number
    }

    /// R25. A seam is proven once one answer shows both neighbours.
    private mutating func settleClaims(_ oldRows: [Row]) throws(Interruption) {
        var carried = try state.carriedClaims(from: oldRows, to: rows, gone: Set(moved))
        if carried.isEmpty { return state.setClaims([]) }
        let covered = EntrySet(accepted + shown)
        for (upper, lower) in zip(rows, rows.dropFirst()) {
            if case .entry(let a) = upper, case .entry(let b) = lower,
                covered.contains(a) && covered.contains(b)
            {
                carried.remove(b)
            }
        }
        state.setClaims(carried)
    }

    /// R4. A sticky post the feed does not hold rides on top.
    private mutating func putStickyOnTop(_ now: UInt64) throws(Interruption) {
        for entry in sticky where !state.entries[entry].isCached {
            state.entries[entry].isCached = true
            state.entries[entry].isRider = true
            state.entries[entry].confirmed = now
            try state.setRows([.entry(entry)] + state.rows)
        }
    }

    private mutating func outcome(page: UInt64?) -> Outcome {
        let (opened, closed) = state.settleGapIDs(since: gapsBefore)
        func ids(_ entries: [Int]) -> [PostID] { entries.map { state.id(of: $0) } }
        var outcome = Outcome()
        outcome.new = ids(new)
        outcome.duplicates = ids(duplicates)
        outcome.duplicatesInPage = duplicatesInPage
        outcome.moved = ids(moved)
        outcome.removed = ids(removed)
        outcome.kept = ids(kept)
        outcome.displaced = ids(displaced)
        outcome.ignored = ids(ignored)
        outcome.opaqueRows = answer.opaqueRows
        outcome.sticky = ids(sticky)
        outcome.gapsClosed = closed
        outcome.gapsOpened = opened
        outcome.page = page
        outcome.changedEstimates = note == .discontinuity
        if let note {
            outcome.verdict = note
        } else if farGap {
            outcome.verdict = .gap
        } else if outcome.gapsClosed > 0 {
            outcome.verdict = .joined
        }
        return outcome
    }
}
