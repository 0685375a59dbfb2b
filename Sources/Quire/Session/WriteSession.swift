/// One write: collects counters, changes, bodies and index entries until the commit.
///
/// It belongs to one thread, and no method calls back while it uses a property: so the program need not check
/// that accesses to the same property do not overlap, which took a fiftieth of a page's commit.
final class WriteSession {
    let transaction: Transaction
    let tuning: Tuning
    @exclusivity(unchecked) var counters: Counters
    @exclusivity(unchecked) private(set) var changes: [FeedChanges] = []
    @exclusivity(unchecked) private(set) var isDirty = false
    /// The number of bodies that replaced another one.
    @exclusivity(unchecked) var replacedBodies = 0
    @exclusivity(unchecked) var tickets: TicketTable
    /// The answers that this session has taken in, and the requests it has planned: for the budget.
    @exclusivity(unchecked) private(set) var arrivals: [Arrival] = []
    @exclusivity(unchecked) var plans: [PlannedPlace] = []
    /// What this session changes in the totals of collections.
    @exclusivity(unchecked) var totals: TotalsChange
    /// The chunks of feeds with views that this session has written or deleted.
    @exclusivity(unchecked) private(set) var changedChunks: [(feed: UInt32, position: UInt64)] = []
    /// Goes into new tickets.
    @exclusivity(unchecked) var issuer: UInt64 = 0
    @exclusivity(unchecked) private var locations: SessionIndex
    /// What the page indexes of feeds must learn. Mostly a session writes to few feeds.
    @exclusivity(unchecked) private var ranks: [FeedRanks] = []
    @exclusivity(unchecked) private var openBodies: OpenBodies?
    let loaded: LoadedFeeds
    /// For body records, the bytes that posts no longer refer to.
    @exclusivity(unchecked) private var released: [UInt64: Int] = [:]
    /// What was released of one more record. The bodies of a page mostly are in the same one.
    @exclusivity(unchecked) private var releasing = (record: 0 as UInt64, count: 0)

    /// Pages that an answer brought.
    struct Arrival {
        let feed: UInt32
        let pages: ClosedRange<UInt64>
        let posts: Int
        let fetchedAt: Int64?
    }

    /// Where a request was planned.
    struct PlannedPlace {
        let feed: UInt32
        /// An eviction has opened it.
        let isEvicted: Bool
        let isTail: Bool
    }

    private struct FeedRanks {
        let feed: UInt32
        var changes: [RankChange]
    }

    init(_ transaction: Transaction, _ tuning: Tuning) throws {
        self.transaction = transaction
        self.tuning = tuning
        locations = SessionIndex(transaction)
        tickets = TicketTable(transaction)
        loaded = LoadedFeeds.take(from: transaction.mark)
        counters = try Self.counters(transaction)
        totals = TotalsChange(counters)
    }

    static func counters(_ transaction: Transaction) throws -> Counters {
        guard let value = try transaction.get(.counters, NoKey()) else {
            throw QuireError.corrupt("the counters of the cache")
        }
        return try Counters(value, "the counters of the cache")
    }

    /// Writes everything collected, as the last step before the commit.
    func finish() throws {
        defer { loaded.give(to: transaction.mark) }
        if !isDirty { return }
        try writeCounters()
        counters.generation += 1
        try tickets.store()
        for item in ranks { try RankIndex.store(item.changes, of: item.feed, in: transaction) }
        // neighbours, one after the other
        try closeBodies()
        try locations.store(live: counters.entries)
        try ChangeLog(transaction: transaction).append(changes, generation: counters.generation)
        try storeTotals()
        try transaction.put(.counters, NoKey(), counters)
        try storeReleased()
    }

    func touch() { isDirty = true }

    func note(_ change: Change, in feed: UInt32) {
        note(ChangeList.encoded([change]), in: feed)
    }

