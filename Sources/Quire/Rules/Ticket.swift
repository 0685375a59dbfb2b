/// What a ticket permits, as stored in the cache (R2).
struct TicketRecord: Hashable {
    enum Operation: UInt8 { case refresh, down, up, around, snapshot, bodies, recorded, verify, push, delta }

    let number: UInt64
    let operation: Operation
    let resets: UInt64
    /// The clock when the request was planned. The answer is as of then or later.
    let issued: UInt64
    /// The requested link.
    var own: Link = .unknown
    /// The numbers of all edges that must still exist.
    var edges: [UInt64] = []
    /// The gap to which the edges belonged when the request was planned; nil for the head and the tail.
    var gap: GapID?
    var isOverlapping = false
    /// Overlapping: the answer starts directly below this entry. Recorded: it should lie below this entry.
    var after: PostID?
    /// Recorded: true for the first page of a crawl that should lie at the head.
    var isAtHead = false
    /// Keyset: the border from which the link was made.
    var minted: PostID?
    /// Refresh, down: true if the request named the entry at which the answer stops. Up: true if the gap must
    /// be the same.
    var isBounded = false
    /// True for a refresh that replaces a request further down, because no page ends above the border there.
    var isContinuation = false
    /// The edge whose end this repeated refresh should confirm (R11).
    var confirms: UInt64?
    /// True if the requested link begins beyond the border (R16).
    var isLoose = false
    /// R25.4: true for a recorded page at the open head's link.
    var isAboveHead = false
    /// R24: true for a recorded page if pages between its border and it are missing. Such a ticket is used at
    /// once, and never stored.
    var isBeyondMissing = false
    /// R26: the rows of the server's list that were requested.
    var span: Span?
    /// R26: true if page numbers alone may join an answer that shows nothing known.
    var mayClaim = false
    /// R26: true for a page far below, requested only to learn whether the numbers go on there.
    var isProbe = false
    /// R26: the unverified join to verify.
    var join: Join?
    /// Id snapshots: the posts whose bodies were requested. A jump: its target.
    var ids: [PostID] = []
    var limit = 0
    /// True if the answer is no longer wanted. Equal requests get another ticket; an answer is still judged.
    var isCancelled = false
    /// Whose operation planned the request; 0 without a log. It decides nothing in the rules.
    var issuer: UInt64 = 0

    /// Returns true if two requests may share one ticket. Requests for bodies must name the same posts,
    /// because a post that the answer lacks counts as gone (R21).
    func isSameRequest(as other: TicketRecord) -> Bool {
        operation == other.operation && edges == other.edges && limit == other.limit
            && isBounded == other.isBounded && isContinuation == other.isContinuation
            && own == other.own && span?.start == other.span?.start
            && join == other.join && ids == other.ids
    }

    /// R26. The rows that a request asks for.
    struct Span: Hashable {
        /// The position of the first row.
        var start: Int
        /// The number of rows, or the size of the page.
        var rows: Int
        /// The page, 0 is the first, if only page numbers are certain.
        var page: Int?
        /// The number of rows requested.
        var asked = 0
        /// True if the stated size policy was already disproved when the request was planned.
        var isDisproved = false
    }

    /// Two neighbours.
    struct Join: Hashable {
        var upper: PostID
        var lower: PostID
    }
}

extension FeedState {
    /// R2. Returns why an answer to this ticket cannot be used, or nil if it can.
    func staleReason(_ ticket: TicketRecord) throws(Interruption) -> String? {
        if ticket.resets != resets { return "reset" }
        if !ticket.edges.allSatisfy({ hasEdge($0) }) { return "edge-changed" }
        if let minted = ticket.minted, try border(of: ticket).map({ id(of: $0) }) != minted {
            return "edge-changed"
        }
        if let join = ticket.join, try !isUnverified(join) { return "edge-changed" }
        if let span = ticket.span, span.isDisproved != sizes.isDisproved { return "sizes-changed" }
        if ticket.operation == .around && changed > ticket.issued { return "feed-changed" }
        return nil
    }

    /// Returns true if the head, a side of a gap or the tail has the edge.
    private func hasEdge(_ number: UInt64) -> Bool {
        head.number == number || tail.number == number || rows.contains { owns($0, edge: number) }
    }

    /// Returns the entry at which the ticket's first edge begins.
    func border(of ticket: TicketRecord) throws(Interruption) -> Int? {
        try ticket.operation == .down
            ? entryAbove(edge: ticket.edges[0]) : entryBelow(edge: ticket.edges[0])
    }

    /// Returns the entry above the edge with this number (the tail, or the upper side of a gap).
    func entryAbove(edge number: UInt64) throws(Interruption) -> Int? {
        let at = number == tail.number ? rows.count : rows.firstIndex { owns($0, edge: number) }
        guard let at, let row = lastServerRow(above: at) else { return nil }
        return try entry(of: row, from: .below)
    }

    /// Returns the entry below the edge with this number (the head, or the lower side of a gap).
    func entryBelow(edge number: UInt64) throws(Interruption) -> Int? {
        let at = number == head.number ? 0 : rows.firstIndex { owns($0, edge: number) }.map { $0 + 1 }
        guard let at, let row = firstServerRow(from: at) else { return nil }
        return try entry(of: row, from: .above)
    }

    func owns(_ row: Row, edge number: UInt64) -> Bool {
        guard case .gap(let gap) = row else { return false }
        return gaps[gap].has(edge: number)
    }
}
