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
    /// The page as it is taken in. A complete one counts as a first page that the server confirmed.
    func answered(at now: Int64, lifetime: Duration) throws -> EmbeddedPage {
        var page = self
        if page.answer.fetchedAt == 0 { page.answer.fetchedAt = now }
        if answer.next == .end || options.paging == .ids {
            let confirmed = ServerState.Span(since: now, length: lifetime.milliseconds)
            page.note = try FirstPage.note(FirstPage.Answered(confirmed: confirmed))
        }
        return page
    }
}
