// R6, R9, R10: a page replaces a window of the cached rows.

extension Draft {
    /// Replaces the window between the known boundaries, or else between the anchors, by the page. `lower` is
    /// the entry directly below the page, nil if it is unknown.
    mutating func splice(_ delivered: [Int], upper: Upper, lower: Int?) throws(Interruption) {
        let page = try chooseAnchors(delivered)
        if page.isEmpty { return }
        try doubtRisen(page)
        try doubtEqualKeys(page, upper: upper, lower: lower)
        try doubtClaimed(page, upper: upper)
        let places = places()
        let anchors = page.filter { places[$0] != nil }
        var window = try window(page, anchors, places, upper: upper, lower: lower)
        let isRecorded = ticket.operation == .recorded
        let isRerun = isRecorded && rows[window].elementsEqual(page.lazy.map(Row.entry))
        if state.options.order.hasKeys && hasDescendingKeys && !isRerun {
            window = try widenedByKeys(window, page, upper: upper, lower: lower)
        }
        var missing = try entries(in: rows[window])
        if !missing.isEmpty {
            let inPage = EntrySet(page)
            missing.removeAll(where: inPage.contains)
        }
        if try distrustsBorder(page, anchors, places, window, upper: upper, lower: lower) { return }
        // absence proves nothing in these cases
        let isBlind = state.options.order == .appendOnly || isRecorded
        let staying = missing.filter { isBlind || isNewer($0) }
        leave(missing.filter { !isBlind && !isNewer($0) })
        kept += staying
        let old = rows
        var (above, below) = (old[..<window.lowerBound], old[window.upperBound...])
        var (upperGap, lowerGap): (Row?, Row?)
        if lower == nil {
            lowerGap = try lowerSide(page, anchors, above: above, hadWindow: !window.isEmpty, below: &below)
        }
        if case .unknown = upper { upperGap = try upperSide(page, anchors, above: &above) }
        let all = assembled(above, upperGap, page, lowerGap, below)
        rows = try putBack(staying, in: all, page: page, old: old)
        if isRecorded && state.options.order.hasKeys { try reopen(old, beside: staying) }
        accepted = page
        if hasPositions && !isRecorded { try doubtKept() }
        if state.options.order == .stable { try requireOrderAround(page, from: above.count) }
    }

    /// Returns the rows with the page between others, and with the gaps beside it.
    func assembled(
        _ above: ArraySlice<Row>, _ upperGap: Row?, _ page: [Int], _ lowerGap: Row?, _ below: ArraySlice<Row>
    ) -> [Row] {
        var all: [Row] = []
        all.reserveCapacity(above.count + page.count + below.count + 2)
        all += above
        if let upperGap { all.append(upperGap) }
        for entry in page { all.append(.entry(entry)) }
        if let lowerGap { all.append(lowerGap) }
        all += below
        return all
    }

    /// R6. Throws if two posts have the same key, or the page does not fit between its neighbours' keys. The
    /// page is not above the row `at`.
    private func requireOrderAround(_ page: [Int], from at: Int) throws(Interruption) {
        let first = rows[at...].firstIndex(of: .entry(page[0]))!
        let last = rows[(first + page.count - 1)...].firstIndex(of: .entry(page[page.count - 1]))!
        let start = rows[..<first].lastIndex(where: { !$0.isGap }) ?? first
        let end = rows[(last + 1)...].firstIndex(where: { !$0.isGap }) ?? last
        var upper: Int64?
        for row in start...end where !rows[row].isGap {
            let entry = try state.entry(of: rows[row], from: row < first ? .below : .above)
            guard let key = key(entry) else { continue }
            if let upper, upper <= key { throw .refused(.contradiction) }
            upper = key
        }
    }

