import Quire

extension Pager {
    /// How often the engine may replan at one place before that counts as leading nowhere: so often, and
    /// twice for each row of the feed. No fixed number is enough for all searches; quire.h says why.
    private static let rounds = 40

    /// Plans, requests and ingests, and repeats that while the engine says so. Where the server refuses
    /// links, it goes on until the place is reached from further up.
    func load(_ place: Place) async throws -> PageResult {
        try Task.checkCancellation()
        var outcome: Outcome?
        var way = WayBack()
        var (round, limit) = (0, Self.rounds)
        while round < limit {
            round += 1
            if round == Self.rounds {
                limit += 2 * (try feed.cache.withSnapshot { [feed] in try $0.rowCount(of: feed) })
            }
            let request: PageRequest
            let reply = try await writer.write(.plan(place, limit: options.pageSize))
            guard case .plan(let plan, let issuer) = reply else { throw writer.unexpected(reply) }
            switch plan {
            case .refused(let refusal): return .refused(refusal)
            case .request(let plan): request = try describe(plan, at: place)
            }
            if let judged = try await writer.outcome(of: request.plan.ticket, issuer: issuer) {
                outcome = judged
                if judged.verdict.asksAgain(judged) { continue }
                note(judged, at: place)
                return .loaded(judged)
            }
            let result: PageResult
            do {
                var response = try await completed(ask(request), to: request)
                try Task.checkCancellation()
                if let doubt = way.doubt(&response, to: request),
                    let dropped = try await drop(request, issuedBy: issuer, because: doubt)
                {
                    outcome = dropped
                    continue
                }
                way.note(response)
                result = try await take(response, to: request, issuedBy: issuer)
            } catch {
                if let dropped = try await drop(request, issuedBy: issuer, error, &way) {
                    outcome = dropped
                    continue
                }
                // If that fails too, the next equal request shares the ticket. The caller hears of the first
                // failure.
                _ = try? await writer.write(.cancel(request.plan.ticket))
                interceptors.forEach { $0.observe(request, .failure(error)) }
                throw error
            }
            interceptors.forEach { $0.observe(request, .success(result)) }
            guard case .loaded(let judged) = result else { return result }
            outcome = judged
            if !judged.verdict.asksAgain(judged), !way.goesOn(after: judged, to: request) {
                note(judged, at: place)
                return result
            }
        }
        guard let outcome else { return .refused(.unsupported) }
        if place != .head { stopped[place] = outcome.verdict }
        return .loaded(outcome)
    }

    private func describe(_ plan: Request, at place: Place) throws -> PageRequest {
        let feed = feed
        var request = PageRequest(plan, at: place, in: feed, limit: pageSize)
        guard place == .head else { return request }
        let now = clock.now()
        try feed.cache.withSnapshot { snapshot in
            guard let first = try FirstPage(of: feed, in: snapshot),
                try isTopKnown(first, of: feed, in: snapshot)
            else {
                return
            }
            request.age = first.age(at: now)
            request.validators = asksForTop ? nil : first.validators
        }
        return request
    }

    /// Returns true if the first page that the server confirmed is still the topmost one here. Otherwise "not
    /// modified" would hide posts that were evicted since.
    func isTopKnown(
        _ first: FirstPage, of feed: Feed, in snapshot: borrowing Snapshot
    ) throws -> Bool {
        guard first.pageSize == nil || first.pageSize == pageSize else { return false }
        let info = try snapshot.info(of: feed)
        guard info.head == .end else { return false }
        if info.posts == 0 { return first.page == nil && info.tail == .end }  // an empty list
        // An evicted body leaves a placeholder. A gap in the list itself means that a repair lost a part of
        // it.
        if feed.options.paging == .ids { return info.gaps == 0 && info.tail == .end }
        guard let top = try snapshot.pages(of: feed, limit: 1).first, top.number == first.page else {
            return false
        }
        // of the posts it brought, one may have been evicted
        let gap = try snapshot.gaps(of: feed, limit: 1).first
        return gap.map { $0.postsAbove >= top.received - top.duplicatesInPage } ?? true
    }

    /// With another page size, the first page is another one.
    private var pageSize: Int { options.pageSize ?? feed.options.pageSize }

