/// The writes of one feed. Called on a ``Feed``, each is one durable commit; called on `batch[feed]`, all
/// of them are part of the batch's commit. Only these two conform.
///
/// Every method throws ``QuireError``: `.badArgument`, `.notFound`, `.diskFull`, `.io`, `.corrupt`, `.busy`, and
/// `.wouldDeadlock` if a batch of the same thread is open and this is not part of it. A method that throws has
/// changed nothing. Those of a feed may be called from any thread; writers take turns, of all processes.
///
/// A call reads and writes the records around its place, not the feed: its cost does not grow with the length
/// of the feed. A commit waits for the disk unless ``CacheOptions/durability`` says otherwise.
public protocol FeedWriting: ~Copyable, ~Escapable {
    /// The feed that is written.
    var feed: Feed { get }

    /// Runs `body` in the commit that the writes of this value are part of.
    borrowing func batch<R>(_ body: (borrowing Batch) throws -> R) throws -> R
}

extension FeedWriting where Self: ~Copyable & ~Escapable {
    /// R1. Plans a request: what to ask the server at a place, or why nothing can be asked there.
    ///
    ///     guard case .request(let request) = try feed.plan(.tail) else { return }  // the end, or nothing cached
    ///     let answer = try await ask(request.target, request.limit)
    ///     let outcome = try feed.ingest(answer, for: request.ticket)
    ///
    /// The ticket is stored: it outlives the process. Two equal requests at one place share one ticket.
    /// - Parameters:
    ///   - place: Where to ask: the head, the tail, a gap, around a post.
    ///   - limit: How many posts to ask for; nil is the feed's page size.
    ///   - isBounded: Stop at the far side of the gap, or at the first cached post; see ``Request/until``.
    ///   - link: Refresh only: what leads to the first page, where the server told.
    /// - Returns: The request with its ticket, or the reason for none.
    public borrowing func plan(
        _ place: Place, limit: Int? = nil, isBounded: Bool = false,
        link: Link? = nil
    ) throws -> Plan {
        try batch {
            try $0.session.plan(
                place, limit: limit, isBounded: isBounded, link: link, in: feed.number)
        }
    }

    /// Judges the answer to a planned request and, if it is accepted, takes it in: the whole page or
    /// nothing. An answer that is not accepted changes no entry; the verdict says why (R3 to R12).
    /// - Parameters:
    ///   - answer: The posts of the page, topmost first, and the links that came with it.
    ///   - ticket: That of the request. It is used up by an answer that is accepted.
    /// - Returns: The verdict, and which posts are new, moved, removed. Not an error: an answer that is stale,
    ///   empty or contradicts the feed.
    public borrowing func ingest(
        _ answer: Answer, for ticket: Ticket
    ) throws -> Outcome {
        try batch { try $0.session.ingest(answer, for: ticket, in: feed.number) }
    }

    /// R27. Takes in posts that the server says are on top now, without having been asked: a message of a
    /// socket, a notification. New ones go on top, in this order; in feeds with keys what belongs further
    /// down goes to its key's place. Nothing is removed.
    ///
    /// The last new one joins the top directly if nothing can have been missed: the message shows or names
    /// what it follows, or the feed is live (``beginLive(after:)``) and was refreshed since, or `number` is
    /// the next one. Else a gap opens below it, which a refresh closes.
    /// - Parameters:
    ///   - answer: the posts, topmost first, and their bodies. Its links are not looked at.
    ///   - number: the number of the message, if messages are numbered; one that is not larger than the last
    ///     is `.stale`.
    ///   - follows: the post directly below the last one, if the server tells.
    /// - Throws: ``QuireError`` `.badArgument` in a feed of ids.
    public borrowing func push(
        _ answer: Answer, number: UInt64? = nil, follows: PostID? = nil
    ) throws -> Outcome {
        try batch { try $0.session.push(answer, number: number, follows: follows, in: feed.number) }
    }

    /// R27. From now on every post that comes on top of the list is pushed. `message` is the number of the
    /// last message before, where they are numbered. A refresh after this call is the beginning: no push
    /// after it opens a gap.
    public borrowing func beginLive(after message: UInt64? = nil) throws {
        try batch { try $0.session.setLive(true, after: message, in: feed.number) }
    }

    /// R27. What comes on top is not pushed any more: the connection is gone. Numbered messages tell by
    /// themselves what was missed.
    public borrowing func endLive() throws {
        try batch { try $0.session.setLive(false, after: nil, in: feed.number) }
    }

    /// R24, R25. Takes in the next page of a crawl. `page` is its number; nil means that it
    /// follows the page recorded before.
    ///
    /// `crawl` advances when the page is taken in. In a batch that is undone the caller restores it.
    public borrowing func ingest(_ answer: Answer, page: Int?, of crawl: inout Crawl) throws -> Outcome {
        var advanced = crawl
        let outcome = try batch {
            advanced = crawl  // this may be the second time
            return try $0.session.ingest(answer, page: page, of: &advanced, in: feed.number)
        }
        crawl = advanced
        return outcome
    }