    /// R6. Returns the anchors: the known ids that are in cached order. The others have moved.
    private mutating func chooseAnchors(_ page: [Int]) throws(Interruption) -> [Int] {
        let places = places()
        let known = page.filter { places[$0] != nil }
        if isAscending(known, places) { return page }
        let anchors = EntrySet(longestIncreasing(known.map { places[$0]! }).map { known[$0] })
        let strays = known.filter { !anchors.contains($0) }
        if strays.isEmpty { return page }
        if state.options.order == .appendOnly, try !wasClaimed(known, places) {
            throw .refused(.contradiction, help: .checkOptions)
        }
        let newer = strays.filter { isNewer($0) }  // leave them where a later answer put them
        let left = strays.filter { !isNewer($0) }
        ignored += newer
        moved += left
        rowsWithout(left)
        let dropped = EntrySet(newer)
        return page.filter { !dropped.contains($0) }
    }

    /// R6. If a first page shows that posts rise without a larger key, an anchor below a post that the page
    /// lacks may be one of them: it has moved, and that post stays below the page. Keys that do not descend
    /// speak for no interval.
    private mutating func doubtRisen(_ page: [Int]) throws(Interruption) {
        let order = state.options.order
        guard ticket.operation == .refresh, order == .bump || order == .keyless else { return }
        if order == .bump {
            hasDescendingKeys = descends(page)
            if hasDescendingKeys { return }
        }
        if disorder.isEmpty { return }
        let places = places()
        guard let lowest = page.lazy.compactMap({ places[$0] }).max() else { return }
        let inPage = EntrySet(page)
        var (risen, isLacking): ([Int], Bool) = ([], false)
        for entry in try entries(in: rows[...lowest]) where !isNewer(entry) {
            if !inPage.contains(entry) { isLacking = true } else if isLacking { risen.append(entry) }
        }
        moved += risen
        rowsWithout(risen)
    }

    /// Returns true if the keys of these entries descend, as far as they have any.
    func descends(_ page: [Int]) -> Bool {
        var last = Int64.max
        return page.allSatisfy { entry in
            guard let key = key(entry) else { return true }
            defer { last = key }
            return last >= key
        }
    }

    /// Returns true if these entries are in cached order, as they mostly are.
    private func isAscending(_ entries: [Int], _ places: EntryMap) -> Bool {
        zip(entries, entries.dropFirst()).allSatisfy { places[$0]! < places[$1]! }
    }

    // MARK: The window (R9)

    private func window(
        _ page: [Int], _ anchors: [Int], _ places: EntryMap, upper: Upper, lower: Int?
    ) throws(Interruption) -> Range<Int> {
        var start: Int?
        switch upper {
        case .head: start = 0
        case .entry(let entry): start = places[entry]! + 1
        case .unknown: start = anchors.first.map { places[$0]! }
        }
        let end = lower.map { places[$0]! } ?? anchors.last.map { places[$0]! + 1 }
        if let start, let end { return start..<max(start, end) }
        if let at = start ?? end { return at..<at }
        var isByKey = hasDescendingKeys
        if isByKey && ticket.operation == .recorded {
            isByKey = try hasKeys(page) ? try !fitsBelow(page[0]) : false
        }
        let at = isByKey ? try placeForKey(key(page[0])) : placeBelow(ticket.after)
        return at..<at
    }

    /// Widens the window to everything strictly between the page's first and last key. An equal key may be on
    /// the next page, except in a stable feed, where no two posts share a key.
    private func widenedByKeys(
        _ window: Range<Int>, _ page: [Int], upper: Upper, lower: Int?
    ) throws(Interruption) -> Range<Int> {
        var (start, end) = (window.lowerBound, window.upperBound)
        let isTotal = state.options.order == .stable
        if lower == nil, let low = key(page[page.count - 1]) {
            var row = start
            while row < rows.count {
                if case .unloaded(let run) = rows[row] {
                    throw .needs(row < end ? .all(run) : .top(run))
                }
                if let entry = rows[row].entry, let key = key(entry) {
                    if key > low || isTotal && key == low {
                        end = max(end, row + 1)
                    } else if row >= end {
                        break
                    }
                }
                row += 1
            }
        }
        if case .unknown = upper, let high = key(page[0]) {
            var row = end - 1
            while row >= 0 {
                if case .unloaded(let run) = rows[row] {
                    throw .needs(row >= start ? .all(run) : .bottom(run))
                }
                if let entry = rows[row].entry, let key = key(entry) {
                    if key < high || isTotal && key == high {
                        start = min(start, row)
                    } else if row < start {
                        break
                    }
                }
                row -= 1
            }
        }
        return start..<end
    }

