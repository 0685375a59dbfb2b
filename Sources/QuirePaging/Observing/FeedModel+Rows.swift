import Quire

extension FeedModel {
    /// How many rows are read at once.
    static func chunk(_ reach: Int) -> Int { max(50, 2 * reach) }

    private var chunk: Int { Self.chunk(reach) }

    // MARK: The window

    /// Shows the rows at a place of the cache.
    func show(at start: FeedWindow.Start) throws {
        let feed = pager.feed
        try feed.cache.withSnapshot { snapshot in
            let window = try snapshot.window(of: feed, at: start, above: chunk, below: chunk - 1)
            try show(window, try window.rows.map { try item($0, snapshot) }, snapshot)
        }
    }

    /// Follows the feed to its present state.
    /// - Parameter isForced: also if the rows show that state.
    func update(isForced: Bool = false) throws {
        try pager.feed.cache.withSnapshot { snapshot in
            if try isForced || snapshot.generation != window.generation { try follow(snapshot) }
        }
    }

    /// Makes this row the anchor, and holds more of the cache around it if it is near an end of what is held.
    func lookAt(_ row: Row.ID) throws {
        guard let name = row.name, let index = window.index(of: name) else { return }
        let lower = window.rows.count - 1 - index
        let isNearTop = index < reach && !window.isAtHead
        let isNearBottom = lower < reach && !window.isAtTail
        window.look(at: name, above: index, below: lower)
        if !isNearTop && !isNearBottom { return }
        try pager.feed.cache.withSnapshot { snapshot in
            try follow(snapshot, moreAbove: isNearTop ? chunk : 0, moreBelow: isNearBottom ? chunk : 0)
        }
    }

    /// Follows the feed to a snapshot. What comes at an end of the feed that is shown is shown, too.
    private func follow(
        _ snapshot: borrowing Snapshot, moreAbove: Int = 0, moreBelow: Int = 0
    ) throws {
        var next = window
        let lower = next.rows.count - 1 - next.anchorIndex
        let above = max(chunk, next.anchorIndex + (next.isAtHead ? chunk : moreAbove))
        let below = max(chunk - 1, lower + (next.isAtTail ? chunk : moreBelow))
        next.look(at: next.anchor, above: min(above, holds / 2), below: min(below, holds / 2))
        let difference = try next.update(to: snapshot)
        let items = try difference.applied(to: held) { try item(next.rows[$0], snapshot) }
        try show(next, items, snapshot, isSame: difference.isEmpty)
    }

    private func item(_ row: FeedRow, _ snapshot: borrowing Snapshot) throws -> Row {
        switch row {
        case .post(let post): .post(try posts.typed(post, in: snapshot))
        case .gap(let gap): .gap(gap)
        }
    }

    // MARK: What is shown

    /// Shows a window, whose rows with their models are `items`. Throws before anything has changed.
    private func show(
        _ next: FeedWindow, _ items: [Row], _ snapshot: borrowing Snapshot, isSame: Bool = false
    ) throws {
        let info = try snapshot.info(of: next.feed)
        let total = try ServerState(of: next.feed, in: snapshot).total
        (window, held) = (next, items)
        // The states of ends were about the previous ends.
        for (place, state) in states.results { if case .end = state { states.results[place] = nil } }
        if info.head == .end, window.isAtHead { states.results[.openHead] = .end }
        if info.tail == .end, window.isAtTail, info.placeholders == 0 { states.results[.tail] = .end }
        let extent = FeedExtent(window, info, total: total)
        if extent != self.extent { self.extent = extent }
        showEnds(isSame: isSame)
    }

    /// Shows the rows, with `more` rows at open ends. Missing bodies of a feed of ids are shown in their own
    /// rows.
    func showEnds(isSame: Bool = false) {
        let isOpenAbove = !held.isEmpty && !isEnd(.openHead)
        let isOpenBelow = !held.isEmpty && !isEnd(.tail) && pager.feed.options.paging != .ids
        let before = rows
        let wasOpen = (before.first?.missing == .openHead, before.last?.missing == .tail)
        if isSame, wasOpen == (isOpenAbove, isOpenBelow) { return }  // no view is drawn anew for nothing
        rows = (isOpenAbove ? [.more(.openHead)] : []) + held + (isOpenBelow ? [.more(.tail)] : [])
    }

    /// Returns the index of a row in ``rows``, given these; nil if it is not among them.
    func index(of row: Row.ID, in rows: [Row]) -> Int? {
        let isOpenAbove = if case .more = rows.first { true } else { false }
        guard let name = row.name else {
            if row == .more(.openHead) { return isOpenAbove ? 0 : nil }
            return if case .more(.tail) = rows.last { rows.count - 1 } else { nil }
        }
        return window.index(of: name).map { $0 + (isOpenAbove ? 1 : 0) }
    }

    private func isEnd(_ place: Place) -> Bool {
        if case .end = states.results[place] { true } else { false }
    }
}

extension FeedModel.Row.ID {
    init(_ name: RowID) {
        switch name {
        case .post(let id): self = .post(id)
        case .gap(let id): self = .gap(id)
        }
    }

    /// The row's name in the feed; nil for the rows at its ends.
    var name: RowID? {
        switch self {
        case .post(let id): .post(id)
        case .gap(let id): .gap(id)
        case .more: nil
        }
    }
}
