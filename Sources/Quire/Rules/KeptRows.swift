// R9: where the entries go that a page neither shows nor removes.

extension Draft {
    /// Puts a kept entry back by its key, else directly above its nearest surviving neighbour below, else
    /// below the one above. Begins with the lowest one, so the next has those below it as neighbours.
    func putBack(
        _ kept: [Int], in rows: [Row], page: [Int], old: [Row]
    ) throws(Interruption) -> [Row] {
        if kept.isEmpty { return rows }
        let isKept = EntrySet(kept)
        var result = KeptRows(rows)
        var upper: [Row?] = []
        var lower: Row?
        for row in old where !row.isGap {
            if let entry = row.entry, isKept.contains(entry) {
                upper.append(lower)
            } else if result.has(row) {
                lower = row
            }
        }
        var keys = state.options.order.hasKeys ? try floors(of: rows, page, kept) : nil
        lower = nil
        for row in old.reversed() where !row.isGap {
            guard let entry = row.entry, isKept.contains(entry) else {
                if result.has(row) { lower = row }
                continue
            }
            let upper = upper.removeLast()
            let key = keys == nil ? nil : key(entry)
            if let key, let slot = try keys!.slot(below: key) {
                result.put(entry, in: slot) { lower in self.key(lower).map { $0 < key } ?? false }
            } else if key == nil, let lower {
                result.put(entry, above: lower)
            } else {
                let slot = result.put(entry, below: upper)
                if let key { keys!.note(key, in: slot) }
            }
            lower = row
        }
        return result.all
    }

    /// The page may be below a border with a smaller key than a kept entry has, if it was cached out of order
    /// (R25.5).
    private func floors(of rows: [Row], _ page: [Int], _ kept: [Int]) throws(Interruption) -> KeyFloors {
        let first = rows.firstIndex(of: .entry(page[0]))!
        let highest = kept.reduce(.min) { max($0, key($1) ?? .min) }
        var start = first
        scan: while start > 0 {
            switch rows[start - 1] {
            case .gap: break
            case .unloaded(let span): throw .needs(.bottom(span))
            case .entry(let entry): if let key = key(entry), key >= highest { break scan }
            }
            start -= 1
        }
        return KeyFloors(rows, from: start, last: first + page.count - 1) { key($0) }
    }
}

/// Rows, and the kept entries that were put between them. Those directly above a row are a group, the lowest
/// first: most are put on top of one. The group above no row is at the end.
private struct KeptRows {
    private let rows: [Row]
    private var groups: [Int: [Int]] = [:]
    /// The index of each row, and of the row below each kept entry.
    private var slots: EntryMap
    private var unloaded: [Int: Int] = [:]
    private var isKept = EntrySet()

    init(_ rows: [Row]) {
        self.rows = rows
        slots = EntryMap(entries: 0)
        for (slot, row) in rows.enumerated() {
            switch row {
            case .entry(let entry): slots[entry] = slot
            case .unloaded(let span): unloaded[span] = slot
            case .gap: continue
            }
        }
    }

    func has(_ row: Row) -> Bool { slot(of: row) != nil }

    private func slot(of row: Row) -> Int? {
        switch row {
        case .entry(let entry): slots[entry]
        case .unloaded(let span): unloaded[span]
        case .gap: nil
        }
    }

    /// Puts an entry into the group above a row, over the highest entry there for which `isLower` is true.
    mutating func put(_ entry: Int, in slot: Int, _ isLower: (Int) -> Bool) {
        insert(entry, slot, groups[slot].flatMap { $0.lastIndex(where: isLower) }.map { $0 + 1 } ?? 0)
    }

    /// Puts an entry directly above a row or a kept entry.
    mutating func put(_ entry: Int, above row: Row) {
        let slot = slot(of: row)!
        var place = 0
        if let lower = row.entry, isKept.contains(lower) { place = groups[slot]!.lastIndex(of: lower)! + 1 }
        insert(entry, slot, place)
    }

    /// Puts an entry directly below a row, or on top of all. Returns the index of the row below it.
    mutating func put(_ entry: Int, below row: Row?) -> Int {
        let slot = row.map { self.slot(of: $0)! + 1 } ?? 0
        insert(entry, slot, groups[slot]?.count ?? 0)
        return slot
    }

    private mutating func insert(_ entry: Int, _ slot: Int, _ place: Int) {
        groups[slot, default: []].insert(entry, at: place)
        slots[entry] = slot
        isKept.insert(entry)
    }

    /// All rows in order.
    var all: [Row] {
        var all: [Row] = []
        for slot in 0...rows.count {
            if let group = groups[slot] { all += group.reversed().map(Row.entry) }
            if slot < rows.count { all.append(rows[slot]) }
        }
        return all
    }
}

/// Finds the first row that belongs below a key, beginning at a row above which none has a smaller key than a
/// kept entry. An equal key stays above the page's last entry only.
private struct KeyFloors {
    private let start: Int
    /// For each row from `start` on the smallest key up to there.
    private var floors: [Int64] = []
    /// The part that is not loaded, if the rows end with one.
    private var unloaded: Int?
    private let last: Int
    private var lastKey: Int64?
    /// Kept entries that were put where no row had a smaller key. Later ones have smaller keys; of these only
    /// those further down matter.
    private var lows: [(slot: Int, key: Int64)] = []

    init(_ rows: [Row], from start: Int, last: Int, _ key: (Int) -> Int64?) {
        (self.start, self.last) = (start, last)
        var floor = Int64.max
        for slot in start..<rows.count {
            if case .unloaded(let span) = rows[slot] {
                unloaded = span
                break
            }
            let found = rows[slot].entry.flatMap(key)
            if slot == last { lastKey = found }
            floor = min(floor, found ?? floor)
            floors.append(floor)
        }
    }

    /// Returns the row, or the one below the kept entry that belongs below the key; nil if there is none.
    func slot(below key: Int64) throws(Interruption) -> Int? {
        var slot = start + Self.first(in: floors.count) { floors[$0] < key }
        if lastKey == key { slot = min(slot, last) }
        let low = Self.first(in: lows.count) { lows[$0].key < key }
        if low < lows.count { slot = min(slot, lows[low].slot) }
        let end = start + floors.count
        if slot < end || low < lows.count && slot == lows[low].slot && slot <= end { return slot }
        if let unloaded { throw .needs(.top(unloaded)) }
        return nil
    }

    /// Notes where an entry was put that no row belongs below.
    mutating func note(_ key: Int64, in slot: Int) {
        if slot < start { return }
        while let low = lows.last, low.slot >= slot { lows.removeLast() }
        lows.append((slot, key))
    }

    /// Returns the first index for which this is true; it is true for all after it.
    private static func first(in count: Int, _ isTrue: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isTrue(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
