import Quire

/// What of a feed stands on the screen. Its items are the rows of the feed, after one for an open head,
/// before one that says how the feed goes on. An item is found by its number, and nothing but what is shown
/// is read.
struct FeedScreen {
    enum Style { case plain, heading, gap, join, note, status }

    struct Line {
        let text: String
        let style: Style
    }

    /// What the screen shows: lines from top to bottom, and which items.
    struct Frame {
        var lines: [Line] = []
        var top = 0
        /// The last item of which all lines are shown.
        var last = 0
        var count = 0
    }

    let feed: Feed
    /// Widths of the columns for id, key, page and size. They grow with what was shown, so that columns do
    /// not jump.
    private var widths = [4, 3, 4, 5]

    init(_ feed: Feed) { self.feed = feed }

    /// How many items the feed has.
    static func count(of feed: Feed, _ snapshot: borrowing Snapshot) throws -> Int {
        try snapshot.rowCount(of: feed) + (snapshot.info(of: feed).isHeadOpen ? 1 : 0) + 1
    }

    // MARK: Items

    private struct Item {
        let index: Int
        let content: Content
        var height: Int { if case .post(let row) = content, row.doubt != nil { 2 } else { 1 } }

        enum Content {
            case head(Link)
            case post(PostRow)
            case gap(GapRow)
            case end(Link)
        }
    }

    private func items(_ range: Range<Int>, _ snapshot: borrowing Snapshot) throws -> [Item] {
        let info = try snapshot.info(of: feed)
        let first = info.isHeadOpen ? 1 : 0
        let count = try Self.count(of: feed, snapshot)
        let range = range.clamped(to: 0..<count)
        var items: [Item] = []
        if first == 1, range.contains(0) { items.append(Item(index: 0, content: .head(info.head))) }
        let ranks = range.clamped(to: first..<count - 1)
        let rows =
            ranks.isEmpty
            ? [] : try snapshot.rows(of: feed, from: ranks.lowerBound - first, limit: ranks.count)
        for (offset, row) in rows.enumerated() {
            let index = ranks.lowerBound + offset
            switch row {
            case .post(let post): items.append(Item(index: index, content: .post(post)))
            case .gap(let gap): items.append(Item(index: index, content: .gap(gap)))
            }
        }
        if range.contains(count - 1) { items.append(Item(index: count - 1, content: .end(info.tail))) }
        return items
    }

    /// The top item with which this one is the last of a screen of `height` lines.
    func top(showing last: Int, height: Int, _ snapshot: borrowing Snapshot) throws -> Int {
        var left = height
        var top = last + 1
        for item in try items(max(0, last + 1 - height)..<last + 1, snapshot).reversed() {
            left -= item.height
            if left < 0 { break }
            top = item.index
        }
        return max(0, min(top, last))
    }

    // MARK: Gaps

    /// The first gap below this item, or the last one above it; the open head is one.
    func gap(from index: Int, isDown: Bool, _ snapshot: borrowing Snapshot) throws -> Int? {
        let first = try snapshot.info(of: feed).isHeadOpen ? 1 : 0
        let gaps = try snapshot.gaps(of: feed)
        func place(_ number: Int) throws -> Int {
            try snapshot.rank(of: gaps[number].position, in: feed) + first
        }
        // Gaps come top first: the number of those that are not below the item.
        var (low, high) = (0, gaps.count)
        while low < high {
            let middle = (low + high) / 2
            if try isDown ? place(middle) <= index : place(middle) < index {
                low = middle + 1
            } else {
                high = middle
            }
        }
        if isDown { return low < gaps.count ? try place(low) : nil }
        if low > 0 { return try place(low - 1) }
        return first == 1 && index > 0 ? 0 : nil
    }

    // MARK: Drawing

    /// Draws `height` lines of items from `top` on, or further up if the feed ends on the screen.
    mutating func frame(
        top wanted: Int, height: Int, columns: Int, marked: Int?, _ snapshot: borrowing Snapshot
    ) throws -> Frame {
        let count = try Self.count(of: feed, snapshot)
        let lowest = try top(showing: count - 1, height: height, snapshot)
        var frame = Frame(top: max(0, min(wanted, lowest)), count: count)
        let items = try items(frame.top..<frame.top + height, snapshot)
        for case .post(let row) in items.map(\.content) { grow(for: row) }
        frame.lines.append(heading(columns))
        frame.last = frame.top
        for item in items {
            let lines = try self.lines(of: item, columns, isMarked: item.index == marked, snapshot)
            if frame.lines.count + lines.count <= height + 1 { frame.last = item.index }
            frame.lines += lines
        }
        frame.lines = Array(frame.lines.prefix(height + 1))
        while frame.lines.count < height + 1 { frame.lines.append(Line(text: "", style: .plain)) }
        return frame
    }

    private mutating func grow(for row: PostRow) {
        for (column, cell) in row.cells.enumerated() {
            widths[column] = max(widths[column], min(40, ScreenText.width(of: cell)))
        }
    }

    private func heading(_ columns: Int) -> Line {
        Line(text: row(["ID", "KEY", "PAGE", "BYTES"], "TEXT", columns), style: .heading)
    }

    private func row(_ cells: [String], _ text: String, _ columns: Int) -> String {
        var line = ScreenText.fitted(cells[0], to: widths[0])
        for column in 1..<4 {
            line += "  " + ScreenText.fitted(cells[column], to: widths[column], isRight: true)
        }
        return ScreenText.fitted(line + "  " + text, to: columns)
    }

    private func lines(
        of item: Item, _ columns: Int, isMarked: Bool, _ snapshot: borrowing Snapshot
    ) throws -> [Line] {
        switch item.content {
        case .head(let link): return [gap("open head: \(shown(link))", columns, isMarked)]
        case .gap(let gap):
            return [self.gap("gap \(gap.id), \(gap.why.rawValue): \(shown(gap.down))", columns, isMarked)]
        case .end(let link):
            return [Line(text: ScreenText.fitted("goes on with: \(shown(link))", to: columns), style: .note)]
        case .post(let post):
            let text = try snapshot.body(of: post).withUnsafeBytes { BodyText.excerpt(of: $0) }
            let line = Line(text: row(post.cells, shown(text), columns), style: .plain)
            guard let doubt = post.doubt else { return [line] }
            let join = "- - - unverified join: \(doubt.rawValue) - - -"
            return [Line(text: ScreenText.fitted(join, to: columns), style: .join), line]
        }
    }

    /// A line across the screen.
    private func gap(_ text: String, _ columns: Int, _ isMarked: Bool) -> Line {
        let start = (isMarked ? "~~>> " : "~~~~ ") + text + " "
        let rest = max(4, columns - ScreenText.width(of: start))
        return Line(
            text: ScreenText.fitted(start + String(repeating: "~", count: rest), to: columns), style: .gap)
    }
}
