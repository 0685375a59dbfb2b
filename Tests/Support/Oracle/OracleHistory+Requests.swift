import Quire
import QuireSimulator

extension OracleHistory {
    /// Plans something; the answer comes now or later, made now or later.
    func request(_ random: inout SplitMix64) throws {
        let limit = random.pick([1, 2, 3, 5, 8])
        guard let place = place(&random) else { return }
        var isBounded = false
        switch place {
        case .head, .gap, .aboveGap: isBounded = random.chance(0.25) && mode.isBoundable
        default: break
        }
        let seed = random.next()
        guard var job = try plan(place, limit: limit, isBounded: isBounded, seed: seed) else { return }
        guard random.chance(0.3) else {
            if random.chance(0.1) {
                while try isLinkRefused(of: job) {
                    let next = try plan(place, limit: limit, isBounded: isBounded, seed: seed)
                    guard let next else { return }
                    job = next
                    if random.chance(0.3) { break }  // else this one is as old
                }
            }
            try deliver(job)
            return
        }
        if random.chance(0.5) { job.arrived = .some(serve(job, faults: .frequent)) }  // slow network
        pending.append(job)
        if random.chance(0.5) {
            note("cancel ticket \(job.request.ticket.number)")
            try feed.cancel(job.request.ticket)
        }
    }

    /// R32. The server refuses the link of this request for good. Returns true if it had one. No post, gap or
    /// end changes.
    private func isLinkRefused(of job: OracleJob) throws -> Bool {
        let outcome = try feed.dropLink(of: job.request.ticket)
        note("drop the link of ticket \(job.request.ticket.number): \(outcome.verdict.rawValue)")
        let (before, after) = (view, try OracleView(of: subject))
        guard after.lines == before.lines, after.pages == before.pages,
            after.headIsClosed == before.headIsClosed, after.tailIsEnd == before.tailIsEnd
        else { throw OracleFailure(.noWipe, "a dropped link changed \(before)") }
        return outcome.verdict == .replan
    }

    /// A delayed answer arrives.
    func late(_ random: inout SplitMix64) throws {
        guard !pending.isEmpty else { return }
        try deliver(pending.remove(at: random.below(pending.count)))
    }

    private func place(_ random: inout SplitMix64) -> Place? {
        switch random.below(8) {
        case 0: return .head
        case 1, 2: return .tail
        case 6: return .openHead
        case 7:
            if mode.options.paging == .ids { return .bodies(everSeen.filter { _ in random.chance(0.4) }) }
            // numbers are all that a server of this kind knows
            return server.ids.isEmpty || mode.isPositional ? nil : .around(random.pick(everSeen))
        default:
            guard !view.gaps.isEmpty else { return nil }
            let gap = random.pick(view.gaps)
            return random.chance(0.5) ? .gap(gap) : .aboveGap(gap)
        }
    }

    /// Posts a client may have heard of: what the server shows, and what is cached still.
    private var everSeen: [PostID] {
        server.ids + view.entries.filter { !server.shows($0) }
    }

    func plan(_ place: Place, limit: Int, isBounded: Bool = false, seed: UInt64) throws -> OracleJob? {
        let before = view
        let plan = try feed.plan(place, limit: limit, isBounded: isBounded)
        guard try OracleView(of: subject) == before else {
            throw OracleFailure(.noWipe, "planning \(place) changed \(before)")
        }
        switch plan {
        case .refused(let refusal):
            note("plan \(place): \(refusal.rawValue)")
            return nil
        case .request(let request):
            note("plan \(place) limit \(limit): \(request.target), ticket \(request.ticket.number)")
            return job(for: request, at: place, limit: limit, seed: seed)
        }
    }

    /// A request as it was planned in the present state of the feed, by whomever.
    func job(for request: Request, at place: Place, limit: Int, seed: UInt64) -> OracleJob {
        var job = OracleJob(place: place, request: request, limit: limit, seed: seed)
        job.border = border(of: place)
        diary.noteRequest(request.ticket)
        return job
    }

    private func border(of place: Place) -> PostID? {
        switch place {
        case .head, .around, .page, .join, .bodies, .delta: nil
        case .tail: view.entries.last
        case .openHead: view.entries.first
        case .gap(let gap): view.lines.firstIndex(of: .gap(gap)).flatMap { view.entry(above: $0) }
        case .aboveGap(let gap): view.lines.firstIndex(of: .gap(gap)).flatMap { view.entry(below: $0) }
        }
    }

    /// What the server says now, as it arrives; nil if the request fails.
    func serve(_ job: OracleJob, faults: SimulatedFaults) -> SimulatedReply? {
        var random = SplitMix64(seed: job.seed)
        server.showsBounds = random.chance(0.5)
        let reply = server.reply(
            to: job.request.target, until: job.request.until, limit: job.limit,
            options: mode.options, position: position)
        guard let reply else { return nil }
        let fault = faults.draw(using: &random).flatMap { isFair($0, for: job) ? $0 : nil }
        if fault == .falseEnd || reply.answer.next == .end { hasClaimedEnd = true }
        return fault.map { reply.damaged(by: $0, using: &random) } ?? reply
    }

    /// False for lies that any client must believe. An end is believed at the tail, at a bounded gap,
    /// upwards, and at a gap when it comes twice (R11): a lie is fair there if it is the first claim in a
    /// history.
    private func isFair(_ fault: SimulatedFault, for job: OracleJob) -> Bool {
        switch (fault, job.operation) {
        case (.falseEnd, .refresh): return true
        case (.falseEnd, .down):
            guard case .gap = job.place, job.request.until == nil else { return false }
            return !hasClaimedEnd
        case (.falseEnd, _), (.repeatedID, .bodies): return false
        // a row more than was asked for disproves the policy
        case (.repeatedID, _): return !mode.isPositional
        default: return true
        }
    }

