// The writes of a feed: each runs in the batch that the feed is bound to, else in a commit of its own.

extension Feed {
    /// R1. Plans a request: what to ask the server at a place, or why nothing can be asked there.
    ///
    ///     guard case .request(let request) = try feed.plan(.tail) else { return }  // the end, or nothing cached
    ///     let answer = try await ask(request.target)
    ///     let outcome = try feed.ingest(answer, for: request.ticket)
    ///
    /// The ticket is stored: it outlives the process. Two equal requests at one place share one ticket.
    /// - Parameters:
    ///   - place: Where to ask: the head, the tail, a gap, around a post.
    ///   - limit: How many posts to ask for; nil is the feed's page size.
    ///   - isBounded: Stop at the far side of the gap, or at the first cached post; see ``Request/until``.
    ///   - link: Refresh only: what leads to the first page, where the server told.
    /// - Returns: The request with its ticket, or the reason for none.
    public func plan(
        _ place: Place, limit: Int? = nil, isBounded: Bool = false,
        link: Link? = nil
    ) throws -> Plan {
        try write {
            try $0.plan(place, limit: limit, isBounded: isBounded, link: link, in: number)
        }
    }

    /// Judges the answer to a planned request and, if it is accepted, takes it in: the whole page or
    /// nothing. An answer that is not accepted changes no entry; the verdict says why (R3 to R12).
    /// - Parameters:
    ///   - answer: The posts of the page, topmost first, and the links that came with it.
    ///   - ticket: That of the request. It is used up by an answer that is accepted.
    /// - Returns: The verdict, and which posts are new, moved, removed. Not an error: an answer that is
    ///   stale, empty or contradicts the feed.
    public func ingest(_ answer: Answer, for ticket: Ticket) throws -> Outcome {
        try write { try $0.ingest(answer, for: ticket, in: number) }
    }

    /// R27. Takes in posts that the server says are on top now, without having been asked: a message of a
    /// socket, a notification. New ones go on top, in this order; in feeds with keys what belongs further
    /// down goes to its key's place. Nothing is removed.
    ///
    /// The last new one joins the top directly if nothing can have been missed: the message shows or names
    /// what it follows (a name is not enough in a `bump` feed, where the post may have risen, unseen), or the
    /// feed is live (``beginLive(after:)``) and was refreshed since, or `number` is the next one. Else a gap
    /// opens below it, which a refresh closes.
    /// - Parameters:
    ///   - answer: the posts, topmost first, and their bodies. Its links are not looked at.
    ///   - number: the number of the message, if messages are numbered; one that is not larger than the last
    ///     is `.stale`.
    ///   - follows: the post directly below the last one, if the server tells.
    /// - Throws: ``QuireError`` `.badArgument` in a feed of ids.
    public func push(_ answer: Answer, number: UInt64? = nil, follows: PostID? = nil) throws -> Outcome {
        try write { try $0.push(answer, number: number, follows: follows, in: self.number) }
    }

    /// R27. From now on every post that comes on top of the list is pushed. `message` is the number of the
    /// last message before, where they are numbered. A refresh after this call is the beginning: no push
    /// after it opens a gap.
    public func beginLive(after message: UInt64? = nil) throws {
        try write { try $0.setLive(true, after: message, in: number) }
    }

    /// R27. What comes on top is not pushed any more: the connection is gone. Numbered messages tell by
    /// themselves what was missed.
    public func endLive() throws {
        try write { try $0.setLive(false, after: nil, in: number) }
    }

    /// R24, R25. Takes in the next page of a crawl. `page` is its number; nil means that it
    /// follows the page recorded before.
    ///
    /// `crawl` advances when the page is taken in. In a batch that is undone the caller restores it.
    /// - Throws: ``QuireError`` `.badArgument` in a feed of ids, whose list is the answer to `plan(.head)`.
    public func ingest(_ answer: Answer, page: Int?, of crawl: inout Crawl) throws -> Outcome {
        let (outcome, step) = try write { try $0.ingest(answer, page: page, of: crawl, in: number) }
        crawl.note(step)
        return outcome
    }

    /// R3. The request failed, or its answer is no longer wanted. A late answer is still judged.
    public func cancel(_ ticket: Ticket) throws {
        try write { try $0.cancel(ticket, in: number) }
    }

    /// R3. Reports that the request failed. The same or a new ticket may be tried again.
    public func fail(_ ticket: Ticket, reason: String) throws -> Outcome {
        try cancel(ticket)
        return Outcome(.error, reason: reason)
    }

    /// R32. Reports that the server refuses the link of this request for good: its cursor has expired, or
    /// names a post that is gone. The feed forgets the link and what is as old, and keeps all posts; the
    /// next plan of the place begins further up. After at most three such requests that is the head, or the
    /// gap above has to be filled first. Links that are made from posts begin 1, 3, 7 and so on posts
    /// further up. A join whose link was refused is not asked about again: its plan is refused with
    /// `.noLink`.
    ///
    ///     let outcome = try feed.dropLink(of: request.ticket)
    ///     if outcome.help == .planAgain { plan = try feed.plan(.tail) }
    ///
    /// Only for what the server says of the link itself, not for a request that failed: see
    /// ``fail(_:reason:)``. A server that refuses each link would be asked again and again, so stop after a
    /// few.
    /// - Parameter ticket: That of the refused request. It is used up if the verdict is `.replan`.
    /// - Returns: `.replan` if the link was forgotten. `.error` with the reason `no-link` if the request has
    ///   none that a place keeps: it asked for the head, around a post, for bodies, by number, or above a
    ///   post by a link made from it; refresh then, or fill the gap from above. `.stale` as of an answer
    ///   (R2). The last two change nothing.
    public func dropLink(of ticket: Ticket) throws -> Outcome {
        try write { try $0.dropLink(of: ticket, in: number) }
    }

