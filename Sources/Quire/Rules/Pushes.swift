// R27: posts that the server pushes and says are on top now.

/// What a feed knows about its push messages.
struct Subscription: Hashable {
    /// The clock of the request or message that last showed the top of the list.
    var headAsOf: UInt64?
    /// The clock since when the server pushes everything that comes on top.
    var live: UInt64?
    /// The number of the last message, if messages are numbered.
    var message: UInt64?

    /// Returns true if everything that came on top since then was pushed.
    func isContinuous(since clock: UInt64?) -> Bool {
        guard let live, let clock else { return false }
        return clock >= live
    }
}

extension FeedState {
    /// Notes that from now on every post that comes on top is pushed, in messages after this number.
    mutating func beginLive(after message: UInt64?) {
        subscription.live = tick()
        subscription.message = message
    }

    /// Ends what `beginLive` began. If messages are numbered, their numbers show what was missed.
    mutating func endLive() {
        if subscription.message == nil { subscription.live = nil }
    }

    /// Judges a message and takes it in. `follows` is the post directly below the pushed ones, if known.
    mutating func push(_ answer: Answer, number: UInt64?, follows: PostID?) throws(Interruption) -> Judgement
    {
        if let number, let last = subscription.message, number <= last {
            return Judgement(outcome: Outcome(.stale, reason: "repeated"))
        }
        let now = tick()
        if let number {
            let last = subscription.message
            let isNext = subscription.live != nil && last.map { number == $0 + 1 } ?? false
            if !isNext { subscription.live = now }  // some were missed, or may have been
            subscription.message = number
        } else if subscription.message != nil {  // without a number it does not tell what came before
            (subscription.live, subscription.message) = (nil, nil)
        }
        var ticket = TicketRecord(number: 0, operation: .push, resets: resets, issued: now)
        ticket.after = follows
        var answer = answer
        (answer.next, answer.previous) = (.unknown, .unknown)  // a message brings no links
        return try judge(answer, ticket, isLesson: true)
    }
}

extension Draft {
    /// Returns the topmost entry.
    func top() throws(Interruption) -> Int? {
        guard let row = rows.first(where: { !$0.isGap }) else { return nil }
        return try state.entry(of: row, from: .above)
    }

    /// R27.1. Puts new posts on top, in this order. Those that belong further down go to their key's place.
    mutating func push(_ page: [Int]) throws(Interruption) {
        var places = places()
        if state.options.order == .ranked {  // the server defines what is on top
            let known = page.filter { places[$0] != nil }
            moved += known
            rowsWithout(known)
            rows = state.mergeGaps(rows)
            places = EntryMap(entries: 0)
        }
        let top = try top()
        let isKeyed = try hasKeys(page)
        func isBelowTop(_ entry: Int) -> Bool {
            if places[entry] != nil { return true }
            guard isKeyed, let top else { return false }
            let (key, limit) = (key(entry)!, key(top)!)
            // among equal keys the message decides
            return key < limit || key == limit && state.options.order != .bump
        }
        let first = page.firstIndex(where: { isBelowTop($0) }) ?? page.count
        let risen = Array(page[..<first])
        let others = page[first...].filter { places[$0] == nil }
        let isTopShown = first < page.count && page[first] == top
        if !risen.isEmpty { try putOnTop(risen, top, isTopShown: isTopShown) }
        isTopTold = !risen.isEmpty || (top != nil && page.first == top)
        var placed = risen
        for entry in others {
            if !isKeyed {
                ignored.append(entry)  // it is below the top, at an unknown place
                continue
            }
            try splice([entry], upper: .unknown, lower: nil)
            try keepProvenRun()
            placed.append(entry)
        }
        accepted = placed
    }

