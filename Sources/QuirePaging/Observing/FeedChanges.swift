import Quire

extension Feed {
    /// Returns the changes of the feed from now on, or since a commit, made by any writer: this pager,
    /// another thread, process or language.
    ///
    ///     var (rows, generation) = try cache.withSnapshot { snapshot in
    ///         (try snapshot.rows(of: feed, limit: .max).map(\.name), try snapshot.generation)
    ///     }
    ///     for try await update in feed.changes(since: generation) {
    ///         switch update {
    ///         case .changed(let changes, _): rows.apply(changes)
    ///         case .resync: …read the rows and the generation again, observe anew…
    ///         }
    ///     }
    ///
    /// Differences follow one another without a loss: rows as of a generation and the changes since then
    /// give the rows of the feed, gaps among them. Commits that come quickly arrive together. An iterator
    /// that was away for too long is told to read again.
    /// - Parameters:
    ///   - generation: That of the rows to which the first changes apply (``Quire/Snapshot/generation``);
    ///     nil: as of the first call of the iterator.
    ///   - interval: How often the cache's generation is looked up, which takes less than a microsecond.
    ///   - clock: What the interval is measured by.
    public func changes(
        since generation: UInt64? = nil, every interval: Duration = .milliseconds(100),
        clock: PagerClock = .system
    ) -> FeedChanges {
        FeedChanges(feed: self, generation: generation, interval: interval, clock: clock)
    }
}

/// See ``Quire/Feed/changes(since:every:clock:)``. Ends by throwing ``Quire/QuireError``, or
/// `CancellationError` with its task.
public struct FeedChanges: AsyncSequence, Sendable {
    /// A step from the rows of one generation to those of a later one.
    public enum Element: Sendable, Hashable {
        /// Apply these in order, and you get the rows of this generation.
        case changed([Change], generation: UInt64)
        /// The feed was reset, or has more changes than are listed: read it again. The next changes apply to
        /// this generation or a later one. Start a new observation to be sure of the generation.
        case resync(generation: UInt64)
    }

    let feed: Feed
    let generation: UInt64?
    let interval: Duration
    let clock: PagerClock

    public func makeAsyncIterator() -> Iterator { Iterator(changes: self, generation: generation) }

    /// Delivers the changes one commit at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let changes: FeedChanges
        var generation: UInt64?

        public mutating func next() async throws -> Element? {
            while true {
                try Task.checkCancellation()
                if let element = try look() { return element }
                try await changes.clock.sleep(changes.interval)
            }
        }

        /// Returns what was committed since the last look; nil if nothing concerns this feed.
        private mutating func look() throws -> Element? {
            let feed = changes.feed
            return try feed.cache.withSnapshot { snapshot in
                let last = generation
                generation = try snapshot.generation
                guard let last else { return nil }
                return try feed.changes(since: last, in: snapshot)
            }
        }
    }
}

extension Feed {
    /// The step from the rows of a generation to those of a snapshot; nil if the feed did not change.
    func changes(since generation: UInt64, in snapshot: borrowing Snapshot) throws -> FeedChanges.Element? {
        let now = try snapshot.generation
        if now == generation { return nil }
        let log = try snapshot.changes(since: generation)?.filter { $0.feed == number }.flatMap(\.changes)
        guard let log, !log.contains(.reset) else { return .resync(generation: now) }
        return log.isEmpty ? nil : .changed(log, generation: now)
    }
}

extension Array where Element == RowID {
    /// Applies the changes of a feed to these rows, top first. They may be all rows, or the first ones down
    /// to some row, and remain so. Each change takes time proportional to the number of rows, except for rows
    /// inserted one below the other.
    public mutating func apply(_ changes: [Change]) {
        var last = 0
        for change in changes {
            switch change {
            case .removed(let row): removeAll { $0 == row }
            case .inserted(let row, nil):
                insert(row, at: 0)
                last = 0
            case .inserted(let row, let above?):
                let isBelowLast = last < count && self[last] == above
                guard let upper = isBelowLast ? last : firstIndex(of: above) else { continue }
                insert(row, at: upper + 1)
                last = upper + 1
            case .updated, .reset: break
            }
        }
    }
}
