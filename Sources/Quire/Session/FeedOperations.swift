// The operations on one feed in a write session: load what the rule needs, run it, write its changes.

extension WriteSession {
    /// Creates a feed that does not exist yet.
    func createFeed(named name: String, _ options: FeedOptions) throws -> (UInt32, FeedRecord) {
        var record = FeedRecord(name: name, options: options)
        record.collection = try enterCollection(options.collection)
        counters.feeds += 1
        counters.feedNumbers += 1
        record.ticketNumbers = Ticket.numbersBefore(feed: counters.feedNumbers)
        try transaction.put(
            .members, MemberKey.of(counters.feedNumbers, in: record.collection), ByteWriter().sealed())
        touch()
        try setName(name, of: counters.feedNumbers)
        try transaction.put(.record(of: counters.feedNumbers), NoKey(), record)
        return (counters.feedNumbers, record)
    }

    func setName(_ name: String, of feed: UInt32) throws {
        var writer = ByteWriter()
        writer.number(UInt64(feed))
        try transaction.put(.names, Array(name.utf8), writer.sealed())
    }

    // MARK: Requests

    func plan(_ place: Place, limit: Int?, isBounded: Bool, link: Link?, in feed: UInt32) throws -> Plan {
        let place = try named(place, in: feed)
        let all = try tickets.all(of: feed)
        var plan = Result<Request, Refusal>.failure(.unsupported)
        var (issued, isEvicted) = (nil as TicketRecord?, false)
        try change(
            feed,
            focus: { loader in
                loader.tickets = all
                switch place {
                case .head, .openHead: try loader.load(edges: [loader.record.head.number])
                case .tail: try loader.load(edges: [loader.record.tail.number])
                case .gap(let id), .aboveGap(let id): try loader.load(gap: id)
                case .bodies(let ids): try loader.load(posts: ids)
                case .join(let id): try loader.load(posts: [id])
                case .around, .page, .delta: break
                }
            },
            { state throws(Interruption) in
                let (numbers, sizes) = (state.ticketNumbers, state.sizes)
                plan = try state.plan(place, limit: limit, isBounded: isBounded, link: link)
                issued = state.ticketNumbers > numbers ? state.tickets.last : nil
                isEvicted = issued != nil && state.isEvicted(place)
                let rescales = state.sizes != sizes && sizes.asked != nil
                return Effect(isChange: issued != nil || state.sizes != sizes, changesRows: rescales)
            })
        if var issued {
            issued.issuer = issuer
            plans.append(PlannedPlace(feed: feed, isEvicted: isEvicted, isTail: place == .tail))
            try tickets.issue(issued, in: feed, amongst: all)
        }
        switch plan {
        case .success(let request): return .request(request)
        case .failure(let refusal): return .refused(refusal)
        }
    }

    /// R3. Gives up a request that failed or is no longer wanted. Its ticket may still be answered.
    func cancel(_ ticket: Ticket, in feed: UInt32) throws {
        guard var record = try tickets.record(ticket, of: feed), !record.isCancelled else { return }
        record.isCancelled = true
        tickets.replace(record, of: feed)
        touch()
    }

    /// R32. Forgets the link of a ticket, because the server refuses it for good.
    func dropLink(of ticket: Ticket, in feed: UInt32) throws -> Outcome {
        guard var record = try tickets.record(ticket, of: feed) else {
            return try staleOutcome(unknown: ticket, in: feed)
        }
        if counters.aliases > 0 { record = try named(record, in: feed) }
        let dropped = record
        var outcome = Outcome()
        try change(
            feed,
            focus: { try $0.load(placesOf: dropped) },
            { state throws(Interruption) in
                outcome = try state.dropLink(of: dropped)
                return Effect(isChange: outcome.verdict == .replan)
            })
        if outcome.verdict == .replan {
            try tickets.remove(ticket, of: feed)
        } else {
            try cancel(ticket, in: feed)
        }
        return outcome
    }

    /// R2. Returns the outcome for a ticket that the feed does not keep: it was used, or another feed gave
    /// it. The feed itself may be gone (R30.3).
    private func staleOutcome(unknown ticket: Ticket, in feed: UInt32) throws -> Outcome {
        guard let value = try transaction.get(.record(of: feed), NoKey()) else {
            return Outcome(.stale, reason: "used")
        }
        let newest = Ticket(try FeedRecord(value, "feed number \(feed)").ticketNumbers)
        return Outcome(.stale, reason: ticket.isOfSameFeed(as: newest) ? "used" : "other-feed")
    }

    // MARK: Answers