    /// R14. Removes a post from the feed because it is gone on the server: the neighbours close up.
    /// Answers to requests planned before do not bring it back.
    public func delete(_ id: PostID) throws {
        try write { try $0.delete(id, in: number) }
    }

    /// R15. Forgets posts of the feed to save space: a gap opens in their place. Pinned ones stay.
    /// Returns how many left.
    @discardableResult
    public func evict(_ ids: [PostID]) throws -> Int {
        try write { try $0.evict(ids, in: number) }
    }

    /// R15. Evicts the page with this index, 0 is the topmost. Returns how many posts left.
    /// - Throws: `.notFound` if the feed has no page with this index.
    @discardableResult
    public func evictPage(at index: Int) throws -> Int {
        try write { try $0.evictPage(at: index, in: number) }
    }

    /// Forgets everything in the feed; every outstanding ticket becomes stale.
    public func reset() throws { try write { try $0.reset(number) } }

    /// Removes the feed with all that is only of it. Posts that other feeds of its collection hold stay
    /// there. A ``Feed`` value that is still held finds nothing afterwards. Answers to its requests are
    /// stale. Any other write to it throws `.notFound`.
    public func drop() throws { try write { try $0.drop(number) } }

    /// Gives the feed another name. Its posts, tickets and collection stay; this ``Feed`` goes on working,
    /// only its ``Feed/name`` is the old one.
    /// - Throws: `.badArgument` if there is a feed of that name, or it is no name.
    @discardableResult
    public func rename(to name: String) throws -> Feed {
        try write { Feed(cache: cache, number: number, try $0.rename(number, to: name)) }
    }

    /// Gives a feed without posts other options, its collection included. It begins anew: tickets are stale,
    /// attributes are forgotten, and this ``Feed`` is no longer one.
    /// - Throws: `.optionsDiffer` if it holds posts; ``reset()`` it first, or ``drop()`` it.
    public func setOptions(_ options: FeedOptions) throws -> Feed {
        try write {
            let (number, record) = try $0.replace(number, with: options)
            return Feed(cache: cache, number: number, record)
        }
    }

    /// Pins a post: it is never evicted or removed by an answer. Returns false if the feed lacks it.
    @discardableResult
    public func pin(_ id: PostID) throws -> Bool {
        try write { try $0.setPinned(id, true, in: number) }
    }

    /// Ends what ``pin(_:)`` began. Returns false if the feed lacks the post.
    @discardableResult
    public func unpin(_ id: PostID) throws -> Bool {
        try write { try $0.setPinned(id, false, in: number) }
    }

    /// R13. Puts an optimistic post on top of the feed until the server shows it, or until
    /// ``removeLocal(_:)``. Returns false if the feed holds it already.
    @discardableResult
    public func insertLocal(_ id: PostID, body: [UInt8]) throws -> Bool {
        try write { try $0.insertLocal(id, body: body, in: number) }
    }

    /// R13. Takes an optimistic post away: it was given up, or arrives under its server's id. Returns
    /// false if the feed has no such local post.
    @discardableResult
    public func removeLocal(_ id: PostID) throws -> Bool {
        try write { try $0.removeLocal(id, in: number) }
    }

    /// R28. The server has accepted a local post and calls it `server`. From now on this is its id: its
    /// place, its pin, its body, its fields and its read mark stay, and it remains a local post until the
    /// server shows it. If an answer has brought the server's post already, the two become one, at the place
    /// that the server gave.
    /// - Returns: `.missing` if the feed has no such local post, `.same` if it has this id already.
    @discardableResult
    public func confirmLocal(_ id: PostID, as server: PostID) throws -> AliasResult {
        try write { try $0.confirmLocal(id, as: server, in: number) }
    }

    /// Remembers a value about the feed under a name, or forgets it if the value is nil: where its posts'
    /// keys are, when it may be asked again. The engine gives these no meaning; ``reset()`` keeps them.
    /// - Parameters:
    ///   - name: 1 to 255 bytes of UTF-8.
    ///   - value: up to 64 KiB.
    public func setAttribute(_ name: String, to value: [UInt8]?) throws {
        try write { try $0.setAttribute(name, to: value, of: number) }
    }

    /// Sets an attribute as ``setAttribute(_:to:)`` does, if its value is `old`; nil is none. Returns false
    /// if it is another one: read it again, another writer came first.
    public func exchangeAttribute(_ name: String, from old: [UInt8]?, to new: [UInt8]?) throws -> Bool {
        try write { try $0.exchangeAttribute(name, from: old, to: new, of: number) }
    }

    /// The value that ``setAttribute(_:to:)`` remembered, nil if there is none. In a batch it is that of now,
    /// with what the batch has written: read it there to change it, so that no other writer comes in between.
    public func attribute(_ name: String) throws -> [UInt8]? {
        if isBound { return try write { try $0.transaction.attribute(name, of: number) } }
        return try cache.withSnapshot { try $0.attribute(name, of: self) }
    }
}

extension WriteSession {
    /// Evicts the page with this index, 0 is the topmost.
    func evictPage(at index: Int, in feed: UInt32) throws -> Int {
        try storeRanks(of: feed)
        let reader = RowReader(transaction: transaction, feed: feed)
        guard let page = try reader.page(at: index) else {
            let name = try transaction.feed(feed).name
            throw QuireError(.notFound, "feed \(name) has no page \(index)")
        }
        return try evict(try reader.rows(of: page).map(\.id), in: feed)
    }
}
