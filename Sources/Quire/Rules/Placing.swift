// R7, R8, R18: where a page belongs, depending on the place of its request.

/// What is directly above a page.
enum Upper {
    /// Nothing: the page is the top of the feed.
    case head
    case entry(Int)
    case unknown
}

extension Draft {
    // MARK: Refresh (R7)

    /// Places the answer to a refresh: nothing lies above its first item.
    mutating func refresh(_ page: [Int]) throws(Interruption) {
        if page.isEmpty {
            if rows.contains(where: { !$0.isGap }) {  // I8: an empty answer never removes everything
                return try blankHead()
            }
            return try noEntriesYet(blanks: 0)
        }
        if takesAbove(page) {  // request again, starting at the first page
            var again = Search(nil)
            again.isSure = true
            return lead(.replan, again)
        }
        headChanged = true
        head = state.newEdge(.end)
        let before = rows
        let lifted = try liftPushed(page)
        if state.options.order == .ranked {
            try spliceRanked(page, below: nil)
        } else {
            try splice(page, upper: .head, lower: try bound(page))
        }
        if accepted.isEmpty { rows = before } else { try putAbove(lifted) }
    }

    /// R7. Requests the next page, because this one at the head has no entries but the list goes on.
    private mutating func blankHead() throws(Interruption) {
        let isPositional = state.isNumbered && ticket.span != nil
        let isMore =
            answer.next == .more || answer.opaqueRows > 0 || (answer.total ?? 0) > (ticket.span?.start ?? 0)
        guard let span = ticket.span, isPositional, isMore, answer.next != .end else {
            let isFirst = ticket.span.map { $0.start == 0 } ?? true
            throw .refused(answer.next == .end && isFirst ? .emptyConfirm : .empty)
        }
        var search = state.head.search ?? Search(nil)
        search.skip = (span.start + blankRows(span)) / state.unit
        search.blanks += 1
        lead(Search.rests(after: search.blanks) ? .noProgress : .drift, search)
    }

    /// Returns how many rows a page without entries covers. By offset, a server may grant fewer than asked.
    func blankRows(_ span: TicketRecord.Span) -> Int {
        if state.options.paging == .page || state.sizePolicy != .unknown { return span.rows }
        if answer.opaqueRows > 0 { return answer.opaqueRows }
        return state.sizes.most > 0 ? min(span.rows, state.sizes.most) : span.rows
    }

    private mutating func lead(_ verdict: Outcome.Verdict, _ search: Search) {
        head = state.newEdge(state.head.link)
        head.search = search
        note = verdict
    }

    /// R7. Returns true if the answer, below pages without entries, would remove what is cached above it. I8
    /// requires a second answer for that.
    private mutating func takesAbove(_ page: [Int]) -> Bool {
        guard let span = ticket.span, span.start > 0, state.head.search?.isSure != true else { return false }
        let places = places()
        guard let anchor = page.first(where: { places[$0] != nil }) else { return false }
        let inPage = EntrySet(page)
        return rows[..<places[anchor]!].contains { !$0.isGap && !($0.entry.map(inPage.contains) ?? false) }
    }

    /// R8. Returns the entry directly below a complete bounded answer. Returns nil if there is none: the
    /// answer shows that the entry has moved, or it went on below the entry and shows cached posts there, or
    /// the entry may have risen and the answer ended at its new place (bump).
    private mutating func bound(_ page: [Int]) throws(Interruption) -> Int? {
        if !endsRange || state.options.order == .bump { return nil }
        let places = places()
        if page.contains(where: { places[$0] != nil }) { return nil }
        let edge = ticket.operation == .refresh ? state.head.number : ticket.edges[1]
        guard let bound = try state.entryBelow(edge: edge), rows.contains(.entry(bound)) else { return nil }
        return bound
    }

