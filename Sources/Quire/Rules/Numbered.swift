// R26: answers in feeds paged by position.

extension Draft {
    /// R26.3. Places the answer to a page number, or to an offset inside the caller's limit.
    mutating func numbered(_ page: [Int]) throws(Interruption) {
        let at = find(edge: ticket.edges[0])
        if rows[..<at].allSatisfy(\.isGap) { return try second(page) }
        if try isJump(page) { return try splice(page, upper: .unknown, lower: nil) }
        let border = try border(above: at)
        if let old = try state.border(of: ticket), moved.contains(old) {
            return searchAbove(at, border)
        }
        let segment = (rows[..<at].lastIndex(where: \.isGap) ?? -1) + 1..<at
        let places = places()
        func isAbove(_ entry: Int) -> Bool { places[entry].map { $0 < at } ?? false }
        let known = page.filter { places[$0].map(segment.contains) ?? false }
        let foreign = page.filter { isAbove($0) && !segment.contains(places[$0]!) }
        if page.isEmpty { return blank(at, border) }
        if state.options.order == .ranked {
            let rest = page.filter { !isAbove($0) }
            if rest.isEmpty { return try movesOn(at, border, last: (known + foreign).last!) }
            return try spliceRanked(rest, below: border)
        }
        guard var last = page.contains(border) ? border : known.last else {
            // the estimate is too small: these entries are above the gap
            if let last = foreign.last { return try movesOn(at, border, last: last) }
            return try nothingKnown(page, at, border)
        }
        let cutAtLast = page[..<page.firstIndex(of: last)!]
        if state.options.order == .keyless, cutAtLast.contains(where: { places[$0].map { $0 > at } ?? false })
        {
            return try placeAnew(page)
        }
        last = try falseClaim(page, last) ?? last
        let cut = page.firstIndex(of: last)!
        var rest = Array(page[(cut + 1)...])
        ignored += page[..<cut].filter { !state.entries[$0].isCached }
        let higher = places[last]!
        let strays = rest.filter { isAbove($0) && (!segment.contains(places[$0]!) || places[$0]! < higher) }
        try lift(strays, from: &rest)  // they were above, or in another segment
        if !rest.isEmpty {
            shown.append(last)
            return try splice(rest, upper: .entry(last), lower: nil)
        }
        if answer.next == .end {
            shown.append(last)
            return try last == border ? numberEnd(at) : doubtBelow(last)
        }
        try movesOn(at, border, last: last)
    }

    /// R6. Moves entries that the answer shows on the other side of the border.
    mutating func lift(_ strays: [Int], from rest: inout [Int]) throws(Interruption) {
        if strays.isEmpty { return }
        if state.options.order == .appendOnly {
            let places = places()
            let known = rest.filter { places[$0] != nil }
            if try !wasClaimed(known, places) { throw .refused(.contradiction) }
        }
        ignored += strays.filter { isNewer($0) }
        moved += strays.filter { !isNewer($0) }
        rowsWithout(moved)
        rest.removeAll(where: ignored.contains)
    }

    /// Returns the upper entry of an unverified join if the page shows something else below it. The answer is
    /// then used from there on.
    private func falseClaim(_ page: [Int], _ last: Int) throws(Interruption) -> Int? {
        let end = page.firstIndex(of: last)!
        var below = EntryMap(entries: state.entries.count)
        let line = rows.filter { !$0.isGap }
        for (upper, lower) in zip(line, line.dropFirst()) {
            if let upper = upper.entry, let lower = lower.entry { below[upper] = lower }
        }
        let inPage = EntrySet(page)
        for i in page.indices.dropLast() where i < end {
            guard let lower = below[page[i]], state.entries[lower].isUnverified, lower != page[i + 1],
                inPage.contains(lower)
            else { continue }
            return page[i]
        }
        return nil
    }

