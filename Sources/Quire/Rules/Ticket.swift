/// A ticket as the cache stores it: the permission to ingest one answer (R2).
struct TicketRecord: Hashable {
    enum Operation: UInt8 { case refresh, down, up, around, snapshot, bodies, recorded, verify, push, delta }

    let number: UInt64
    let operation: Operation
    let resets: UInt64
    /// Clock when the request was planned: the answer is as of then or later.
    let issued: UInt64
    /// The link requested.
    var own: Link = .unknown
    /// Numbers of all edges that must still exist.
    var edges: [UInt64] = []
    var isOverlapping = false
    /// Overlapping: the answer starts directly below this entry. Recorded: it should lie below it.
    var after: PostID?
    /// Recorded: the first page of a run that is to lie at the head.
    var isAtHead = false
    /// Keyset: the border from which the link was made.
    var minted: PostID?
    /// Refresh, down: the request named the entry at which the answer stops. Up: only that the gap is to be
    /// the same.
    var isBounded = false
    /// A refresh that stands for a request further down: no page ends above the border there.
    var isContinuation = false
    /// A refresh repeated to confirm the end at this edge (R11).
    var confirms: UInt64?
    /// The link requested begins beyond the border (R16).
    var isLoose = false
    /// R25.4: a recorded page that the open head's link names.
    var isAboveHead = false
    /// R26: where in the list the rows asked for start.
    var span: Span?
    /// R26: an answer that shows nothing known may be joined by the numbering.
    var mayClaim = false
    /// R26: a page far below, asked for only to learn whether the numbers go on there.
    var isProbe = false
    /// R26: the unverified join to be verified.
    var join: Join?
    /// Id snapshots: the bodies asked for. A jump: its target.
    var ids: [PostID] = []
    var limit = 0
    /// The answer is no longer wanted; equal requests do not share it, its answer is still judged.
    var isCancelled = false

    /// Two requests that agree in all of this share one ticket. Requests for bodies must name the same
    /// posts: a post the answer lacks is taken for gone (R21).
    func isSameRequest(as other: TicketRecord) -> Bool {
        operation == other.operation && edges == other.edges && limit == other.limit
            && isBounded == other.isBounded && isContinuation == other.isContinuation
            && own == other.own && span?.start == other.span?.start
            && join == other.join && ids == other.ids
    }

    /// R26. The rows a request asks for.
    struct Span: Hashable {
        /// Position of the first one.
        var start: Int
        /// The number of rows, or the size of the page.
        var rows: Int
        /// The page, 0 is the first, where only page numbers are certain.
        var page: Int?
        /// The number of rows that was asked for.
        var asked = 0
        /// The stated size policy was disproved when it was planned: numbers meant what they mean since.
        var isDisproved = false
    }

    /// Two neighbours.
    struct Join: Hashable {
        var upper: PostID
        var lower: PostID
    }
}

extension FeedState {
    /// R2. What makes an answer to this ticket unusable, nil if nothing does.
    func staleReason(_ ticket: TicketRecord) throws(Interruption) -> String? {
        if ticket.resets != resets { return "reset" }
        let living = edges.map(\.number)
        if !ticket.edges.allSatisfy(living.contains) { return "edge-changed" }
        if let minted = ticket.minted, try border(of: ticket).map({ id(of: $0) }) != minted {
            return "edge-changed"
        }
        if let join = ticket.join, try !isUnverified(join) { return "edge-changed" }
        if let span = ticket.span, span.isDisproved != sizes.isDisproved { return "sizes-changed" }
        if ticket.operation == .around && changed > ticket.issued { return "feed-changed" }
        return nil
    }

    /// Head, both sides of each gap, tail.
    var edges: [Edge] {
        [head] + gapRows.flatMap { [gaps[$0].down, gaps[$0].up] } + [tail]
    }

    /// The entry at which the ticket's first edge begins.
    func border(of ticket: TicketRecord) throws(Interruption) -> Int? {
        try ticket.operation == .down
            ? entryAbove(edge: ticket.edges[0]) : entryBelow(edge: ticket.edges[0])
    }

    /// The entry above the edge with this number (the tail, or the upper side of a gap).
    func entryAbove(edge number: UInt64) throws(Interruption) -> Int? {
        let rows = serverRows
        if number == tail.number {
            return rows.isEmpty ? nil : try entry(at: rows.count - 1, in: rows, from: .below)
        }
        guard let at = rows.firstIndex(where: { owns($0, edge: number) }) else { return nil }
        return try entry(at: at - 1, in: rows, from: .below)
    }

    /// The entry below the edge with this number (the head, or the lower side of a gap).
    func entryBelow(edge number: UInt64) throws(Interruption) -> Int? {
        let rows = serverRows
        if number == head.number {
            return rows.isEmpty ? nil : try entry(at: 0, in: rows, from: .above)
        }
        guard let at = rows.firstIndex(where: { owns($0, edge: number) }) else { return nil }
        return try entry(at: at + 1, in: rows, from: .above)
    }

    func owns(_ row: Row, edge number: UInt64) -> Bool {
        guard case .gap(let gap) = row else { return false }
        return gaps[gap].down.number == number || gaps[gap].up.number == number
    }
}
