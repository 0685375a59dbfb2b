import Quire
import QuirePaging
import QuireSimulator
import Synchronization

/// A source that is a closure.
struct Scripted: PagingSource {
    let answer: @Sendable (PageRequest) async throws -> PageResponse

    func page(for request: PageRequest) async throws -> PageResponse { try await answer(request) }
}

/// A server that answers at once: the simulator's list, newest on top.
final class ListServer: PagingSource {
    private let server: Mutex<SimulatedServer>
    private let asked = Mutex<[PageRequest]>([])
    private let options: FeedOptions

    init(posts: Int, options: FeedOptions) {
        var server = SimulatedServer()
        for _ in 0..<posts { server.insertOnTop() }
        self.server = Mutex(server)
        self.options = options
    }

    /// The requests that arrived so far.
    var requests: [PageRequest] { asked.withLock { $0 } }

    func insert(_ count: Int) {
        server.withLock { for _ in 0..<count { $0.insertOnTop() } }
    }

    func delete(_ ids: PostID...) { server.withLock { for id in ids { $0.delete(id) } } }

    func page(for request: PageRequest) async throws -> PageResponse {
        asked.withLock { $0.append(request) }
        return PageResponse(answer(to: request))
    }

    func answer(to request: PageRequest) -> Answer {
        server.withLock {
            $0.answer(to: request.target, until: request.until, limit: request.limit, options: options)
        }
    }
}

/// A source whose requests wait until the test answers them.
final class Switchboard: PagingSource {
    struct Call {
        let number: Int
        let request: PageRequest
        fileprivate let continuation: CheckedContinuation<PageResponse, any Error>
    }
    private struct State {
        var calls: [Call] = []
        var count = 0
    }
    private let state = Mutex(State())
    /// Calls end when their task is cancelled. If false, they hear nothing of it, as bad sources do.
    private let heedsCancellation: Bool

    init(heedsCancellation: Bool = true) { self.heedsCancellation = heedsCancellation }

    /// How many requests arrived so far.
    var count: Int { state.withLock { $0.count } }
    /// Those that wait for an answer, in the order of their arrival.
    var calls: [Call] { state.withLock { $0.calls } }

    func page(for request: PageRequest) async throws -> PageResponse {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if heedsCancellation, Task.isCancelled { return true }
                    state.calls.append(Call(number: number, request: request, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            if heedsCancellation { finish(number, .failure(CancellationError())) }
        }
    }

    func answer(_ call: Call, _ response: PageResponse) { finish(call.number, .success(response)) }
    func fail(_ call: Call, _ error: any Error) { finish(call.number, .failure(error)) }

    private func finish(_ number: Int, _ result: Result<PageResponse, any Error>) {
        let call = state.withLock { state -> Call? in
            guard let at = state.calls.firstIndex(where: { $0.number == number }) else { return nil }
            return state.calls.remove(at: at)
        }
        call?.continuation.resume(with: result)
    }

    /// Waits for a request that has no answer yet.
    func next() async throws -> Call {
        try await until { !self.calls.isEmpty }
        return calls[0]
    }
}

/// Lets others run until something has happened. A test that was cancelled, as by its time limit, may wait
/// for what cannot happen any more, so it throws.
nonisolated(nonsending) func until(_ condition: nonisolated(nonsending) () async -> Bool) async throws {
    while await !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
