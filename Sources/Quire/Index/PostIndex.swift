/// The id index for the posts of one collection: which feeds hold a post, and in which chunk. It is exact: a
/// post is in a feed if and only if the index says so. Feeds of other collections hold other posts.
///
/// It is a list of sorted runs, each one LMDB record. A commit that changes the index adds a run, and runs
/// are merged when there are many. So a commit of 30 random ids writes one record of a kilobyte instead of
/// changing 30 leaves of a B-tree. If several runs have a location for a post in a feed, the newest one is
/// right.
struct PostIndex {
    /// The runs, newest first.
    let runs: [SortedRun]
    private let seed: UInt64
    let collection: UInt32
    /// Keeps the bytes of runs that are not stored yet alive.
    private var fresh: [FreshRun] = []

    /// Opens the index of a transaction, with `fresh` added to it. Valid until the next commit.
    init(_ transaction: Transaction, of collection: UInt32, fresh: [FreshRun] = []) throws {
        (self.fresh, self.collection) = (fresh, collection)
        seed = transaction.file.seed
        var runs = fresh.reversed().map(\.run)
        runs += try Self.stored(transaction).reversed().map(\.run)
        self.runs = runs
    }

    init(runs: [SortedRun], _ seed: UInt64) { (self.runs, self.seed, collection) = (runs, seed, 0) }

    private init(_ other: PostIndex, of collection: UInt32) {
        (runs, seed, fresh) = (other.runs, other.seed, other.fresh)
        self.collection = collection
    }

    /// Returns the same index for the posts of another collection.
    func of(_ collection: UInt32) -> PostIndex { PostIndex(self, of: collection) }

    /// Returns the stored runs, oldest first.
    static func stored(_ transaction: Transaction) throws -> [(number: UInt64, run: SortedRun)] {
        try transaction.withCursor(.locations) { cursor in
            var runs: [(number: UInt64, run: SortedRun)] = []
            var found = try cursor.first()
            while let (key, value) = found {
                guard let key = NumberKey(key), let run = SortedRun(value) else {
                    throw QuireError.corrupt("the id index")
                }
                runs.append((key.number, run))
                found = try cursor.next()
            }
            return runs
        }
    }

    func address(of id: PostID) -> PostAddress { PostAddress(id, in: collection, seed: seed) }

    /// Returns the chunk in which this feed holds the post; nil if it does not hold it.
    func position(of id: PostID, in feed: UInt32) -> UInt64? { positions(of: [id], in: feed)[0] }

    /// Returns the chunk of each of these posts; nil where the feed does not hold it.
    func positions(of ids: [PostID], in feed: UInt32) -> [UInt64?] {
        var found = [UInt64?](repeating: nil, count: ids.count)
        var open = ids.enumerated().map { i, id in
            (i, Location(address(of: id), feed: feed, position: Location.gone))
        }
        for run in runs {
            for (_, place) in open { run.prefetch(place.address) }
            open.removeAll { i, place in
                guard let position = run.position(of: place) else { return false }
                found[i] = position == Location.gone ? nil : position
                return true
            }
        }
        return found
    }

    /// Prefetches memory for the look-ups of these posts.
    func prefetch(_ ids: some Sequence<PostID>) {
        for id in ids {
            let address = address(of: id)
            for run in runs { run.prefetch(address) }
        }
    }

    /// Returns the feeds that hold the post, and the chunk in each.
    func positions(of id: PostID) -> [(feed: UInt32, position: UInt64)] {
        positions(at: address(of: id))
    }

    /// Returns the locations of all posts with this hash, in any collection.
    func positions(withHash hash: UInt64) -> [(feed: UInt32, position: UInt64)] {
        var addresses: Set<PostAddress> = []
        for run in runs {
            guard var slot = run.first(hash: hash) else { continue }
            while let location = run.location(slot), location.hash == hash {
                addresses.insert(location.address)
                slot += 1
            }
        }
        return addresses.flatMap(positions(at:))
    }