    /// R27.2. Puts posts on top, and directly above the old top only if nothing can lie between.
    private mutating func putOnTop(_ page: [Int], _ top: Int?, isTopShown: Bool) throws(Interruption) {
        var isJoined = false
        if let top, state.head.link == .end {
            // a name has no key: in a bump feed the post may have risen, unseen
            let isNamed = ticket.after == state.id(of: top) && state.options.order != .bump
            isJoined =
                isTopShown || isNamed
                || (rows[0] == .entry(top)
                    && state.subscription.isContinuous(since: state.subscription.headAsOf))
            if isTopShown { shown.append(top) }
        }
        try splice(page, upper: .head, lower: isJoined ? top : nil)
        if isJoined { return }
        headChanged = true
        if state.head.link != .end { head = state.newEdge(.end) }
    }

    // MARK: Requests on their way (R27.4)

    /// Takes out the rows that were pushed after this refresh was requested and that are not on its page.
    /// They belong above it.
    mutating func liftPushed(_ page: [Int]) throws(Interruption) -> [Row] {
        guard case .entry(let first)? = rows.first, state.entries[first].pushed > ticket.issued else {
            return []
        }
        let inPage = EntrySet(page)
        let isKeyed = try hasKeys(page)
        var count = 0
        walk: for (i, row) in rows.enumerated() {
            switch row {
            case .gap: continue
            case .unloaded(let run): throw .needs(.top(run))
            case .entry(let entry):
                let isBelowOne = i > 0 && !rows[i - 1].isGap && isNewer(entry)
                let standsAbove = state.entries[entry].pushed > ticket.issued || isBelowOne
                if inPage.contains(entry) || !standsAbove { break walk }
                if isKeyed && key(entry)! <= key(page[0])! { break walk }
                count = i + 1
            }
        }
        let lifted = Array(rows[..<count])
        let rest = rows[count...]
        let isAnchored = rest.contains { $0.entry.map(inPage.contains) ?? false }
        // only later numbers show what was missed
        let isSure =
            state.subscription.message == nil
            && state.subscription.isContinuous(since: ticket.issued)
        if count > 0 && !isKeyed && !isAnchored && !isSure {
            throw .refused(.discontinuity, help: .planAgain)  // they may also belong below the page
        }
        guard count > 0 else { return lifted }
        liftedFrom = rest.first
        rows = Array(rest)
        guard let gap = rest.first?.gap else { return lifted }
        rows.removeFirst()
        if state.changed > ticket.issued { gapBelowLifted = (gap, rows.first) }
        return lifted
    }

    mutating func putAbove(_ lifted: [Row]) throws(Interruption) {
        guard let last = lifted.last else { return }
        liftedEntries = lifted.compactMap(\.entry)
        var above = lifted
        if !state.subscription.isContinuous(since: ticket.issued) && rows.first != liftedFrom {
            let border = try state.entry(of: last, from: .below)
            let down = try state.linkBelow(border)
            above.append(state.newGap(down: down, up: state.newEdge(.unknown), why: .missed))
            farGap = true
        } else if let (gap, below) = gapBelowLifted {
            above.append(keptGap(gap, isAsBefore: rows.first == below))
            farGap = true
        }
        rows = above + rows
    }

    /// R27.4. Returns the gap below what was lifted, with an open edge above what is below it now.
    private mutating func keptGap(_ number: Int, isAsBefore: Bool) -> Row {
        if isAsBefore { return .gap(number) }
        var gap = state.gaps[number]
        gap.up = state.newEdge(.unknown)
        return state.newGap(gap)
    }

    /// R27.5. Shifts old entries down by the number of posts put above them.
    mutating func moveByPush() throws(Interruption) -> [(entry: Int, spot: Spot)] {
        let new = EntrySet(accepted)
        var above = 0
        for row in rows {
            if let entry = row.entry, new.contains(entry) {
                above += 1
            } else if above > 0 {
                state.moveSpots(in: [row], by: above)
            }
        }
        return rows.prefix(accepted.count).enumerated().compactMap { at, row in
            row.entry.flatMap { new.contains($0) ? ($0, Spot(at: at, unit: state.unit)) : nil }
        }
    }
}
