@testable import Quire

/// Carries out operations by the API's own methods, each in a commit of its own: what
/// ``Batch/apply(_:issuer:)`` is compared with.
final class APIWriter {
    let cache: Cache
    /// Values of feeds are kept when their feed is dropped: as a program may do.
    private var feeds: [UInt32: Feed] = [:]
    private var issuers: [TicketOfFeed: UInt64] = [:]

    private struct TicketOfFeed: Hashable {
        let feed: UInt32
        let ticket: Ticket
    }

    init(_ cache: Cache) throws {
        self.cache = cache
        for feed in try cache.feeds() { feeds[feed.number] = feed }
    }

    func call(_ operation: CacheOperation, _ issuer: UInt64) throws -> CacheReply {
        let before = (feeds, issuers)
        do { return try carryOut(operation, issuer) } catch {
            (feeds, issuers) = before  // as the cache, which has undone the commit
            throw error
        }
    }

    private func carryOut(_ operation: CacheOperation, _ issuer: UInt64) throws -> CacheReply {
        switch operation {
        case .open(let name, let options):
            return .feed(keep(try cache.feed(named: name, options: options)))
        case .feed(let number, let operation):
            let unknown = Feed(cache: cache, number: number, FeedRecord(name: "?", options: FeedOptions()))
            return try call(operation, feeds[number] ?? unknown, issuer)
        case .updateBody(let id, let body, let version, let detail, let collection):
            return .update(
                try cache.update(id, body: body, version: version, detail: detail, in: collection))
        case .updateFields(let id, let fields, let version, let collection):
            return .update(try cache.update(id, fields: fields, version: version, in: collection))
        case .addAlias(let alias, let id, let collection):
            return .alias(try cache.addAlias(alias, of: id, in: collection))
        case .embed(let page): return try cache.batch { try embed(page, $0, issuer) }
        case .setAttribute(let name, let value):
            if name.first == "~" { throw QuireError(.badArgument, name) }
            try cache.batch { try $0.setAttribute(name, to: value) }
            return .done
        }
    }

    private func keep(_ feed: Feed) -> UInt32 {
        feeds[feed.number] = feed
        return feed.number
    }

    private func call(_ operation: FeedOperation, _ feed: Feed, _ issuer: UInt64) throws -> CacheReply {
        switch operation {
        case .plan(let place, let limit, let isBounded, let link):
            let plan = try cache.batch { batch in
                batch.session.issuer = issuer
                return try batch[feed].plan(place, limit: limit, isBounded: isBounded, link: link)
            }
            return .plan(plan, issuer: plan.request.map { note($0.ticket, feed, issuer) } ?? 0)
        case .ingest(let answer, let ticket, let named, let embedded, let note):
            return try cache.batch {
                try ingest(answer, ticket, named, embedded, note, batch: $0, feed, issuer)
            }
        case .dropLink(let ticket, let named):
            return try cache.batch {
                try refuse(ticket, named, batch: $0, feed) ?? .outcome($0[feed].dropLink(of: ticket))
            }
        case .push(let answer, let number, let follows):
            return .outcome(try feed.push(answer, number: number, follows: follows))
        case .beginLive(let message): try feed.beginLive(after: message)
        case .endLive: try feed.endLive()
        case .crawl(let answer, let page, var crawl):
            let outcome = try feed.ingest(answer, page: page, of: &crawl)
            return .crawled(outcome, crawl)
        case .cancel(let ticket): _ = try feed.fail(ticket, reason: "no network")
        case .delete(let id): try feed.delete(id)
        case .evict(let ids): return .count(try feed.evict(ids))
        case .evictPage(let index): return .count(try feed.evictPage(at: index))
        case .prune(let policy): return .pruned(try feed.prune(policy))
        case .reset: try feed.reset()
        case .drop: try feed.drop()
        case .rename(let name): _ = keep(try feed.rename(to: name))
        case .setOptions(let options): return .feed(keep(try feed.setOptions(options)))
        case .pin(let id): return .flag(try feed.pin(id))
        case .unpin(let id): return .flag(try feed.unpin(id))
        case .insertLocal(let id, let body): return .flag(try feed.insertLocal(id, body: body))
        case .removeLocal(let id): return .flag(try feed.removeLocal(id))
        case .confirmLocal(let id, let server): return .alias(try feed.confirmLocal(id, as: server))
        case .setAttribute(let name, let value): try feed.setAttribute(name, to: value)
        case .exchangeAttribute(let name, let old, let new):
            // what the method saves an app from writing
            return try cache.batch { batch in
                if try batch[feed].attribute(name) != old { return .flag(false) }
                try batch[feed].setAttribute(name, to: new)
                return .flag(true)
            }
        }
        return .done
    }

    /// Returns who has issued a ticket: the first that got it.
    private func note(_ ticket: Ticket, _ feed: Feed, _ issuer: UInt64) -> UInt64 {
        let key = TicketOfFeed(feed: feed.number, ticket: ticket)
        let first = issuers[key] ?? issuer
        issuers[key] = first
        return first
    }

    /// The reply to an operation that names another issuer than that of its ticket.
    private func refuse(
        _ ticket: Ticket, _ named: UInt64, batch: borrowing Batch, _ feed: Feed
    ) throws -> CacheReply? {
        let isOpen = try batch.session.tickets.record(ticket, of: feed.number) != nil
        let issued = issuers[TicketOfFeed(feed: feed.number, ticket: ticket)] ?? 0
        return named != 0 && isOpen && named != issued ? .outcome(Outcome(.stale, reason: "issuer")) : nil
    }

    private func ingest(
        _ answer: Answer, _ ticket: Ticket, _ named: UInt64, _ embedded: [EmbeddedPage], _ note: PageNote?,
        batch: borrowing Batch, _ feed: Feed, _ issuer: UInt64
    ) throws -> CacheReply {
        if let refusal = try refuse(ticket, named, batch: batch, feed) { return refusal }
        let outcome = try batch[feed].ingest(answer, for: ticket)
        if !outcome.isUnchanged {
            for page in embedded { _ = try embed(page, batch, issuer) }
        }
        try take(note, outcome, batch[feed])
        return .outcome(outcome)
    }

    private func embed(
        _ page: EmbeddedPage, _ batch: borrowing Batch, _ issuer: UInt64
    ) throws -> CacheReply {
        batch.session.issuer = issuer
        let unbound = try batch.feed(named: page.feed, options: page.options)
        let feed = batch[unbound]
        let plan = try feed.plan(.head)
        guard let request = plan.request else { return .plan(plan, issuer: 0) }
        let outcome = try feed.ingest(page.answer, for: request.ticket)
        if page.options.paging == .ids {
            var bodies = page.answer
            bodies.posts = bodies.posts.filter { !$0.body.isEmpty }
            let ids = bodies.posts.map(\.id)
            if let request = try feed.plan(.bodies(ids), limit: ids.count).request {
                _ = note(request.ticket, unbound, issuer)
                _ = try feed.ingest(bodies, for: request.ticket)
            }
        }
        _ = note(request.ticket, unbound, issuer)
        _ = keep(unbound)
        try take(page.note, outcome, feed)
        return .outcome(outcome)
    }

    private func take(_ note: PageNote?, _ outcome: Outcome, _ feed: Feed) throws {
        guard let note, [.ok, .joined, .gap].contains(outcome.verdict) else { return }
        let page = (0..<8).map { UInt8(truncatingIfNeeded: (outcome.page ?? 0) >> (8 * $0)) }
        try feed.setAttribute(note.attribute, to: note.value + page + [outcome.ignored.isEmpty ? 1 : 0])
    }
}
