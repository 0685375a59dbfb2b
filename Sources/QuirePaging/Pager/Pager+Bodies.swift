import Quire

extension Pager {
    /// Fetches the body of a post if it is missing, a summary, or outdated (R31.5). The request also asks for
    /// the neighbours whose bodies are missing or outdated, up to the size of a request. One request at a
    /// time: a call made while one is under way waits for it, and asks only if it did not bring the body.
    /// - Parameters:
    ///   - id: The post.
    ///   - isForced: Ask although the last answer brought none of them.
    /// - Returns: What the answer did; nil if the body is here already.
    /// - Throws: ``Quire/QuireError``, `.notFound` if the feed does not hold the post; when the server does
    ///   not know it any longer, it leaves the feed.
    @discardableResult
    public func fetchBody(of id: PostID, isForced: Bool = false) async throws -> PageResult? {
        while true {
            try Task.checkCancellation()
            let missing = try missingBodies(around: id)
            if missing.isEmpty { return nil }
            guard let place = flights.keys.first(where: { $0.goesFirst || $0 == .tail }) else {
                let result = try await page(at: .bodies(missing), isForced: isForced)
                if result == .preempted { continue }
                return result
            }
            if case .bodies(let ids) = place, ids.contains(id) {
                let result = try await page(at: place)
                if result == .preempted { continue }
                return result
            }
            _ = try? await page(at: place)  // a failure is reported to its own callers
        }
    }

    /// Returns the post and its nearest neighbours whose bodies are missing or outdated, top first; none if
    /// the post's body is here.
    private func missingBodies(around id: PostID) throws -> [PostID] {
        let feed = feed
        let limit = max(1, options.pageSize ?? feed.options.pageSize)
        return try feed.cache.withSnapshot { snapshot in
            guard let row = try snapshot.find(id, in: feed) else {
                throw QuireError(.notFound, "feed \(feed.name) has no post \(id)")
            }
            guard row.wantsBody else { return [] }
            let below = try snapshot.rows(of: feed, after: row.position, limit: limit - 1)
            let above = try snapshot.rows(of: feed, before: row.position, limit: limit - 1)
            let near = zip(1..., below).map { ($0, $1) } + zip(1..., above).map { (-$0, $1) }
            let missing = near.filter { $1.post.map { $0.isPlaceholder || $0.isOutdated } ?? false }
                .sorted { (abs($0.0), -$0.0) < (abs($1.0), -$1.0) }
                .prefix(limit - 1).map { (distance: $0.0, id: $0.1.post!.id) }
            return (missing + [(0, id)]).sorted { $0.distance < $1.distance }.map(\.id)
        }
    }
}

extension PostRow {
    /// True if a request for its body is useful.
    var wantsBody: Bool { isPlaceholder || isOutdated || detail < .full }
}
