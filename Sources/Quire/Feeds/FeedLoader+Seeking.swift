// What rules need of a feed: what a ticket names, and what is looked for in chunks that are not loaded. Those
// are read in place, and only one that has it is loaded.

extension FeedLoader {
    /// Loads what a ticket names: posts, and the chunks on both sides of its edges.
    func load(placesOf ticket: TicketRecord) throws {
        if let after = ticket.after { try load(posts: [after]) }
        if let minted = ticket.minted { try load(posts: [minted]) }
        try load(posts: ticket.ids)
        if let join = ticket.join { try load(posts: [join.upper, join.lower]) }
        try load(edges: ticket.edges, of: ticket.gap)
    }

    /// Loads the chunks of posts that will leave, and the chunks next to them.
    func load(leaving ids: [PostID]) throws {
        try load(posts: ids)
        try loadNeighbours()
    }

    /// Loads the chunk in a range that has what a rule looks for: the first one for a placeholder, the last
    /// one for the end of a page. Notes what has been passed.
    func load(_ what: Sought, in range: ClosedRange<UInt64>) throws {
        switch what {
        case .placeholder:
            let first = try firstPlaceholder(in: range)
            lacking.append((what, range.lowerBound...(first ?? range.upperBound)))
            if let first { try load(first) }
        case .pageEnd:
            let last = try lastPageEnd(in: range)
            lacking.append((what, (last ?? range.lowerBound)...range.upperBound))
            if let last { try load(last) }
        }
    }

    /// Returns true if a span is known to have nothing of this kind.
    func lacks(_ what: Sought, in span: UnloadedSpan) -> Bool {
        lacking.contains {
            $0.what == what && $0.positions.contains(span.chunks.lowerBound)
                && $0.positions.contains(span.chunks.upperBound)
        }
    }

    private func firstPlaceholder(in range: ClosedRange<UInt64>) throws -> UInt64? {
        var first: UInt64?
        try ChunkReader(transaction: transaction, feed: feed).eachColumns(from: range.lowerBound) {
            if $0 > range.upperBound { return false }
            if $1.hasPlaceholders { first = $0 }
            return first == nil
        }
        return first
    }

    private func lastPageEnd(in range: ClosedRange<UInt64>) throws -> UInt64? {
        var last: UInt64?
        var page: (number: UInt64, end: PostID?) = (0, nil)
        try ChunkReader(transaction: transaction, feed: feed).eachColumnsUpward(from: range.upperBound) {
            if $0 < range.lowerBound { return false }
            if $1.page != page.number {
                page = ($1.page, $1.page == 0 ? nil : try transaction.page($1.page, of: feed).page.end)
            }
            if let end = page.end, try $1.slot(of: end) != nil { last = $0 }
            return last == nil
        }
        return last
    }
}
