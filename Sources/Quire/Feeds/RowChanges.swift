/// Finds the changes between two states.
enum RowChanges {
    /// If there are more changes than this, they are not listed.
    static let limit = 10_000

    /// `changed` are the entries that differ, in order.
    static func between(
        _ old: borrowing FeedState, _ new: borrowing FeedState, _ changed: [Int]
    ) -> ChangeList.Encoded {
        if old.resets != new.resets { return ChangeList.encoded([.reset]) }
        // Most rows are the same. Only those between the first and the last difference are compared by name.
        let same = old.rows.commonEnds(new.rows) { a, b in isSame(a, old, b, new) }
        let gone = same.prefix..<old.rows.count - same.suffix
        let arrived = same.prefix..<new.rows.count - same.suffix
        var changes = ChangeList()
        if gone.isEmpty {
            if !insert(arrived, new, &changes) { return ChangeList.encoded([.reset]) }
        } else {
            let stays = staying(old, gone, new, arrived)
            for (i, row) in old.rows[gone].enumerated() where !stays.before[i] {
                if let id = old.id(of: row) { changes.append(.removed(id)) }
            }
            for (i, at) in arrived.enumerated() where !stays.after[i] {
                if !insert(at..<at + 1, new, &changes) { return ChangeList.encoded([.reset]) }
            }
        }
        for entry in changed {
            if entry >= old.entries.count { break }
            if new.entries[entry].isCached, old.entries[entry].showsOther(than: new.entries[entry]) {
                changes.append(.updated(new.id(of: entry)))
            }
        }
        return changes.count > limit ? ChangeList.encoded([.reset]) : changes.encoded()
    }

    /// Adds the insertion of these rows. Returns false if the row above one of them is not known.
    private static func insert(_ rows: Range<Int>, _ new: borrowing FeedState, _ changes: inout ChangeList)
        -> Bool
    {
        var at = rows.lowerBound
        while at < rows.upperBound {
            if let id = new.id(of: new.rows[at]) {
                let upper = at == 0 ? nil : new.id(of: new.rows[at - 1])
                if at > 0 && upper == nil { return false }
                changes.append(.inserted(id, below: upper))
            }
            let below = new.rows[at + 1..<rows.upperBound]
            let isKnown = !new.rows[at].isUnloaded
            at = isKnown ? below.firstIndex { $0.entry == nil } ?? rows.upperBound : at + 1
            changes.append(new.index.ids, of: below[..<at].lazy.map { $0.entry! })
        }
        return true
    }

    /// Returns which of these rows are in the same order in both states. Unloaded spans stay always: what
    /// went past one has moved, because nothing would say that the posts in the span have.
    private static func staying(
        _ old: borrowing FeedState, _ gone: Range<Int>, _ new: borrowing FeedState, _ arrived: Range<Int>
    ) -> (before: [Bool], after: [Bool]) {
        var before = Array(filled: gone.count, with: false)
        var after = Array(filled: arrived.count, with: false)
        if arrived.isEmpty { return (before, after) }
        var stayingSpans = EntrySet()
        for row in new.rows[arrived] { if case .unloaded(let span) = row { stayingSpans.insert(span) } }
        var places = Places(entries: old.entries.count)
        var spansAbove = Array(filled: gone.count, with: 0)
        var spans = 0
        for (place, row) in old.rows[gone].enumerated() {
            spansAbove[place] = spans
            places.note(place, of: row, old)
            if case .unloaded(let span) = row, stayingSpans.contains(span) { spans += 1 }
        }
        spans = 0
        var common: [(before: Int, after: Int)] = []
        common.reserveCapacity(min(gone.count, arrived.count))
        for (i, row) in new.rows[arrived].enumerated() {
            if let place = places.place(of: row, new), spansAbove[place] == spans {
                common.append((place, i))
            }
            if row.isUnloaded { spans += 1 }
        }
        for i in longestIncreasing(common.map(\.before)) {
            before[common[i].before] = true
            after[common[i].after] = true
        }
        return (before, after)
    }

    /// The places of rows, which have the same numbers in both states, apart from gaps.
    private struct Places {
        private var entries: EntryMap
        private var spans: [Int: Int] = [:]
        private var gaps: [GapID: Int] = [:]

        init(entries count: Int) { entries = EntryMap(entries: count) }

        mutating func note(_ place: Int, of row: Row, _ state: borrowing FeedState) {
            switch row {
            case .entry(let entry): entries[entry] = place
            case .gap(let gap): gaps[state.gaps[gap].id] = place
            case .unloaded(let span): spans[span] = place
            }
        }

        func place(of row: Row, _ state: borrowing FeedState) -> Int? {
            switch row {
            case .entry(let entry): entries[entry]
            case .gap(let gap): gaps[state.gaps[gap].id]
            case .unloaded(let span): spans[span]
            }
        }
    }

    /// Returns true if both rows are the same. An entry has the same number in both states, and a span too.
    private static func isSame(_ a: Row, _ old: borrowing FeedState, _ b: Row, _ new: borrowing FeedState)
        -> Bool
    {
        switch (a, b) {
        case (.entry(let a), .entry(let b)): a == b
        case (.gap(let a), .gap(let b)): old.gaps[a].id == new.gaps[b].id
        case (.unloaded(let a), .unloaded(let b)): a == b
        default: false
        }
    }
}