    /// Handles an answer that shows nothing known above its end: joins it by page numbers, or not at all.
    private mutating func nothingKnown(_ page: [Int], _ at: Int, _ border: Int) throws(Interruption) {
        if ticket.isProbe {  // there is more, far below: the numbers go on
            again(at, border) { ($0.echo, $0.probe, $0.isSolid) = (nil, nil, true) }
            note = .drift
            return
        }
        let hasNews = page.contains { !state.entries[$0].isCached }
        if hasNews, let limit = state.entries[border].key, try hasKeys(page), key(page[0])! >= limit {
            return try splice(page, upper: .unknown, lower: nil)  // R25.3: the keys decide
        }
        if !ticket.mayClaim { return searchAbove(at, border) }
        let places = places()
        let anchor = page.compactMap { places[$0] }.filter { $0 > places[border]! }.min()
        let between = anchor.map { rows[at..<$0] } ?? []
        if between.contains(where: { !$0.isGap }), edge(at: at).search?.isSure != true {
            return askAgain(for: border, at: at)  // before anything is removed
        }
        let upper = ticket.after.flatMap { state.cached($0) }.flatMap { places[$0] == nil ? nil : $0 }
        try join(page, below: upper ?? border)
    }

    /// Requests the border again, because what the answer would do depends on the border's position.
    mutating func askAgain(for border: Int, at: Int) {
        again(at, border) { $0.isSure = true }
        (beyond, note) = ((border, nil), .replan)
    }

    // MARK: Where to look next

    /// Replaces the edge by one with the search that `change` updates. It gets a new number.
    mutating func again(_ at: Int, _ border: Int, _ change: (inout Search) -> Void) {
        let old = edge(at: at)
        var edge = state.newEdge(.more)
        var search = state.search(of: old, at: border)
        change(&search)
        edge.search = search
        edge.isDoubtful = old.isDoubtful || old.link == .confirmEnd
        renewedEdges.insert(edge.number)
        setEdge(edge, at: at)
    }

    /// Searches further up. The border is not where it should be, and no known entry tells where it is.
    private mutating func searchAbove(_ at: Int, _ border: Int) {
        let place = ticket.span!.page ?? ticket.span!.start
        again(at, border) { search in
            search.back = search.back * 2 + 1
            (search.blanks, search.skip, search.isStalled) = (0, 0, false)
            (search.probe, search.hasEnded) = (nil, false)
            search.ceiling = min(search.ceiling, place)
        }
        note = .discontinuity
    }

    /// Handles an answer with only known entries, which tell where the border is now. If the same rows come
    /// under page numbers far apart, the list has ended, and the server repeats its last page or its first.
    private mutating func movesOn(_ at: Int, _ border: Int, last: Int) throws(Interruption) {
        let span = ticket.span!
        let search = state.search(of: edge(at: at), at: border)
        let (place, step) = state.isByNumber ? (span.page!, 1) : (span.start, span.rows)
        let first = shownEntries[0]
        let top = try state.entry(of: rows.first { !$0.isGap }!, from: .above)
        var wraps = first == top && place > 0 && last != border && !search.isSolid
        if wraps { wraps = try !isEstimated(first, at: place) }
        let isOnWay = ticket.mayClaim || ticket.isProbe
        // perhaps the first page again, which tells no position
        if wraps && !isOnWay { return searchAbove(at, border) }
        var echo: Search.Echo?
        var probe: Int?
        if isOnWay || !wraps {
            echo = Search.Echo(first: state.id(of: first), place: place)
            var isRepeated = false
            if let old = search.echo, old.first == echo!.first, place > old.place,
                try !isEstimated(first, at: place)
            {
                (echo, isRepeated) = (old, true)
            }
            if isRepeated && place - echo!.place >= Search.echoDistance * step {
                if last == border {  // always the last page, whatever the request
                    shown.append(last)
                    pageEnd = border
                    return try numberEnd(at)
                }
                return try state.id(of: last) == search.after
                    ? numberEnd(at) : seemsEnded(at, border)
            }
            if (wraps || isRepeated) && !search.isSolid {
                probe = echo!.place + Search.echoDistance * step
            }
        }
        if wraps {
            again(at, border) { ($0.echo, $0.probe) = (echo, probe) }
            note = .drift
            return
        }
        shown.append(last)
        try advanceSearch(at, border, last: last, echo: echo, probe: probe)
    }

    /// True if this entry is where it was estimated. Then it has moved there, and repeats nothing.
    private mutating func isEstimated(_ entry: Int, at place: Int) throws(Interruption) -> Bool {
        guard places()[entry] != nil else { return false }
        return try state.position(entry).at / state.unit == place
    }

