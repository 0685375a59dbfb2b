/// The id index for the posts of one collection: which feeds hold a post, and in which chunk. It is exact: a
/// post is in a feed if and only if the index says so. Feeds of other collections hold other posts.
///
/// It is a list of sorted runs, each one LMDB record. A commit that changes the index adds a run, and runs
/// are merged when there are many. So a commit of 30 random ids writes one record of a kilobyte instead of
/// changing 30 leaves of a B-tree. If several runs have a location for a post in a feed, the newest one is
/// right, unless a still newer run says that all of those positions are gone.
struct PostIndex {
    /// The runs, newest first.
    private(set) var runs: [SortedRun] = []
    /// Positions that are gone in `runs[from...]`.
    private var gone: [(from: Int, ranges: GoneRanges)] = []
    /// Their marks of posts that several feeds may hold, newest first.
    private(set) var marks: [SortedRun] = []
    private let seed: UInt64
    let collection: UInt32
    /// What a write session has added, which is newer than the runs; nil outside a session.
    private var added: AddedLocations?
    /// Keeps the bytes of ranges that are not stored yet alive.
    private(set) var goneRun: MemoryRun?

    /// Opens the index of a transaction. Valid until the next commit, and in a write transaction until the
    /// next write.
    init(_ transaction: Transaction, of collection: UInt32) throws {
        self.init(try Self.stored(transaction), nil, of: collection, transaction.file.seed)
    }

    /// The index of these stored runs, oldest first, and of what a session has added.
    init(_ stored: [Stored], _ added: AddedLocations?, of collection: UInt32, _ seed: UInt64) {
        self.init(seed, collection, capacity: stored.count)
        (self.added, goneRun) = (added, added?.goneRun)
        if let goneRun { add(goneRun.run) }
        for run in stored.reversed() { add(run.run) }
    }

    /// The index of these runs, newest first.
    init(_ runs: [IndexRun], _ seed: UInt64) {
        self.init(seed, 0, capacity: runs.count)
        for run in runs { add(run) }
    }

    private init(_ seed: UInt64, _ collection: UInt32, capacity: Int) {
        (self.seed, self.collection) = (seed, collection)
        runs.reserveCapacity(capacity)
    }

    /// Adds a run below the others.
    private mutating func add(_ run: IndexRun) {
        if run.posts.count > 0 { runs.append(run.posts) }
        if let more = run.marks, more.count > 0 {
            if marks.isEmpty { marks.reserveCapacity(runs.capacity) }
            marks.append(more)
        }
        if let ranges = run.gone, ranges.count > 0 { gone.append((runs.count, ranges)) }
    }

    private init(_ other: PostIndex, of collection: UInt32) {
        (runs, marks, gone) = (other.runs, other.marks, other.gone)
        (seed, added, goneRun) = (other.seed, other.added, other.goneRun)
        self.collection = collection
    }

    /// Returns the same index for the posts of another collection.
    func of(_ collection: UInt32) -> PostIndex { PostIndex(self, of: collection) }

    typealias Stored = (number: UInt64, run: IndexRun)

    /// Returns the stored runs, oldest first.
    static func stored(_ transaction: Transaction) throws -> [Stored] {
        try transaction.withCursor(.locations) { cursor in
            var runs: [Stored] = []
            runs.reserveCapacity(24)
            var found = try cursor.first()
            while let (key, value) = found {
                guard let key = NumberKey(ofRun: key), let run = IndexRun(value) else {
                    throw QuireError.corrupt("the id index")
                }
                runs.append((key.number, run))
                found = try cursor.next()
            }
            return runs
        }
    }

    /// Returns the location as it is now, which the run with this index has.
    @inline(__always)
    private func current(_ location: Location, in run: Int) -> Location {
        gone.isEmpty ? location : withoutGone(location, run)
    }

