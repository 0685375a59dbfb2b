import Quire

/// One request under way, and who waits for it.
struct Flight {
    let number: UInt64
    let task: Task<Void, Never>
    var waiting: [UInt64: CheckedContinuation<PageResult, any Error>] = [:]
}

extension Pager {
    /// One page at a place. Calls for the same place share it.
    func page(at place: Place, isForced: Bool = false) async throws -> PageResult {
        let place = edge(at: place)
        try Task.checkCancellation()
        if let verdict = stopped[place], !isForced { return .stopped(verdict) }
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

    /// A feed of ids has one edge: the missing bodies are asked for in their order, from wherever (R21).
    private func edge(at place: Place) -> Place {
        switch place {
        case .gap, .aboveGap: feed.options.paging == .ids ? .tail : place
        case .head, .tail, .openHead, .around: place
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
        // Another flight may have taken the place of one that was cancelled.
        guard let flight = flights[place], flight.number == number else { return }
        flights[place] = nil
        for continuation in flight.waiting.values { continuation.resume(with: result) }
    }

    /// A caller was cancelled. Without callers the request is too.
    private func leave(_ caller: UInt64, at place: Place) {
        guard let continuation = flights[place]?.waiting.removeValue(forKey: caller) else { return }
        continuation.resume(throwing: CancellationError())
        if let flight = flights[place], flight.waiting.isEmpty {
            flights[place] = nil
            flight.task.cancel()
        }
    }

    /// A refresh may replace what the ends continue from.
    private func preempt() {
        for place in [Place.tail, .openHead] {
            guard let flight = flights.removeValue(forKey: place) else { continue }
            flight.task.cancel()
            for continuation in flight.waiting.values { continuation.resume(returning: .preempted) }
        }
    }
}