    /// R18. Returns the first row whose key is smaller.
    func placeForKey(_ key: Int64?) throws(Interruption) -> Int {
        guard let key else { return 0 }
        var lastRun: Int?
        for (i, row) in rows.enumerated() {
            switch row {
            case .gap: continue
            case .unloaded(let run): lastRun = run
            case .entry(let entry):
                guard let other = self.key(entry) else { continue }
                if other < key {
                    if let lastRun { throw .needs(.key(lastRun, key)) }
                    return i
                }
                lastRun = nil
            }
        }
        if let lastRun { throw .needs(.key(lastRun, key)) }
        return rows.count
    }

    // MARK: Doubt about the border (R9)

    /// Returns true if, between the border and the nearest anchor, an entry seen later than the border would
    /// be removed although the page should have shown it. Then the border may be gone: entries stay, and the
    /// link is dropped.
    private mutating func distrustsBorder(
        _ page: [Int], _ anchors: [Int], _ places: EntryMap, _ window: Range<Int>, upper: Upper,
        lower: Int?
    ) throws(Interruption) -> Bool {
        if !doubtsUpperBorder && !doubtsLowerBorder { return false }
        let inPage = EntrySet(page)
        func wouldLoseNewer(
            _ range: Range<Int>, than border: Int, beyond end: Int, _ side: PageEnd
        ) throws(Interruption) -> Bool {
            // above a border that may have risen it does not count when an entry was seen
            let mayHaveRisen = side == .last && state.options.order == .bump
            return try entries(in: rows[range]).contains {
                !inPage.contains($0) && isBeyond($0, end, side)
                    && (mayHaveRisen || wouldHide($0, below: border))
            }
        }
        if doubtsUpperBorder, case .entry(let border) = upper {
            let end = anchors.first.map { places[$0]! } ?? window.upperBound
            let range = window.lowerBound..<max(window.lowerBound, end)
            if try wouldLoseNewer(range, than: border, beyond: page[0], .first) {
                try distrustLink(below: border)
                return true
            }
        }
        if doubtsLowerBorder, let lower {
            let start = anchors.last.map { places[$0]! + 1 } ?? window.lowerBound
            let range = min(start, window.upperBound)..<window.upperBound
            if try wouldLoseNewer(range, than: lower, beyond: page[page.count - 1], .last) {
                let at = find(edge: ticket.edges[0])
                if at < 0 {
                    head = state.newEdge(.unknown)
                } else {
                    let gap = rows[at].gap!
                    let triedLinks = state.gaps[gap].up.triedLinks + [ticket.own]
                    state.gaps[gap].up = state.newEdge(.unknown, triedLinks: triedLinks)
                }
                note = .replan  // fill this gap from above
                return true
            }
        }
        return false
    }

    /// Returns true if the entry is outside the page's keys: above its first item, or below its last.
    private func isBeyond(_ entry: Int, _ end: Int, _ side: PageEnd) -> Bool {
        guard state.options.order.hasKeys, let key = key(entry), let limit = self.key(end) else {
            return true
        }
        return side == .first ? key > limit : key < limit
    }

    // MARK: The sides of the page (R10)

