// R26: positions in the server's list, as far as answers have shown them, and the size of its pages.

/// Where an entry was last shown: page number and row. In feeds paged by offset, or with any page size,
/// `number` is the position and `row` is 0.
struct Spot: Hashable {
    var number: Int32
    var row: Int32
    /// True if it was the last row of its page.
    var isLast = false

    init(number: Int32, row: Int32, isLast: Bool = false) {
        (self.number, self.row, self.isLast) = (number, row, isLast)
    }

    /// Creates an estimated position for pages of `unit` rows.
    init(at position: Int, unit: Int) {
        let position = max(0, position)
        self.init(number: Int32(clamping: position / unit), row: Int32(clamping: position % unit))
    }

    /// Returns the position. A last row is at the end of its page, however many rows are missing before it.
    func position(unit: Int) -> Int {
        isLast
            ? (Int(number) + 1) * unit - 1 : Int(number) * unit + min(Int(row), unit - 1)
    }
}

/// Where to look next below a border. Forgotten when the border or the answer changes.
struct Search: Hashable {
    /// Nil as long as all first pages were without entries.
    var border: PostID?
    /// How many pages (by offset: rows) further up to look.
    var back = 0
    /// The number of empty pages (rows) below the border.
    var skip = 0
    /// The number of empty answers in a row.
    var blanks = 0
    /// True if the border was shown with nothing below it, although more rows were requested.
    var isStalled = false
    /// True if the border was requested again. Then a join by page numbers may remove entries.
    var isSure = false
    /// The first row of an answer without news, and its position.
    var echo: Echo?
    /// A page (position) far below, requested to learn whether the numbers go on there.
    var probe: Int?
    /// An entry above the border that was the last of a page, and that page.
    var after: PostID?
    var page = 0
    /// From here up, no known entry is shown.
    var ceiling = Int.max
    /// True if nothing known is near, except entries above the gap. Then that gap must be filled first.
    var isLost = false
    /// True if nothing was found below the border. It is the end if the border is still there.
    var hasEnded = false
    /// True if the numbers go on far below, so the server does not wrap around.
    var isSolid = false

    init(_ border: PostID?) { self.border = border }

    struct Echo: Hashable {
        var first: PostID
        var place: Int
    }

    /// If the same rows come under two numbers this far apart, the numbers have ended.
    static let echoDistance = 8

    /// True if a search gives up for now, so that no caller asks for ever: after each eight pages without
    /// rows (R7, R26.7). The next request goes on below them.
    static func rests(after blanks: Int) -> Bool { blanks.isMultiple(of: 8) }
}

extension FeedState {
    /// Returns the estimated position of an entry, and whether it was the last row of its page.
    func position(_ entry: Int) throws(Interruption) -> (at: Int, isLast: Bool) {
        if let spot = entries[entry].spot { return (spot.position(unit: unit), spot.isLast) }
        let rows = serverRows
        var distance = 0
        var at = rows.firstIndex(of: .entry(entry)) ?? 0
        while at > 0 {
            at -= 1
            switch rows[at] {
            case .gap: continue
            case .unloaded(let run): throw .needs(.bottom(run))
            case .entry(let above):
                distance += 1
                if let spot = entries[above].spot { return (spot.position(unit: unit) + distance, false) }
            }
        }
        distance += skippedAbove
        return (distance, isByNumber && (distance + 1) % unit == 0)
    }

    /// Shifts the estimated positions in these rows, which have moved; no row counts as the last of its page
    /// then. Entries for which `isMoved` is false stay. Those without a position of their own follow the one
    /// above.
    mutating func moveSpots(
        in rows: some Sequence<Row>, by distance: Int, where isMoved: (Int) -> Bool = { _ in true }
    ) {
        for row in rows {
            switch row {
            case .gap: continue
            case .unloaded(let run): unloaded[run].shift = (unloaded[run].shift ?? 0) + distance
            case .entry(let entry):
                guard entries[entry].movesWithRows, isMoved(entry) else { continue }
                let spot = entries[entry].spot!
                entries[entry].spot = Spot(at: spot.position(unit: unit) + distance, unit: unit)
            }
        }
    }

    /// Returns true while only page numbers join these two.
    func isUnverified(_ join: TicketRecord.Join) throws(Interruption) -> Bool {
        guard let upper = cached(join.upper), let lower = cached(join.lower),
            entries[lower].isUnverified
        else { return false }
        return try entryAbove(lower) == upper
    }

    /// Returns the entry directly above this one; nil at a gap and for the first entry.
    func entryAbove(_ entry: Int) throws(Interruption) -> Int? {
        let rows = serverRows
        guard let at = rows.firstIndex(of: .entry(entry)), at > 0, !rows[at - 1].isGap else {
            return nil
        }
        return try self.entry(of: rows[at - 1], from: .below)
    }
}
