import Quire
import QuirePaging
import Synchronization

/// The links that the answers of this round have brought. If the server refuses one of these, it is not too
/// old: the links of this server lead nowhere, and to forget it would only bring it again.
final class FreshLinks: Sendable {
    private let links = Mutex<Set<Link>>([])
    private let log: PullLog
    private let words: @Sendable (String) -> String

    /// - Parameter words: Makes a message printable: without secrets.
    init(_ log: PullLog, words: @escaping @Sendable (String) -> String) {
        (self.log, self.words) = (log, words)
    }

    func beginRound() { links.withLock { $0 = [] } }

    /// Says which links are forgotten because the server refuses them. It sees links as they are stored.
    var interceptor: Interceptor {
        Interceptor { request, next in
            do {
                let response = try await next(request)
                if case .page(let answer) = response.content {
                    self.links.withLock { $0.formUnion([answer.next, answer.previous]) }
                }
                return response
            } catch var failure as PageFailure where failure.refusesLink {
                if case .link(let link) = request.target, self.links.withLock({ $0.contains(link) }) {
                    failure.refusesLink = false
                } else {
                    let place = request.place.words
                    self.log.add(
                        .note(
                            self.words("\(place): an old link is refused, and forgotten: \(failure.message)"))
                    )
                }
                throw failure
            }
        }
    }
}
