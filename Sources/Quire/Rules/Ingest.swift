// R2, R3: judging an answer and committing it to the feed.

/// The result of judging an answer.
struct Judgement {
    var outcome = Outcome()
    /// True if the state took the answer in.
    var isAccepted = false
    /// True if a refused answer still taught the state something about the server.
    var isLesson = false
    /// R25.5: the posts that a page of a crawl placed, if others of it stay where they were.
    var placed: [PostID]?
    /// The accepted entries, with the posts of the answer that bring their bodies.
    var placements: [Placement] = []
}

/// An entry and the index of the post in its answer.
struct Placement {
    let entry: Int
    let post: Int
}

extension FeedState {
    /// Judges an answer and, if it is accepted, takes it in.
    mutating func ingest(
        _ answer: consuming Answer, _ ticket: consuming TicketRecord
    ) throws(Interruption) -> Judgement {
        if let reason = try staleReason(ticket) {
            return Judgement(outcome: Outcome(.stale, reason: reason))
        }
        let before = sizes
        let disproved = try disprovePolicy(answer, &ticket)
        learnSize(answer, ticket)
        if let page = ticket.span?.page {  // what was learned applies to this answer too
            (ticket.span!.start, ticket.span!.rows) = (page * unit, unit)
        }
        if isAtTotal(answer, ticket) { answer.next = .end }
        if !isNumbered && ticket.operation != .delta {  // R16: "more" names no place
            if answer.next == .more { answer.next = .unknown }
            if answer.previous == .more { answer.previous = .unknown }
        }
        var judgement = try judge(answer, ticket, isLesson: sizes != before)
        judgement.outcome.disprovedSizes = disproved
        return judgement
    }

    /// Section 8. Returns what helps after a refused answer. A refresh does not reach a border below a gap.
    private func help(after verdict: Outcome.Verdict, to ticket: TicketRecord) -> Help? {
        guard verdict.help == .refresh, let edge = ticket.edges.first,
            ticket.operation == .down || ticket.operation == .up
        else { return verdict.help }
        let own = rows.firstIndex { owns($0, edge: edge) }
        let isBelowGap: Bool
        if ticket.operation == .up {
            isBelowGap = own != nil  // the gap itself is above the border
        } else {
            isBelowGap = rows[..<(own ?? rows.count)].contains(where: \.isGap)
        }
        return isBelowGap ? .fillFirst : .refresh
    }

    /// Places an answer. `isLesson`: the state has learned something that a refusal must not undo.
    mutating func judge(
        _ answer: consuming Answer, _ ticket: consuming TicketRecord, isLesson: Bool
    ) throws(Interruption) -> Judgement {
        var draft = Draft(copy(), ticket, answer)
        draft.disorder = draft.shownAgainstOrder()
        if !draft.disorder.isEmpty { draft.state.answersAgainstOrder += 1 }
        var judgement = Judgement(outcome: Outcome())
        do {
            try draft.place()
            try draft.commit(&judgement.outcome)
            judgement.isAccepted = true
            judgement.placements = draft.placements(since: self)
            if !draft.staying.isEmpty { judgement.placed = draft.accepted.map { draft.state.id(of: $0) } }
        } catch .refused(let verdict, let help) {
            judgement.outcome = Outcome(verdict, help: help ?? self.help(after: verdict, to: draft.ticket))
            judgement.isLesson = isLesson
            judgement.outcome.duplicatesInPage = draft.duplicatesInPage
            if !draft.disorder.isEmpty {
                answersAgainstOrder += 1
                judgement.isLesson = true
            }
            if draft.ticket.operation == .refresh && head.search != nil {
                head.search = nil  // R7: the next search begins at the first page
                judgement.isLesson = true
            }
        }
        if !draft.disorder.isEmpty {
            judgement.outcome.disorder = draft.disorder.map { draft.state.id(of: $0) }
        }
        judgement.outcome.unplaced = unplaced(draft, judgement)
        if judgement.isAccepted { self = (consume draft).state }
        return judgement
    }

    /// Returns received posts that are neither cached afterwards nor in another list of the outcome.
    private func unplaced(_ draft: borrowing Draft, _ judgement: Judgement) -> [PostID] {
        var missing: [PostID] = []
        for entry in draft.numbers {
            let isCached =
                judgement.isAccepted
                ? draft.state.entries[entry].isCached : entry < entries.count && entries[entry].isCached
            if !isCached && !draft.isSticky(entry) { missing.append(draft.state.id(of: entry)) }
        }
        if missing.isEmpty { return [] }
        var named = Set(judgement.outcome.ignored).union(judgement.outcome.removed)
        return missing.filter { named.insert($0).inserted }
    }
}

