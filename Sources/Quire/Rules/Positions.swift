// R26: where entries stand in the server's list, as far as answers have shown, and how large its pages are.

/// The position at which an entry was last shown: page number and row; in feeds paged by offset, and where
/// any size can be had, `number` is the position and `row` is 0.
struct Spot: Hashable {
    var number: Int32
    var row: Int32
    /// It was the last row shown there.
    var isLast = false

    init(number: Int32, row: Int32, isLast: Bool = false) {
        (self.number, self.row, self.isLast) = (number, row, isLast)
    }

    /// An estimated position, where a page has `unit` rows.
    init(at position: Int, unit: Int) {
        let position = max(0, position)
        self.init(number: Int32(clamping: position / unit), row: Int32(clamping: position % unit))
    }

    /// The last row shown stands at the end of its page, however many rows are missing before it.
    func position(unit: Int) -> Int {
        isLast
            ? (Int(number) + 1) * unit - 1 : Int(number) * unit + min(Int(row), unit - 1)
    }
}

/// The position to ask for next below a border; forgotten when the border or the answer changes.
struct Search: Hashable {
    /// Nil before a first page without entries was followed by one with some.
    var border: PostID?
    /// The number of pages (offset: rows) further up to look.
    var back = 0
    /// The number of empty pages (rows) below the border.
    var skip = 0
    /// Empty answers in a row.
    var blanks = 0
    /// The border was shown, and nothing below it although rows were asked for.
    var isStalled = false
    /// The border was asked for again: a join by the numbering may now remove.
    var isSure = false
    /// The first row of an answer without news, and where it was.
    var echo: Echo?
    /// The page (position) far below: do the numbers go on there?
    var probe: Int?
    /// An entry above the border, shown as the last of a page, and that page.
    var after: PostID?
    var page = 0
    /// Here, or above, no known entry is shown.
    var ceiling = Int.max
    /// Nothing known is near, and entries above the gap are: fill that gap first.
    var isLost = false
    /// Nothing was found below the border: an end, if the border is still there.
    var hasEnded = false
    /// The numbers do not wrap: they go on far below.
    var isSolid = false

    init(_ border: PostID?) { self.border = border }

    struct Echo: Hashable {
        var first: PostID
        var place: Int
    }

    /// The same rows under two numbers so far apart: the numbers have ended.
    static let echoDistance = 8
}

extension FeedState {
    /// The estimated position of an entry, and whether it was shown as the last row of its page.
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

    /// Evidence that what stands in these rows has moved: estimates follow, and no row counts as a page's
    /// last one any longer. Entries for which `isMoved` is false stay; those without a place of their own
    /// follow the one above.
    mutating func moveSpots(
        in rows: some Sequence<Row>, by distance: Int, where isMoved: (Int) -> Bool = { _ in true }
    ) {
        for row in rows {
            switch row {
            case .gap: continue
            case .unloaded(let run): unloaded[run].shift = (unloaded[run].shift ?? 0) + distance
            case .entry(let entry):
                guard let spot = entries[entry].spot, isMoved(entry) else { continue }
                entries[entry].spot = Spot(at: spot.position(unit: unit) + distance, unit: unit)
            }
        }
    }

    /// True while only the server's numbering joins these two.
    func isUnverified(_ join: TicketRecord.Join) throws(Interruption) -> Bool {
        guard let upper = cached(join.upper), let lower = cached(join.lower),
            entries[lower].isUnverified
        else { return false }
        return try entryAbove(lower) == upper
    }

    /// The entry directly above this one; nil at a gap, and for the first.
    func entryAbove(_ entry: Int) throws(Interruption) -> Int? {
        let rows = serverRows
        guard let at = rows.firstIndex(of: .entry(entry)), at > 0, !rows[at - 1].isGap else {
            return nil
        }
        return try self.entry(at: at - 1, in: rows, from: .below)
    }
}
