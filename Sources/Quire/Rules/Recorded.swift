// R24, R25: pages of a crawl, and of servers that fix the page size. Such pages cannot be made to overlap,
// may have been fetched in any order, and remove nothing.

extension Draft {
    /// Places a page of a crawl. It should lie below `ticket.after`, or at the head if that is nil.
    mutating func recorded(_ delivered: [Int]) throws(Interruption) {
        if delivered.isEmpty && ignored.isEmpty { throw .refused(.empty) }
        if delivered.isEmpty { return }  // all posts are outdated or deleted
        var page = delivered
        let places = places()
        let known = page.filter { places[$0] != nil }
        isAllNew = known.isEmpty
        let keyed = try hasKeys(page)
        if ticket.isAboveHead && !keyed && known.isEmpty { return try putOnTop(page) }
        if ticket.isAtHead, try !isBelowTheTop(page, keyed: keyed) {
            (headChanged, head) = (true, state.newEdge(.end))
            if state.options.order == .ranked { return try spliceRanked(page, below: nil) }
            try splice(page, upper: .head, lower: nil)
            try doubtKept()
            return try claim()
        }
        let border = ticket.after.flatMap { state.cached($0) }.flatMap { places[$0] == nil ? nil : $0 }
        if state.options.order == .ranked, let border {
            page.removeAll { places[$0].map { $0 <= places[border]! } ?? false }
            return page.isEmpty ? () : try recordRanked(page, below: border)
        }
        if try goesBelow(border, page, places) { return try placeBelow(border, page) }
        let segment = border.map { segmentAbove(places[$0]!) } ?? 0..<0
        if !keyed, let border, !known.isEmpty, known.allSatisfy({ segment.contains(places[$0]!) }) {
            let last = known.max { places[$0]! < places[$1]! }!  // R9: below the last shared entry
            let cut = page.firstIndex(of: last)! + 1
            shown += known
            ignored += page[..<cut].filter { places[$0] == nil }
            page = page[cut...].filter { places[$0] == nil }
            if page.isEmpty { return leadOn(border, last) }
            try splice(page, upper: .entry(last), lower: nil)
        } else {
            try splice(page, upper: .unknown, lower: nil)  // R18; without anchors and keys: R24
        }
        try doubtKept()
        try claim()
    }

    /// R22. Places the page below its border, or beyond the pages that are missing there (R24). No gap stays
    /// between it and the page that it leads to.
    private mutating func recordRanked(_ page: [Int], below border: Int) throws(Interruption) {
        try spliceRanked(page, below: border)
        let (first, last) = (page[0], page[page.count - 1])
        let at = rows.firstIndex(of: .entry(last))! + 1
        // where a segment has moved away there are two gaps, or one at the end
        if let end = rows[at...].firstIndex(where: { !$0.isGap }), end > at {
            let below = try state.entry(of: rows[end], from: .above)
            if state.page(of: below)?.own == answer.next { rows.removeSubrange(at..<end) }
        }
        updateFarGap(first, last)
    }

    /// Each is a place of its own to load; a window is cheaper than many.
    private static let strayLimit = 4