    private func withoutGone(_ location: Location, _ run: Int) -> Location {
        for (from, ranges) in gone {
            if from > run { return location }
            if ranges.contains(location.position, of: location.feed) {
                return Location(location.address, feed: location.feed, position: Location.gone)
            }
        }
        return location
    }

    func address(of id: PostID) -> PostAddress { PostAddress(id, in: collection, seed: seed) }

    // MARK: Looking up

    /// An id that is looked up, the `number`-th of those that were asked for; -1 once it is done.
    private struct Wanted {
        let address: PostAddress
        var number: Int32
        let bits: UInt64
    }

    /// How many ids are looked up together: what is noted of them stays on the stack, and what is prefetched
    /// for them in the processor's first cache.
    private static let block = 40
    /// How many runs are asked together at most, and for how many ids they may leave the question open.
    private static let runsTogether = 32
    private static let likelyTogether = 6 * block

    /// Calls `body` with the index of each id and each location that a run has for it, those of newer runs
    /// first. If it returns true, neither the rest of the run nor older ones are asked for this id.
    private func lookUp(_ ids: some Sequence<PostID>, _ body: (Int, Location) -> Bool) {
        forEachBlock(of: ids) { open, likely, count in
            var rest = count
            if let added { rest = Self.lookUp(open, rest, in: added.posts, body) }
            Self.lookUp(open, rest, likely, in: runs) { body($0, current($1, in: $2)) }
        }
    }

    /// Does the same with marks.
    private func lookUpMarks(_ ids: some Sequence<PostID>, _ body: (Int, Location) -> Bool) {
        forEachBlock(of: ids) { open, likely, count in
            var rest = count
            if let added { rest = Self.lookUp(open, rest, in: added.marks, body) }
            Self.lookUp(open, rest, likely, in: marks) { id, mark, _ in body(id, mark) }
        }
    }

