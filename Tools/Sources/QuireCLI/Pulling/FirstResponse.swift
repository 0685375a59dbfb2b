import Foundation
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging

extension PullWork {
    /// Asks for the first page. A request that fails changes nothing.
    func firstResponse(
        _ address: PullAddress, _ profile: Profile?, _ meter: Meter, _ discretion: PullDiscretion
    ) async throws -> RawResponse {
        do {
            return try await response(to: address.first, profile, meter, discretion)
        } catch is RequestLimit {
            throw Failure(
                .temporary, "the limit of requests was reached (--pages) before there was an answer")
        } catch { throw failure(of: error, discretion) }
    }

    /// Finds the number of the first page. Returns nil if the address of a page has no number.
    func numbering(
        _ address: PullAddress, _ profile: Profile, _ first: RawResponse, said: Int?, _ meter: Meter,
        _ discretion: PullDiscretion
    ) async throws -> PageNumbering? {
        do {
            return try await PageNumbering.find(address, profile, first: first, said: said) {
                try await response(to: $0, profile, meter, discretion)
            }
        } catch { throw failure(of: error, discretion) }
    }

    /// Asks for an address in a cache that is thrown away, because retries and pauses are a pager's.
    private func response(
        to address: String, _ profile: Profile?, _ meter: Meter, _ discretion: PullDiscretion
    ) async throws -> RawResponse {
        let scratch = try DryRun(of: "")
        defer { withExtendedLifetime(scratch) {} }
        let probe = try HTTPProbe(
            address, body: profile?.requestBody?.filled(["limit": "\(FeedOptions().pageSize)"]),
            profile: profile, timeout: limits.timeout.duration, prepare: discretion.prepare)
        let feed = try Cache(at: scratch.path).feed(named: "first page")
        let pager = Pager(
            feed, source: probe, interceptors: [meter.interceptor, discretion.failures],
            options: PagerOptions(patience: limits.patience.duration), clock: discretion.clock(clock))
        try await pager.refresh()
        guard let response = probe.response else { throw Failure(.data, "the server gave no answer") }
        return response
    }

    /// Returns how the command fails because of an error before there is a feed.
    private func failure(of error: any Error, _ discretion: PullDiscretion) -> any Error {
        func opening(_ rest: Duration) -> String { dated(clock.now() + Int64(rest / .milliseconds(1))) }
        switch error {
        case let failure as PageFailure:
            return Failure(failure.isTransient ? .temporary : .data, discretion.words(failure.message))
        case PagerError.paused(let rest):
            return Failure(.temporary, "the server asks for a pause; open again at \(opening(rest))")
        case PagerError.quotaSpent(let rest):
            return Failure(
                .temporary, "the quota of the server is used up; open again at \(opening(rest))")
        case is CancellationError: return Failure(.interrupted, "stopped; nothing was changed")
        default: return error
        }
    }
}
