// What is beside the rules: only its issuer may use a ticket; an answer brings embedded pages along, and a
// note about the page that it became.

extension WriteSession {
    func dropLink(of ticket: Ticket, issuer: UInt64, in feed: UInt32) throws -> Outcome {
        if try isOfOther(ticket, than: issuer, in: feed) { return Outcome(.stale, reason: "issuer") }
        return try dropLink(of: ticket, in: feed)
    }

    /// Returns true if another one issued this ticket; an issuer of 0 may be anyone.
    private func isOfOther(_ ticket: Ticket, than issuer: UInt64, in feed: UInt32) throws -> Bool {
        guard issuer != 0, let record = try tickets.record(ticket, of: feed) else { return false }
        return record.issuer != issuer
    }

    func ingest(
        _ answer: Answer, for ticket: Ticket, issuer: UInt64, embedded: [EmbeddedPage], note: PageNote?,
        in feed: UInt32
    ) throws -> Outcome {
        if try isOfOther(ticket, than: issuer, in: feed) { return Outcome(.stale, reason: "issuer") }
        let outcome = try ingest(answer, for: ticket, in: feed)
        if !outcome.isUnchanged {
            for page in embedded { _ = try take(page) }
        }
        try take(note, outcome, of: feed)
        return outcome
    }

    /// Takes an embedded page in like the answer to a refresh made now.
    func take(_ page: EmbeddedPage) throws -> CacheReply {
        let feed = try openFeed(named: page.feed, page.options).number
        let plan = try plan(.head, limit: nil, isBounded: false, link: nil, in: feed)
        guard let request = plan.request else { return .plan(plan, issuer: 0) }
        let outcome = try ingest(page.answer, for: request.ticket, in: feed)
        if page.options.paging == .ids { try takeBodies(page.answer, in: feed) }
        try take(page.note, outcome, of: feed)
        return .outcome(outcome)
    }

    private func takeBodies(_ answer: Answer, in feed: UInt32) throws {
        var bodies = answer
        bodies.posts.removeAll(where: \.body.isEmpty)
        let ids = bodies.posts.map(\.id)
        let plan = try plan(.bodies(ids), limit: ids.count, isBounded: false, link: nil, in: feed)
        guard let request = plan.request else { return }
        _ = try ingest(bodies, for: request.ticket, in: feed)
    }

    private func take(_ note: PageNote?, _ outcome: Outcome, of feed: UInt32) throws {
        guard let note, outcome.isAccepted else { return }
        let page = withUnsafeBytes(of: (outcome.page ?? 0).littleEndian) { Array($0) }
        let isWhole: UInt8 = outcome.ignored.isEmpty ? 1 : 0
        try setAttribute(note.attribute, to: note.value + page + [isWhole], of: feed)
    }
}

extension Outcome {
    /// True if the page was taken in as an answer to what was asked.
    fileprivate var isAccepted: Bool {
        switch verdict {
        case .ok, .joined, .gap: true
        default: false
        }
    }
}
