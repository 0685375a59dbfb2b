/// One server list in a cache. A value: keep it, copy it, use it from any thread.
///
/// Every writing method is one durable commit; ``Cache/batch(_:)`` has the same methods for many in
/// one. Reading is done in a ``Snapshot``.
///
///     let plan = try feed.plan(.head)
///     if let request = plan.request {
///         let outcome = try feed.ingest(try await ask(request), for: request.ticket)
///     }
///
/// Every method throws ``QuireError`` and may be called from any thread; writers take turns.
public struct Feed: Sendable {
    /// The cache that holds it.
    public let cache: Cache
    /// Its number in this cache.
    public let number: UInt32
    /// Its name when this value was made.
    public let name: String
    /// The options it was created with, or was last given.
    public let options: FeedOptions
    /// That of its collection.
    let collection: UInt32

    init(cache: Cache, number: UInt32, _ record: FeedRecord) {
        (self.cache, self.number, name) = (cache, number, record.name)
        (options, collection) = (record.options, record.collection)
    }

    /// Throws `.optionsDiffer` if it was created with other options than these.
    func requiring(_ options: FeedOptions?) throws(QuireError) -> Feed {
        if let options, options.collection != self.options.collection {
            throw QuireError(
                .optionsDiffer,
                "\(cache.path): feed \(name) is of collection \"\(self.options.collection)\", "
                    + "not of \"\(options.collection)\"")
        }
        if let options, options != self.options {
            throw QuireError(
                .optionsDiffer,
                "\(cache.path): feed \(name) was created as \(self.options.order.rawValue), "
                    + "\(self.options.paging.rawValue), with other options")
        }
        return self
    }

    /// See ``Batch/plan(_:in:limit:isBounded:link:)``.
    public func plan(
        _ place: Place, limit: Int? = nil, isBounded: Bool = false, link: Link? = nil
    ) throws -> Plan {
        try cache.batch {
            try $0.plan(place, in: self, limit: limit, isBounded: isBounded, link: link)
        }
    }

    /// See ``Batch/ingest(_:for:in:)``.
    public func ingest(_ answer: Answer, for ticket: Ticket) throws -> Outcome {
        try cache.batch { try $0.ingest(answer, for: ticket, in: self) }
    }

    /// See ``Batch/record(_:page:in:of:)``.
    public func record(
        _ answer: Answer, page: Int?, in run: inout Crawl
    ) throws -> Outcome {
        var advanced = run
        let outcome = try cache.batch {
            advanced = run  // this may be the second time
            return try $0.record(answer, page: page, in: &advanced, of: self)
        }
        run = advanced  // only once it is committed
        return outcome
    }

    /// See ``Batch/push(_:number:follows:to:)``.
    @discardableResult
    public func push(
        _ answer: Answer, number: UInt64? = nil, follows: PostID? = nil
    ) throws -> Outcome {
        try cache.batch { try $0.push(answer, number: number, follows: follows, to: self) }
    }

    /// See ``Batch/beginLive(_:after:)``.
    public func beginLive(after message: UInt64? = nil) throws {
        try cache.batch { try $0.beginLive(self, after: message) }
    }

    /// See ``Batch/endLive(_:)``.
    public func endLive() throws { try cache.batch { try $0.endLive(self) } }

    /// R3. Reports that the request failed. The same or a new ticket may be tried again.
    public func fail(_ ticket: Ticket, reason: String) throws -> Outcome {
        try cancel(ticket)
        return Outcome(.error, reason: reason)
    }

    /// See ``Batch/cancel(_:in:)``.
    public func cancel(_ ticket: Ticket) throws {
        try cache.batch { try $0.cancel(ticket, in: self) }
    }

    /// See ``Batch/delete(_:from:)``.
    public func delete(_ id: PostID) throws { try cache.batch { try $0.delete(id, from: self) } }

    /// See ``Batch/evict(_:from:)``.
    @discardableResult
    public func evict(_ ids: [PostID]) throws -> Int {
        try cache.batch { try $0.evict(ids, from: self) }
    }

    /// R15. Evicts the page with this index, 0 is the topmost. Returns how many posts left.
    @discardableResult
    public func evictPage(at index: Int) throws -> Int {
        try cache.write { session in
            let reader = RowReader(transaction: session.transaction, feed: number)
            guard let page = try reader.pages(from: index, limit: 1).first else {
                throw QuireError(.notFound, "feed \(name) has no page \(index)")
            }
            return try session.evict(try reader.rows(of: page).map(\.id), in: number)
        }
    }

    /// See ``Batch/reset(_:)``.
    public func reset() throws { try cache.batch { try $0.reset(self) } }

    /// See ``Batch/drop(_:)``.
    public func drop() throws { try cache.batch { try $0.drop(self) } }

    /// See ``Batch/rename(_:to:)``.
    @discardableResult
    public func rename(to name: String) throws -> Feed {
        try cache.batch { try $0.rename(self, to: name) }
    }

    /// See ``Batch/setOptions(_:of:)``.
    public func setOptions(_ options: FeedOptions) throws -> Feed {
        try cache.batch { try $0.setOptions(options, of: self) }
    }

    /// See ``Batch/setPinned(_:_:in:)``.
    @discardableResult
    public func pin(_ id: PostID) throws -> Bool {
        try cache.batch { try $0.setPinned(true, id, in: self) }
    }

    /// See ``Batch/setPinned(_:_:in:)``.
    @discardableResult
    public func unpin(_ id: PostID) throws -> Bool {
        try cache.batch { try $0.setPinned(false, id, in: self) }
    }

    /// See ``Batch/setAttribute(_:to:of:)``.
    public func setAttribute(_ name: String, to value: [UInt8]?) throws {
        try cache.batch { try $0.setAttribute(name, to: value, of: self) }
    }

    /// See ``Batch/insertLocal(_:body:in:)``.
    @discardableResult
    public func insertLocal(_ id: PostID, body: [UInt8]) throws -> Bool {
        try cache.batch { try $0.insertLocal(id, body: body, in: self) }
    }

    /// See ``Batch/removeLocal(_:from:)``.
    @discardableResult
    public func removeLocal(_ id: PostID) throws -> Bool {
        try cache.batch { try $0.removeLocal(id, from: self) }
    }

    /// See ``Batch/confirmLocal(_:as:in:)``.
    @discardableResult
    public func confirmLocal(_ id: PostID, as server: PostID) throws -> AliasResult {
        try cache.batch { try $0.confirmLocal(id, as: server, in: self) }
    }
}

extension Cache {
    /// See ``Batch/update(_:body:version:detail:in:)``.
    public func update(
        _ id: PostID, body: [UInt8], version: Int64? = nil, detail: Detail = .full,
        in collection: String = ""
    ) throws -> UpdateResult {
        try batch {
            try $0.update(id, body: body, version: version, detail: detail, in: collection)
        }
    }

    /// See ``Batch/update(_:fields:version:in:)``.
    public func update(
        _ id: PostID, fields: [String: [UInt8]], version: Int64, in collection: String = ""
    ) throws -> UpdateResult {
        try batch { try $0.update(id, fields: fields, version: version, in: collection) }
    }

    /// See ``Batch/addAlias(_:of:in:)``.
    @discardableResult
    public func addAlias(
        _ alias: PostID, of id: PostID, in collection: String = ""
    ) throws -> AliasResult {
        try batch { try $0.addAlias(alias, of: id, in: collection) }
    }
}