    /// Changes what follows the page: directly attached, below a gap, which is returned, or nothing.
    mutating func lowerSide(
        _ page: [Int], _ anchors: [Int], above: ArraySlice<Row>, hadWindow: Bool,
        below: inout ArraySlice<Row>
    ) throws(Interruption) -> Row? {
        let joined = anchors.contains(page[page.count - 1])
        // the link of an outdated last item continues below a post that has moved
        let link = joined && !isWhole ? .unknown : answer.next
        let (ends, isLoose) = (link == .end, isLoose(.last, at: page[page.count - 1]))
        guard let first = below.first, below.contains(where: { !$0.isGap }) else {
            tail =
                joined
                ? state.renewed(tail, link, isLoose: isLoose) : state.newEdge(link, isLoose: isLoose)
            below = []
            return nil
        }
        let wasConfirmed = first.gap.map { joined && state.gaps[$0].down.number == ticket.confirms }
        if ends && (state.options.trustsEnd || wasConfirmed ?? false),
            try !entries(in: below).contains(where: { isNewer($0) })
        {
            leave(try entries(in: below))
            tail = state.newEdge(.end)
            below = []
            return nil
        }
        if joined && !first.isGap && !ends { return nil }  // the old adjacency still holds
        var result = Gap(id: GapID(0), down: tail, up: tail, why: reason)
        var old: Edge?
        let up: Edge
        if case .gap(let gap) = first {
            result = state.gaps[gap]
            old = result.down
            up = result.up
            below = below.dropFirst()
        } else if !hadWindow, case .gap(let split)? = above.last {
            up = state.gaps[split].up
        } else {
            up = state.linkAbove(try state.entry(of: first, from: .above))
        }
        var down: Edge
        if joined, let old, !ends || old.link == .confirmEnd {
            down = ends ? old : state.renewed(old, link, isLoose: isLoose)
        } else {
            down = ends ? state.newEdge(.confirmEnd) : state.newEdge(link, isLoose: isLoose)
        }
        if state.options.paging.isPositional && down.link == .unknown { down.link = .more }
        farGap = true
        if ends && result.since == 0 { result.why = .endInDoubt }
        (result.id, result.down, result.up) = (GapID(0), down, up)
        return state.newGap(result)
    }

    /// Why there is a gap beside this page.
    private var reason: Doubt {
        if isAgainstCache { return .contradiction }
        return switch ticket.operation {
        case .around: .jump
        case .recorded: .missingPage
        case .verify: .contradiction
        case .push: .missed
        case .refresh, .down, .up, .snapshot, .bodies, .delta: .unfetched
        }
    }

    /// Changes what precedes a page whose upper boundary was not known. Returns the gap above it, if any.
    mutating func upperSide(
        _ page: [Int], _ anchors: [Int], above: inout ArraySlice<Row>
    ) throws(Interruption) -> Row? {
        let link = answer.previous
        let hasEntries = above.contains { !$0.isGap }
        let gapLink: Link = link == .end ? .unknown : link  // an end cannot lie below entries
        let isLoose = isLoose(.first, at: page[0])
        if anchors.contains(page[0]) {
            if !hasEntries {
                head = state.renewed(head, link, isLoose: isLoose)
            } else if case .gap(let gap)? = above.last {
                above = above.dropLast()
                return renewing(gap, up: state.renewed(state.gaps[gap].up, gapLink, isLoose: isLoose))
            }
            return nil
        }
        guard hasEntries, let last = above.last else {
            let isTop = state.isNumbered && ticket.span?.start == 0  // R26: the first page is at the head
            head = isTop ? state.newEdge(.end) : state.newEdge(link, isLoose: isLoose)
            headChanged = true
            above = []
            return nil
        }
        let mayBeElsewhere = doubtsLowerBorder && (isDoubtful || state.options.order == .bump)
        if link == .end && ticket.operation == .up && ticket.isBounded && !mayBeElsewhere {
            if last.isGap { above = above.dropLast() }
            return nil
        }
        let up = state.newEdge(gapLink, isLoose: isLoose)
        farGap = true
        if case .gap(let gap) = last {
            above = above.dropLast()
            return renewing(gap, up: up)
        }
        let border = try state.entry(of: last, from: .below)
        let down = try state.linkBelow(border)
        return state.newGap(down: down, up: up, why: reason)
    }

    /// Replaces the upper link of a gap.
    private mutating func renewing(_ gap: Int, up: Edge) -> Row {
        var renewed = state.gaps[gap]
        (renewed.id, renewed.up) = (GapID(0), up)
        return state.newGap(renewed)
    }
}