    /// R25.5. Returns true if only what is new in the page is placed. `staying` are the others then. What of
    /// the new belongs above the border are `strays`; the rest goes below it.
    private mutating func goesBelow(_ border: Int?, _ page: [Int], _ places: EntryMap) throws(Interruption)
        -> Bool
    {
        if !state.options.order.hasKeys || ticket.after == nil { return false }
        hasDescendingKeys = descends(page)
        if !hasDescendingKeys {
            staying = page.filter { places[$0] != nil }
            return !staying.isEmpty
        }
        guard let border, let limit = key(border) else { return false }
        let at = places[border]!
        func isLower(_ entry: Int) -> Bool {
            places[entry].map { $0 >= at } ?? (key(entry).map { $0 <= limit } ?? true)
        }
        let upper = page.filter { !isLower($0) }
        guard !upper.isEmpty, upper.count < page.count,
            page.allSatisfy({ entry in !isLower(entry) || key(entry).map { $0 <= limit } ?? false })
        else { return false }
        let inPage = EntrySet(page)
        let (above, new) = (upper.filter { places[$0] != nil }, upper.filter { places[$0] == nil })
        let segment = segmentAbove(at)
        let first = above.lazy.map { places[$0]! }.min() ?? at
        if !segment.contains(first) { return false }
        var lacks = rows[first..<at].contains { !($0.entry.map(inPage.contains) ?? false) }
        if let highest = new.first {
            guard new.count <= Self.strayLimit, try hasKeys(page) else { return false }
            let top = try state.entry(of: rows[segment.lowerBound], from: .above)
            if key(highest)! > key(top)! { return false }  // it belongs above the segment
            if !lacks && at > segment.lowerBound {
                let next = try state.entry(of: rows[at - 1], from: .below)
                lacks = !inPage.contains(next) && key(next)! < key(highest)!
            }
        }
        if lacks { (staying, strays) = (above, new) }
        return lacks
    }

    /// R25.5. Places what neither stays nor strays below the border, where the numbers, or the page itself,
    /// say that it belongs.
    private mutating func placeBelow(_ border: Int?, _ page: [Int]) throws(Interruption) {
        let (stays, isStray) = (EntrySet(staying), EntrySet(strays))
        let rest = page.filter { !stays.contains($0) && !isStray.contains($0) }
        if hasDescendingKeys { shown += staying } else { ignored += staying }
        guard let first = rest.first else {
            if let border, page.last == border { leadOn(border, border) }
            return
        }
        let at = page.firstIndex(of: first)!
        var upper = Upper.unknown
        if let border, at > 0, !rest.contains(border), hasDescendingKeys || page[at - 1] == border {
            upper = .entry(border)
        }
        try splice(rest, upper: upper, lower: nil)
        try claim()
        if strays.isEmpty { return }
        let links = (answer.next, answer.previous)  // are those of the rest
        (answer.next, answer.previous) = (.unknown, .unknown)
        for entry in strays { try placeAlone(entry, isFirst: entry == page[0]) }
        (answer.next, answer.previous) = links
        accepted = page.filter { !stays.contains($0) }
    }

    /// R25.5. Places a post of a page at its key's place, which is above other posts of the page. The page
    /// speaks for the keys between its posts, so there is a gap only above its first one.
    private mutating func placeAlone(_ entry: Int, isFirst: Bool) throws(Interruption) {
        try splice([entry], upper: .unknown, lower: nil)
        try keepProvenRun()
        let at = rows.firstIndex(of: .entry(entry))!
        if at + 1 < rows.count, rows[at + 1].isGap { rows.remove(at: at + 1) }
        if !isFirst, at > 0, rows[at - 1].isGap { rows.remove(at: at - 1) }
        updateFarGap(entry, entry)
    }

    /// R25.4. Places the page at the open head's link. The whole top segment may have moved into the page.
    private mutating func putOnTop(_ page: [Int]) throws(Interruption) {
        var border: Int?
        if let top = rows.first, !top.isGap { border = try state.entry(of: top, from: .above) }
        (headChanged, head) = (true, state.newEdge(.unknown))
        rows = page.map(Row.entry) + rows
        accepted = page
        if let border { claim(between: page[page.count - 1], and: border) }
    }

    /// R25.3. Makes joins unverified where the page proves no neighbours: at an entry that stays between two
    /// others, without keys, and between two entries that a gap kept apart.
    mutating func doubtKept() throws(Interruption) {
        if kept.isEmpty || state.options.order.hasKeys { return }
        let isKept = EntrySet(kept)
        let old = state.serverRows
        var below: [Row: Row] = [:]
        for (upper, lower) in zip(old, old.dropFirst()) { below[upper] = lower }
        for (upper, lower) in zip(rows, rows.dropFirst()) {
            if upper.isGap || lower.isGap || below[upper] == lower { continue }
            guard [upper, lower].contains(where: { $0.entry.map(isKept.contains) ?? false }) else { continue }
            let above = try state.entry(of: upper, from: .below)
            claim(between: above, and: try state.entry(of: lower, from: .above), why: .disorder)
        }
    }

