import Quire

extension Feed {
    /// Returns the feed's posts as values of a model. They are read and decoded on access.
    ///
    ///     for row in try feed.posts(as: Question.self).rows(limit: 50) {
    ///         switch row {
    ///         case .post(let post): show(try post.decoded())
    ///         case .gap(let gap): showGap(gap.id)
    ///         }
    ///     }
    public func posts<Model: Decodable & SendableMetatype>(as model: Model.Type) -> TypedPosts<Model> {
        posts(as: model, formats: [.json()])
    }

    /// Returns the posts with bodies in several formats. The first format that recognises a body decodes it.
    public func posts<Model>(as model: Model.Type, formats: [WireFormat<Model>]) -> TypedPosts<Model> {
        TypedPosts(feed: self, formats: formats)
    }
}

/// The posts of a feed as values of a model. A value that you can use from any thread.
public struct TypedPosts<Model>: Sendable {
    /// The feed of the posts.
    public let feed: Feed
    let formats: [WireFormat<Model>]

    /// Up to `limit` rows, posts and gaps, top first, as of one moment.
    /// - Parameters:
    ///   - id: Only what stands below this post; nil: from the top.
    ///   - limit: The largest number of rows.
    /// - Throws: ``Quire/QuireError``, `.notFound` if the feed does not hold that post.
    public func rows(below id: PostID? = nil, limit: Int) throws -> [TypedRow<Model>] {
        try feed.cache.withSnapshot { snapshot in
            var position: RowPosition?
            if let id {
                guard let row = try snapshot.find(id, in: feed) else {
                    throw QuireError(.notFound, "feed \(feed.name) has no post \(id)")
                }
                position = row.position
            }
            return try snapshot.rows(of: feed, after: position, limit: limit).map { row in
                switch row {
                case .post(let post): .post(try typed(post, in: snapshot))
                case .gap(let gap): .gap(gap)
                }
            }
        }
    }

    /// Returns a post; nil if the feed does not hold it.
    public func find(_ id: PostID) throws -> TypedPost<Model>? {
        try feed.cache.withSnapshot { try find(id, in: $0) }
    }

    func find(_ id: PostID, in snapshot: borrowing Snapshot) throws -> TypedPost<Model>? {
        guard let row = try snapshot.find(id, in: feed) else { return nil }
        return try typed(row, in: snapshot)
    }

    func typed(_ row: PostRow, in snapshot: borrowing Snapshot) throws -> TypedPost<Model> {
        let body = try snapshot.body(of: row)
        let bytes = body.withUnsafeBytes { Array($0) }
        let fields = try snapshot.fields(of: row, in: feed).filter { $0.key != ReadingState.flag }
        return TypedPost(row: row, bytes: bytes, fields: fields, feed: feed.name, formats: formats)
    }
}

/// A row of a feed: a post with its model, or a gap where posts may be missing.
public enum TypedRow<Model>: Sendable {
    /// A post with its model.
    case post(TypedPost<Model>)
    /// A place where posts may be missing.
    case gap(GapRow)

    /// The post, nil for a gap.
    public var post: TypedPost<Model>? { if case .post(let post) = self { post } else { nil } }
    /// The gap, nil for a post.
    public var gap: GapRow? { if case .gap(let gap) = self { gap } else { nil } }
}

/// A post and its body as received. A value that outlives its snapshot.
public struct TypedPost<Model>: Sendable, Identifiable {
    /// The post's row: its position, and what is known about it without its body.
    public let row: PostRow
    /// The body as received; empty if only the post's place is known.
    public let bytes: [UInt8]
    /// Values that were updated separately and are not older than the body. ``decoded()`` applies them
    /// (R31.6).
    public let fields: [String: [UInt8]]
    let feed: String
    let formats: [WireFormat<Model>]

    public var id: PostID { row.id }

    /// Returns the decoded model. It is decoded at each call.
    /// - Throws: ``PostDecodingError``. Other posts are not affected.
    public func decoded() throws(PostDecodingError) -> Model {
        guard !bytes.isEmpty else { throw problem("its body is missing") }
        guard let format = formats.first(where: { $0.recognises(bytes) }) else {
            throw problem("no format recognises its body: \(formats.map(\.name).joined(separator: ", "))")
        }
        do {
            return try format.decode(fields.isEmpty ? bytes : format.merged(bytes, fields))
        } catch {
            throw problem("\(format.name): \(error)")
        }
    }

    private func problem(_ text: String) -> PostDecodingError {
        PostDecodingError(feed: feed, id: id, reason: text)
    }
}

/// A post whose bytes do not match the model.
public struct PostDecodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the feed.
    public let feed: String
    /// The post.
    public let id: PostID
    /// What is wrong with the bytes, as a sentence.
    public let reason: String

    public var description: String { "feed \(feed): post \(id): \(reason)" }
}