    func ingest(_ answer: Answer, for ticket: Ticket, in feed: UInt32) throws -> Outcome {
        try requireSound(answer)
        guard var record = try tickets.record(ticket, of: feed) else {
            return try staleOutcome(unknown: ticket, in: feed)
        }
        let answer = try named(answer, in: feed)
        if counters.aliases > 0 { record = try named(record, in: feed) }
        if record.operation == .bodies {
            let known = try transaction.feed(feed)
            if known.options.paging != .ids { return try takeBodies(answer, record, in: feed, known) }
        }
        let replaced = replacedBodies
        var judged = Judgement()
        try change(
            feed,
            focus: { loader in
                if record.operation == .snapshot { try loader.loadAll() }
                if record.operation == .delta {
                    try loader.load(leaving: answer.deleted)
                    try loader.loadTop()
                }
                try loader.load(posts: answer.posts.lazy.map(\.id))
                try loader.load(placesOf: record)
            },
            { state throws(Interruption) in
                judged = try state.ingest(answer, record)
                return judged.effect(of: answer)
            })
        if judged.isAccepted {
            try tickets.remove(ticket, of: feed)
        } else {
            try cancel(ticket, in: feed)
        }
        judged.outcome.updated = replacedBodies - replaced
        return judged.outcome
    }

    /// R27. Takes in posts that the server says are on top now.
    func push(_ answer: Answer, number: UInt64?, follows: PostID?, in feed: UInt32) throws -> Outcome {
        try requireSound(answer)
        let answer = try named(answer, in: feed)
        let follows = try follows.map { try name(of: $0, in: feed) }
        let replaced = replacedBodies
        var judged = Judgement()
        try change(
            feed,
            focus: { loader in
                try Self.requireList(loader.record, for: "pushed posts")
                try loader.load(posts: answer.posts.lazy.map(\.id))
                try loader.load(posts: [follows].compactMap(\.self))
                try loader.loadTop()
            },
            { state throws(Interruption) in
                judged = try state.push(answer, number: number, follows: follows)
                return judged.effect(of: answer)
            })
        judged.outcome.updated = replacedBodies - replaced
        return judged.outcome
    }

    /// R27. Sets whether the server pushes what comes on top from now on, in messages after this number.
    func setLive(_ isLive: Bool, after message: UInt64?, in feed: UInt32) throws {
        try change(feed, focus: { _ in }) { state throws(Interruption) in
            if isLive { state.beginLive(after: message) } else { state.endLive() }
            return Effect(changesRows: false)
        }
    }

    /// R24, R25. Takes in the next page of a crawl. Without a number, it follows the previous page. The crawl
    /// is not copied: it may remember a thousand pages.
    func ingest(
        _ answer: Answer, page number: Int?, of crawl: Crawl, in feed: UInt32
    ) throws -> (outcome: Outcome, step: Crawl.Step) {
        try requireSound(answer)
        var answer = try named(answer, in: feed)
        let named = number.map(crawl.link)
        let number = crawl.number(number)
        if number.magnitude > Crawl.numberLimit {
            throw QuireError(.badArgument, "page number \(number) is out of range")
        }
        if answer.next == .unknown || answer.next == .more {
            answer.next = .token("page=\(number + 1)")
        }
        let end = try crawl.known(above: number)?.end.map { try name(of: $0, in: feed) }
        let below = try crawl.endBelow(number).map { try name(of: $0, in: feed) }
        let replaced = replacedBodies
        let answerNow = answer
        var (earlier, shown): (PostID?, PostID?)
        var judged = Judgement()
        try change(
            feed,
            focus: { loader in
                try Self.requireList(loader.record, for: "pages of a crawl")
                try loader.load(posts: answerNow.posts.lazy.map(\.id))
                if let below { try loader.load(posts: [below]) }
                earlier = try self.load(lastEndOf: crawl, above: number, loader)
                try loader.load(edges: [loader.record.tail.number])
                if loader.record.head.link != .end { try loader.loadTop() }
                if case .gap(let gap) = crawl.start, crawl.hasNoEnd { try loader.load(gap: gap) }
            },
            { state throws(Interruption) in
                let isNumbered = named != nil || !crawl.isFresh || crawl.isKnown(linkTo: number)
                let ticket = try state.planRecorded(
                    number, in: crawl, named: isNumbered ? crawl.link(to: number) : nil,
                    end: end, earlier: earlier)
                guard let ticket else {
                    judged = Judgement(outcome: Outcome(.stale, reason: "no-such-gap"))
                    return judged.effect(of: answerNow)
                }
                judged = try state.ingest(answerNow, ticket, page: number, of: crawl, below: below)
                if judged.placed == nil { shown = answerNow.posts.last { state.cached($0.id) != nil }?.id }
                return judged.effect(of: answerNow)
            })
        judged.outcome.updated = replacedBodies - replaced
        let last = judged.placed.map(\.last) ?? shown
        return (judged.outcome, Crawl.Step(number: number, end: last, next: answer.next))
    }

