import Foundation
import Quire
import QuireSimulator

@testable import QuirePaging
@testable import TestSupport

/// The way between a pager and the simulated server. Requests wait until the session answers them, maybe
/// late, twisted or never; it counts them and complains about those that were not needed. It sits in the
/// pager twice: as its source, and as an interceptor that lets the oracle judge what became of an answer.
///
/// The pager's threads and the session's use it in turn, behind a lock.
final class SimulatedNetwork: PagingSource, @unchecked Sendable {
    struct Call {
        let number: Int
        let request: PageRequest
        let job: OracleJob
        let continuation: CheckedContinuation<PageResponse, any Error>
        /// Its task was cancelled; the server does not know.
        var isForsaken = false
    }

    /// What the network does with a call.
    enum Fate: CaseIterable { case answered, lost, refused, throttled, pausing, spent }

    struct Complaint: Error, CustomStringConvertible { let description: String }

    private let lock = NSRecursiveLock()
    private let history: OracleHistory
    private let clock: TestClock
    private let heedsCancellation: Bool
    /// The pager may forget what is out of sequence.
    private let dropsPages: Bool
    private var calls: [Call] = []
    private var replies: [Ticket: SimulatedReply] = [:]
    private var retryable: Set<Ticket> = []
    private var numbers = 0
    private var notBefore: Int64 = 0
    private(set) var mistake: (any Error)?
    /// Requests that arrived, without retries; and how often the engine asked for another one.
    private(set) var asked = 0
    private(set) var repetitions = 0
    /// Answers come at once and without faults.
    var isQuiet = false

    init(_ history: OracleHistory, _ clock: TestClock, heedsCancellation: Bool, dropsPages: Bool) {
        (self.history, self.clock) = (history, clock)
        (self.heedsCancellation, self.dropsPages) = (heedsCancellation, dropsPages)
    }

    func locked<R>(_ body: () throws -> R) rethrows -> R { try lock.withLock(body) }

    /// How many requests are between their plan and their verdict, wait for an answer, wait in vain.
    var load: (live: Int, waiting: Int, forsaken: Int) {
        locked { (history.pending.count, calls.count, calls.count(where: \.isForsaken)) }
    }

    private func check(_ body: () throws -> Void) {
        do { try body() } catch { mistake = mistake ?? error }
    }

    private func complain(_ text: String) { mistake = mistake ?? Complaint(description: text) }

    // MARK: The pager's side

    var interceptor: Interceptor {
        Interceptor { request, next in
            self.locked { self.plan(request) }
            return try await next(request)
        } observe: { request, result in
            self.locked { self.hear(request, result) }
        }
    }

    private func plan(_ request: PageRequest) {
        guard request.attempt == 1 else { return }
        check { try history.look() }  // a refresh may have dropped what is out of sequence
        let limit = request.limit
        history.note("pager plans \(request.place): \(request.target)")
        history.pending.append(history.job(for: request.plan, at: request.place, limit: limit, seed: 0))
    }

    private func hear(_ request: PageRequest, _ result: Result<PageResult, any Error>) {
        let ticket = request.plan.ticket
        guard let at = history.pending.firstIndex(where: { $0.request.ticket == ticket }) else {
            return complain("a verdict on ticket \(ticket.number), which was not planned")
        }
        let job = history.pending.remove(at: at)
        check {
            guard case .success(.loaded(let outcome)) = result else {
                history.note("ticket \(ticket.number): \(result)")
                return try requireUnchanged(result)
            }
            try history.judge(outcome, of: replies[ticket], to: job)
            try history.check()
            if outcome.verdict.asksAgain(outcome) { repetitions += 1 }
        }
    }

    /// Nothing changed, except that a refresh may have dropped segments below the top one that were not
    /// visible.
    private func requireUnchanged(_ result: Result<PageResult, any Error>) throws {
        let before = history.view
        try history.look()
        if history.view == before { return }
        let (left, all) = (history.view.segments, before.segments)
        if dropsPages, left.first == all.first, left.allSatisfy(all.contains) { return }
        complain("\(result) changed \(before) to \(history.view)")
    }

