import Quire

/// A request under way, and the callers that wait for it.
struct Flight {
    let number: UInt64
    let task: Task<Void, Never>
    var waiting: [UInt64: CheckedContinuation<PageResult, any Error>] = [:]
}

extension Pager {
    /// Requests a page at a place. Calls for the same place share a request.
    func page(at place: Place, isForced: Bool = false) async throws -> PageResult {
        try Task.checkCancellation()
        // A request that another caller forced is shared. A caller who waits for it would else be refused at
        // once, ask again, and never let it land.
        if flights[place] == nil, !isForced, let verdict = stopped[place] { return .stopped(verdict) }
        numbers += 1
        let caller = numbers
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if flights[place] == nil { launch(place) }
                flights[place]?.waiting[caller] = continuation
            }
        } onCancel: {
            Task { await self.leave(caller, at: place) }
        }
    }

    /// Requests a page at a place where something is missing, if the feed has not changed since the caller
    /// saw it, or the page is under way. Otherwise returns nil, because another call may have brought the
    /// page.
    /// - Parameter generation: the generation of the rows that the caller saw. Nil: request in any case, even
    ///   if the last answer here led nowhere.
    func page(at place: Place, ifUnchangedSince generation: UInt64?) async throws -> PageResult? {
        try await waitForRefresh()
        if let generation, flights[place] == nil {
            let feed = feed
            let change = try feed.cache.withSnapshot { try feed.changes(since: generation, in: $0) }
            if change != nil { return nil }
        }
        let isForced = generation == nil
        switch place {
        case .gap(let gap): return try await fillOnce(gap, isForced)
        case .aboveGap(let gap): return try await fillUpOnce(gap, isForced)
        default: return try await page(at: place, isForced: isForced)
        }
    }

    private func launch(_ place: Place) {
        if place == .head { preempt() }
        numbers += 1
        let number = numbers
        let task = Task {
            let result: Result<PageResult, any Error>
            do { result = .success(try await load(place)) } catch { result = .failure(error) }
            land(number, at: place, result)
        }
        flights[place] = Flight(number: number, task: task)
    }

    private func land(_ number: UInt64, at place: Place, _ result: Result<PageResult, any Error>) {
        // Another flight may have replaced one that was cancelled.
        guard let flight = flights[place], flight.number == number else { return }
        flights[place] = nil
        for continuation in flight.waiting.values { continuation.resume(with: result) }
    }

    /// Removes a cancelled caller, and cancels the request if no caller is left.
    private func leave(_ caller: UInt64, at place: Place) {
        guard let continuation = flights[place]?.waiting.removeValue(forKey: caller) else { return }
        continuation.resume(throwing: CancellationError())
        if let flight = flights[place], flight.waiting.isEmpty {
            flights[place] = nil
            flight.task.cancel()
        }
    }

    /// Cancels requests at the ends, because a refresh may replace what they continue from.
    private func preempt() {
        for (place, flight) in flights where place.isReplacedByRefresh {
            flights[place] = nil
            flight.task.cancel()
            for continuation in flight.waiting.values { continuation.resume(returning: .preempted) }
        }
    }
}

// Conflicts between requests.
extension Place {
    /// True if the ends wait for it, because it may replace what they continue from, or bring what they would
    /// request.
    var goesFirst: Bool {
        switch self {
        case .head, .bodies: true
        case .tail, .openHead, .gap, .aboveGap, .around, .page, .join, .delta: false
        }
    }

    /// True if a refresh cancels it: its answer would be stale.
    fileprivate var isReplacedByRefresh: Bool {
        switch self {
        case .tail, .openHead, .bodies: true
        case .head, .gap, .aboveGap, .around, .page, .join, .delta: false
        }
    }
}