    /// R7. Handles an answer without entries while nothing is cached: its link is requested next.
    private mutating func noEntriesYet(blanks: Int) throws(Interruption) {
        let link = answer.next
        var triedLinks: [Link] = []
        if ticket.operation == .down {
            if link == .unknown { throw .refused(.empty) }
            if link == ticket.own || tail.triedLinks.contains(link) { throw .refused(.noProgress) }
            triedLinks = tail.triedLinks + [ticket.own]
        }
        rows = []
        tail = state.newEdge(link, triedLinks: triedLinks)
        if ticket.operation == .refresh { head = state.newEdge(.end) }  // R2; nothing lies above a first page
        guard link == .more, state.isNumbered, let span = ticket.span else { return }
        var search = Search(nil)
        search.skip = (span.start + span.rows) / state.unit
        search.blanks = blanks + 1
        tail.search = search
        if Search.rests(after: search.blanks) { note = .noProgress }
    }

    /// R7. Places the page after a first page without entries: nothing lies above it.
    mutating func second(_ page: [Int]) throws(Interruption) {
        if state.firstServerRow() != nil { throw .refused(.stale) }  // everything above moved away
        if page.isEmpty { return try noEntriesYet(blanks: tail.search?.blanks ?? 0) }
        if state.options.order == .ranked { return try spliceRanked(page, below: nil) }
        try splice(page, upper: .head, lower: nil)
    }

    // MARK: Down (R8)

    /// Places an answer that continues below its border.
    mutating func down(_ page: [Int]) throws(Interruption) {
        let at = find(edge: ticket.edges[0])
        guard let last = rows[..<at].lastIndex(where: { !$0.isGap }) else {
            return try second(page)
        }
        if try isJump(page) { return try splice(page, upper: .unknown, lower: nil) }
        if try isElsewhere(page, at) { return try placeAnew(page) }
        try requireBorder()
        var border = try state.entry(of: rows[last], from: .below)
        let places = places()
        func isAbove(_ entry: Int) -> Bool { places[entry].map { $0 < at } ?? false }
        var rest = page
        var skipped: [Int] = []
        let showsBorder = page.contains(border)
        if showsBorder {
            let cut = page.firstIndex(of: border)! + 1
            (skipped, rest) = (Array(page[..<cut]), Array(page[cut...]))
            shown.append(border)
        } else if state.options.order != .ranked {
            let known = page.filter(isAbove)
            if !known.isEmpty || ticket.isOverlapping {
                guard
                    let found = try withoutBorder(page, known: known, border: border, at: at)
                else { return }
                (border, rest, skipped) = (found.border, found.rest, found.skipped)
            }
        }
        if state.options.order == .ranked {
            rest.removeAll(where: isAbove)
        } else if rest.contains(where: isAbove) {
            throw .refused(.contradiction)  // R10
        }
        // the keys of a stable page descend
        if state.options.order == .stable, let limit = state.entries[border].key, let first = rest.first,
            key(first)! >= limit
        {
            throw .refused(.contradiction)
        }
        ignored += skipped.filter { !state.entries[$0].isCached }
        if rest.isEmpty { return try nothingBelow(at) }
        if state.options.order == .ranked { return try spliceRanked(rest, below: border) }
        let isDisordered = try page.contains(border) ? false : isDisordered(rest, below: border)
        let lower = try bound(rest)
        doubtsUpperBorder = maySkip && !page.contains(border) && lower == nil
        try join(rest, below: border, lower: lower)
        if isDisordered, let first = accepted.first { claim(between: border, and: first, why: .disorder) }
    }

    /// R8. Throws if the keys of the page are all above the border's: in a bump feed it may have risen
    /// unseen, and the page lies below its new place. Returns true if the first one is.
    private func isDisordered(_ page: [Int], below border: Int) throws(Interruption) -> Bool {
        guard state.options.order == .bump, let limit = state.entries[border].key else { return false }
        var lowest = Int64.max
        for entry in page {
            guard let key = key(entry) else { return false }
            lowest = min(lowest, key)
        }
        if lowest > limit { throw .refused(.discontinuity) }
        return key(page[0])! > limit
    }