extension Draft {
    /// Places the answer in the draft, according to the place of the request.
    mutating func place() throws(Interruption) {
        let page = try clean()
        let isNumbered = state.isNumbered && ticket.span != nil
        switch ticket.operation {
        case .refresh: try refresh(page)
        case .down: try isNumbered ? numbered(page) : down(page)
        case .up: try isNumbered ? numberedUp(page) : up(page)
        case .around: try around(page)
        case .snapshot: try snapshot(page)
        case .bodies: try bodies(page)
        case .recorded: try recorded(page)
        case .verify: try verify(page)
        case .push: try push(page)
        case .delta: try delta(page)
        }
        try requireShownStay()
    }
}

extension Draft {
    /// Writes the draft into the state and fills the outcome.
    mutating func commit(_ outcome: inout Outcome) throws(Interruption) {
        try keepUnplaced()
        let spots = try learnPositions()
        let doubted = try doubtedJoins()
        let now = state.tick()
        // a push changes nothing that could make a jump stale
        if ticket.operation != .push { state.changed = now }
        let (oldRows, borders, coveredTop) = (state.rows, state.borders(), state.tokenCoversTop)
        let gone = removed + moved
        state.forgetBorders(gone.filter { state.entries[$0].isCached })
        applyPlacement(now)
        var page: UInt64?
        if !accepted.isEmpty { page = storePage() }
        if state.isNumbered && !accepted.isEmpty {
            if ticket.operation == .refresh {
                try restSearches()
            } else if hasLandmarks {
                try forgetSearches()
            }
        }
        if head.number == state.head.number { head.search = nil }  // R7: another answer came in between
        (state.head, state.tail) = (head, tail)
        noteTop(now)
        keepToken(now, coveredTop: coveredTop)
        try carryClaims(oldRows)
        for (lower, why) in doubted {
            if let at = rows.firstIndex(of: .entry(lower)), at > 0, let upper = rows[at - 1].entry {
                claim(between: upper, and: lower, why: why)
            }
        }
        try state.setRows(state.withDetached(rows, old: oldRows))
        try addClaims(now)
        try partPages()
        try recordPositions(spots)
        for gap in state.gapRows where state.gaps[gap].since == 0 { state.gaps[gap].since = now }
        try state.rederive(from: borders, gone: EntrySet(gone))
        try putStickyOnTop(now)
        outcome.page = page
        fill(&outcome)
    }

    /// R6. Puts back entries that this answer shows elsewhere but does not place. They have not moved: they
    /// return to their old place, on their own side of the gaps there.
    private mutating func keepUnplaced() throws(Interruption) {
        if moved.isEmpty { return }
        let placed = EntrySet(of: rows)
        let lost = EntrySet(moved.filter { isEntry($0) && !placed.contains($0) })
        if lost.isEmpty { return }
        moved.removeAll(where: lost.contains)
        let old = state.serverRows
        for (at, row) in old.enumerated() {
            guard let entry = row.entry, lost.contains(entry) else { continue }
            var above = at - 1  // below the nearest surviving entry above
            while above >= 0, old[above].isGap || !rows.contains(old[above]) { above -= 1 }
            var place = above < 0 ? 0 : rows.firstIndex(of: old[above])! + 1
            if old[(above + 1)..<at].contains(where: \.isGap) {
                try passGap(&place, to: entry, run: old[at...].prefix { !$0.isGap })
            }
            rows.insert(.entry(entry), at: place)
        }
    }

    /// Moves the place for an entry, the first of this run, below a gap that was there and below what now
    /// fills it. Opens a gap where the entry is not next to a row of its run.
    private mutating func passGap(
        _ place: inout Int, to entry: Int, run: ArraySlice<Row>
    ) throws(Interruption) {
        let placed = EntrySet(accepted)
        while place < rows.count, let next = rows[place].entry, placed.contains(next) { place += 1 }
        if place == rows.count {
            if tail.link == .end { return }
            let down = state.isNumbered ? state.newEdge(.more) : tail
            rows.append(state.newGap(down: down, up: state.linkAbove(entry)))
            (tail, farGap) = (state.tail, true)
            place += 1
        } else if rows[place].isGap {
            place += 1
            if place == rows.count || rows[place].isGap || run.contains(rows[place]) { return }
            let below = try state.entry(of: rows[place], from: .above)
            let down = try state.linkBelow(entry)
            rows.insert(state.newGap(down: down, up: state.linkAbove(below)), at: place)
        }
    }

