extension Batch {
    /// Carries out an operation in this commit, and returns what its method returns. This is the one function
    /// by which caches that apply the same operations become equal; the methods do the same.
    /// - Parameters:
    ///   - operation: What to do. It is not trusted.
    ///   - issuer: Who gives the operation, 0 is no one: kept with each ticket that it issues. An operation
    ///     that
    ///     ingests can name it, so that its answer is stale if the ticket of that number is another's.
    /// - Throws: What the method throws. Errors that are ``QuireError/isDeterministic`` are thrown by all
    ///   caches that apply the same operations, others by this one only. After any error the batch must be
    ///   undone.
    public borrowing func apply(_ operation: CacheOperation, issuer: UInt64 = 0) throws -> CacheReply {
        session.issuer = issuer
        defer { session.issuer = 0 }
        switch operation {
        case .open(let name, let options): return .feed(try feed(named: name, options: options).number)
        case .feed(let number, let operation): return try session.apply(operation, to: number)
        case .updateBody(let id, let body, let version, let detail, let collection):
            return .update(
                try update(id, body: body, version: version, detail: detail, in: collection))
        case .updateFields(let id, let fields, let version, let collection):
            return .update(try update(id, fields: fields, version: version, in: collection))
        case .addAlias(let alias, let id, let collection):
            return .alias(try addAlias(alias, of: id, in: collection))
        case .embed(let page): return try session.take(page)
        case .setAttribute(let name, let value):
            if name.hasPrefix("~") {
                throw QuireError(.badArgument, "attribute \(name): an operation must not set a name with ~")
            }
            try setAttribute(name, to: value)
            return .done
        }
    }
}

extension WriteSession {
    fileprivate func apply(_ operation: FeedOperation, to feed: UInt32) throws -> CacheReply {
        switch operation {
        case .plan(let place, let limit, let isBounded, let link):
            let plan = try plan(place, limit: limit, isBounded: isBounded, link: link, in: feed)
            let ticket = try plan.request.flatMap { try tickets.record($0.ticket, of: feed) }
            return .plan(plan, issuer: ticket?.issuer ?? 0)
        case .ingest(let answer, let ticket, let issuer, let embedded, let note):
            return .outcome(
                try ingest(answer, for: ticket, issuer: issuer, embedded: embedded, note: note, in: feed))
        case .push(let answer, let number, let follows):
            return .outcome(try push(answer, number: number, follows: follows, in: feed))
        case .crawl(let answer, let page, var crawl):
            let (outcome, step) = try ingest(answer, page: page, of: crawl, in: feed)
            crawl.note(step)
            return .crawled(outcome, crawl)
        case .evict(let ids): return .count(try evict(ids, in: feed))
        case .evictPage(let index): return .count(try evictPage(at: index, in: feed))
        case .prune(let policy): return .pruned(try prune(feed, policy))
        case .setOptions(let options): return .feed(try replace(feed, with: options).0)
        case .pin(let id): return .flag(try setPinned(id, true, in: feed))
        case .unpin(let id): return .flag(try setPinned(id, false, in: feed))
        case .insertLocal(let id, let body): return .flag(try insertLocal(id, body: body, in: feed))
        case .removeLocal(let id): return .flag(try removeLocal(id, in: feed))
        case .confirmLocal(let id, let server): return .alias(try confirmLocal(id, as: server, in: feed))
        case .exchangeAttribute(let name, let old, let new):
            return .flag(try exchangeAttribute(name, from: old, to: new, of: feed))
        case .beginLive(let message): try setLive(true, after: message, in: feed)
        case .endLive: try setLive(false, after: nil, in: feed)
        case .dropLink(let ticket, let issuer):
            return .outcome(try dropLink(of: ticket, issuer: issuer, in: feed))
        case .cancel(let ticket): try cancel(ticket, in: feed)
        case .delete(let id): try delete(id, in: feed)
        case .reset: try reset(feed)
        case .drop: try drop(feed)
        case .rename(let name): _ = try rename(feed, to: name)
        case .setAttribute(let name, let value): try setAttribute(name, to: value, of: feed)
        }
        return .done
    }
}
