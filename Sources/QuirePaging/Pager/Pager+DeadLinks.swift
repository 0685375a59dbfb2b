import Quire

// R32: links that the server refuses for good.

/// What one call has done since a link was refused.
struct WayBack {
    /// How many links one call may drop. Links that are made from posts double their distance from the
    /// border, so this is enough for any.
    private static let dropLimit = 16
    /// How many pages of cached posts one call may walk over. The next call goes on there.
    private static let walkLimit = 40

    private var drops = 0
    private var walked = 0
    /// The links that answers to this call have brought. One of these is not old: to forget it would bring it
    /// again.
    private var brought: Set<Link> = []
    /// The links whose page was empty, and which were forgotten for that.
    private var doubted: Set<Link> = []

    mutating func note(_ response: PageResponse) {
        guard case .page(let answer) = response.content else { return }
        brought.formUnion([answer.next, answer.previous])
    }

    /// Returns true if the link of a request that failed is to be dropped.
    mutating func drops(_ request: PageRequest, _ error: any Error) -> Bool {
        guard let failure = error as? PageFailure, failure.refusesLink, !failure.isTransient,
            request.followsLink, drops < Self.dropLimit
        else { return false }
        if case .link(let link) = request.target, brought.contains(link) { return false }
        drops += 1
        return true
    }

    /// Returns the doubt about a page without posts; nil if there is none, or no more links are dropped. If
    /// an answer has brought the link again since it was doubted, the page is the end.
    mutating func doubt(_ response: inout PageResponse, to request: PageRequest) -> PageFailure? {
        guard response.mayRefuseLink, case .link(let link) = request.target, request.followsLink,
            case .page(var answer) = response.content
        else { return nil }
        if doubted.contains(link), brought.contains(link) {
            answer.next = .end
            response.content = .page(answer)
            return nil
        }
        if drops == Self.dropLimit { return nil }
        drops += 1
        doubted.insert(link)
        brought.remove(link)
        return PageFailure(
            "the page is empty: perhaps the post is gone that its link names", isTransient: false,
            refusesLink: true)
    }

    /// Returns true if the answer is on the way from further up: the head's page, or posts that are cached.
    mutating func goesOn(after outcome: Outcome, to request: PageRequest) -> Bool {
        if drops == 0 || request.place == .head || outcome.verdict.leadsNowhere { return false }
        let isAbove = request.target == .link(.head) || request.plan.isOverlapping && outcome.page == nil
        if !isAbove || walked == Self.walkLimit { return false }
        walked += 1
        return true
    }
}

extension PageResponse {
    /// Doubts the end that an empty page reports below the last post, where links are positions: posts may
    /// have left above, so that the rest is on the page before (R26.9). That page is asked for again. To be
    /// called with the answer of the source: an interceptor that ends the list knows why.
    mutating func doubtEnd(as paging: Paging, of request: PageRequest) {
        guard paging == .pages, request.place == .tail, case .link(.token) = request.target,
            case .page(let answer) = content, answer.next == .end, answer.posts.isEmpty,
            answer.opaqueRows == 0
        else { return }
        mayRefuseLink = true
    }
}

extension Pager {
    /// Forgets the link of a failed request, if the failure says that the server refuses it. Returns nil if
    /// there is nothing to forget: then the call fails.
    func drop(
        _ request: PageRequest, issuedBy issuer: UInt64, _ error: any Error, _ way: inout WayBack
    ) async throws -> Outcome? {
        guard way.drops(request, error) else { return nil }
        return try await drop(request, issuedBy: issuer, because: error)
    }

    /// Forgets the link of a request. Returns nil if no place keeps it.
    func drop(
        _ request: PageRequest, issuedBy issuer: UInt64, because error: any Error
    ) async throws -> Outcome? {
        let reply = try await writer.write(.dropLink(of: request.plan.ticket, issuer: issuer))
        let outcome = try writer.outcome(reply)
        if !outcome.verdict.asksAgain(outcome) { return nil }
        interceptors.forEach { $0.observe(request, .failure(error)) }
        return outcome
    }
}
