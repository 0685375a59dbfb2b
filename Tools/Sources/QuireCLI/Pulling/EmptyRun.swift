import Quire
import QuirePaging
import Synchronization

/// Pages without posts that follow each other at one place, although each says that more follows.
///
/// An empty page is no end: servers take hidden posts out of pages that they have already cut. So it is
/// followed. But some servers say "more" for ever. Twenty pages of hidden posts in a row are rare, so after
/// twenty the place is left. The cache keeps how far the work has come, and the next call goes on there.
final class EmptyRun: Sendable {
    static let limit = 20

    /// The run is as long as it may be.
    struct TooLong: Error, CustomStringConvertible {
        let place: Place
        /// The last request of the run.
        let last: String

        var description: String {
            "\(last): this page and those before it, \(EmptyRun.limit) in a row, are empty, and each says "
                + "that more follows; the next call asks on"
        }
    }

    private struct State {
        var place = Place.head
        var last = ""
        var count = 0
    }

    private let state = Mutex(State())

    func beginRound() { state.withLock { $0 = State() } }

    var interceptor: Interceptor {
        Interceptor { request, next in
            let place = request.place
            if place == .head { return try await next(request) }
            try self.state.withLock { state in
                if state.place != place { state = State(place: place) }
                guard state.count == Self.limit else { return }
                defer { state = State(place: place) }
                throw TooLong(place: place, last: state.last)
            }
            let response = try await next(request)
            if case .page(let answer) = response.content { self.add(answer, to: request) }
            return response
        } observe: { request, result in
            guard case .loaded(let outcome)? = try? result.get(), !outcome.new.isEmpty else { return }
            self.state.withLock { $0.count = 0 }
        }
    }

    private func add(_ answer: Answer, to request: PageRequest) {
        state.withLock { state in
            let saysMore: Bool
            switch answer.next {
            case .end:
                state.count = 0
                return
            case .more, .token, .below, .above: saysMore = true
            case .unknown, .confirmEnd, .head: saysMore = answer.total != nil
            }
            guard saysMore, answer.posts.isEmpty else { return }
            (state.count, state.last) = (state.count + 1, request.words)
        }
    }
}

extension PageRequest {
    /// The place, and the page or link that was asked for, for people.
    var words: String {
        let asked: String? =
            switch target {
            case .page(let number, _): "page \(number)"
            case .position(let offset, _): "offset \(offset)"
            case .link(.head), .snapshot, .bodies, .around: nil
            case .link(let link): "link \(shown(link.description, limit: 200))"
            case .delta: nil
            }
        return place.words + (asked.map { ", \($0)" } ?? "")
    }
}