    /// Notes that a post has another body or other fields.
    func noteUpdate(of id: PostID, in feed: UInt32) { note(ChangeList.update(of: id), in: feed) }

    func note(_ found: ChangeList.Encoded, in feed: UInt32) {
        if found.count > 0 { changes.append(FeedChanges(feed, found)) }
    }

    func noteChunks(_ positions: some Collection<UInt64>, of feed: UInt32) {
        for position in positions { changedChunks.append((feed, position)) }
    }

    /// Notes what the page index of a feed must learn.
    func note(_ changes: [RankChange], of feed: UInt32) {
        if changes.isEmpty { return }
        if let at = ranks.lastIndex(where: { $0.feed == feed }) {
            ranks[at].changes += changes
        } else {
            ranks.append(FeedRanks(feed: feed, changes: changes))
        }
    }

    // MARK: The index

    /// Returns the index of a collection's posts, including what this session has added.
    func index(of collection: UInt32) throws -> PostIndex { try locations.of(collection) }

    /// Adds to the index: locations and marks of posts, and ranges of positions that are gone.
    func add(_ locations: [Location], marks: [Location] = [], gone: [GoneRange] = []) {
        self.locations.add(locations, marks: marks, gone: gone)
    }

    // MARK: Bodies

    /// Stores `count` bodies in ranges of these bytes, of `payload` bytes in all. `add` adds them, and stores
    /// nothing else.
    func store(
        _ payload: Int, of bytes: [UInt8], count: Int, _ add: (inout OpenBodies) -> Void
    ) throws {
        try beginBodies(payload)
        var open = openBodies.take()!
        open.begin(bytes, count: count)
        add(&open)
        openBodies = open
    }

    /// Stores the body of one post.
    func store(_ body: [UInt8], of address: PostAddress) throws -> BodyReference {
        try beginBodies(body.count)
        openBodies!.begin(body, count: 1)
        return openBodies!.add(0..<body.count, of: address)
    }

    /// Returns true if bodies of that many bytes fit into the open record, or begin one.
    func hasRoom(for payload: Int) -> Bool {
        guard let open = openBodies else { return true }
        return open.size == 0 || open.size + payload <= OpenBodies.sizeLimit
    }

    /// About how much of this session is not in the tree yet.
    var unwrittenBytes: Int {
        (openBodies?.size ?? 0) + arrivals.reduce(0) { $0 + 32 * $1.posts }
    }

    /// Makes room for bodies of that many bytes in all.
    private func beginBodies(_ payload: Int) throws {
        if payload > OpenBodies.byteLimit {
            throw QuireError(.badArgument, "the bodies of one answer are \(payload) bytes")
        }
        if !hasRoom(for: payload) { try closeBodies() }
        if openBodies == nil {
            counters.bodyRecords += 1
            openBodies = OpenBodies(number: counters.bodyRecords)
        }
    }

    /// Throws if the disk is too full to store bodies of that many bytes. Seldom asks the file system, which
    /// does not know yet what this commit will write.
    func requireHeadroom(for bytes: Int, posts: Int = 1) throws(QuireError) {
        guard let progress = transaction.mark else { return }
        // With the entries of the posts, their places in the index, and what LMDB leaves empty.
        let growth = bytes + bytes / 4 + 128 * posts
        progress.unwritten += growth
        progress.headroom -= growth
        if progress.headroom < 0 {
            progress.headroom = try DiskSpace.requireHeadroom(
                transaction.path, forUnwritten: progress.unwritten, freeInFile: transaction.fileUse().free)
        }
    }

    private func closeBodies() throws {
        guard let open = openBodies.take(), open.size > 0 else { return }
        try open.write(in: transaction)
    }

    /// Notes that a post no longer refers to its body.
    func release(_ body: BodyReference) { release(Int(body.length), of: body.record) }

