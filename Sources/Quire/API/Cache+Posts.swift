/// The writes of posts, in whichever feeds they are: each is one durable commit. Errors are those of the
/// writes of a ``Feed``. ``Batch`` has them, too.
extension Cache {
    /// R23. Replaces the body of a post of a collection in every feed that shows it, unless the stored one
    /// has a larger version or is of more detail. A body without version is taken for the newest.
    public func update(
        _ id: PostID, body: [UInt8], version: Int64? = nil, detail: Detail = .full,
        in collection: String = ""
    ) throws -> UpdateResult {
        try write { try $0.update(id, body: body, version: version, detail: detail, in: collection) }
    }

    /// R23. Sets named values of a post of a collection, kept beside its body; each has a version of its own
    /// and is never overwritten by a smaller one.
    public func update(
        _ id: PostID, fields: [String: [UInt8]], version: Int64, in collection: String = ""
    ) throws -> UpdateResult {
        try write { try $0.update(id, fields: fields, version: version, in: collection) }
    }

    /// R28. `alias` is another id of the post `id` of a collection. From now on the post is known by `id`,
    /// and every `alias` that comes in, with an answer, a ticket or a call, is replaced by it. What was
    /// cached as two posts becomes one, in all feeds of the collection: bodies and fields by their versions,
    /// read marks and pins of either.
    /// - Returns: `.united` if something was cached as `alias`, else `.noted`; `.missing` if no feed is in
    ///   the collection.
    @discardableResult
    public func addAlias(_ alias: PostID, of id: PostID, in collection: String = "") throws -> AliasResult {
        try write { try $0.unite(alias, with: id, in: collection) }
    }
}

extension Batch {
    /// See ``Cache/update(_:body:version:detail:in:)``.
    public borrowing func update(
        _ id: PostID, body: [UInt8], version: Int64? = nil, detail: Detail = .full,
        in collection: String = ""
    ) throws -> UpdateResult {
        try session.update(id, body: body, version: version, detail: detail, in: collection)
    }

    /// See ``Cache/update(_:fields:version:in:)``.
    public borrowing func update(
        _ id: PostID, fields: [String: [UInt8]], version: Int64, in collection: String = ""
    ) throws -> UpdateResult {
        try session.update(id, fields: fields, version: version, in: collection)
    }

    /// See ``Cache/addAlias(_:of:in:)``.
    @discardableResult
    public borrowing func addAlias(
        _ alias: PostID, of id: PostID, in collection: String = ""
    ) throws -> AliasResult {
        try session.unite(alias, with: id, in: collection)
    }
}
