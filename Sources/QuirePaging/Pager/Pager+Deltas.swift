import Quire

// R29: requests for changes only.

extension Pager {
    /// The maximum number of parts, because a server might name further parts for ever.
    private static let partLimit = 64

    /// Requests the changes since the token that was kept of the answers (``Quire/Answer/since``, R29). New
    /// and changed posts are taken in, deleted ones leave, all others stay. Without a token it refreshes,
    /// which may bring one. Concurrent calls share a request, and wait for a refresh that is under way.
    ///
    /// `ignored` posts of the outcome are new and have no known place here. Refresh if you need them.
    @discardableResult
    public func update() async throws -> PageResult {
        try await waitForRefresh()
        let result = try await page(at: .delta, isForced: true)
        return result == .refused(.noLink) ? try await refresh() : result
    }

    /// Returns a delta with all of its parts, each of which names the next one. They become one answer,
    /// because only a complete one shows the top of the list (R29.3).
    func completed(_ response: PageResponse, to request: PageRequest) async throws -> PageResponse {
        guard request.place == .delta, case .page(var answer) = response.content else { return response }
        var parts = 1
        while case .token = answer.next, parts < Self.partLimit {
            var rest = request
            (rest.attempt, rest.rest) = (1, answer.next)
            guard case .page(let part) = try await ask(rest).content else {
                throw PageFailure("\(feed.name): a part of a delta is not a page", isTransient: false)
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
    /// Adds the next part of a delta. It is newer, so it overrides what this one says of a post.
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