    /// R8. Returns true if the answer shows that its border rose, and contains other known entries.
    mutating func isJump(_ page: [Int]) throws(Interruption) -> Bool {
        guard state.options.order == .bump, ticket.isOverlapping || ticket.span != nil,
            let border = try state.border(of: ticket), moved.contains(border)
        else { return false }
        let places = places()
        return page.contains { places[$0] != nil } ? try hasKeys(page) : false
    }

    /// R8. Throws if the answer shows its border elsewhere, since it cannot attach to it then.
    func requireBorder() throws(Interruption) {
        if let border = try state.border(of: ticket), moved.contains(border) {
            throw .refused(.discontinuity)
        }
    }

    /// R9. Handles an answer that lacks its border although it should contain it, or shows entries from above
    /// it. Returns the entry below which the rest of the answer continues, or nil if nothing is left to do.
    private mutating func withoutBorder(
        _ page: [Int], known: [Int], border: Int, at: Int
    ) throws(Interruption) -> (border: Int, rest: [Int], skipped: [Int])? {
        let places = places()
        let start = (rows[..<at].lastIndex(where: \.isGap) ?? -1) + 1
        func isInSegment(_ entry: Int) -> Bool {
            places[entry].map { (start..<at).contains($0) } ?? false
        }
        if !known.allSatisfy(isInSegment) {
            throw .refused(.contradiction)  // R10
        }
        guard let last = known.last else {
            guard let after = ticket.after.flatMap({ state.cached($0) }), isInSegment(after) else {
                throw .refused(.discontinuity)
            }
            if !page.isEmpty { return (after, page, []) }  // it starts below a known entry
            if after == border {  // what lay between was deleted meanwhile
                try nothingBelow(at)
            } else if answer.next == .end {
                try doubtBelow(after)
            } else {
                (isPositioned, standsAt) = (false, after)
                try nothingBelow(at)
            }
            return nil
        }
        let cut = page.firstIndex(of: last)! + 1
        let isMoreOrEnd = known.count < page.count || answer.next == .unknown || answer.next == .end
        if ticket.minted != nil && isMoreOrEnd {  // R32.3: the border is not where it is cached
            try distrustLink(below: border)
            return nil
        }
        if known.count < page.count && !ticket.isOverlapping && !ticket.mayClaim {
            throw .refused(.discontinuity)  // it should start below the border
        }
        shown.append(last)  // it is alive: earlier sightings do not put it in doubt
        if cut < page.count { return (last, Array(page[cut...]), Array(page[..<cut])) }
        ignored += page.filter { !state.entries[$0].isCached }
        if answer.next == .end && ticket.isOverlapping {
            try doubtBelow(last)
        } else {
            (isPositioned, standsAt) = (false, last)
            try nothingBelow(at)
        }
        return nil
    }

    // MARK: Up (R8, mirrored)

