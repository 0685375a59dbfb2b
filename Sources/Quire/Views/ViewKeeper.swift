/// Brings one view of a feed to the state of its chunks, in a write session.
///
/// A view is derived chunk by chunk: for each chunk it has the posts that it shows. So a change of the feed,
/// whatever it was, concerns the chunks that were written. A process without the function of the view cannot
/// say what it shows of them: it takes their posts out and notes the chunks as pending.
struct ViewKeeper {
    private let session: WriteSession
    private let feed: UInt32
    private let view: UInt8
    private(set) var record: ViewRecord
    private let function: StoredViewFunction?
    private let old: ViewRecord
    private var ranks: [RankChange] = []
    private var sections: [[UInt8]: Int] = [:]
    /// By their keys; nil for what leaves. A post that changes its chunk leaves one and comes into another.
    private var places: [[UInt8]: ViewPlace?] = [:]

    private var transaction: Transaction { session.transaction }

    init(
        _ session: WriteSession, _ feed: UInt32, _ view: UInt8, _ record: ViewRecord,
        _ function: StoredViewFunction?
    ) {
        (self.session, self.feed, self.view, self.function) = (session, feed, view, function)
        (self.record, old) = (record, record)
    }

    /// How many pending chunks a commit sees beside those that it changes.
    static let pendingLimit = 32

    // MARK: Chunks

    /// Follows a chunk that may have changed. One that the making of the view has not reached is seen later.
    mutating func take(_ position: UInt64) throws {
        if position > record.built { return }
        let value = try transaction.get(.chunks(of: feed), NumberKey(position))
        var matches = ViewMatches([])
        if let value, let function {
            matches = try ViewMatches(
                askingAbout: value, of: feed, record.order, function, body: session.withBytes(of:_:))
        }
        try setPending(value != nil && function == nil, position)
        try set(matches.all, at: position)
    }

    /// Sees up to `limit` chunks that wait for the function. Returns false if none is left.
    mutating func catchUp(atMost limit: Int) throws -> Bool {
        if function == nil { return false }
        var waiting: [UInt64] = []
        if record.pending > 0 {
            waiting = try positions(in: .pending(of: feed, view: view), from: 0, limit)
            for position in waiting { try take(position) }
        }
        if record.built < .max, waiting.count < limit {
            let next = try positions(in: .chunks(of: feed), from: record.built + 1, limit - waiting.count)
            record.built = next.count < limit - waiting.count ? .max : next[next.count - 1]
            for position in next { try take(position) }
        }
        return !record.isCurrent
    }

    private func positions(in table: Table, from first: UInt64, _ limit: Int) throws -> [UInt64] {
        try transaction.withCursor(table) { cursor in
            var positions: [UInt64] = []
            var found = try cursor.seek(NumberKey(first))
            while let (key, _) = found, positions.count < limit, let key = NumberKey(key) {
                positions.append(key.number)
                found = try cursor.next()
            }
            return positions
        }
    }

    private mutating func setPending(_ isPending: Bool, _ position: UInt64) throws {
        if !isPending && record.pending == 0 { return }
        let table = Table.pending(of: feed, view: view)
        let wasPending = try transaction.get(table, NumberKey(position)) != nil
        if isPending == wasPending { return }
        if isPending {
            record.pending += 1
            try transaction.put(table, NumberKey(position), ByteWriter().sealed())
        } else {
            record.pending -= 1
            try transaction.delete(table, NumberKey(position))
        }
    }

    /// Lets the view show these posts of a chunk.
    private mutating func set(_ matches: [ViewMatch], at position: UInt64) throws {
        let before = try transaction.matches(of: feed, view: view, at: position).all
        if before == matches { return }
        let table = Table.matches(of: feed, view: view)
        if matches.isEmpty {
            try transaction.delete(table, NumberKey(position))
        } else {
            try transaction.put(table, NumberKey(position), ViewMatches(matches))
        }
        for match in before { count(match, -1) }
        for match in matches { count(match, 1) }
        if record.order == .feed, before.count != matches.count {
            ranks.append(RankChange(position: position, rows: matches.count - before.count))
        }
        // what leaves first: another chunk may have brought the post already
        for match in before {
            guard let place = match.place else { continue }
            let key = ViewPlace.key(section: match.section, place)
            if try known(key)?.chunk == position { places[key] = .some(nil) }
        }
        for match in matches {
            guard let place = match.place else { continue }
            places[ViewPlace.key(section: match.section, place)] = ViewPlace(id: place.id, chunk: position)
        }
    }

    /// What is stored under a key, with what this session has changed.
    private func known(_ key: [UInt8]) throws -> ViewPlace? {
        if let place = places[key] { return place }
        guard let value = try transaction.get(.places(of: feed, view: view), key) else { return nil }
        return try ViewPlace(value, "a view of feed number \(feed)")
    }

    private mutating func count(_ match: ViewMatch, _ change: Int) {
        sections[match.section, default: 0] += change
        record.posts &+= UInt64(bitPattern: Int64(change))
    }

    // MARK: Storing

    /// Writes what has changed beside the matches.
    func store() throws {
        for (section, change) in sections.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) })
        where change != 0 {
            let count = Int(clamping: try transaction.count(of: section, of: feed, view: view)) + change
            let table = Table.sections(of: feed, view: view)
            if count > 0 {
                try transaction.put(table, section) { $0.number(count) }
            } else {
                try transaction.delete(table, section)
            }
        }
        for (key, place) in places.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            if let place {
                try transaction.put(.places(of: feed, view: view), key, place)
            } else {
                try transaction.delete(.places(of: feed, view: view), key)
            }
        }
        try RankIndex.store(ranks, .viewRanks(of: feed, view: view), in: transaction)
        if record != old { try transaction.put(.views(of: feed), [view], record) }
    }
}

extension WriteSession {
    /// Lets the views of the feeds that this session has changed follow, as its last operation.
    @inline(never)
    func keepViews(_ functions: ViewFunctions) throws {
        var positions: [UInt32: Set<UInt64>] = [:]
        for (feed, position) in changedChunks { positions[feed, default: []].insert(position) }
        for (feed, changed) in positions.sorted(by: { $0.key < $1.key }) {
            // a feed that was dropped has none
            for (number, view) in try transaction.views(of: feed) {
                let function = functions.function(of: feed, view)
                var keeper = ViewKeeper(self, feed, number, view, function)
                for position in changed.sorted() { try keeper.take(position) }
                if !view.isCurrent { _ = try keeper.catchUp(atMost: ViewKeeper.pendingLimit) }
                try keeper.store()
            }
        }
    }
}
