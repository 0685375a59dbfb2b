import Quire
import QuireDumps
import QuirePaging
import Synchronization

/// The end of a list that shows its oldest post first. New posts come there, so it is the end for now only:
/// each call asks for the page again that was the last one, and goes on from there.
///
/// The engine never hears of this end. The tail keeps the link of the last page, whose answer shows the last
/// post and what has come below it. Whether a list is one of these is found from the first answer with enough
/// posts, and remembered with the feed.
final class GrowingEnd: Sendable {
    private static let attribute = "quire.pull.oldest"

    private struct State {
        /// Nil: not known yet.
        var isOldestFirst: Bool?
        /// True if the last answer below the last post was the end.
        var isReached = false
        /// Links whose page was empty in this round. The pager forgets such a link once.
        var doubted: Set<String> = []
    }

    private let feed: Feed
    private let state: Mutex<State>
    /// Takes a line for people when the list is seen to be one of these.
    private let say: @Sendable (String) -> Void

    init(_ feed: Feed, say: @escaping @Sendable (String) -> Void) throws {
        (self.feed, self.say) = (feed, say)
        let known = try feed.attribute(Self.attribute).map { $0 == [1] }
        let isSorted = [.stable, .bump].contains(feed.options.order)
        state = Mutex(State(isOldestFirst: isSorted ? false : known))
    }

    /// True if nothing follows the last post for now.
    var isReached: Bool { state.withLock(\.isReached) }

    /// Why a list that seems to have ended may get posts that nothing would ask for; nil if it may not.
    func doubt(_ info: FeedInfo) -> String? {
        guard info.tail == .end, state.withLock({ $0.isOldestFirst == true }),
            info.pages > 1 || !keepsLinks
        else { return nil }
        return "the list has its oldest post first, and new ones come at its end, which is not asked for "
            + "again: ask for the newest first, with the parameter that the API has for it, in a feed of its own"
    }

    private var keepsLinks: Bool { [.pages, .cursor].contains(feed.options.paging) }

    func beginRound() {
        state.withLock { ($0.isReached, $0.doubted) = (false, []) }
    }

    var interceptor: Interceptor {
        Interceptor { [self] request, next in
            var response = try await next(request)
            guard case .page(let answer) = response.content else { return response }
            let isOldestFirst = try learn(from: answer)
            if isOldestFirst, request.place == .tail, case .link(.token(let link)) = request.target {
                keepOpen(&response, answer, link)
            }
            return response
        } observe: { [self] request, result in
            guard request.place == .tail else { return }
            if case .loaded(let outcome)? = try? result.get(), outcome.isTaken { return }
            state.withLock { $0.isReached = false }
        }
    }

    private func learn(from answer: Answer) throws -> Bool {
        if let known = state.withLock(\.isOldestFirst) { return known }
        guard let found = Recognition.isOldestFirst(answer) else { return false }
        state.withLock { $0.isOldestFirst = found }
        try feed.cache.batch { [feed] in try $0[feed].setAttribute(Self.attribute, to: [found ? 1 : 0]) }
        if found && keepsLinks {
            say("oldest first: its last page is asked for again in each call, as new posts come there")
        }
        return found
    }

    /// Lets the end of a list lead to its last page.
    private func keepOpen(_ response: inout PageResponse, _ answer: Answer, _ link: String) {
        let isEmpty = answer.posts.isEmpty && answer.opaqueRows == 0
        let isEnd = answer.next == .end || response.mayRefuseLink
        let isLast = state.withLock { state in
            // Posts above may have gone, so that the end is further up. Only the pages can tell.
            let isDoubted = isEmpty && (feed.options.paging == .pages || response.mayRefuseLink)
            state.isReached = isEnd && (!isDoubted || !state.doubted.insert(link).inserted)
            return state.isReached
        }
        if !isLast { return }
        var answer = answer
        answer.next = .token(link)
        (response.content, response.mayRefuseLink) = (.page(answer), false)
    }
}

extension Outcome {
    /// True if the answer is the newest knowledge of what follows the last post.
    fileprivate var isTaken: Bool {
        switch verdict {
        case .ok, .joined, .gap, .empty, .noProgress: true
        default: false
        }
    }
}