    /// Places an answer that ends directly above its border.
    mutating func up(_ page: [Int]) throws(Interruption) {
        let at = find(edge: ticket.edges[0])
        guard let first = rows[(at + 1)...].firstIndex(where: { !$0.isGap }) else {
            throw .refused(.stale)
        }
        if try beginsAbove(page, gapAt: at) {  // fill this gap from above
            state.gaps[rows[at].gap!].up = state.newEdge(.unknown)
            note = .replan
            return
        }
        try requireBorder()
        let border = try state.entry(of: rows[first], from: .above)
        let places = places()
        func isBelow(_ entry: Int) -> Bool { places[entry].map { $0 > at } ?? false }
        var rest = page
        let known = page.filter(isBelow)
        let cut = page.firstIndex(of: border)
        if let cut {
            rest = Array(page[..<cut])
            shown.append(border)
            ignored += page[cut...].filter { !state.entries[$0].isCached }
        } else if !known.isEmpty && known.count == page.count {
            (rest, isPositioned) = ([], false)
        } else if !known.isEmpty || ticket.isOverlapping {
            throw .refused(.discontinuity)
        }
        if rest.contains(where: isBelow) { throw .refused(.contradiction) }
        if state.options.order == .stable, let limit = state.entries[border].key, let last = rest.last,
            key(last)! <= limit
        {
            throw .refused(.contradiction)
        }
        if rest.isEmpty { return try nothingAbove(at, border) }
        headChanged = headChanged || at < 0
        doubtsLowerBorder = (maySkip || state.options.order == .bump) && cut == nil
        try splice(rest, upper: .unknown, lower: border)
        if ticket.mayClaim && cut == nil && note == nil, let last = accepted.last {
            claim(between: last, and: border)
        }
    }

    /// R26.9. Returns true if an answer upwards, by a link that is a position, lies above the upper side of
    /// the gap, or begins above it and shows nothing known: the numbers have moved on.
    private mutating func beginsAbove(_ page: [Int], gapAt at: Int) throws(Interruption) -> Bool {
        guard at > 0, !rows[at - 1].isGap, let first = page.first, let last = page.last,
            ticket.mayClaim && state.options.order == .stable
        else { return false }
        let upper = try state.entry(of: rows[at - 1], from: .below)
        guard let limit = state.entries[upper].key else { return false }
        if key(last)! > limit { return true }
        let places = places()
        return key(first)! > limit && page.allSatisfy { places[$0] == nil }
    }

    private mutating func nothingAbove(_ at: Int, _ border: Int) throws(Interruption) {
        let link = answer.previous
        let gap = at >= 0 ? rows[at].gap! : nil
        let edge = gap.map { state.gaps[$0].up } ?? head
        if link == .unknown { throw .refused(.empty) }
        if link == .end {
            if !isPositioned { throw .refused(.discontinuity) }
            if let gap, !ticket.isBounded || isDoubtful && !shown.contains(border) {
                state.gaps[gap].up = state.newEdge(.unknown)
                note = .replan  // fill this gap from above
            } else if gap != nil {
                rows.remove(at: at)  // nothing is between them: joined
            } else {
                head = state.newEdge(.end)
            }
            return
        }
        if link == edge.link || edge.triedLinks.contains(link) { throw .refused(.noProgress) }
        let after = isPositioned ? nil : state.id(of: border)
        let isLoose = isLoose(.first, at: border) || (edge.isLoose && shown.isEmpty)
        let follow = state.newEdge(
            link, after: after, triedLinks: edge.triedLinks + [edge.link], isLoose: isLoose)
        if let gap { state.gaps[gap].up = follow } else { head = follow }
    }

    // MARK: Around (R18)

    /// Places the answer to a jump, which knows nothing of what is above or below it.
    mutating func around(_ page: [Int]) throws(Interruption) {
        if page.isEmpty { throw .refused(.empty) }
        let places = places()
        let isKnown = page.contains { places[$0] != nil }
        if rows.contains(where: { !$0.isGap }) && !isKnown {
            let canBeOrdered = key(page[0]) == nil ? false : try allRowsHaveKeys()
            if !canBeOrdered { throw .refused(.island) }  // keep it detached
        }
        try splice(page, upper: .unknown, lower: nil)
        try keepProvenRun()
    }

    /// Returns true if every entry of the server's sequence has a sort key.
    func allRowsHaveKeys() throws(Interruption) -> Bool {
        for row in rows {
            switch row {
            case .gap: continue
            case .entry(let entry): if key(entry) == nil { return false }
            case .unloaded(let run):
                if state.unloaded[run].unkeyed > 0 { return false }
                try state.requireKnown(.belowUnkeyed, in: run)
            }
        }
        return true
    }
}