    /// Notes what this answer says about the top of the list.
    private mutating func noteTop(_ now: UInt64) {
        let operation = ticket.operation
        if headChanged && (operation == .refresh || operation == .push) { state.skippedAbove = 0 }
        if headChanged && head.link == .end {
            let isFirst = ticket.span.map { $0.start == 0 } ?? true
            let isTold = isFirst && (operation == .refresh || operation == .up)
            state.subscription.headAsOf = isTold ? ticket.issued : nil
        }
        if isTopTold { state.subscription.headAsOf = ticket.issued }
        for entry in operation == .push ? accepted : onTop { state.entries[entry].pushed = now }
    }

    /// The entries whose bodies the answer brings. One that it shows may leave: it stayed where it was, and
    /// the answer ends above it.
    func placements(since old: borrowing FeedState) -> [Placement] {
        var placements: [Placement] = []
        placements.reserveCapacity(numbers.count)
        func add(_ entries: [Int]) {
            for entry in entries where state.entries[entry].isCached {
                if let post = post(of: entry) { placements.append(Placement(entry: entry, post: post)) }
            }
        }
        add(accepted)
        if accepted.count == numbers.count { return placements }
        // a delta brings bodies of entries that keep their places (R29.2)
        if ticket.operation == .delta { add(shown) }
        add(staying)
        var added = EntrySet(placements.lazy.map(\.entry))
        for (post, entry) in numbers.enumerated()
        where !added.contains(entry) && bringsBody(answer.posts[post], of: entry, since: old) {
            added.insert(entry)
            placements.append(Placement(entry: entry, post: post))
        }
        if duplicatesInPage == 0 { return placements }
        // R31.1: what is shown of a repeated post does not depend on which row came first
        var best = EntryMap(entries: state.entries.count)
        for (i, entry) in numbers.enumerated() {
            if let known = best[entry], !answer.posts[i].hasBetterBody(than: answer.posts[known]) { continue }
            best[entry] = i
        }
        return placements.map { Placement(entry: $0.entry, post: best[$0.entry]!) }
    }

    /// R31.5. Returns true if a post of the answer, which is cached and was not placed, may be newer than
    /// what was cached. Its version tells, if it has one.
    private func bringsBody(_ post: Post, of entry: Int, since old: borrowing FeedState) -> Bool {
        if !state.entries[entry].isCached || state.entries[entry].isPlaceholder { return false }
        if post.version != nil || entry >= old.entries.count { return true }
        let known = old.entries[entry]
        if let shown = post.key, let key = known.key, shown < key { return false }
        return known.asked <= ticket.issued && known.pushed <= ticket.issued
    }

    private mutating func applyPlacement(_ now: UInt64) {
        let (isSnapshot, issued) = (ticket.operation == .snapshot, ticket.issued)
        new.reserveCapacity(accepted.count)
        for entry in accepted where !isEntry(entry) || state.entries[entry].isPlaceholder {
            new.append(entry)
        }
        for row in rows {
            guard case .entry(let entry) = row else { continue }
            state.entries[entry].place(at: now, isPlaceholder: isSnapshot)
        }
        for entry in shown { state.entries[entry].confirm(at: now, asked: issued) }
        let hasTombstones = !state.tombstones.isEmpty
        for entry in accepted {
            let key = shownKey(entry)
            state.entries[entry].confirm(at: now, asked: issued, key: key)
            state.entries[entry].isPlaceholder = false
            if hasTombstones { state.tombstones[state.id(of: entry)] = nil }
        }
        if ticket.operation == .delta {
            for entry in shown { state.entries[entry].isPlaceholder = false }  // it has the bodies
        }
        for entry in keptDetached { state.entries[entry].isDetached = true }
        for entry in removed { state.entries[entry].isCached = false }
        for entry in goneForGood { state.tombstones[state.id(of: entry)] = now }
    }