    /// R25.4. Returns true if entries with larger keys are cached above the first page of a crawl.
    private func isBelowTheTop(_ page: [Int], keyed: Bool) throws(Interruption) -> Bool {
        guard keyed, let top = rows.first(where: { !$0.isGap }) else { return false }
        let first = try state.entry(of: top, from: .above)
        return key(first)! > key(page[0])!
    }

    func hasKeys(_ page: [Int]) throws(Interruption) -> Bool {
        guard state.options.order.hasKeys, page.allSatisfy({ key($0) != nil }) else { return false }
        return try allRowsHaveKeys()
    }

    /// Returns the rows from the top of the border's segment down to the border.
    private func segmentAbove(_ border: Int) -> Range<Int> {
        ((rows[...border].lastIndex(where: \.isGap) ?? -1) + 1)..<(border + 1)
    }

    /// R24, R25. Returns the row directly below the border, or on the far side of the gap there.
    func placeBelow(_ border: PostID?) -> Int {
        let row = border.flatMap { state.cached($0) }.flatMap { rows.firstIndex(of: .entry($0)) }
        let at = (row ?? rows.count - 1) + 1
        return at < rows.count && rows[at].isGap ? at + 1 : at
    }

    /// R25.3. Returns true if the keys do not contradict the number, wherever else they would fit: the
    /// border ends a segment, and the key of the page's first post lies between its key and the next one.
    func fitsBelow(_ first: Int) throws(Interruption) -> Bool {
        guard let border = ticket.after.flatMap({ state.cached($0) }),
            let at = rows.firstIndex(of: .entry(border)), key(border)! >= key(first)!
        else { return false }
        guard let below = rows[(at + 1)...].firstIndex(where: { !$0.isGap }) else { return true }
        if below == at + 1 { return false }
        return key(try state.entry(of: rows[below], from: .above))! < key(first)!
    }

    /// R25.3. Keeps the gaps beside kept entries. The page should have shown these entries and did not, so it
    /// proves nothing about the gaps. If a gap is beside the page now as well, it becomes two gaps.
    mutating func reopen(_ rowsBefore: [Row], beside kept: [Int]) throws(Interruption) {
        if kept.isEmpty { return }
        let (isKept, old) = (EntrySet(kept), state.mergeGaps(rowsBefore))
        for at in old.indices.dropFirst().dropLast() where old[at].isGap {
            let (upper, lower) = (old[at - 1], old[at + 1])
            guard [upper, lower].contains(where: { $0.entry.map(isKept.contains) ?? false }),
                let place = rows.firstIndex(of: lower), place > 0, rows[place - 1] == upper
            else { continue }
            let gap = state.gaps[old[at].gap!]
            let isThere = rows.contains { row in
                guard let other = row.gap.map({ state.gaps[$0] }) else { return false }
                return other.down.number == gap.down.number || other.up.number == gap.up.number
            }
            var row = old[at]
            if isThere {
                let down = try state.linkBelow(state.entry(of: upper, from: .below))
                let up = state.linkAbove(try state.entry(of: lower, from: .above))
                row = state.newGap(down: down, up: up, why: .missingPage)
            }
            rows.insert(row, at: place)
        }
    }

    /// R9. Moves the link on, because the page shows only what is above its border.
    private mutating func leadOn(_ border: Int, _ last: Int) {
        let at = rows.firstIndex(of: .entry(border))! + 1
        var edge = state.newEdge(answer.next, after: last == border ? nil : state.id(of: last))
        if last == border { moveLink(of: border, to: answer.next, isLoose: false) }
        if at == rows.count {
            tail = edge
        } else if case .gap(let gap) = rows[at] {
            if edge.link == .end { edge.link = .confirmEnd }
            state.gaps[gap].down = edge
        }
    }
}
