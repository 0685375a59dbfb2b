/// Several writes in one commit; see ``Cache/batch(_:)``. Every method is also a method of ``Feed``,
/// which makes a commit of its own. Valid only inside the closure that got it, on that thread.
///
/// Every method throws ``QuireError``: `.badArgument`, `.notFound`, `.diskFull`, `.io`, `.corrupt`.
public struct Batch: ~Copyable {
    let session: WriteSession
    let cache: Cache

    /// The feed with this name; as ``Cache/feed(named:options:)``, in this commit.
    public borrowing func feed(named name: String, options: FeedOptions? = nil) throws -> Feed {
        if let feed = try cache.feed(named: name, in: session.transaction) {
            return try feed.requiring(options)
        }
        let (number, record) = try session.createFeed(named: name, options ?? FeedOptions())
        return Feed(cache: cache, number: number, record)
    }

    /// R1. What to ask the server at a place, or why nothing can be asked there. Two equal requests at
    /// one place share one ticket.
    /// - Parameters:
    ///   - limit: how many posts to ask for; nil is the feed's page size.
    ///   - isBounded: stop at the far side of the gap, or at the first cached post; see ``Request/until``.
    ///   - link: refresh only: what leads to the first page, where the server told.
    public borrowing func plan(
        _ place: Place, in feed: Feed, limit: Int? = nil, isBounded: Bool = false,
        link: Link? = nil
    ) throws -> Plan {
        try session.plan(
            place, limit: limit, isBounded: isBounded, link: link, in: feed.number)
    }

    /// Judges the answer to a planned request and, if it is accepted, takes it in: the whole page or
    /// nothing. An answer that is not accepted changes no entry; the verdict says why.
    public borrowing func ingest(
        _ answer: Answer, for ticket: Ticket, in feed: Feed
    ) throws -> Outcome {
        try session.ingest(answer, for: ticket, in: feed.number)
    }

    /// R27. Takes in posts that the server says are on top now, without having been asked: a message of a
    /// socket, a notification. New ones go on top, in this order; in feeds with keys what belongs further
    /// down goes to its key's place. Nothing is removed.
    ///
    /// The last new one joins the top directly if nothing can have been missed: the message shows or names
    /// what it follows, or the feed is live (``beginLive(_:after:)``) and was refreshed since, or `number` is
    /// the next one. Else a gap opens below it, which a refresh closes.
    /// - Parameters:
    ///   - answer: the posts, topmost first, and their bodies. Its links are not looked at.
    ///   - number: the number of the message, if messages are numbered; one that is not larger than the last
    ///     is `.stale`.
    ///   - follows: the post directly below the last one, if the server tells.
    /// - Throws: ``QuireError`` `.badArgument` in a feed of ids.
    public borrowing func push(
        _ answer: Answer, number: UInt64? = nil, follows: PostID? = nil, to feed: Feed
    ) throws -> Outcome {
        try session.push(answer, number: number, follows: follows, in: feed.number)
    }

    /// R27. From now on every post that comes on top of the list is pushed. `message` is the number of the
    /// last message before, where they are numbered. A refresh after this call is the beginning: no push
    /// after it opens a gap.
    public borrowing func beginLive(_ feed: Feed, after message: UInt64? = nil) throws {
        try session.setLive(true, after: message, in: feed.number)
    }

    /// R27. What comes on top is not pushed any more: the connection is gone. Numbered messages tell by
    /// themselves what was missed.
    public borrowing func endLive(_ feed: Feed) throws {
        try session.setLive(false, after: nil, in: feed.number)
    }

    /// R24, R25. Takes in the next page of a crawl. `page` is its number; nil means that it
    /// follows the page recorded before.
    public borrowing func record(
        _ answer: Answer, page: Int?, in run: inout Crawl, of feed: Feed
    ) throws -> Outcome {
        try session.record(answer, page: page, in: &run, of: feed.number)
    }

    /// R3. The request failed, or its answer is no longer wanted. A late answer is still judged.
    public borrowing func cancel(_ ticket: Ticket, in feed: Feed) throws {
        try session.cancel(ticket, in: feed.number)
    }

    /// R14. Removes a post from the feed because it is gone on the server: the neighbours close up.
    /// Answers to requests planned before do not bring it back.
    public borrowing func delete(_ id: PostID, from feed: Feed) throws {
        try session.delete(id, in: feed.number)
    }

    /// R15. Forgets posts of the feed to save space: a gap opens in their place. Pinned ones stay.
    /// Returns how many left.
    @discardableResult
    public borrowing func evict(_ ids: [PostID], from feed: Feed) throws -> Int {
        try session.evict(ids, in: feed.number)
    }

    /// Forgets everything in the feed; every outstanding ticket becomes stale.
    public borrowing func reset(_ feed: Feed) throws { try session.reset(feed.number) }