    /// Notes that `bytes` of a body record are no longer in use. A negative number takes that back.
    func release(_ bytes: Int, of record: UInt64) {
        if record == 0 { return }
        if record != releasing.record {
            noteReleased()
            releasing = (record, 0)
        }
        releasing.count += bytes
        counters.bodyBytes &-= UInt64(bitPattern: Int64(bytes))
    }

    private func storeReleased() throws {
        let bodies = BodyStore(transaction: transaction)
        if released.isEmpty {
            if releasing.record == 0 { return }
            return try bodies.release(CollectionOfOne((key: releasing.record, value: releasing.count)))
        }
        noteReleased()
        try bodies.release(released.sorted { $0.key < $1.key })
    }

    private func noteReleased() {
        if releasing.record != 0 { released[releasing.record, default: 0] += releasing.count }
    }

    /// Returns a copy of a body, even if this session has not written it yet.
    func copy(of body: BodyReference) throws(QuireError) -> [UInt8] {
        if let openBodies, openBodies.number == body.record { return openBodies.copy(of: body) }
        return Array(try BodyStore(transaction: transaction).bytes(body))
    }

    /// Lends the bytes of a body, even if this session has not written it yet. `use` must write nothing.
    func withBytes<R>(of body: BodyReference, _ use: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        if let openBodies, openBodies.number == body.record {
            return try openBodies.withBytes(of: body, use)
        }
        return try use(BodyStore(transaction: transaction).bytes(body))
    }

    /// A body record that was read. Valid until the session writes.
    typealias FoundBodies = (number: UInt64, bytes: UnsafeRawBufferPointer)

    /// Returns true if a stored body has these bytes. `found` is the record that was read last, nil for none:
    /// the bodies of a page mostly are in one.
    func isEqual(
        _ body: BodyReference, _ bytes: ArraySlice<UInt8>, _ found: inout FoundBodies?
    ) throws(QuireError) -> Bool {
        if Int(body.length) != bytes.count { return false }
        if let openBodies, openBodies.number == body.record {
            return openBodies.isEqual(body, bytes)
        }
        if body.record == 0 { return bytes.isEmpty }
        if found?.number != body.record {
            found = (body.record, try BodyStore(transaction: transaction).record(body.record))
        }
        let stored = try BodyStore.bytes(body, in: found!.bytes)
        return bytes.withUnsafeBytes { stored.isEqual(to: $0) }
    }

    // MARK: Running a rule

    /// What a rule does to a feed besides changing its state.
    struct Effect {
        /// Entries whose bodies must be stored.
        var placements: [Placement] = []
        /// The posts and the bytes to which the placements refer.
        var posts: [Post] = []
        var bytes: [UInt8] = []
        /// False if the state must stay as it was.
        var isChange = true
        /// False if only counters changed, but no entries, gaps or links.
        var changesRows = true
    }

    /// Runs a rule on the part of a feed that `focus` loads, loads more when the rule asks for it, and writes
    /// its changes. `focus` must name every post that the rule may add to the feed. A rule that stopped is
    /// run again, so what it leaves for the caller counts from its last run.
    func change(
        _ feed: UInt32, focus: (FeedLoader) throws -> Void,
        _ rule: (inout FeedState) throws(Interruption) -> Effect
    ) throws {
        let loader = try loader(feed)
        try focus(loader)
        let writesPositions = loader.record.keepsPlaces && loader.record.shifts.isLong
        if writesPositions { try loader.loadAll() }
        var reach = 0
        while true {
            let old = try loader.takeState()
            var new = old.copy()
            let effect: Effect
            do throws(Interruption) {
                effect = try rule(&new)
                if effect.isChange && effect.changesRows { try new.requireSameNeighbours(since: old) }
            } catch {
                let need = error.need
                try loader.load(need, in: old.unloaded[need.run])
                continue
            }
            if effect.isChange {
                do {
                    try save(
                        effect, loader, from: old, to: new, spreads: reach > 0,
                        writesPositions: writesPositions)
                } catch let place as PositionsExhausted {
                    reach = max(8, 4 * reach)
                    try loader.load(around: place, reach: reach)
                    continue
                }
            } else {
                loader.keep(old)
            }
            loaded.keep(loader)
            return
        }
    }