    private func positions(at address: PostAddress) -> [(feed: UInt32, position: UInt64)] {
        var known: [(feed: UInt32, position: UInt64)] = []
        for run in runs { run.prefetch(address) }
        for run in runs {
            guard var slot = run.first(address) else { continue }
            while let location = run.location(slot), location.address == address {
                if !known.contains(where: { $0.feed == location.feed }) {
                    known.append((location.feed, location.position))
                }
                slot += 1
            }
        }
        known.removeAll { $0.position == Location.gone }
        return known
    }

    /// Calls `body` with the newest location of each post in each feed, until it returns false. Visits all
    /// runs in one pass, in the order of hashes.
    func forEachPlace(_ body: (Location) -> Bool) {
        var heads: [(run: SortedRun, slot: Int, location: Location)] = []
        for run in runs {
            if let head = run.next(from: 0) { heads.append((run, head.slot, head.location)) }
        }
        while var least = heads.first?.location {
            for head in heads.dropFirst() where head.location.precedes(least) { least = head.location }
            if !body(least) { return }
            for at in heads.indices.reversed() where heads[at].location.isSamePlace(as: least) {
                if let next = heads[at].run.next(from: heads[at].slot + 1) {
                    (heads[at].slot, heads[at].location) = next
                } else {
                    heads.remove(at: at)
                }
            }
        }
    }

    // MARK: Other feeds

    /// Returns false if no other feed holds the post or ever did. If it returns true, another feed may hold
    /// it. Most posts are in one feed: asking this first halves the cost of the question in a prune.
    func mayBeElsewhere(_ id: PostID, than feed: UInt32) -> Bool {
        let address = address(of: id)
        for run in runs {
            guard var slot = run.first(address) else { continue }
            while let location = run.location(slot), location.address == address {
                if location.feed != feed { return true }
                slot += 1
            }
        }
        return false
    }

    // MARK: Keeping few runs

    /// How many runs of similar size are merged. With 4 instead of 8, a look-up visits half as many runs, and
    /// a location is written 7 instead of 5 times before it is in the largest one.
    private static let fanOut = 4
    private static let smallest = 32

    /// Returns the start of the suffix of `counts` to merge when a new run, the last one, joins. A merge
    /// takes at most a quarter of the index, because later commits carry what it frees in LMDB's free list
    /// until it is reused.
    static func mergeStart(_ counts: [Int]) -> Int {
        let limit = max(1 << 17, counts.reduce(0, +) / 4)
        var start = counts.count - 1
        var total = counts[start]
        while true {
            var first = start
            var sum = total
            while first > 0, tier(counts[first - 1]) <= tier(total), sum + counts[first - 1] <= limit {
                first -= 1
                sum += counts[first]
            }
            if start - first + 1 < fanOut { return start }
            (start, total) = (first, sum)
        }
    }

    private static func tier(_ count: Int) -> Int {
        var (tier, size) = (0, smallest * fanOut)
        while count >= size { (tier, size) = (tier + 1, size * fanOut) }
        return tier
    }

    /// Stores a session's locations as one new run, merged with older ones if there are many. `live` is the
    /// number of entries in all feeds; any further locations in the runs are outdated.
    static func store(_ fresh: [FreshRun], in transaction: Transaction, live: UInt64) throws {
        if fresh.isEmpty { return }
        let stored = try stored(transaction)
        let added = SortedRun.merged(older: fresh.reversed().map(\.run), dropsGone: stored.isEmpty)
        let counts = stored.map(\.run.count) + [added.count]
        var start = mergeStart(counts)
        if UInt64(counts.reduce(0, +)) > 2 * live + 1 << 16 { start = 0 }
        var result = added
        if start < stored.count {
            result = SortedRun.merged(
                added, older: stored[start...].reversed().map(\.run), dropsGone: start == 0)
        }
        let number = (stored.last?.number ?? 0) + 1
        for (number, _) in stored[start...] { try transaction.delete(.locations, NumberKey(number)) }
        if result.isEmpty { return }
        try transaction.put(.locations, NumberKey(number), count: SortedRun.size(of: result)) {
            $0.initializeMemory(as: UInt8.self, repeating: 0)
            SortedRun.write(result, into: $0)
        }
    }
}