    /// Removes the feed with all that is only of it. Posts that other feeds of its collection hold stay
    /// there. A ``Feed`` value that is still held finds nothing afterwards. Answers to its requests are
    /// stale. Any other write to it throws `.notFound`.
    public borrowing func drop(_ feed: Feed) throws { try session.drop(feed.number) }

    /// Gives the feed another name. Its posts, tickets and collection stay; this ``Feed`` goes on working,
    /// only its ``Feed/name`` is the old one.
    /// - Throws: `.badArgument` if there is a feed of that name, or it is no name.
    public borrowing func rename(_ feed: Feed, to name: String) throws -> Feed {
        try Cache.requireName(name)
        return Feed(cache: cache, number: feed.number, try session.rename(feed.number, to: name))
    }

    /// Gives a feed without posts other options, its collection included. It begins anew: tickets are stale,
    /// attributes are forgotten, and this ``Feed`` is no longer one.
    /// - Throws: `.optionsDiffer` if it holds posts; ``reset(_:)`` it first, or ``drop(_:)`` it.
    public borrowing func setOptions(_ options: FeedOptions, of feed: Feed) throws -> Feed {
        let (number, record) = try session.replace(feed.number, with: options)
        return Feed(cache: cache, number: number, record)
    }

    /// A pinned post is never evicted or removed by an answer. Returns false if the feed lacks it.
    @discardableResult
    public borrowing func setPinned(_ pinned: Bool, _ id: PostID, in feed: Feed) throws -> Bool {
        try session.setPinned(id, pinned, in: feed.number)
    }

    /// R13. Puts an optimistic post on top of the feed until the server shows it, or until
    /// ``removeLocal(_:from:)``. Returns false if the feed holds it already.
    @discardableResult
    public borrowing func insertLocal(_ id: PostID, body: [UInt8], in feed: Feed) throws -> Bool {
        try session.insertLocal(id, body: body, in: feed.number)
    }

    /// R13. Takes an optimistic post away: it was given up, or arrives under its server's id. Returns
    /// false if the feed has no such local post.
    @discardableResult
    public borrowing func removeLocal(_ id: PostID, from feed: Feed) throws -> Bool {
        try session.removeLocal(id, in: feed.number)
    }

    /// R28. The server has accepted a local post and calls it `server`. From now on this is its id: its
    /// place, its pin, its body, its fields and its read mark stay, and it remains a local post until the
    /// server shows it. If an answer has brought the server's post already, the two become one, at the place
    /// that the server gave.
    /// - Returns: `.missing` if the feed has no such local post, `.same` if it has this id already.
    @discardableResult
    public borrowing func confirmLocal(_ id: PostID, as server: PostID, in feed: Feed) throws -> AliasResult {
        try session.confirmLocal(id, as: server, in: feed.number)
    }

    /// Remembers a value about the feed under a name, or forgets it if the value is nil: where its posts'
    /// keys are, when it may be asked again. The engine gives these no meaning; ``reset(_:)`` keeps them.
    /// - Parameters:
    ///   - name: 1 to 255 bytes of UTF-8.
    ///   - value: up to 64 KiB.
    public borrowing func setAttribute(
        _ name: String, to value: [UInt8]?, of feed: Feed
    ) throws {
        try session.setAttribute(name, to: value, of: feed.number)
    }

    /// What ``setAttribute(_:to:of:)`` remembered, as of now and with what this batch has written: read
    /// it here to change it, so that no other writer comes in between.
    public borrowing func attribute(_ name: String, of feed: Feed) throws -> [UInt8]? {
        try session.transaction.attribute(name, of: feed.number)
    }

    /// R23. Replaces the body of a post of a collection in every feed that shows it, unless the stored one
    /// has a larger version or is of more detail. A body without version is taken for the newest.
    public borrowing func update(
        _ id: PostID, body: [UInt8], version: Int64? = nil, detail: Detail = .full,
        in collection: String = ""
    ) throws -> UpdateResult {
        try session.update(id, body: body, version: version, detail: detail, in: collection)
    }

    /// R23. Sets named values of a post of a collection, kept beside its body; each has a version of its own
    /// and is never overwritten by a smaller one.
    public borrowing func update(
        _ id: PostID, fields: [String: [UInt8]], version: Int64, in collection: String = ""
    ) throws -> UpdateResult {
        try session.update(id, fields: fields, version: version, in: collection)
    }

    /// R28. `alias` is another id of the post `id` of a collection. From now on the post is known by `id`,
    /// and every `alias` that comes in, with an answer, a ticket or a call, is replaced by it. What was
    /// cached as two posts becomes one, in all feeds of the collection: bodies and fields by their versions,
    /// read marks and pins of either.
    /// - Returns: `.united` if something was cached as `alias`, else `.noted`; `.missing` if no feed is in
    ///   the collection.
    @discardableResult
    public borrowing func addAlias(
        _ alias: PostID, of id: PostID, in collection: String = ""
    ) throws -> AliasResult {
        try session.unite(alias, with: id, in: collection)
    }
}
