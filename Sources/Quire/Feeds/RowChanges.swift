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
            let before = old.rows[gone].map { name($0, old) }
            let after = new.rows[arrived].map { name($0, new) }
            let stayed = after.isEmpty ? [] : namesThatStayed(before, after)
            for name in before where !stayed.contains(name) {
                if case .row(let id) = name { changes.append(.removed(id)) }
            }
            for (i, name) in after.enumerated() where !stayed.contains(name) {
                if !insert(same.prefix + i..<same.prefix + i + 1, new, &changes) {
                    return ChangeList.encoded([.reset])
                }
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

    /// Returns the names whose order is the same. Unloaded spans stay always: what went past one has moved,
    /// because nothing would say that the posts in the span have.
    private static func namesThatStayed(_ before: [Name], _ after: [Name]) -> Set<Name> {
        var places: [Name: Int] = [:]
        for (i, name) in before.enumerated() { places[name] = i }
        let spans = Set(after.filter(\.isUnloaded))
        let above = numbers(of: spans, aboveEachOf: after)
        let wereAbove = numbers(of: spans, aboveEachOf: before)
        let common = after.indices.filter { i in places[after[i]].map { wereAbove[$0] == above[i] } ?? false }
        return Set(longestIncreasing(common.map { places[after[$0]]! }).map { after[common[$0]] })
    }

    /// Returns how many of these spans are above each of the names.
    private static func numbers(of spans: Set<Name>, aboveEachOf names: [Name]) -> [Int] {
        var number = 0
        return names.map { name in
            defer { if spans.contains(name) { number += 1 } }
            return number
        }
    }

    /// Returns true if both rows have the same name. An entry has the same number in both states.
    private static func isSame(_ a: Row, _ old: borrowing FeedState, _ b: Row, _ new: borrowing FeedState)
        -> Bool
    {
        switch (a, b) {
        case (.entry(let a), .entry(let b)): a == b
        case (.gap(let a), .gap(let b)): old.gaps[a].id == new.gaps[b].id
        case (.unloaded(let a), .unloaded(let b)): old.unloaded[a].chunks == new.unloaded[b].chunks
        default: false
        }
    }

    private enum Name: Hashable {
        case row(RowID)
        case unloaded(ClosedRange<UInt64>)

        var isUnloaded: Bool { if case .unloaded = self { true } else { false } }
    }

    private static func name(_ row: Row, _ state: borrowing FeedState) -> Name {
        if case .unloaded(let run) = row { return .unloaded(state.unloaded[run].chunks) }
        return .row(state.id(of: row)!)
    }
}

extension Array {
    /// Returns how many elements both arrays share at the beginning, and how many after these at the end.
    func commonEnds(
        _ other: [Element], _ isSame: (Element, Element) -> Bool
    ) -> (prefix: Int, suffix: Int) {
        var (prefix, suffix) = (0, 0)
        let limit = Swift.min(count, other.count)
        while prefix < limit, isSame(self[prefix], other[prefix]) { prefix += 1 }
        while suffix < limit - prefix,
            isSame(self[count - 1 - suffix], other[other.count - 1 - suffix])
        { suffix += 1 }
        return (prefix, suffix)
    }
}