    private func loader(_ feed: UInt32) throws -> FeedLoader {
        if let recent = loaded.takeRecent(feed) {
            recent.begin(clock: counters.clock)
            return recent
        }
        try writeCounters()
        let indexes: FeedLoader.Indexes = (
            posts: { [unowned self] in try index(of: $0) },
            ranks: { [unowned self] mayWrite in
                if mayWrite { try storeRanks(of: feed) }
                return ranks.contains { $0.feed == feed } ? nil : try RankIndex(transaction, of: feed)
            }
        )
        if let known = loaded.take(feed) {
            known.begin(in: transaction, clock: counters.clock, indexes)
            return known
        }
        return try FeedLoader(
            transaction, feed: feed, clock: counters.clock, gapLimit: tuning.gapLimit, indexes)
    }

    /// Forgets the loaded feed, because its records will change without a rule.
    func forgetLoaded(_ feed: UInt32) throws { try loaded.forget(feed) }

    /// Writes what the page index of a feed must learn, before something is looked up there in this session.
    func storeRanks(of feed: UInt32) throws {
        guard let at = ranks.firstIndex(where: { $0.feed == feed }) else { return }
        try RankIndex.store(ranks.remove(at: at).changes, of: feed, in: transaction)
    }

    /// Forgets what the page index of a feed must learn, because all of its records go.
    func forgetRanks(of feed: UInt32) { ranks.removeAll { $0.feed == feed } }

    /// Writes the record of a feed whose counters were changed in memory.
    func writeCounters() throws { try loaded.writeCounters() }

    private func save(
        _ effect: Effect, _ loader: FeedLoader, from old: consuming FeedState,
        to new: consuming FeedState, spreads: Bool, writesPositions: Bool
    ) throws {
        touch()
        enter(loader.record.collection)
        if new.pageNumbers > old.pageNumbers {
            let pages = (old.pageNumbers + 1)...new.pageNumbers
            let fetchedAt = new.pages[pages.upperBound]?.fetchedAt
            arrivals.append(
                Arrival(feed: loader.feed, pages: pages, posts: effect.placements.count, fetchedAt: fetchedAt)
            )
        }
        counters.clock = new.clock
        if !effect.changesRows {
            loader.take(new, writesPositions: false)
            loader.keep(old)
            loaded.unwritten = loader
            return
        }
        // Must come before any write, because it may ask to start again with more of the feed.
        let layout = try Layout(new, tuning: tuning, spreads: spreads) {
            loader.chunks[$0].map { ($0.page, $0.range.count) }
        }
        let leaving = loader.leaving.filter { !loader.chunks.contains($0.position) }
        var removal =
            leaving.isEmpty ? nil : try ChunkRemoval(leaving, of: loader.feed, in: loader.index(), self)
        try attachBodies(effect, loader, from: old, to: &new)
        if loaded.unwritten === loader { loaded.unwritten = nil }  // the writer writes the record
        try removal?.apply(to: self) { new.pages.contains($0) }
        if let removal {
            note(removal.changes, in: loader.feed)
            if loader.record.hasViews { noteChunks(removal.removed.positions, of: loader.feed) }
        }
        let writer = FeedWriter(
            loader, from: old, to: new, layout, removed: removal?.removed ?? RemovedChunks(),
            writesPositions: writesPositions)
        let difference = try writer.write()
        add(difference.locations)
        note(difference.ranks, of: loader.feed)
        counters.entries &+= UInt64(bitPattern: Int64(difference.entriesAdded))
        note(difference.changes, in: loader.feed)
        noteChunks(difference.chunks, of: loader.feed)
    }
}
