import Quire

extension Pager {
    /// The feed's posts as objects: ids at once, bodies on access. Relations are feeds of their
    /// own:
    ///
    ///     func tracks(of album: Int) throws -> LazyPosts<Track> {
    ///         let feed = try cache.feed(named: "tracks of \(album)", options: …)
    ///         return Pager(feed, source: …).posts(as: Track.self)
    ///     }
    ///     for track in try await tracks(of: 7).all() { print(try await track.decoded().title) }
    ///
    /// What came along with another page (``EmbeddedPage``) is not asked for.
    public nonisolated func posts<Model: Decodable & SendableMetatype>(
        as model: Model.Type
    ) -> LazyPosts<Model> {
        posts(as: model, formats: [.json()])
    }

    /// The same for bodies in several formats; the first one that recognises a body decodes it.
    public nonisolated func posts<Model>(
        as model: Model.Type, formats: [WireFormat<Model>]
    ) -> LazyPosts<Model> {
        LazyPosts(pager: self, stored: feed.posts(as: model, formats: formats))
    }
}

/// The posts of a feed, fetched as far as they are accessed. A value; use it from any thread. Methods throw
/// what the pager's throw.
public struct LazyPosts<Model>: Sendable {
    /// The pager that fetches what is missing.
    public let pager: Pager
    /// What is cached.
    let stored: TypedPosts<Model>

    /// One post, whether or not the feed holds it; nothing is read yet.
    public subscript(_ id: PostID) -> LazyPost<Model> { LazyPost(id: id, posts: self) }

    /// All posts in their order, of feeds of ids without their bodies. Nothing is asked for if nothing is
    /// missing; else the first page if there is none, gaps from the top down, and what lies below.
    /// - Parameter pages: the most pages to ask for.
    /// - Throws: ``IncompleteFeed`` if they did not suffice: a list with a hole is not returned.
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

    /// The bytes received for it, fetched together with those of its neighbours if they are missing, not all
    /// of the post, or outdated.
    /// - Throws: ``Quire/QuireError``, `.notFound` if the feed does not hold the post or the server no longer
    ///   knows it.
    public var body: [UInt8] {
        get async throws { try await stored().bytes }
    }

    /// The model, decoded now: keep it if it is needed again. Fetched like ``body``.
    /// - Throws: also ``PostDecodingError``.
    public func decoded() async throws -> Model { try await stored().decoded() }

    /// Where its body is asked for; nil if it is here, in full and not outdated.
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
    /// Where its body is asked for (``Pager/fetchBody(of:isForced:)``); nil if one is here, be it a summary
    /// or outdated: a screen shows that. ``LazyPost`` asks for more.
    public var missing: Place? { row.isPlaceholder ? .bodies([id]) : nil }
}

/// What a feed should show is not here, and asking for it did not bring it.
public struct IncompleteFeed: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the feed.
    public let feed: String
    /// What the last request came to, nil if none was permitted.
    public let last: PageResult?

    public var description: String {
        "feed \(feed) is incomplete, the last request: \(last.map { "\($0)" } ?? "none")"
    }
}

extension FeedInfo {
    /// It has been asked for, and nothing is missing but bodies.
    var isComplete: Bool { head == .end && gaps == 0 && tail == .end }
}

extension Pager {
    /// One page of what keeps the feed from being complete, the topmost first.
    fileprivate func fetchWhatIsMissing() async throws -> PageResult {
        let (info, gap) = try feed.cache.withSnapshot { snapshot in
            (try snapshot.info(of: feed), try snapshot.gaps(of: feed).first?.id)
        }
        if info.posts == 0 || info.head != .end { return try await refresh() }
        if let gap { return try await fill(gap) }
        return try await append()
    }
}