    /// R3. The request failed, or its answer is no longer wanted. A late answer is still judged.
    public borrowing func cancel(_ ticket: Ticket) throws {
        try batch { try $0.session.cancel(ticket, in: feed.number) }
    }

    /// R3. Reports that the request failed. The same or a new ticket may be tried again.
    public borrowing func fail(_ ticket: Ticket, reason: String) throws -> Outcome {
        try cancel(ticket)
        return Outcome(.error, reason: reason)
    }

    /// R14. Removes a post from the feed because it is gone on the server: the neighbours close up.
    /// Answers to requests planned before do not bring it back.
    public borrowing func delete(_ id: PostID) throws {
        try batch { try $0.session.delete(id, in: feed.number) }
    }

    /// R15. Forgets posts of the feed to save space: a gap opens in their place. Pinned ones stay.
    /// Returns how many left.
    @discardableResult
    public borrowing func evict(_ ids: [PostID]) throws -> Int {
        try batch { try $0.session.evict(ids, in: feed.number) }
    }

    /// R15. Evicts the page with this index, 0 is the topmost. Returns how many posts left.
    @discardableResult
    public borrowing func evictPage(at index: Int) throws -> Int {
        try batch {
            let reader = RowReader(transaction: $0.session.transaction, feed: feed.number)
            guard let page = try reader.pages(from: index, limit: 1).first else {
                throw QuireError(.notFound, "feed \(feed.name) has no page \(index)")
            }
            return try $0.session.evict(try reader.rows(of: page).map(\.id), in: feed.number)
        }
    }

    /// Forgets everything in the feed; every outstanding ticket becomes stale.
    public borrowing func reset() throws { try batch { try $0.session.reset(feed.number) } }

    /// Removes the feed with all that is only of it. Posts that other feeds of its collection hold stay
    /// there. A ``Feed`` value that is still held finds nothing afterwards. Answers to its requests are
    /// stale. Any other write to it throws `.notFound`.
    public borrowing func drop() throws { try batch { try $0.session.drop(feed.number) } }

    /// Gives the feed another name. Its posts, tickets and collection stay; this ``Feed`` goes on working,
    /// only its ``Feed/name`` is the old one.
    /// - Throws: `.badArgument` if there is a feed of that name, or it is no name.
    @discardableResult
    public borrowing func rename(to name: String) throws -> Feed {
        try Cache.requireName(name)
        return try batch {
            Feed(cache: $0.cache, number: feed.number, try $0.session.rename(feed.number, to: name))
        }
    }

    /// Gives a feed without posts other options, its collection included. It begins anew: tickets are stale,
    /// attributes are forgotten, and this ``Feed`` is no longer one.
    /// - Throws: `.optionsDiffer` if it holds posts; ``reset()`` it first, or ``drop()`` it.
    public borrowing func setOptions(_ options: FeedOptions) throws -> Feed {
        try batch {
            let (number, record) = try $0.session.replace(feed.number, with: options)
            return Feed(cache: $0.cache, number: number, record)
        }
    }

    /// Pins a post: it is never evicted or removed by an answer. Returns false if the feed lacks it.
    @discardableResult
    public borrowing func pin(_ id: PostID) throws -> Bool {
        try batch { try $0.session.setPinned(id, true, in: feed.number) }
    }

    /// Ends what ``pin(_:)`` began. Returns false if the feed lacks the post.
    @discardableResult
    public borrowing func unpin(_ id: PostID) throws -> Bool {
        try batch { try $0.session.setPinned(id, false, in: feed.number) }
    }

    /// R13. Puts an optimistic post on top of the feed until the server shows it, or until
    /// ``removeLocal(_:)``. Returns false if the feed holds it already.
    @discardableResult
    public borrowing func insertLocal(_ id: PostID, body: [UInt8]) throws -> Bool {
        try batch { try $0.session.insertLocal(id, body: body, in: feed.number) }
    }

    /// R13. Takes an optimistic post away: it was given up, or arrives under its server's id. Returns
    /// false if the feed has no such local post.
    @discardableResult
    public borrowing func removeLocal(_ id: PostID) throws -> Bool {
        try batch { try $0.session.removeLocal(id, in: feed.number) }
    }

    /// R28. The server has accepted a local post and calls it `server`. From now on this is its id: its
    /// place, its pin, its body, its fields and its read mark stay, and it remains a local post until the
    /// server shows it. If an answer has brought the server's post already, the two become one, at the place
    /// that the server gave.
    /// - Returns: `.missing` if the feed has no such local post, `.same` if it has this id already.
    @discardableResult
    public borrowing func confirmLocal(_ id: PostID, as server: PostID) throws -> AliasResult {
        try batch { try $0.session.confirmLocal(id, as: server, in: feed.number) }
    }

    /// Remembers a value about the feed under a name, or forgets it if the value is nil: where its posts'
    /// keys are, when it may be asked again. The engine gives these no meaning; ``reset()`` keeps them.
    /// - Parameters:
    ///   - name: 1 to 255 bytes of UTF-8.
    ///   - value: up to 64 KiB.
    public borrowing func setAttribute(
        _ name: String, to value: [UInt8]?
    ) throws {
        try batch { try $0.session.setAttribute(name, to: value, of: feed.number) }
    }
}
