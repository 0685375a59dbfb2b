/// A write as a value: what a method of ``Batch``, ``Feed`` or ``Cache`` does, with its arguments.
/// ``Batch/apply(_:issuer:)`` carries it out, ``encoded`` makes it bytes for a log or a file.
///
///     let operation = CacheOperation.feed(feed.number, .plan(.head))
///     let reply = try cache.batch { try $0.apply(operation) }
///
/// What an operation does depends only on the operations before it: not on the clock, the process, the sizes
/// of batches, or how the file is laid out. So caches that apply the same operations in the same order hold
/// the same rows, gap numbers, links and tickets. Times (``Answer/fetchedAt``, ``PrunePolicy/now``) are part
/// of the operation.
public enum CacheOperation: Sendable, Hashable {
    /// ``Cache/feed(named:options:)``. The reply is the feed's number.
    case open(name: String, options: FeedOptions? = nil)
    /// A write of the feed with this number (``Feed/number``). Numbers are never reused: an operation on a
    /// feed that was dropped meanwhile finds none.
    case feed(UInt32, FeedOperation)
    /// ``Cache/update(_:body:version:detail:in:)``
    case updateBody(
        PostID, [UInt8], version: Int64? = nil, detail: Detail = .full, collection: String = "")
    /// ``Cache/update(_:fields:version:in:)``
    case updateFields(PostID, [String: [UInt8]], version: Int64, collection: String = "")
    /// ``Cache/addAlias(_:of:in:)``
    case addAlias(PostID, of: PostID, collection: String = "")
    /// ``EmbeddedPage``: the first page of a feed that need not exist yet. The reply is the outcome, or the
    /// refusal of the plan.
    case embed(EmbeddedPage)
    /// ``Batch/setAttribute(_:to:)``
    case setAttribute(String, to: [UInt8]?)
}

/// A write of one feed as a value; see ``CacheOperation``.
public enum FeedOperation: Sendable, Hashable {
    /// ``Feed/plan(_:limit:isBounded:link:)``
    case plan(Place, limit: Int? = nil, isBounded: Bool = false, link: Link? = nil)
    /// ``Feed/ingest(_:for:)``, with what follows from the answer.
    ///
    /// An `issuer` that is not 0 must be the one that ``Batch/apply(_:issuer:)`` was given when the ticket
    /// was issued, else the answer is stale. The embedded pages are taken in unless the answer changed
    /// nothing. The note is taken if the answer was accepted.
    case ingest(
        Answer, for: Ticket, issuer: UInt64 = 0, embedded: [EmbeddedPage] = [], note: PageNote? = nil)
    /// ``Feed/push(_:number:follows:)``
    case push(Answer, number: UInt64? = nil, follows: PostID? = nil)
    /// ``Feed/beginLive(after:)``
    case beginLive(after: UInt64? = nil)
    /// ``Feed/endLive()``
    case endLive
    /// ``Feed/ingest(_:page:of:)``. The reply has the crawl as it is afterwards.
    case crawl(Answer, page: Int?, of: Crawl)
    /// ``Feed/cancel(_:)``
    case cancel(Ticket)
    /// ``Feed/dropLink(of:)``. The issuer is that of ``ingest(_:for:issuer:embedded:note:)``.
    case dropLink(of: Ticket, issuer: UInt64 = 0)
    /// ``Feed/delete(_:)``
    case delete(PostID)
    /// ``Feed/evict(_:)``
    case evict([PostID])
    /// ``Feed/evictPage(at:)``
    case evictPage(at: Int)
    /// ``Feed/prune(_:)``
    case prune(PrunePolicy)
    /// ``Feed/reset()``
    case reset
    /// ``Feed/drop()``
    case drop
    /// ``Feed/rename(to:)``
    case rename(to: String)
    /// ``Feed/setOptions(_:)``. The reply is the number of the new feed.
    case setOptions(FeedOptions)
    /// ``Feed/pin(_:)``
    case pin(PostID)
    /// ``Feed/unpin(_:)``
    case unpin(PostID)
    /// ``Feed/insertLocal(_:body:)``
    case insertLocal(PostID, body: [UInt8])
    /// ``Feed/removeLocal(_:)``
    case removeLocal(PostID)
    /// ``Feed/confirmLocal(_:as:)``
    case confirmLocal(PostID, as: PostID)
    /// ``Feed/setAttribute(_:to:)``
    case setAttribute(String, to: [UInt8]?)
    /// ``Feed/exchangeAttribute(_:from:to:)``
    case exchangeAttribute(String, from: [UInt8]?, to: [UInt8]?)
}

/// What a write returned; each operation says which case it has.
public enum CacheReply: Sendable, Hashable {
    /// The write returns nothing.
    case done
    /// The number of a feed.
    case feed(UInt32)
    /// A plan, and the issuer of its ticket: that of an earlier operation if it shares a ticket, 0 if there
    /// is none.
    case plan(Plan, issuer: UInt64)
    /// What an answer did.
    case outcome(Outcome)
    /// What a page of a crawl did, and the crawl afterwards.
    case crawled(Outcome, Crawl)
    /// How many posts left.
    case count(Int)
    /// Whether there was something to change.
    case flag(Bool)
    /// What a prune did.
    case pruned(PruneResult)
    /// What an update did.
    case update(UpdateResult)
    /// What an alias did.
    case alias(AliasResult)
}
