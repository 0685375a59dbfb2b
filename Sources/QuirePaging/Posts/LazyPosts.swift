import Quire

extension Pager {
    /// Returns the feed's posts as objects: ids at once, bodies on access. Relations are feeds of their own:
    ///
    ///     func tracks(of album: Int) throws -> LazyPosts<Track> {
    ///         let feed = try cache.feed(named: "tracks of \(album)", options: …)
    ///         return Pager(feed, source: …).posts(as: Track.self)
    ///     }
    ///     for track in try await tracks(of: 7).all() { print(try await track.decoded().title) }
    ///
    /// What came with another page (`EmbeddedPage`) is not requested.
    public nonisolated func posts<Model: Decodable & SendableMetatype>(
        as model: Model.Type
    ) -> LazyPosts<Model> {
        posts(as: model, formats: [.json()])
    }

    /// Returns the posts with bodies in several formats. The first format that recognises a body decodes it.
    public nonisolated func posts<Model>(
        as model: Model.Type, formats: [WireFormat<Model>]
    ) -> LazyPosts<Model> {
        LazyPosts(pager: self, stored: feed.posts(as: model, formats: formats))
    }
}

/// The posts of a feed, fetched on access. A value that you can use from any thread. Methods throw what the
/// pager's throw.
public struct LazyPosts<Model>: Sendable {
    /// The pager that fetches what is missing.
    public let pager: Pager
    /// The cached posts.
    let stored: TypedPosts<Model>

    /// Returns a post, whether or not the feed holds it. Nothing is read yet.
    public subscript(_ id: PostID) -> LazyPost<Model> { LazyPost(id: id, posts: self) }

    /// Returns all posts in order, in feeds of ids without their bodies. If something is missing, requests
    /// the first page if there is none, fills gaps from the top down, and then fetches what lies below.
    /// - Parameter pages: the maximum number of pages to request.
    /// - Throws: ``IncompleteFeed`` if that was not enough: a list with a hole is not returned.
    public func all(pages: Int = 20) async throws -> [LazyPost<Model>] {
        var last: PageResult?
        for _ in 0..<max(0, pages) {
            if let posts = try readIfComplete() { return posts }
            last = try await pager.fetchWhatIsMissing()
            guard case .loaded = last else { break }
        }
        if let posts = try readIfComplete() { return posts }
        throw IncompleteFeed(feed: pager.feed.name, last: last)
    }

    private func readIfComplete() throws -> [LazyPost<Model>]? {
        let feed = pager.feed
        return try feed.cache.withSnapshot { snapshot in
            guard try snapshot.info(of: feed).isComplete else { return nil }
            return try snapshot.rows(of: feed, limit: .max).compactMap { $0.post.map { self[$0.id] } }
        }
    }
}

/// A post whose body may be missing.
public struct LazyPost<Model>: Sendable, Identifiable {
    public let id: PostID
    let posts: LazyPosts<Model>

    /// The body as received. If it is missing, incomplete or outdated, it is fetched with those of its
    /// neighbours.
    /// - Throws: ``Quire/QuireError``, `.notFound` if the feed does not hold the post or the server no longer
    ///   knows it.
    public var body: [UInt8] {
        get async throws { try await stored().bytes }
    }

    /// Returns the decoded model, like ``body`` fetched if necessary. It is decoded at each call.
    /// - Throws: also ``PostDecodingError``.
    public func decoded() async throws -> Model { try await stored().decoded() }

    /// The place to request its body; nil if it is here, in full and up to date.
    public var missing: Place? {
        get throws { try posts.stored.find(id).flatMap { $0.row.wantsBody ? .bodies([id]) : nil } }
    }

    private func stored() async throws -> TypedPost<Model> {
        if let post = try posts.stored.find(id), !post.row.wantsBody { return post }
        let result = try await posts.pager.fetchBody(of: id)
        guard let post = try posts.stored.find(id) else {
            throw QuireError(.notFound, "feed \(posts.pager.feed.name) has no post \(id) any longer")
        }
        if post.row.isPlaceholder { throw IncompleteFeed(feed: posts.pager.feed.name, last: result) }
        return post
    }
}

extension TypedPost {
    /// The place to request its body (``Pager/fetchBody(of:isForced:)``); nil if there is one, even a summary
    /// or an outdated one, which a screen can show. ``LazyPost`` asks for more.
    public var missing: Place? { row.isPlaceholder ? .bodies([id]) : nil }
}

/// A feed is still incomplete after requests for what is missing.
public struct IncompleteFeed: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the feed.
    public let feed: String
    /// The result of the last request; nil if none was permitted.
    public let last: PageResult?

    public var description: String {
        "feed \(feed) is incomplete, the last request: \(last.map { "\($0)" } ?? "none")"
    }
}

extension FeedInfo {
    /// True if the feed was requested and nothing is missing except bodies.
    var isComplete: Bool { head == .end && gaps == 0 && tail == .end }
}

extension Pager {
    /// Requests one page of what is missing, topmost first.
    fileprivate func fetchWhatIsMissing() async throws -> PageResult {
        let (info, gap) = try feed.cache.withSnapshot { snapshot in
            (try snapshot.info(of: feed), try snapshot.gaps(of: feed, limit: 1).first?.id)
        }
        if info.posts == 0 || info.head != .end { return try await refresh() }
        if let gap { return try await fill(gap) }
        return try await append()
    }
}
