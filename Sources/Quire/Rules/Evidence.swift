// Evidence in an answer against the order class of its feed (section 3 of the rules).

extension Draft {
    /// Returns known entries of one segment that this answer shows in an order that the class forbids.
    func shownAgainstOrder() -> [Int] {
        switch ticket.operation {
        case .snapshot, .bodies, .recorded, .delta: return []
        case .refresh, .down, .up, .around, .verify, .push: break
        }
        let order = state.options.order
        if order == .ranked { return [] }
        var seen = EntrySet()
        var known: [Int] = []
        var found: [Int] = []
        for (i, entry) in numbers.enumerated() {
            guard isEntry(entry), !isNewer(entry), seen.insert(entry) else { continue }
            let (key, cached) = (answer.posts[i].key, state.entries[entry].key)
            if order == .bump && (key == nil || key != cached) { continue }
            known.append(entry)
            if order == .stable && cached != nil && cached != key { found.append(entry) }
        }
        if known.count < 2 || areAscending(known) { return found }
        var places = EntryMap(entries: state.entries.count)
        var segments = EntryMap(entries: state.entries.count)
        var segment = 0
        for (i, row) in state.rows.enumerated() {
            if row.isGap { segment += 1 }
            guard let entry = row.entry else { continue }
            (places[entry], segments[entry]) = (i, segment)
        }
        for segment in 0...segment {
            let line = known.filter { segments[$0] == segment }
            if line.count < 2 { continue }
            let inOrder = EntrySet(longestIncreasing(line.map { places[$0]! }).map { line[$0] })
            found += line.filter { !inOrder.contains($0) && !found.contains($0) }
        }
        return found
    }

    /// Returns true if the feed has these entries in this order, as it mostly does.
    private func areAscending(_ entries: [Int]) -> Bool {
        var rest = entries[...]
        for row in state.rows {
            guard let next = rest.first else { return true }
            if row.entry == next { rest.removeFirst() }
        }
        return rest.isEmpty
    }

    /// R25. Returns entries whose join to the one above becomes doubtful through this answer, although there
    /// is no gap: where an entry left against the order class, and where the answer showed something that was
    /// not placed.
    func doubtedJoins() throws(Interruption) -> [(entry: Int, why: Doubt)] {
        if ticket.operation == .delta { return [] }  // it does not prove neighbours
        // in a keyless feed every move breaks the promise
        let left = state.options.order == .keyless ? disorder + moved : disorder
        if left.isEmpty && ignored.isEmpty { return [] }
        let old = state.serverRows
        let (strays, placed) = (EntrySet(left), EntrySet(of: rows))
        var found: [Int: Doubt] = [:]
        for (at, row) in old.enumerated() {
            guard let entry = row.entry, strays.contains(entry) else { continue }
            search: for below in old[(at + 1)...] {
                switch below {
                case .gap: break search
                case .unloaded(let run): throw .needs(.top(run))
                case .entry(let below) where placed.contains(below) && !strays.contains(below):
                    found[below] = .disorder
                    break search
                case .entry: continue
                }
            }
        }
        let line = shownEntries
        for (i, entry) in line.enumerated()
        where ignored.contains(entry) && !state.entries[entry].isCached {
            if let deleted = tombstone(entry), deleted >= ticket.issued { continue }
            if let below = line[(i + 1)...].first(where: placed.contains) {
                if found[below] == nil { found[below] = .unplaced }
            }
        }
        if found.isEmpty { return [] }
        let covered = EntrySet(accepted)
        var doubted: [(entry: Int, why: Doubt)] = []
        for (upper, lower) in zip(rows, rows.dropFirst()) {
            guard case .entry(let lower) = lower, let why = found[lower] else { continue }
            switch upper {
            case .gap: continue
            case .unloaded(let run): throw .needs(.bottom(run))
            case .entry(let upper):
                if !(covered.contains(upper) && covered.contains(lower)) { doubted.append((lower, why)) }
            }
        }
        return doubted
    }

    /// The answer's entries in its order, each once, without sticky ones.
    var shownEntries: [Int] {
        var seen = EntrySet()
        return numbers.filter { !isSticky($0) && seen.insert($0) }
    }
}
