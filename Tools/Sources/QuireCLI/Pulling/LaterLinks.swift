import Foundation
import Quire
import QuireDumps
import QuirePaging
import Synchronization

/// Links for answers that do not say how the list goes on, made from a place that the person wrote into the
/// address: `p=2` for `p={page}`. So a feed that has its first page already goes on.
///
/// Links that are made of numbers and offsets are positions (R26.9), as those of a server are.
final class LaterLinks: Sendable {
    private enum Way: Sendable { case page(first: Int), offset, below }

    private struct State {
        /// The posts of the last answer.
        var last: [PostID] = []
        var isEmpty = false
        /// The number of rows on the last page that was not empty.
        var rows = 1
        var isSaid = false
        /// Posts below which a page was empty, and those of them that an answer has shown since.
        var doubted: Set<PostID> = []
        var confirmed: Set<PostID> = []
    }

    private let way: Way?
    private let written: WrittenParameter?
    private let isKeyset: Bool
    /// True if each answer is searched for a link.
    private let searches: Bool
    /// Takes a line for people when an answer of the call brings the first link.
    private let say: @Sendable (String) throws -> Void
    private let state = Mutex(State())

    /// - Parameter firstPage: The number of the first page, if it is known.
    init(
        _ address: PullAddress, _ profile: Profile, _ options: FeedOptions, firstPage: Int?,
        say: @escaping @Sendable (String) throws -> Void
    ) {
        (self.say, searches) = (say, profile.searchesNext)
        isKeyset = options.paging == .keyset && address.paging == .keyset
        let isLinked = [.pages, .cursor].contains(options.paging) && (searches || !profile.saysNext)
        switch address.paging {
        case .page where isLinked: way = firstPage.map { .page(first: $0) }
        case .offset where isLinked: way = .offset
        case .keyset where isLinked: way = .below
        default: way = nil
        }
        written = address.placeOfPages.flatMap { address.parameter(with: $0) }
            .flatMap { WrittenParameter($0) }
    }

    /// Says which places of the address no request is made with.
    func unused(in address: PullAddress, _ profile: Profile, _ options: FeedOptions) -> [String] {
        var lines: [String] = []
        let isMade = way != nil && written != nil
        if let place = address.placeOfPages, options.paging != address.paging, !isMade {
            let reason =
                written == nil
                ? "it does not stand alone in a parameter" : "the answers say how the list goes on"
            lines.append("{\(place)} in the address is not used: \(reason)")
        }
        if address.hasPlace("above"), options.paging != .keyset {
            lines.append(
                "{above} in the address is not used: it leads upwards, and {below} says how the list goes on")
        }
        return lines
    }

    var interceptor: Interceptor {
        Interceptor { request, next in
            var response = try await next(request)
            guard case .page(var answer) = response.content else { return response }
            // Where no link was ever seen, that the first page has none is no end.
            if self.searches, answer.next == .end, request.target == .link(.head) { answer.next = .unknown }
            if self.searches, case .token(let link) = answer.next { try self.tell(of: link) }
            if answer.next == .unknown {
                switch self.continuation(of: answer, to: request.target) {
                case .link(let link): answer.next = link
                case .perhapsGone: response.mayRefuseLink = true
                case .unknown: break
                }
            }
            self.note(answer)
            response.content = .page(answer)
            return response
        }
    }

    private func tell(of link: String) throws {
        let isFirst = state.withLock { state in
            defer { state.isSaid = true }
            return !state.isSaid
        }
        if isFirst { try say("an answer says now how the list goes on: \(shown(link, limit: 200))") }
    }

    private func note(_ answer: Answer) {
        let rows = answer.posts.count + answer.opaqueRows
        state.withLock { state in
            (state.last, state.isEmpty) = (answer.posts.map(\.id), rows == 0)
            if rows > 0 { state.rows = rows }
            state.confirmed.formUnion(state.doubted.intersection(state.last))
        }
    }

    private enum Continuation {
        case link(Link)
        /// The page is empty: the list ends, or the post is gone that the request names.
        case perhapsGone
        case unknown
    }

    private func continuation(of answer: Answer, to target: Request.Target) -> Continuation {
        let isEmpty = answer.posts.isEmpty && answer.opaqueRows == 0
        if isKeyset, case .link(.below(let id)) = target {
            if answer.posts.map(\.id) == [id] { return .link(.end) }
            return isEmpty ? emptiness(below: id) : .unknown
        }
        guard let way, let written else { return .unknown }
        let value: String?
        switch target {
        case .link(.head): value = nil
        case .link(.token(let link)):
            guard let text = written.value(in: link) else { return .unknown }
            value = text
        default: return .unknown
        }
        let before = state.withLock(\.self)
        if case .below = way {
            guard let last = answer.posts.last else { return value == nil ? .unknown : .perhapsGone }
            let link = Link.token(written.filled(last.id.description))
            return .link(target == .link(link) ? .end : link)
        }
        if value != nil {
            // Hidden posts may leave one page empty.
            if isEmpty && before.isEmpty { return .link(.end) }
            // A server that shows the same page again does not know the parameter, or ends with it.
            if !isEmpty && before.last == answer.posts.map(\.id) { return .unknown }
        }
        let (first, step) =
            if case .page(let first) = way { (first, 1) } else {
                (0, isEmpty ? before.rows : answer.posts.count + answer.opaqueRows)
            }
        guard let number = value.map({ Int($0) }) ?? first else { return .unknown }
        return .link(.token(written.filled("\(number + step)")))
    }

    /// An empty page is believed if an answer has shown the post since the first one.
    private func emptiness(below id: PostID) -> Continuation {
        state.withLock { state in
            if state.confirmed.contains(id) { return .link(.end) }
            state.doubted.insert(id)
            return .perhapsGone
        }
    }
}

/// A parameter of an address with a place in it: `range=from-{offset}`.
private struct WrittenParameter: Sendable {
    private let before: Substring
    private let after: Substring

    init?(_ text: String) {
        guard let open = text.firstIndex(of: "{"), let close = text.lastIndex(of: "}"), text.contains("=")
        else { return nil }
        (before, after) = (text[..<open], text[text.index(after: close)...])
    }

    func filled(_ value: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return before + (value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "") + after
    }

    /// Returns what stands at the place in a link that was made of it; nil for another link.
    func value(in link: String) -> String? {
        guard link.hasPrefix(before), link.hasSuffix(after), link.count >= before.count + after.count else {
            return nil
        }
        return String(link.dropFirst(before.count).dropLast(after.count))
    }
}
