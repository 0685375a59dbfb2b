// Keeps the rows well formed: I2 (no empty segment, no adjacent gaps, no gap at the head or the tail), R13
// (detached entries), and the unverified joins (R25), which move along.

extension FeedState {
    /// Replaces the rows by these, normalised. Detached entries do not separate gaps, so they are put back
    /// last.
    mutating func setRows(_ new: [Row]) throws(Interruption) {
        let detached = hasDetached ? new.filter { isDetached($0) } : []
        var result = mergeGaps(detached.isEmpty ? new : new.filter { !isDetached($0) })
        if result.allSatisfy(\.isGap) {
            if !result.isEmpty { tail = newEdge(.unknown) }
            result = []
        }
        if case .gap(let gap)? = result.first {
            head = gaps[gap].up
            result.removeFirst()
        }
        if case .gap(let gap)? = result.last {
            tail = asTail(gaps[gap].down)
            result.removeLast()
        }
        if hasClaims {
            doubtTail(above: result)
            let passed = try passedClaims(from: rows, to: result)
            if isTopDoubted(result, passed) { subscription.headAsOf = nil }
            setClaims(joinedClaims(passed, in: result))
        }
        rows = reattach(result, old: new, moving: detached)
    }

    /// R26.7. Reopens an end below an unverified join whose lower entries left: it is as doubtful as that.
    private mutating func doubtTail(above result: [Row]) {
        if tail.link != .end { return }
        let present = Set(result)
        for row in rows.reversed() where !row.isGap {
            if present.contains(row) { return }
            if let entry = row.entry, entries[entry].isUnverified { tail.isAssumed = true }
        }
    }

    mutating func mergeGaps(_ rows: [Row]) -> [Row] {
        if gaps.count < 2 || !zip(rows, rows.dropFirst()).contains(where: { $0.isGap && $1.isGap }) {
            return rows
        }
        var result: [Row] = []
        for row in rows {
            if case .gap(let lower) = row, case .gap(let upper)? = result.last {
                var merged = gaps[upper]
                merged.up = gaps[lower].up
                let (a, b) = (gaps[upper].since, gaps[lower].since)
                if b != 0 && (a == 0 || b < a) { (merged.why, merged.since) = (gaps[lower].why, b) }
                result[result.count - 1] = newGap(merged)
            } else {
                result.append(row)
            }
        }
        return result
    }

    /// R13. Returns the rows with detached entries, each below the nearest surviving entry above it, else on
    /// top.
    func withDetached(_ rows: [Row], old: [Row]) -> [Row] {
        hasDetached ? reattach(rows, old: old, moving: old.filter { isDetached($0) }) : rows
    }

    /// Puts missing rows back below the nearest surviving row above them.
    func reattach(_ rows: [Row], old: [Row], moving: [Row]) -> [Row] {
        if moving.isEmpty { return rows }
        let (moving, present) = (Set(moving), Set(rows))
        var result: [Row] = []
        var below: [Row: [Row]] = [:]
        var upper: Row?
        for row in old where !row.isGap {
            if present.contains(row) {
                upper = row
            } else if moving.contains(row) {
                if let upper { below[upper, default: []].append(row) } else { result.append(row) }
            }
        }
        for row in rows {
            result.append(row)
            if let detached = below[row] { result += detached }
        }
        return result
    }

    /// Assigns gap ids. A gap that shares an edge with an earlier one keeps its id; others get the next.
    mutating func assignGapIDs(since before: [Gap]) -> (opened: Int, closed: Int) {
        var survived: Set<GapID> = []
        var opened = 0
        var formerIDs: [UInt64: GapID] = [:]
        for gap in before {
            formerIDs[gap.down.number] = gap.id
            formerIDs[gap.up.number] = gap.id
        }
        for gap in gapRows {
            let former = formerIDs[gaps[gap].down.number] ?? formerIDs[gaps[gap].up.number]
            if let former, survived.insert(former).inserted {
                gaps[gap].id = former
            } else {
                gapNumbers += 1
                gaps[gap].id = GapID(gapNumbers)
                opened += 1
            }
        }
        return (opened, before.count - survived.count)
    }

    // MARK: Unverified joins

    /// True if a join is unverified.
    var hasClaims: Bool { entries.contains(where: \.isUnverified) }

    mutating func setClaims(_ claims: [CarriedClaim]) {
        let claimed = EntrySet(claims.lazy.map(\.lower))
        for entry in entries.indices where entries[entry].isUnverified && !claimed.contains(entry) {
            entries[entry].claim = nil
            entries[entry].isChecked = false
        }
        for carried in claims { entries[carried.lower].claim = carried.claim }
    }

    /// R25. Returns where the claims of unverified joins are after some entries left. When its lower entry
    /// leaves, a claim passes to the next entry below. A gap ends it.
    func passedClaims(
        from old: [Row], to new: [Row], gone: Set<Int> = []
    ) throws(Interruption) -> [CarriedClaim] {
        if !hasClaims { return [] }
        let present = EntrySet(of: new)
        var passed: [CarriedClaim] = []
        var onItsWay: Claim?
        for row in old {
            switch row {
            case .gap: onItsWay = nil
            case .unloaded(let run):
                if onItsWay != nil && !unloaded[run].isDetached { throw .needs(.top(run)) }
            case .entry(let entry):
                if onItsWay == nil && !entries[entry].isUnverified || isDetached(row) { continue }
                onItsWay = onItsWay ?? entries[entry].claim
                guard let claim = onItsWay, present.contains(entry), !gone.contains(entry) else { continue }
                passed.append(CarriedClaim(lower: entry, claim: claim))
                onItsWay = nil
            }
        }
        return passed
    }

    /// R25. Returns the claims at which an entry stands directly above.
    func joinedClaims(_ passed: [CarriedClaim], in rows: [Row]) -> [CarriedClaim] {
        if passed.isEmpty { return [] }
        let joined = joined(EntrySet(passed.lazy.map(\.lower)), in: rows)
        return passed.filter { joined.contains($0.lower) }
    }

    /// Returns those of the entries that stand in these rows, with no gap directly above them, but something.
    func joined(_ lower: EntrySet, in rows: [Row]) -> EntrySet {
        var joined = EntrySet()
        for (at, row) in rows.enumerated() {
            guard case .entry(let entry) = row, lower.contains(entry), !isDetached(row) else { continue }
            let above = rows[..<at].last { !isDetached($0) }
            if let above, !above.isGap { joined.insert(entry) }
        }
        return joined
    }

    /// R25. Returns true if the upper side of an unverified join left, and nothing stands above the lower
    /// one: then posts may have come between that the feed does not hold.
    func isTopDoubted(_ rows: [Row], _ passed: [CarriedClaim]) -> Bool {
        guard !passed.isEmpty, let top = rows.first(where: { !isDetached($0) })?.entry else { return false }
        return passed.contains { $0.lower == top }
    }
}
