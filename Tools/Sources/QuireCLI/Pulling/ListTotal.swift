import QuirePaging
import Synchronization

/// How many posts the server counts. Some servers show only the first part of a long list, and end it there.
///
/// It is the smallest total that an answer of the round has named. New posts that come while the work goes on
/// make the last one too large, deleted ones the first one. Estimates vary, and some servers count only what
/// is on a page, or below its top.
final class ListTotal: Sendable {
    private let least = Mutex<Int?>(nil)

    /// Returns by how many posts a total may be too large for a list that is shown as a whole. Servers count
    /// posts that they hide: a few in each list.
    static func tolerance(of total: Int) -> Int { max(1, min(10, total / 5), total / 100) }

    func beginRound() { least.withLock { $0 = nil } }

    var interceptor: Interceptor {
        Interceptor { request, next in
            let response = try await next(request)
            if let total = response.total { self.least.withLock { $0 = min($0 ?? total, total) } }
            return response
        }
    }

    /// Returns the total, also one that an earlier call was told; nil if no answer has named one.
    func known(to pager: Pager) throws -> Int? { try least.withLock(\.self) ?? pager.total }
}
