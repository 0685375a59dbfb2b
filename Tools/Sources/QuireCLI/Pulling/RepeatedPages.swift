import Quire
import QuirePaging
import Synchronization

/// Notices a list whose pages all show the posts of the first one. The engine concludes that it has ended,
/// but a server that does not know the parameter for the page answers so, too. It is remembered with the
/// feed.
final class RepeatedPages: Sendable {
    private static let attribute = "quire.pull.repeats"
    /// True if an answer to a request for what is below the last post showed nothing but posts that are here.
    private let isRepeated = Mutex(false)

    var interceptor: Interceptor {
        Interceptor { request, next in
            try await next(request)
        } observe: { request, result in
            guard request.place == .tail, case .loaded(let outcome)? = try? result.get(),
                outcome.verdict == .drift, outcome.new.isEmpty, !outcome.duplicates.isEmpty
            else { return }
            self.isRepeated.withLock { $0 = true }
        }
    }

    /// Returns true if nothing but repeated pages says that this list ends.
    func areAll(of feed: Feed) throws -> Bool {
        let info = try feed.cache.withSnapshot { try $0.info(of: feed) }
        let was = try feed.attribute(Self.attribute) != nil
        let isSo = info.isEndAssumed && info.pages == 1 && (was || isRepeated.withLock { $0 })
        if isSo != was {
            try feed.cache.batch { try $0[feed].setAttribute(Self.attribute, to: isSo ? [1] : nil) }
        }
        return isSo
    }
}