    /// Keyset requests carry the key the client has; jumps name a post the server knows.
    private func position(of id: PostID) -> Int64? {
        mode.isBoundable ? knowledge.seen[id] ?? server.position(of: id) : server.position(of: id)
    }
}

// MARK: Answers

extension OracleHistory {
    @discardableResult
    func deliver(_ job: OracleJob, faults: SimulatedFaults = .frequent) throws -> Outcome {
        let reply = job.arrived ?? serve(job, faults: faults)
        let ticket = job.request.ticket
        let outcome =
            if let reply {
                try feed.ingest(reply.answer, for: ticket)
            } else {
                try feed.fail(ticket, reason: "http 500")
            }
        try judge(outcome, of: reply, to: job)
        return outcome
    }

    /// Looks at the feed after an ingest: what the outcome says is what happened, and
    /// the reply was evidence for it.
    func judge(_ outcome: Outcome, of reply: SimulatedReply?, to job: OracleJob) throws {
        let before = view
        let ticket = job.request.ticket
        let arrived = reply.map { "\($0.answer.posts.map(\.id)) then \($0.answer.next)" } ?? "error"
        note("answer to \(ticket.number): \(arrived) -> \(outcome.verdict.rawValue) \(outcome.reason)")
        let after = try OracleView(of: subject)
        try requireEvidence(outcome, reply, before, after)
        var placed = Set(job.border.map { [$0] } ?? [])
        if let reply, [.ok, .joined, .gap].contains(outcome.verdict) {
            let scope = Scope(job, reply, outcome, before, after, knowledge: knowledge, mode: mode)
            try scope.requireCover()
            if mode.isSound { try scope.requireFairness(diary, removesByAbsence: mode != .appendOnly) }
            try scope.requireBodies()
            learn(scope)
            try requireReceived(scope)
            placed = scope.placed
        }
        if let reply, [.ok, .joined, .gap, .drift, .confirmEnd].contains(outcome.verdict) {
            diary.noteAnswer(reply.shown.filter { after.places[$0] != nil }, placed: placed)
        }
        try look(moved: outcome.moved)
    }

    /// I8, and the outcome tells everything that happened.
    private func requireEvidence(
        _ outcome: Outcome, _ reply: SimulatedReply?, _ before: OracleView, _ after: OracleView
    ) throws {
        let verdict = outcome.verdict.rawValue
        switch outcome.verdict {
        case .error, .stale, .contradiction, .discontinuity, .noProgress, .empty, .emptyConfirm, .island:
            if !before.isUnchanged(in: after) {
                throw OracleFailure(.noWipe, "\(verdict) changed \(before) to \(after)")
            }
        case .drift, .confirmEnd, .replan:
            if outcome.removed.isEmpty && before.entries != after.entries {
                throw OracleFailure(.noWipe, "\(verdict) changed \(before) to \(after)")
            }
        case .ok, .joined, .gap: break
        }
        if reply?.shown.isEmpty ?? true, reply?.covered == nil, !outcome.removed.isEmpty {
            throw OracleFailure(.noWipe, "\(outcome.removed) removed by nothing")
        }
        let shown = Set(reply?.shown ?? [])
        if let id = outcome.removed.first(where: shown.contains) {
            throw OracleFailure(.noWipe, "\(id) removed by an answer that shows it")
        }
        let gone = Set(before.posts).subtracting(after.posts).subtracting(outcome.removed)
        if !gone.isEmpty { throw OracleFailure(.ledger, "\(gone) vanished from \(before)") }
        let came = Set(after.posts).subtracting(before.posts)
        let told = Set(outcome.new).union(outcome.sticky)
        if !came.isSubset(of: told) && !after.hasPlaceholders {
            throw OracleFailure(.ledger, "\(came.subtracting(told)) came unannounced to \(after)")
        }
    }

    /// Remembers which places the answer spoke for, and where its posts are.
    private func learn(_ scope: Scope) {
        let reply = scope.reply
        if let covered = scope.covered { knowledge.cover(covered, at: reply.time) }
        if scope.job.operation == .snapshot { lastSnapshot = reply.shown }
        knowledge.place(reply.positions.filter { scope.accepted.contains($0.key) })
        let deleted = reply.shown.filter { diary.deleted($0, since: scope.job.request.ticket) }
        knowledge.hide(Set(deleted).subtracting(scope.after.posts), in: reply)
        if !mode.hasKeys && !scope.outcome.new.isEmpty {
            knowledge.doubtPlaces(of: scope.outcome.kept)
        }
    }

    /// Nothing received is lost, and the posts of a page stand together in its order.
    private func requireReceived(_ scope: Scope) throws {
        let (outcome, after) = (scope.outcome, scope.after)
        // An answer that shows only what lies above its border places nothing; which unknown posts it
        // showed there is not reported.
        let known = Set(after.posts).union(outcome.ignored)
        let lost = scope.reply.shown.first { !known.contains($0) }
        if let lost, outcome.page != nil || !scope.isAttachedAbove {
            throw OracleFailure(.ledger, "\(lost) was received and is not in \(after)")
        }
        let page = scope.reply.shown.filter(scope.accepted.contains)
        guard mode != .ids, let first = page.first else { return }
        let kept = Set(outcome.kept)
        let run = after.entries.drop { $0 != first }.filter { !kept.contains($0) }.prefix(page.count)
        if Array(run) != page { throw OracleFailure(.page, "\(page) became \(run) in \(after)") }
    }
}
