import Quire

// R29: asking only for what has changed.

extension Pager {
    /// A server that always names a further part must come to an end.
    private static let partLimit = 64

    /// Asks for what has changed since the newest token that an answer brought (``Quire/Answer/since``): new
    /// and changed posts are taken in, deleted ones leave, all others stay. Without a token it refreshes,
    /// which may bring one. Calls share a request; a refresh that is under way goes first.
    ///
    /// Posts that the outcome calls `ignored` are new and have no known place here; where that matters,
    /// refresh.
    @discardableResult
    public func update() async throws -> PageResult {
        try await waitForRefresh()
        let result = try await page(at: .delta, isForced: true)
        return result == .refused(.noLink) ? try await refresh() : result
    }

    /// A delta may come in several parts, each of which names the next one: they become one answer, because
    /// only a whole one tells the top of the list (R29.3).
    func completed(_ response: PageResponse, to request: PageRequest) async throws -> PageResponse {
        guard request.place == .delta, case .page(var answer) = response.content else { return response }
        var parts = 1
        while case .token = answer.next, parts < Self.partLimit {
            var rest = request
            (rest.attempt, rest.rest) = (1, answer.next)
            guard case .page(let part) = try await ask(rest).content else {
                throw PageFailure("\(feed.name): a part of a delta is no page", isTransient: false)
            }
            answer.add(part)
            parts += 1
        }
        var response = response
        response.content = .page(answer)
        return response
    }
}

extension Answer {
    /// The part of a delta that follows this one: it is the newer one, so what it says of a post counts.
    fileprivate mutating func add(_ part: Answer) {
        let (shown, gone) = (Set(part.posts.map(\.id)), Set(part.deleted))
        posts.removeAll { shown.contains($0.id) || gone.contains($0.id) }
        deleted.removeAll { shown.contains($0) || gone.contains($0) }
        let start = bytes.count
        bytes += part.bytes
        for var post in part.posts {
            post.body = post.body.lowerBound + start..<post.body.upperBound + start
            posts.append(post)
        }
        deleted += part.deleted
        opaqueRows += part.opaqueRows
        next = part.next
        since = part.since ?? since
    }
}
