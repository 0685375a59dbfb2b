/// One write transaction and what it gathers until it commits: counters and changes.
final class WriteSession {
    let transaction: Transaction
    let tuning: Tuning
    var counters: Counters
    private(set) var changes: [(feed: UInt32, changes: [Change])] = []
    private(set) var isDirty = false
    /// Bodies that replaced another one.
    var replacedBodies = 0

    var posts: PostTable { PostTable(transaction: transaction) }
    var bodies: BodyStore { BodyStore(transaction: transaction) }

    init(_ transaction: Transaction, _ tuning: Tuning) throws {
        self.transaction = transaction
        self.tuning = tuning
        counters = try Self.counters(transaction)
    }

    static func counters(_ transaction: Transaction) throws -> Counters {
        guard let value = try transaction.get(transaction.tables.header, Tables.countersKey) else {
            throw QuireError.corrupt("the counters of the cache")
        }
        return try Counters(value, "the counters of the cache")
    }

    /// Last step before the commit.
    func finish() throws {
        if !isDirty { return }
        counters.generation += 1
        try ChangeLog(transaction: transaction).append(changes, generation: counters.generation)
        try transaction.put(transaction.tables.header, Tables.countersKey, counters.encoded())
    }

    func touch() { isDirty = true }

    func note(_ changes: [Change], in feed: UInt32) {
        if !changes.isEmpty { self.changes.append((feed, changes)) }
    }

    // MARK: Running a rule

    /// A post of an answer and the entry it became.
    struct Placement {
        let entry: Int
        let post: Post
    }

    /// What a rule produced: a result for the caller, and the posts whose bodies must be stored.
    struct Effect<Result> {
        var result: Result
        var placements: [Placement] = []
        var bytes: [UInt8] = []
        /// False if the state is to be left as it was.
        var isChange = true
    }

    /// Runs a rule on what `focus` loads of a feed, loading more as often as the rule asks for it, and
    /// writes what it changed.
    func change<R>(
        _ feed: UInt32, focus: (FeedLoader) throws -> Void,
        _ rule: (inout FeedState) throws(Interruption) -> Effect<R>
    ) throws -> R {
        let loader = try FeedLoader(transaction, feed: feed, clock: counters.clock)
        try focus(loader)
        if loader.record.options.paging == .ids { try loader.loadAll() }
        var spreadsAnew = false
        while true {
            let old = try loader.state()
            var new = old
            switch Self.attempt(rule, from: old, on: &new) {
            case .failure(let need):
                try loader.load(need, in: old.elided[need.run])
            case .success(let effect) where !effect.isChange:
                return effect.result
            case .success(let effect):
                do {
                    try save(effect, loader, from: old, to: new, spreadsAnew: spreadsAnew)
                    return effect.result
                } catch is PositionsExhausted {
                    try loader.loadAll()
                    spreadsAnew = true
                }
            }
        }
    }

    private static func attempt<R>(
        _ rule: (inout FeedState) throws(Interruption) -> Effect<R>, from old: FeedState,
        on new: inout FeedState
    ) -> Result<Effect<R>, Need> {
        do throws(Interruption) {
            let effect = try rule(&new)
            if effect.isChange { try new.requireSettledRuns(since: old) }
            return .success(effect)
        } catch {
            switch error {
            case .needs(let need): return .failure(need)
            case .refused(let verdict):
                preconditionFailure("\(verdict) is an outcome of a rule, not an error")
            }
        }
    }

    private func save<R>(
        _ effect: Effect<R>, _ loader: FeedLoader, from old: FeedState, to new: FeedState,
        spreadsAnew: Bool
    ) throws {
        var new = new
        let homePages = loader.pieces.mapValues(\.record.page)
        // Before anything is written: it may ask to start again with the whole feed.
        let layout = try Layout(
            new, homePages: homePages, tuning: tuning, spreadsAnew: spreadsAnew)
        touch()
        counters.clock = new.clock
        try settlePosts(effect, in: loader.feed, from: old, to: &new)
        var writer = FeedWriter(loader, from: old, to: new, tuning)
        try writer.write(layout)
        note(RowChanges.between(old, new), in: loader.feed)
    }
}

extension Need {
    /// The elided run it is about.
    var run: Int {
        switch self {
        case .all(let run), .top(let run), .bottom(let run), .key(let run, _),
            .counts(let run):
            run
        }
    }
}
