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
    /// Takes the page in (``CacheOperation/embed(_:)``). A complete one counts as a first page confirmed by the
    /// server.
    func ingest(in batch: borrowing Batch, at now: Int64, lifetime: Duration) throws {
        var page = self
        if page.answer.fetchedAt == 0 { page.answer.fetchedAt = now }
        guard case .outcome(let outcome) = try batch.apply(.embed(page)), outcome.confirmsFirstPage,
            answer.next == .end || options.paging == .ids
        else { return }
        try ServerState.change(of: batch.feed(named: feed, options: options), in: batch, at: now) {
            serverState in
            serverState.confirmed = ServerState.Span(since: now, length: lifetime.milliseconds)
            serverState.firstPage = ServerState.FirstPage(validators: nil, pageSize: nil, page: outcome.page)
        }
    }
}