    /// Calls `body` with what is asked for, a block at a time, and with room for as many numbers.
    @inline(__always)
    private func forEachBlock(
        of ids: some Sequence<PostID>,
        _ body: (UnsafeMutablePointer<Wanted>, UnsafeMutablePointer<Int32>, Int) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: Wanted.self, capacity: Self.block) { open in
            withUnsafeTemporaryAllocation(of: Int32.self, capacity: Self.likelyTogether) { likely in
                let (open, likely) = (open.baseAddress!, likely.baseAddress!)
                var (number, count) = (0 as Int32, 0)
                for id in ids {
                    let address = address(of: id)
                    let bits = SortedRun.bits(address.hash)
                    (open + count).initialize(to: Wanted(address: address, number: number, bits: bits))
                    (number, count) = (number &+ 1, count &+ 1)
                    if count == Self.block {
                        body(open, likely, count)
                        count = 0
                    }
                }
                if count > 0 { body(open, likely, count) }
            }
        }
    }

    /// Looks `count` ids up in what was added. Returns how many remain to be asked for; they are the first
    /// ones then.
    private static func lookUp(
        _ open: UnsafeMutablePointer<Wanted>, _ count: Int, in added: borrowing LocationTable,
        _ body: (Int, Location) -> Bool
    ) -> Int {
        if added.count == 0 { return count }
        var rest = count
        for at in (0..<count).reversed() {
            let wanted = Int(open[at].number)
            if added.search(at: open[at].address, { body(wanted, $0) }) {
                rest &-= 1
                open[at] = open[rest]
            }
        }
        return rest
    }

    /// Looks `count` ids up in runs, newest first. `body` is told which run that is.
    ///
    /// The filters of many runs are asked first: nothing there depends on what was read before, so the
    /// processor reads many words at a time, and what they leave is prefetched together.
    ///
    ///     likely   3 7 │ 0 │ 3 12 20      ids of the block that the first, second, third run may have
    ///     ends       2   3          6
    @inline(__always)
    private static func lookUp(
        _ open: UnsafeMutablePointer<Wanted>, _ count: Int, _ likely: UnsafeMutablePointer<Int32>,
        in runs: [SortedRun], _ body: (Int, Location, Int) -> Bool
    ) {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: runsTogether) { ends in
            runs.withUnsafeBufferPointer { runs in
                var next = 0
                while next < runs.count {
                    let first = next
                    next = askFilters(open, count, likely, ends, of: runs, from: first)
                    var at = 0
                    for run in first..<next {
                        let end = ends[run &- first]
                        search(open, likely + at, end &- at, in: runs[run]) { body($0, $1, run) }
                        at = end
                    }
                }
            }
        }
    }

    /// Asks the filters of runs. Returns the first run that was not asked.
    @inline(__always)
    private static func askFilters(
        _ open: UnsafeMutablePointer<Wanted>, _ count: Int, _ likely: UnsafeMutablePointer<Int32>,
        _ ends: UnsafeMutableBufferPointer<Int>, of runs: UnsafeBufferPointer<SortedRun>, from first: Int
    ) -> Int {
        var (next, found) = (first, 0)
        while next < runs.count, next &- first < runsTogether, found &+ count <= likelyTogether {
            let (run, start) = (runs[next], found)
            for i in 0..<count {
                likely[found] = Int32(truncatingIfNeeded: i)
                if run.mayHave(open[i].address.hash, open[i].bits) { found &+= 1 }
            }
            if !run.isSmall { for i in start..<found { run.prefetch(open[Int(likely[i])].address.hash) } }
            ends[next &- first] = found
            next &+= 1
        }
        return next
    }

    /// Looks those ids up in one run that are not done.
    @inline(__always)
    private static func search(
        _ open: UnsafeMutablePointer<Wanted>, _ likely: UnsafeMutablePointer<Int32>, _ count: Int,
        in run: SortedRun, _ body: (Int, Location) -> Bool
    ) {
        for i in 0..<count {
            let at = Int(likely[i])
            let wanted = Int(open[at].number)
            if wanted >= 0, run.search(at: open[at].address, { body(wanted, $0) }) { open[at].number = -1 }
        }
    }

    /// Returns the chunk in which this feed holds the post; nil if it does not hold it.
    func position(of id: PostID, in feed: UInt32) -> UInt64? { positions(of: [id], in: feed)[0] }

    /// Returns the chunk of each of these posts; nil where the feed does not hold it.
    func positions(of ids: [PostID], in feed: UInt32) -> [UInt64?] {
        var found = [UInt64?](filled: ids.count, with: nil)
        lookUp(ids) { i, location in
            if location.feed != feed { return false }
            if location.position != Location.gone { found[i] = location.position }
            return true
        }
        return found
    }

    /// Returns for each of these posts whether the feed holds it.
    func contains(_ ids: [PostID], in feed: UInt32) -> [Bool] {
        var found = [Bool](filled: ids.count, with: false)
        found.withUnsafeMutableBufferPointer { found in
            lookUp(ids) { i, location in
                if location.feed != feed { return false }
                found[i] = location.position != Location.gone
                return true
            }
        }
        return found
    }

    /// A feed that holds a post, and the chunk. `id` is the index of the post among those asked for.
    typealias Place = (id: Int, feed: UInt32, position: UInt64)

    /// Returns the feeds that hold each of these posts.
    func places(of ids: some Collection<PostID>) -> [Place] {
        var known: [Place] = []
        known.reserveCapacity(ids.count)
        // for each id the last of its places in `known`, and for each place the one before it
        var last = [Int32](filled: ids.count, with: -1)
        var previous: [Int32] = []
        previous.reserveCapacity(ids.count)
        var hasLeft = false
        var feeds = KnownFeeds()
        lookUp(ids) { i, location in
            if feeds.isEmpty {
                var (at, steps) = (last[i], 0)
                while at >= 0 {
                    if known[Int(at)].feed == location.feed { return false }  // a newer run has told
                    (at, steps) = (previous[Int(at)], steps + 1)
                }
                if steps >= KnownFeeds.few { for place in known { feeds.insert(place.feed, place.id) } }
            }
            if !feeds.isEmpty, !feeds.insert(location.feed, i) { return false }
            previous.append(last[i])
            last[i] = Int32(known.count)
            known.append((i, location.feed, location.position))
            if location.position == Location.gone { hasLeft = true }
            return false
        }
        if hasLeft { known.removeAll { $0.position == Location.gone } }
        return known
    }

    /// Returns the feeds that hold the post, and the chunk in each.
    func positions(of id: PostID) -> [(feed: UInt32, position: UInt64)] {
        let address = address(of: id)
        let bits = SortedRun.bits(address.hash)
        for run in runs { run.prefetchFilter(address.hash) }
        var known: [(feed: UInt32, position: UInt64)] = []
        var feeds = KnownFeeds()
        added?.posts.search(at: address) { location in
            known.append((location.feed, location.position))
            return false
        }
        for (i, run) in runs.enumerated() where run.mayHave(address.hash, bits) {
            run.search(at: address) { location in
                guard feeds.isNew(location.feed, to: known) else { return false }
                known.append((location.feed, current(location, in: i).position))
                return false
            }
        }
        known.removeAll { $0.position == Location.gone }
        return known
    }

    /// Returns the locations of all posts with this hash, in any collection.
    func positions(withHash hash: UInt64) -> [(feed: UInt32, position: UInt64)] {
        locations(withHash: hash).map { ($0.feed, $0.position) }
    }

    /// Returns true if a feed holds the post at this address.
    func isHeld(_ address: PostAddress) -> Bool {
        locations(withHash: address.hash).contains { $0.address == address }
    }

    private func locations(withHash hash: UInt64) -> [Location] {
        var known: [Location] = []
        added?.posts.search(hash: hash) { location in
            known.append(location)
            return false
        }
        for (i, run) in runs.enumerated() {
            guard var slot = run.first(hash: hash) else { continue }
            while let location = run.location(slot), location.hash == hash {
                if !known.contains(where: { $0.isSamePlace(as: location) }) {
                    known.append(current(location, in: i))
                }
                slot += 1
            }
        }
        return known.filter { $0.position != Location.gone }
    }

    /// Calls `body` with the newest location of each post in each feed, until it returns false. Visits all
    /// stored runs in one pass, in the order of hashes.
    func forEachPlace(_ body: (Location) -> Bool) {
        SortedRun.forEach(ofNewestFirst: runs) { body(current($0, in: $1)) }
    }

    // MARK: Other feeds

    /// Returns for each of these posts whether several feeds may hold it. Most are in one feed: asking this
    /// first makes a prune cheap.
    func areShared(_ ids: PostIDs) -> [Bool] {
        var found = [Bool](filled: ids.count, with: false)
        if marks.isEmpty && (added?.marks.count ?? 0) == 0 { return found }
        found.withUnsafeMutableBufferPointer { found in
            lookUpMarks(ids) { number, mark in
                found[number] = mark.position != Location.gone
                return true
            }
        }
        return found
    }

    /// Returns a mark that several feeds may hold a post, or that no feed does.
    func mark(of id: PostID, isShared: Bool) -> Location {
        Location(address(of: id), feed: 1, position: isShared ? 1 : Location.gone)
    }

    /// Returns true if the post at this address is marked in the stored runs: several feeds may hold it.
    func isMarked(_ address: PostAddress) -> Bool {
        for run in marks {
            var mark: Location?
            run.search(at: address) {
                mark = $0
                return false
            }
            if let mark { return mark.position != Location.gone }
        }
        return false
    }

    /// Calls `body` with the addresses of all posts that are marked in the stored runs, until it returns
    /// false.
    func forEachMarked(_ body: (PostAddress) -> Bool) {
        SortedRun.forEach(ofNewestFirst: marks) { mark, _ in
            mark.position == Location.gone || body(mark.address)
        }
    }
}