    func page(for request: PageRequest) async throws -> PageResponse {
        let number = locked {
            numbers += 1
            return numbers
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                locked { receive(request, number, continuation) }
            }
        } onCancel: {
            locked { forsake(number) }
        }
    }

    private func receive(
        _ request: PageRequest, _ number: Int, _ continuation: CheckedContinuation<PageResponse, any Error>
    ) {
        if Task.isCancelled, heedsCancellation {
            return continuation.resume(throwing: CancellationError())
        }
        count(request)
        guard let job = history.pending.first(where: { $0.request.ticket == request.plan.ticket }) else {
            complain("a request with ticket \(request.plan.ticket.number), which was not planned")
            return continuation.resume(throwing: CancellationError())
        }
        calls.append(
            Call(
                number: number, request: request, job: job, continuation: continuation,
                isForsaken: Task.isCancelled))
        if isQuiet { answer(calls[calls.count - 1], .answered, seed: 0) }
    }

    /// Every request has a reason, and is sent when the server wants to be asked.
    private func count(_ request: PageRequest) {
        let ticket = request.plan.ticket
        if clock.elapsed < notBefore { complain("asked \(notBefore - clock.elapsed) ms too early") }
        if calls.contains(where: { $0.request.place == request.place && !$0.isForsaken }) {
            complain("two requests at \(request.place)")
        }
        if request.attempt == 1 {
            asked += 1
        } else if retryable.remove(ticket) == nil {
            complain("ticket \(ticket.number) retried without a failure")
        }
    }

    private func forsake(_ number: Int) {
        guard let at = calls.firstIndex(where: { $0.number == number }) else { return }
        if heedsCancellation {
            calls.remove(at: at).continuation.resume(throwing: CancellationError())
        } else {
            calls[at].isForsaken = true
        }
    }

    // MARK: The server's side

    /// One of the waiting calls ends, with an answer made now.
    func answerAny(_ random: inout SplitMix64) -> Bool {
        locked {
            guard !calls.isEmpty else { return false }
            let fates = Fate.allCases + [Fate](repeating: .answered, count: 14)
            answer(random.pick(calls), random.pick(fates), seed: random.next())
            return true
        }
    }

    private func answer(_ call: Call, _ fate: Fate, seed: UInt64) {
        calls.removeAll { $0.number == call.number }
        let ticket = call.request.plan.ticket
        // A forsaken call may share its ticket with the call that was made in its place.
        if !call.isForsaken { retryable.remove(ticket) }
        var job = call.job
        job.seed = seed
        history.note("ticket \(ticket.number): \(fate)")
        switch fate {
        case .lost:
            if !call.isForsaken { retryable.insert(ticket) }
            call.continuation.resume(throwing: PageFailure("lost", isTransient: true))
        case .refused:
            call.continuation.resume(throwing: PageFailure("refused", isTransient: false))
        case .throttled:
            if !call.isForsaken { retryable.insert(ticket) }
            close(for: 5_000)
            call.continuation.resume(
                throwing: PageFailure("throttled", isTransient: true, pause: .seconds(5)))
        case .answered, .pausing, .spent:
            guard let reply = history.serve(job, faults: isQuiet ? SimulatedFaults() : .frequent) else {
                call.continuation.resume(throwing: PageFailure("http 500", isTransient: false))
                return
            }
            replies[ticket] = reply
            call.continuation.resume(returning: response(reply, to: call.request, fate))
        }
    }

    private func close(for milliseconds: Int64) {
        notBefore = max(notBefore, clock.elapsed + milliseconds)
    }

    private func response(_ reply: SimulatedReply, to request: PageRequest, _ fate: Fate) -> PageResponse {
        var response = PageResponse(reply.answer)
        if request.place == .head {
            let etag = "\(reply.answer.posts.map { "\($0.id) \($0.version ?? 0)" }) \(reply.answer.next)"
            if request.validators?.etag == etag { response.content = .notModified }
            response.validators = Validators(etag: etag)
        }
        if fate == .pausing {
            close(for: 2_000)
            response.pause = .seconds(2)
        }
        if fate == .spent {
            close(for: 3_000)
            response.quota = Quota(remaining: 0, renewsIn: .seconds(3))
        }
        return response
    }
}
