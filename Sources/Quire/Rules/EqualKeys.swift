// R6: a key tells a post's place in a bump feed, but not among equal keys.

extension Draft {
    /// R6. If a post with the key of the page's last is cached above that one, and the page does not show it,
    /// it may be below the page: where it is cached may be a guess. The last is no anchor then. The same
    /// mirrored at the first. A page that delivered both has told their order.
    mutating func doubtEqualKeys(_ page: [Int], upper: Upper, lower: Int?) throws(Interruption) {
        guard state.options.order == .bump, ticket.operation != .recorded, hasDescendingKeys else { return }
        let (high, low) = (key(page[0]), key(page[page.count - 1]))
        func isAtEnd(_ entry: Int) -> Bool {
            guard state.entries[entry].isCached, let key = key(entry) else { return false }
            return (key == high || key == low) && !isNewer(entry)
        }
        if !page.contains(where: isAtEnd) { return }
        let places = places()
        let anchors = page.compactMap { places[$0] }
        guard let top = anchors.first, let bottom = anchors.last else { return }
        let start =
            switch upper {
            case .head: 0
            case .entry(let border): places[border]! + 1
            case .unknown: top
            }
        let end = lower.map { places[$0]! } ?? bottom + 1
        let isTopOpen = if case .unknown = upper { true } else { false }
        let inPage = EntrySet(page)
        func lacksEqual(_ range: Range<Int>, to anchor: Int) throws(Interruption) -> Bool {
            let number = state.entries[anchor].page
            return try entries(in: rows[range]).contains {
                !inPage.contains($0) && key($0) == key(anchor)
                    && (number == 0 || state.entries[$0].page != number)
            }
        }
        var guessed: [Int] = []
        for entry in page where isAtEnd(entry) {
            guard let at = places[entry] else { continue }
            var (isBelow, isAbove) = (false, false)
            if lower == nil && key(entry) == low {
                isBelow = try lacksEqual(min(start, at)..<at, to: entry)
            }
            if isTopOpen && key(entry) == high {
                isAbove = try lacksEqual(at + 1..<max(at + 1, end), to: entry)
            }
            if isBelow || isAbove { guessed.append(entry) }
            parted = (parted.first || isAbove, parted.last || isBelow)
        }
        moved += guessed
        rowsWithout(guessed)
    }
}
