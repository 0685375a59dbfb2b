// R29: answers that list the changes since an earlier time. Posts that such an answer does not name are
// untouched.

/// A token from an answer, with which to ask later for the changes since then.
struct DeltaToken: Hashable {
    var text: String
    /// If the top was told at this clock or later, then not before the server made the token: what came on
    /// top since is in the changes.
    var asOf: UInt64
}

extension FeedState {
    /// True if the changes since the token contain everything that came on top since the top was told.
    var tokenCoversTop: Bool {
        guard let token = deltaToken, let told = subscription.headAsOf else { return false }
        return told >= token.asOf
    }

    /// R29. Plans a request for the changes since the token that was kept.
    mutating func planDelta(limit: Int) -> Result<Request, Refusal> {
        guard let token = deltaToken else { return .failure(.noLink) }
        var record = newTicket(.delta, limit: limit)
        record.own = .token(token.text)
        return .success(issue(PlannedRequest(target: .delta(since: token.text), record: record)))
    }
}

extension Draft {
    mutating func delta(_ page: [Int]) throws(Interruption) {
        let isWhole = answer.next == .unknown || answer.next == .end
        (answer.next, answer.previous) = (.unknown, .unknown)  // these are not links of the list
        let deleted = try leaveDeleted()
        let page = page.filter { !deleted.contains($0) }
        if page.isEmpty && answer.deleted.isEmpty && answer.since == nil { throw .refused(.empty) }
        let places = places()
        shown = page.filter { places[$0] != nil }
        let onTop = try putNewOnTop(page, isWhole: isWhole)
        var placed = onTop
        let isPlaced = EntrySet(shown + onTop)
        for entry in page where !isPlaced.contains(entry) {
            guard try hasKnownPlace(entry) else {
                ignored.append(entry)
                continue
            }
            try splice([entry], upper: .unknown, lower: nil)
            try keepProvenRun()
            placed.append(entry)
        }
        let remain = EntrySet(of: rows)
        accepted = placed.filter(remain.contains)
        if !rows.contains(where: { !$0.isGap }) {  // as after the last deletion (R14)
            rows = []
            (head, tail) = (state.newEdge(.end), state.newEdge(.unknown))
        }
    }

    /// R29. Keeps a token for later. One of an answer that told the top is of the same moment, and replaces
    /// each one that does not cover the top. Any other one is as late as the answer, and does not replace one
    /// that covers the top. A message may have been sent before the token was made.
    mutating func keepToken(_ now: UInt64, coveredTop: Bool) {
        if ticket.operation == .push && !coveredTop { state.deltaToken?.asOf = now }
        guard let text = answer.since else { return }
        let tellsTop = state.subscription.headAsOf == ticket.issued
        let covers = state.tokenCoversTop
        let isNewest = state.deltaToken.map { ticket.issued >= $0.asOf } ?? true
        if !covers && (tellsTop || isNewest) || isNewest && (tellsTop || ticket.operation == .delta) {
            state.deltaToken = DeltaToken(text: text, asOf: tellsTop ? ticket.issued : now)
        }
    }

    /// R29.1. Removes deleted entries, except those that an answer wrote after this request was planned.
    /// Returns all posts that were deleted on the server, cached or not.
    private mutating func leaveDeleted() throws(Interruption) -> EntrySet {
        var seen = EntrySet()
        var deleted: [Int] = []
        for id in answer.deleted {
            let entry = number(of: id)
            if seen.insert(entry) { deleted.append(entry) }
        }
        kept += deleted.filter { isEntry($0) && isNewer($0) }
        goneForGood = deleted.filter { !(isEntry($0) && isNewer($0)) }
        let gone = EntrySet(goneForGood)
        let leaving = goneForGood.filter { isEntry($0) }
        moved.removeAll(where: gone.contains)
        leave(leaving)
        if state.isNumbered, let at = rows.firstIndex(where: { $0.entry.map(gone.contains) ?? false }) {
            state.moveSpots(in: rows[(at + 1)...], by: 0)
        }
        rowsWithout(leaving)
        rows = state.mergeGaps(rows)
        return gone
    }

    /// R29.3. Puts new posts on top. A complete answer contains everything that came on top since the head
    /// was last known, if it covers the time from then on.
    private mutating func putNewOnTop(_ page: [Int], isWhole: Bool) throws(Interruption) -> [Int] {
        guard state.options.order.hasKeys, state.head.link == .end, let top = try top(),
            try hasKeys(page)
        else { return [] }
        guard isWhole, let token = state.deltaToken, ticket.own == .token(token.text),
            state.tokenCoversTop, rows[0] == .entry(top)
        else { return [] }  // other posts may lie between and below them
        isTopTold = true
        let places = places()
        let above = page.filter { places[$0] == nil && key($0)! > key(top)! }
            .enumerated()
            .sorted { (key($0.element)!, $1.offset) > (key($1.element)!, $0.offset) }
            .map(\.element)
        if !above.isEmpty { try splice(above, upper: .head, lower: top) }
        onTop = above
        return above
    }

    /// Returns true if the entry rose, or the place of its key is inside a cached run.
    private func hasKnownPlace(_ entry: Int) throws(Interruption) -> Bool {
        guard let key = key(entry), try hasKeys([entry]) else { return false }
        if moved.contains(entry) { return true }
        let at = try placeForKey(key)
        return at > 0 && at < rows.count && !rows[at - 1].isGap
    }
}