    /// R16. Stores the accepted response as a page.
    private mutating func storePage() -> UInt64 {
        state.pageNumbers += 1
        var page = StoredPage(number: state.pageNumbers, own: ticket.own)
        page.first = state.id(of: accepted[0])
        page.last = isWhole ? state.id(of: accepted[accepted.count - 1]) : nil
        page.isLooseBelow = isLoose(.last, at: accepted[accepted.count - 1])
        page.isLooseAbove = isLoose(.first, at: accepted[0])
        page.received = accepted.count + duplicatesInPage
        page.new = new.count
        page.duplicates = accepted.count - new.count
        page.duplicatesInPage = duplicatesInPage
        page.fetchedAt = answer.fetchedAt
        // if accepted only in part, a far link begins at the border and not here
        let isComplete = accepted.count == answer.posts.count + answer.opaqueRows
        switch ticket.operation {
        case .refresh, .recorded: page.next = answer.next
        case .down:
            page.next = answer.next
            if isComplete { page.previous = answer.previous }
        case .around: (page.next, page.previous) = (answer.next, answer.previous)
        case .up:
            page.previous = answer.previous
            if isComplete { page.next = answer.next }
        case .snapshot, .bodies, .verify, .push, .delta: if isComplete { page.next = answer.next }
        }
        state.pages.append(page.number, page)
        for entry in accepted { state.entries[entry].page = page.number }
        return page.number
    }

    /// R25. Ends the claims of joins that this answer proves by showing both neighbours.
    private mutating func carryClaims(_ oldRows: [Row]) throws(Interruption) {
        if !state.hasClaims { return }
        let passed = try state.passedClaims(from: oldRows, to: rows, gone: Set(moved))
        let showsTop = state.subscription.headAsOf == ticket.issued && ticket.operation != .delta
        if !showsTop && state.isTopDoubted(rows, passed) { state.subscription.headAsOf = nil }
        var carried = state.joinedClaims(passed, in: rows)
        if !carried.isEmpty && ticket.operation != .delta {
            let (covered, issued) = (EntrySet(accepted + shown), ticket.issued)
            var proven = EntrySet()
            for (upper, lower) in zip(rows, rows.dropFirst()) {
                guard let upper = upper.entry, let lower = lower.entry else { continue }
                if covered.contains(upper) && covered.contains(lower) { proven.insert(lower) }
            }
            // this answer does not know of newer claims
            carried.removeAll { proven.contains($0.lower) && $0.claim.since <= issued }
        }
        state.setClaims(carried)
    }

    /// Records the joins that only page numbers justify, and which join this answer has checked.
    private mutating func addClaims(_ now: UInt64) throws(Interruption) {
        if !claims.isEmpty {
            let joined = state.joined(EntrySet(claims.lazy.map(\.lower)), in: state.rows)
            for (lower, why) in claims
            where joined.contains(lower) && !state.entries[lower].isUnverified {
                state.entries[lower].claim = Claim(why: why, since: now)
            }
        }
        if let checkedJoin, state.entries[checkedJoin].isUnverified {
            state.entries[checkedJoin].isChecked = true
        }
    }

    /// R4. Puts sticky posts that the feed does not hold on top, as detached entries.
    private mutating func putStickyOnTop(_ now: UInt64) throws(Interruption) {
        for entry in sticky where !state.entries[entry].isCached {
            state.entries[entry].isCached = true
            state.entries[entry].isDetached = true
            state.entries[entry].confirmed = now
            try state.setRows([.entry(entry)] + state.rows)
        }
    }

    private mutating func fill(_ outcome: inout Outcome) {
        let (opened, closed) = state.assignGapIDs(since: gapsBefore)
        func ids(_ entries: [Int]) -> [PostID] { entries.map { state.id(of: $0) } }
        outcome.new = ids(new)
        outcome.duplicates = ids(duplicates)
        outcome.duplicatesInPage = duplicatesInPage
        if !moved.isEmpty { outcome.moved = ids(moved) }
        if !removed.isEmpty { outcome.removed = ids(removed) }
        if !kept.isEmpty { outcome.kept = ids(kept) }
        if !displaced.isEmpty { outcome.displaced = ids(displaced) }
        if !ignored.isEmpty { outcome.ignored = ids(ignored) }
        outcome.opaqueRows = answer.opaqueRows
        outcome.sticky = ids(sticky)
        outcome.gapsClosed = closed
        outcome.gapsOpened = opened
        outcome.changedEstimates = note == .discontinuity || note == .noProgress
        if let note {
            outcome.verdict = note
            outcome.help = note == .discontinuity ? .planAgain : note.help
        } else if farGap {
            outcome.verdict = .gap
        } else if outcome.gapsClosed > 0 {
            outcome.verdict = .joined
        }
    }
}