    /// R24. Loads the last entry of the nearest page above this one whose last entry is cached. Returns it.
    private func load(
        lastEndOf crawl: Crawl, above number: Int, _ loader: FeedLoader
    ) throws -> PostID? {
        for page in crawl.earlier(than: number) {
            guard let end = try page.end.map({ try name(of: $0, in: loader.feed) }),
                let position = try loader.index().position(of: end, in: loader.feed)
            else { continue }
            try loader.load(position)
            return end
        }
        return nil
    }

    /// R25, R27. Refuses what says nothing of a list of ids: only the whole list tells its order (R21).
    private static func requireList(_ record: FeedRecord, for what: String) throws(QuireError) {
        if record.options.paging != .ids { return }
        throw QuireError(
            .badArgument,
            "feed \(record.name): a feed of ids takes no \(what); the list is the answer to a request for the head"
        )
    }

    private func requireSound(_ answer: Answer) throws(QuireError) {
        for post in answer.posts
        where post.body.lowerBound < 0 || post.body.upperBound > answer.bytes.count {
            throw QuireError(
                .badArgument,
                "post \(post.id): its body \(post.body) is not in the answer's "
                    + "\(answer.bytes.count) bytes")
        }
        if answer.opaqueRows < 0 {
            throw QuireError(.badArgument, "an answer has \(answer.opaqueRows) opaque rows")
        }
    }

    // MARK: Changes without the server

    func delete(_ id: PostID, in feed: UInt32) throws {
        let id = try name(of: id, in: feed)
        try change(feed, focus: { try $0.load(leaving: [id]) }) { state throws(Interruption) in
            try state.delete(id)
            return Effect()
        }
    }

    /// Evicts posts. Returns how many entries left.
    @discardableResult
    func evict(_ ids: [PostID], in feed: UInt32) throws -> Int {
        let ids = try names(of: ids, in: feed)
        var count = 0
        try change(feed, focus: { try $0.load(leaving: ids) }) { state throws(Interruption) in
            count = try state.evict(ids)
            return Effect(isChange: count > 0)
        }
        return count
    }

    func reset(_ feed: UInt32) throws {
        try change(feed, focus: { try $0.loadAll() }) { state throws(Interruption) in
            state.reset()
            return Effect()
        }
    }

    func setPinned(_ id: PostID, _ pinned: Bool, in feed: UInt32) throws -> Bool {
        let id = try name(of: id, in: feed)
        var isCached = false
        try change(feed, focus: { try $0.load(posts: [id]) }) { state throws(Interruption) in
            isCached = state.cached(id) != nil
            state.setPinned(id, pinned)
            return Effect(isChange: isCached)
        }
        return isCached
    }

    func insertLocal(_ id: PostID, body: [UInt8], in feed: UInt32) throws -> Bool {
        let id = try name(of: id, in: feed)
        var isNew = false
        try change(
            feed,
            focus: {
                try $0.loadTop()
                try $0.load(posts: [id])
            },
            { state throws(Interruption) in
                isNew = state.cached(id) == nil
                if !isNew { return Effect(isChange: false) }
                try state.insertLocal(id)
                let post = Post(id: id, body: 0..<body.count)
                let placement = Placement(entry: state.cached(id)!, post: 0)
                return Effect(placements: [placement], posts: [post], bytes: body)
            })
        return isNew
    }

    func removeLocal(_ id: PostID, in feed: UInt32) throws -> Bool {
        let id = try name(of: id, in: feed)
        var isLocal = false
        try change(feed, focus: { try $0.load(posts: [id]) }) { state throws(Interruption) in
            isLocal = state.cached(id).map { state.entries[$0].isDetached } ?? false
            if isLocal { try state.removeLocal(id) }
            return Effect(isChange: isLocal)
        }
        return isLocal
    }
}

extension Judgement {
    /// What a judged answer writes. A lesson changes rows only if it rescales positions.
    fileprivate func effect(of answer: Answer) -> WriteSession.Effect {
        if !isAccepted {
            return WriteSession.Effect(isChange: isLesson, changesRows: outcome.disprovedSizes != nil)
        }
        return WriteSession.Effect(placements: placements, posts: answer.posts, bytes: answer.bytes)
    }
}

extension FeedState {
    /// Returns true if an eviction has opened the place. Of the tail this cannot be told.
    fileprivate func isEvicted(_ place: Place) -> Bool {
        switch place {
        case .gap(let id), .aboveGap(let id):
            gapRows.contains { gaps[$0].id == id && gaps[$0].why == .evicted }
        case .head, .openHead: skippedAbove > 0
        default: false
        }
    }
}
