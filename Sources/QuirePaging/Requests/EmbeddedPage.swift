import Quire

extension Interceptor {
    /// Finds the pages of other feeds in the bodies of a response's posts. If `pages` throws, the request
    /// fails.
    ///
    ///     .embedding { id, body in
    ///         let album = try JSONDecoder().decode(Album.self, from: Data(body))
    ///         return [try tracks(of: album)]
    ///     }
    public static func embedding(
        _ pages: @escaping @Sendable (PostID, [UInt8]) throws -> [EmbeddedPage]
    ) -> Interceptor {
        Interceptor { request, next in
            var response = try await next(request)
            guard case .page(let answer) = response.content else { return response }
            for post in answer.posts where !post.body.isEmpty {
                response.embedded += try pages(post.id, Array(answer.bytes[post.body]))
            }
            return response
        }
    }
}

extension EmbeddedPage {
    /// Takes the page in like the answer to a refresh made now. A complete one counts as a first page
    /// confirmed by the server.
    func ingest(in batch: borrowing Batch, at now: Int64, lifetime: Duration) throws {
        let feed = try batch.feed(named: feed, options: options)
        guard let plan = try batch[feed].plan(.head).request else { return }
        var answer = answer
        if answer.fetchedAt == 0 { answer.fetchedAt = now }
        let outcome = try batch[feed].ingest(answer, for: plan.ticket)
        if options.paging == .ids { try ingestBodies(answer, in: batch, of: feed) }
        guard outcome.confirmsFirstPage, answer.next == .end || options.paging == .ids else { return }
        try ServerState.change(of: feed, in: batch, at: now) { serverState in
            serverState.confirmed = ServerState.Span(since: now, length: lifetime.milliseconds)
            serverState.firstPage = ServerState.FirstPage(validators: nil, pageSize: nil, page: outcome.page)
        }
    }

    private func ingestBodies(_ answer: Answer, in batch: borrowing Batch, of feed: Feed) throws {
        var bodies = answer
        bodies.posts.removeAll(where: \.body.isEmpty)
        let ids = bodies.posts.map(\.id)
        guard let plan = try batch[feed].plan(.bodies(ids), limit: ids.count).request else { return }
        _ = try batch[feed].ingest(bodies, for: plan.ticket)
    }
}