    /// Uses the last entry shown to decide where to continue.
    private mutating func advanceSearch(
        _ at: Int, _ border: Int, last: Int, echo: Search.Echo?, probe: Int?
    ) throws(Interruption) {
        let span = ticket.span!
        var search = state.search(of: edge(at: at), at: border)
        let lastID = state.id(of: last)
        let isStalled = last == border || lastID == search.after
        let wasAfter = search.after
        let hadEnded = search.hasEnded
        (search.echo, search.probe, search.hasEnded, search.back) = (echo, probe, false, 0)
        let (skip, blanks) = (search.skip, search.blanks)
        (search.skip, search.blanks, search.isStalled) = (0, 0, isStalled)
        if isStalled && state.options.paging == .page && !state.isByNumber {
            // the rest of the page was empty
            search.skip = max(skip, span.rows - serverPosition(last)! - 1)
            search.blanks = blanks
        } else if last == border {
            // it has moved, and the empty rows below it have moved along, perhaps by a part of a page
            search.skip = state.isByNumber ? max(0, skip - 1) : skip
            search.blanks = blanks
        }
        if last == border {
            pageEnd = border
            (search.after, search.ceiling) = (nil, .max)
            if hadEnded { return try numberEnd(at) }  // a second time nothing was below the border
        } else {
            var reach = span.start + (state.isByNumber ? span.rows : rowsSeen)
            // the border should be on this page, which may have been cut short
            if try state.position(border).at >= reach { reach = span.start + span.rows }
            beyond = (border, reach)
            let segment = (rows[..<at].lastIndex(where: \.isGap) ?? -1) + 1..<at
            let isInSegment = places()[last].map(segment.contains) ?? false
            if hadEnded && lastID == wasAfter { return try numberEnd(at) }
            search.isLost = !isInSegment && search.ceiling < .max
            if isInSegment {
                search.after = lastID
                search.page = state.isByNumber ? span.page! : span.start
            }
        }
        again(at, border) { $0 = search }
        note = .drift
    }

    /// Handles a page without rows: it may be beyond the end, or filtered. One that says that more follows is
    /// no evidence of an end; of the others two in a row are. After each eight pages the search gives up for
    /// now, so that no caller asks for ever.
    private mutating func blank(_ at: Int, _ border: Int) {
        let span = ticket.span!
        if ticket.isProbe {  // so far below there is nothing, so the server repeats no page
            again(at, border) { ($0.echo, $0.probe, $0.isSolid) = (nil, nil, true) }
            note = .drift
            return
        }
        if !ticket.mayClaim { return searchAbove(at, border) }
        let blanks = state.search(of: edge(at: at), at: border).blanks + 1
        let saysMore = answer.next != .unknown || (answer.total ?? 0) > span.start
        let isUnsaid = answer.total == nil && answer.opaqueRows == 0
        let isEnd = !saysMore && blanks >= (isUnsaid ? 2 : Search.echoDistance)
        if answer.next == .end || isEnd { return seemsEnded(at, border) }
        let step = state.isByNumber ? 1 : blankRows(span)
        again(at, border) {
            $0.blanks = blanks
            $0.skip += step
        }
        note = Search.rests(after: blanks) ? .noProgress : .drift
    }

    /// Requests the border again: nothing was found where something should follow it.
    private mutating func seemsEnded(_ at: Int, _ border: Int) {
        again(at, border) { ($0.hasEnded, $0.echo, $0.probe) = (true, nil, nil) }
        (beyond, note) = ((border, nil), .drift)
    }

    /// R11 for feeds paged by position: concludes that nothing follows.
    private mutating func numberEnd(_ at: Int) throws(Interruption) {
        let isAssumed = answer.next != .end
        if at == rows.count {
            tail = state.newEdge(.end)
            tail.isAssumed = isAssumed
            return
        }
        let edge = edge(at: at)
        let isConfirmed = edge.link == .confirmEnd || edge.isDoubtful || state.options.trustsEnd
        if isConfirmed, try !isOutrun(at) {
            try cutBelow(at)
            tail.isAssumed = isAssumed
        } else {
            setEdge(state.newEdge(.confirmEnd), at: at)
            note = .confirmEnd
        }
    }
}