    private func note(_ outcome: Outcome, at place: Place) {
        if place == .head, !outcome.verdict.leadsNowhere { asksForTop = false }
        if outcome.verdict.leadsNowhere, place != .head {
            stopped[place] = outcome.verdict
        } else if place == .head, !outcome.isUnchanged {
            stopped = [:]
        } else {
            stopped[place] = nil
        }
    }

    // MARK: Requests

    func ask(_ request: PageRequest) async throws -> PageResponse {
        var request = request
        while true {
            do {
                return try await pass(request)
            } catch {
                let policy = options.retries
                if request.attempt >= policy.attempts || !policy.isTransient(error) || Task.isCancelled {
                    throw error
                }
                try await clock.sleep(policy.delay(afterAttempt: request.attempt, luck: clock.luck()))
                request.attempt += 1
            }
        }
    }

    /// Passes a request through the interceptors to the source.
    private func pass(_ request: PageRequest) async throws -> PageResponse {
        let source: Interceptor.Next = { try await self.askSource($0) }
        let chain = interceptors.reversed().reduce(source) { next, interceptor in
            { try await interceptor.intercept($0, next) }
        }
        return try await chain(request)
    }

    private func askSource(_ request: PageRequest) async throws -> PageResponse {
        try await waitForTurn()
        do {
            var response = try await source.page(for: request)
            response.doubtEnd(as: feed.options.paging, of: request)
            try await heed(pause: response.pause, quota: response.quota)
            return response
        } catch let failure as PageFailure {
            try await heed(pause: failure.pause, quota: failure.quota)
            throw failure
        }
    }

    /// Stores the server's limits at once, whatever becomes of the answer, since its caller may have left.
    private func heed(pause: Duration?, quota: Quota?) async throws {
        if pause == nil && quota == nil { return }
        let now = clock.now()
        try await changeServerState { $0.heed(pause: pause, quota: quota, at: now) }
    }

    /// Waits until a request is allowed.
    private func waitForTurn() async throws {
        var waited: [ServerState.Span] = []
        while true {
            let now = clock.now()
            let serverState = try await readServerState()
            // What was waited for is over, even if the clock was set back meanwhile.
            let spans = [serverState.spentQuota, serverState.pause].map { span in
                span.flatMap { waited.contains($0) ? nil : $0 }
            }
            guard let span = spans.compactMap(\.self).first else { return }
            let rest = Duration.milliseconds(span.rest(at: now))
            if rest > options.patience {
                throw spans[0] == nil ? PagerError.paused(rest) : .quotaSpent(rest)
            }
            try await clock.sleep(rest)
            waited.append(span)
        }
    }

    // MARK: Answers

    private func take(
        _ response: PageResponse, to request: PageRequest, issuedBy issuer: UInt64
    ) async throws -> PageResult {
        let now = clock.now()
        let lifetime = response.lifetime ?? options.lifetime
        let ticket = request.plan.ticket
        switch response.content {
        case .fresh:
            _ = try await writer.write(.cancel(ticket))
            return .fresh
        case .notModified:
            guard request.validators != nil else {
                throw PageFailure(
                    "\(feed.name): unexpected \"not modified\": the request had no validators",
                    isTransient: false)
            }
            var operations = [FeedOperation.cancel(ticket)]
            let stored = try feed.attribute(FirstPage.attribute)
            if var first = FirstPage(stored) {
                first.confirm(response.validators, at: now, for: lifetime)
                // if another pager writes first, it is about a newer page
                operations.append(
                    .exchangeAttribute(FirstPage.attribute, from: stored, to: try first.bytes))
            }
            _ = try await writer.replies(to: operations)
            return .notModified
        case .page(var answer):
            if answer.fetchedAt == 0 { answer.fetchedAt = now }
            let answered = FirstPage.Answered(
                confirmed: ServerState.Span(since: now, length: lifetime.milliseconds),
                validators: response.validators, pageSize: pageSize)
            let ingest = FeedOperation.ingest(
                answer, for: ticket, issuer: issuer,
                embedded: try response.embedded.map {
                    try $0.answered(at: now, lifetime: options.lifetime)
                },
                note: request.place == .head ? try FirstPage.note(answered) : nil)
            let outcome = try writer.outcome(await writer.write(ingest))
            if let total = response.total ?? answer.total, !outcome.isUnchanged {
                try await changeServerState { $0.total = total }
            }
            return .loaded(outcome)
        }
    }
}
