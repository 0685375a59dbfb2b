// R7, R8, R18: where a page belongs, by the place it was asked for.

/// What lies directly above a page.
enum Upper {
    /// Nothing: the page is the top of the feed.
    case head
    case entry(Int)
    case unknown
}

extension Draft {
    // MARK: Refresh (R7)

    /// Nothing lies above the first item of a refresh answer.
    mutating func refresh(_ page: [Int]) throws(Interruption) {
        let first = rows.first { !$0.isGap }
        if page.isEmpty {
            if first != nil {  // I8: never wipe on an empty answer
                throw .refused(answer.next == .end ? .emptyConfirm : .empty)
            }
            tail = state.newEdge(answer.next)
            rows = []
            return
        }
        (drift, overlap, headChanged) = (0, 1, true)
        head = state.newEdge(.end)
        if state.options.order == .ranked { return try spliceRanked(page, below: nil) }
        if endsRange, let first {
            let border = try state.entry(at: 0, in: [first], from: .above)
            let places = places()
            // the range is complete, unless the answer went on below the entry it should stop at
            if !page.contains(where: { places[$0] != nil }) {
                return try splice(page, upper: .head, lower: border)
            }
        }
        try splice(page, upper: .head, lower: nil)
    }

    // MARK: Down (R8)

    /// The answer continues below its border.
    mutating func down(_ page: [Int]) throws(Interruption) {
        let at = find(edge: ticket.edges[0])
        guard let last = rows[..<at].lastIndex(where: { !$0.isGap }) else {
            throw .refused(.stale)  // everything above moved away
        }
        try requireBorder()
        var border = try state.entry(at: last, in: rows, from: .below)
        let places = places()
        func isAbove(_ entry: Int) -> Bool { places[entry].map { $0 < at } ?? false }
        var rest = page
        var skipped: [Int] = []
        let showsBorder = page.contains(border)
        if showsBorder {
            let cut = page.firstIndex(of: border)! + 1
            (skipped, rest) = (Array(page[..<cut]), Array(page[cut...]))
            learnDrift(border)
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
        if state.options.order == .stable, let limit = state.entries[border].key,
            rest.contains(where: { key($0)! >= limit })
        {
            throw .refused(.contradiction)
        }
        ignored += skipped.filter { !state.entries[$0].isCached }
        if rest.isEmpty { return try nothingBelow(at) }
        if state.options.order == .ranked { return try spliceRanked(rest, below: border) }
        var lower: Int?
        // Without a row below, this very answer shows that the bound has moved.
        if endsRange && at + 1 < rows.count && !rows[at + 1].isGap {
            let next = try state.entry(at: at + 1, in: rows, from: .above)
            if !rest.contains(where: { places[$0] != nil }) { lower = next }
        }
        doubtsUpperBorder = state.options.order == .keyless && !page.contains(border) && lower == nil
        try splice(rest, upper: .entry(border), lower: lower)
    }

    /// R8. A border that this very answer shows elsewhere is no place to attach to.
    private func requireBorder() throws(Interruption) {
        if let border = try state.border(of: ticket), moved.contains(border) {
            throw .refused(.discontinuity)
        }
    }

    /// R19. The border found elsewhere than expected corrects the estimate.
    private mutating func learnDrift(_ entry: Int) {
        guard let offset = ticket.offset, let rank = state.rankInHeadSegment(entry) else { return }
        drift += offset + serverPosition[entry]! - (state.skippedAbove + rank + state.drift)
        overlap = 1
    }

    /// R9. The answer lacks its border although it should contain it, or shows entries from above it.
    /// Returns the entry the rest of the answer continues below, nil if all is settled.
    private mutating func withoutBorder(
        _ page: [Int], known: [Int], border: Int, at: Int
    ) throws(Interruption) -> (border: Int, rest: [Int], skipped: [Int])? {
        let places = places()
        let start = (rows[..<at].lastIndex(where: \.isGap) ?? -1) + 1
        func isInSegment(_ entry: Int) -> Bool {
            places[entry].map { (start..<at).contains($0) } ?? false
        }
        if !known.allSatisfy(isInSegment) {
            throw .refused(.contradiction)  // R10: fill the gap above first
        }
        guard let last = known.last else {
            guard let after = ticket.after.flatMap(state.cached), isInSegment(after) else {
                if ticket.offset == nil { throw .refused(.discontinuity) }
                (overlap, note) = (state.overlap * 2, .discontinuity)
                return nil
            }
            if !page.isEmpty { return (after, page, []) }  // it does start below a known entry
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
        if known.count < page.count && !ticket.isOverlapping {
            throw .refused(.discontinuity)  // it claimed to start below the border
        }
        learnDrift(last)
        shown.append(last)  // it is alive: what was seen before it casts no doubt on it
        if cut < page.count { return (last, Array(page[cut...]), Array(page[..<cut])) }
        ignored += page.filter { !state.entries[$0].isCached }
        overlap = state.overlap
        if ticket.offset != nil && drift == state.drift { drift += 1 }
        if answer.next == .end && ticket.isOverlapping {
            try doubtBelow(last)
        } else {
            (isPositioned, standsAt) = (false, last)
            try nothingBelow(at)
        }
        return nil
    }

    // MARK: Up (R8, mirrored)

    /// The answer ends directly above its border.
    mutating func up(_ page: [Int]) throws(Interruption) {
        let at = find(edge: ticket.edges[0])
        guard let first = rows[(at + 1)...].firstIndex(where: { !$0.isGap }) else {
            throw .refused(.stale)
        }
        try requireBorder()
        let border = try state.entry(at: first, in: rows, from: .above)
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
        if state.options.order == .stable, let limit = state.entries[border].key,
            rest.contains(where: { key($0)! <= limit })
        {
            throw .refused(.contradiction)
        }
        if rest.isEmpty { return try nothingAbove(at, border) }
        headChanged = headChanged || at < 0
        doubtsLowerBorder = state.options.order == .keyless && cut == nil
        try splice(rest, upper: .unknown, lower: border)
    }

    private mutating func nothingAbove(_ at: Int, _ border: Int) throws(Interruption) {
        let link = answer.previous
        let gap = at >= 0 ? rows[at].gap! : nil
        let edge = gap.map { state.gaps[$0].up } ?? head
        if link == .unknown { throw .refused(.empty) }
        if link == .end {
            if gap != nil {
                rows.remove(at: at)  // nothing lives between: joined
            } else {
                head = state.newEdge(.end)
            }
            return
        }
        if link == edge.link || edge.barren.contains(link) { throw .refused(.noProgress) }
        let after = isPositioned ? nil : state.id(of: border)
        let follow = state.newEdge(link, after: after, barren: edge.barren + [edge.link])
        if let gap { state.gaps[gap].up = follow } else { head = follow }
    }

    // MARK: Around (R18)

    /// A jump knows neither what is above nor what is below its answer.
    mutating func around(_ page: [Int]) throws(Interruption) {
        if page.isEmpty { throw .refused(.empty) }
        let places = places()
        let isKnown = page.contains { places[$0] != nil }
        if rows.contains(where: { !$0.isGap }) && !isKnown {
            let canBeOrdered = key(page[0]) == nil ? false : try allRowsHaveKeys()
            if !canBeOrdered { throw .refused(.island) }  // keep it detached
        }
        try splice(page, upper: .unknown, lower: nil)
    }

    /// True if every entry of the server's sequence has a sort key.
    func allRowsHaveKeys() throws(Interruption) -> Bool {
        for row in rows {
            switch row {
            case .gap: continue
            case .entry(let entry): if key(entry) == nil { return false }
            case .elided(let run):
                if state.elided[run].unkeyed > 0 { return false }
                if state.elided[run].hidesGaps { throw .needs(.gaps(run)) }
            }
        }
        return true
    }
}
