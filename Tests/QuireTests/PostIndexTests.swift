import QuireSimulator
import Testing

@testable import Quire

/// Sorted runs by themselves: small worlds in full, and bytes that are none.
///
///     count 3 | slots 5 | 0·0·1  0·1·1  ─  max·1·1  ─ | checksum       hash·check·feed, ─ is free
@Suite struct SortedRunTests {
    /// Hashes at both ends, equal hashes with different checks, equal addresses in two feeds.
    private static let places: [Location] = [
        (0, 0, 1), (0, 0, 2), (0, 1, 1), (1, 0, 1), (1, 1, 7), (1 << 63, 1, 1), (.max, 0, 1), (.max, 1, 1),
        (.max, 1, .max),
    ].map { Location(PostAddress(hash: $0, check: $1), feed: $2, position: 1) }
    private static let absent: [Location] = [
        (0, 3, 1), (0, 0, 3), (1, 0, 2), (2, 0, 1), (1 << 62, 1, 1), (.max - 1, 1, 1), (.max, 1, 2),
        (.max, .max, 1),
    ].map { Location(PostAddress(hash: $0, check: $1), feed: $2, position: 1) }

    /// Hashes that are distributed evenly, and some that are not.
    @Test(arguments: [0, 1, 7, 8, 9, 100, 3000]) func locationsAreSorted(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        for _ in 0..<20 {
            let isSkewed = random.chance(0.3)
            let locations = (0..<count).map { _ in
                let hash = isSkewed ? UInt64(random.below(3)) : random.next()
                let address = PostAddress(hash: hash, check: UInt32(random.below(2)))
                return Location(address, feed: UInt32(random.below(4)), position: 1)
            }
            let sorted = Location.sorted(locations)
            #expect(sorted.count == count)
            #expect(zip(sorted, sorted.dropFirst()).allSatisfy { !$1.precedes($0) })
            let names = { (all: [Location]) in
                Dictionary(grouping: all) { [$0.hash, UInt64($0.check), UInt64($0.feed)] }.mapValues(\.count)
            }
            #expect(names(sorted) == names(locations))
        }
    }

    /// Every subset of the places finds what is in it and nothing else.
    @Test func everySubset() {
        let memory = GuardedBytes(capacity: 1 << 12)
        for set in 0..<1 << Self.places.count {
            var sorted: [Location] = []
            for (i, var place) in Self.places.enumerated() where set >> i & 1 == 1 {
                place.position = i == 4 ? Location.gone : UInt64(i * 10 + 1)
                sorted.append(place)
            }
            let run = SortedRun(startOf: memory.hold(Self.bytes(sorted)[...]))!
            #expect(run.count == sorted.count)
            for (i, place) in Self.places.enumerated() {
                let expected: UInt64? = set >> i & 1 == 0 ? nil : i == 4 ? 0 : UInt64(i * 10 + 1)
                #expect(Self.position(of: place, in: run) == expected, "subset \(set), place \(i)")
                let first = sorted.first { $0.address == place.address }
                var found: [UInt32] = []
                run.search(at: place.address) {
                    found.append($0.feed)
                    return false
                }
                #expect(found.first == first?.feed, "subset \(set), place \(i)")
                if first != nil {
                    #expect(run.mayHave(place.hash, SortedRun.bits(place.hash)), "subset \(set), place \(i)")
                }
                let ofHash = sorted.first { $0.hash == place.hash }
                let foundHash = run.first(hash: place.hash).flatMap(run.location)
                #expect(foundHash?.check == ofHash?.check, "subset \(set), place \(i)")
            }
            for place in Self.absent { #expect(Self.position(of: place, in: run) == nil, "subset \(set)") }
            #expect(Self.list(run) == sorted.map(Place.init), "subset \(set)")
        }
    }

    /// Every pair and every triple of small runs: each place is missing, somewhere, or gone.
    ///
    ///     newest   a→5        c gone
    ///     older    a→3   b→4  c→9
    ///     merged   a→5   b→4  c gone      without c where no older run has it
    @Test func everyMerge() throws {
        let four = [0, 2, 1, 7].map { Self.places[$0] }.sorted { $0.precedes($1) }
        let runs = Self.runs(of: four)
        let memory = MergeMemory()
        for (i, newer) in runs.enumerated() {
            for (j, older) in runs.enumerated() { try Self.merge([newer, older], memory, "\(i) over \(j)") }
        }
        let three = Self.runs(of: Array(four.prefix(3)))
        for newest in three {
            for middle in three {
                for oldest in three { try Self.merge([newest, middle, oldest], memory, "three") }
            }
        }
    }

    private static func runs(of places: [Location]) -> [MemoryRun] {
        var worlds: [[Location]] = [[]]
        for (i, place) in places.enumerated() {
            worlds = worlds.flatMap { world in
                [nil, UInt64(i + 3), Location.gone].map { position in
                    guard let position else { return world }
                    return world + [Location(place.address, feed: place.feed, position: position)]
                }
            }
        }
        return worlds.map { MemoryRun(RunContents(posts: $0)) }
    }

    /// Each merge uses the memory of the one before.
    private static func merge(_ newestFirst: [MemoryRun], _ memory: MergeMemory, _ what: String) throws {
        var model: [Place] = []
        for run in newestFirst {
            for place in list(run.run.posts) where !model.contains(where: { $0.isAt(place) }) {
                model.append(place)
            }
        }
        model.sort { $0.location.precedes($1.location) }
        for count in [0, 2, places.count] {
            let below = MemoryRun(RunContents(posts: Array(places.prefix(count))))
            let merged = try RunContents().merged(
                over: newestFirst.map(\.run), below: [below.run], in: memory)
            let expected = model.filter { place in
                place.position != 0 || below.run.posts.mayHave(place.hash, SortedRun.bits(place.hash))
            }
            if merged.posts.map(Place.init) != expected {
                Issue.record("\(what), over \(count): \(merged.posts) is not \(expected)")
            }
            let again = MemoryRun(merged)
            if list(again.run.posts) != expected { Issue.record("\(what) is not written as merged") }
        }
    }

    /// The position in a run of a post in a feed.
    private static func position(of place: Location, in run: SortedRun) -> UInt64? {
        var found: UInt64?
        run.search(at: place.address) {
            if $0.feed == place.feed { found = $0.position }
            return false
        }
        return found
    }

    private static func list(_ run: SortedRun) -> [Place] {
        var all: [Place] = []
        SortedRun.forEach(ofNewestFirst: [run]) { location, _ in
            all.append(Place(location))
            return true
        }
        return all
    }

    private struct Place: Equatable {
        var hash, position: UInt64
        var feed, check: UInt32

        init(_ location: Location) {
            (hash, position) = (location.hash, location.position)
            (feed, check) = (location.feed, location.check)
        }

        var location: Location {
            Location(PostAddress(hash: hash, check: check), feed: feed, position: position)
        }
        func isAt(_ other: Place) -> Bool { location.isSamePlace(as: other.location) }
    }

    // MARK: Damage

    private static func random(_ count: Int, _ random: inout SplitMix64) -> [Location] {
        var locations: [Location] = []
        for _ in 0..<count {
            // some hashes share their upper bits, some are equal
            let hash = random.chance(0.2) ? UInt64(random.below(4)) << 62 : random.next()
            locations.append(
                Location(
                    PostAddress(hash: hash, check: UInt32(random.below(4))),
                    feed: UInt32(random.number(in: 1...3)), position: random.next() >> 1))
        }
        locations.sort { $0.precedes($1) }
        return locations.indices.filter { $0 == 0 || !locations[$0 - 1].isSamePlace(as: locations[$0]) }
            .map { locations[$0] }
    }

    private static func bytes(_ sorted: [Location]) -> [UInt8] {
        sorted.withUnsafeBufferPointer { sorted in
            var bytes = [UInt8](repeating: 0, count: SortedRun.size(of: sorted))
            bytes.withUnsafeMutableBytes { SortedRun.write(sorted, into: $0) }
            return bytes
        }
    }

    /// Asks a damaged run everything; any answer will do.
    private static func ask(_ bytes: ArraySlice<UInt8>, _ memory: GuardedBytes, _ known: [Location]) {
        guard let run = SortedRun(startOf: memory.hold(bytes)) else { return }
        for location in known + absent {
            _ = position(of: location, in: run)
            _ = run.mayHave(location.hash, SortedRun.bits(location.hash))
            _ = run.first(hash: location.hash)
        }
        withUnsafeTemporaryAllocation(of: Location.self, capacity: 2 * run.count) {
            var twice = MergedLocations([], in: $0)
            twice.add(older: run)
            twice.add(older: run, without: [GoneRange(feed: 1, 1...(.max))], unlessIn: [run])
            twice.removeGone(unlessIn: [])
            _ = MemoryRun(RunContents(posts: Array(twice.merged)))
        }
    }

    @Test func damagedBytesNeverTrap() {
        let memory = GuardedBytes(capacity: 1 << 16)
        for seed in 0..<30 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let known = Self.random(random.below(40), &random)
            let whole = Self.bytes(known)
            for count in 0..<whole.count { Self.ask(whole[..<count], memory, known) }
            for _ in 0..<300 {
                var damaged = whole
                for _ in 0..<random.number(in: 1...4) {
                    damaged[random.below(damaged.count)] ^= 1 << UInt8(random.below(8))
                }
                Self.ask(damaged[...], memory, known)
            }
            // counts and slots that promise more than there is
            for at in [0, 8] {
                for value in [0, 1, UInt64(whole.count), .max, .max / 2, UInt64(Int64.max) + 1] {
                    var damaged = whole
                    damaged.withUnsafeMutableBytes {
                        $0.storeBytes(of: value, toByteOffset: at, as: UInt64.self)
                    }
                    Self.ask(damaged[...], memory, known)
                }
            }
        }
    }

    /// A run whose last slot, always a free one, was cut off: looking up ends all the same.
    @Test func aRunWithoutItsEnd() {
        let memory = GuardedBytes(capacity: 1 << 12)
        var bytes = Self.bytes(Self.places)
        bytes.removeLast(24)
        bytes[8] -= 1
        let run = SortedRun(startOf: memory.hold(bytes[...]))
        #expect(run.map { Self.position(of: Self.places.last!, in: $0) } == 1)
        for place in Self.absent { #expect(run.flatMap { Self.position(of: place, in: $0) } == nil) }
    }

    // MARK: How many runs there are

    /// A run of fewer than 128 locations is of tier 0, of fewer than 512 of tier 1, and so on.
    static func tier(_ count: Int) -> Int {
        count < 128 ? 0 : tier(count / 4) + 1
    }

    /// Of each tier up to that of the largest run there are at most three:
    ///
    ///     2 2 2 1 1 1 0 0 0 + 0   the fourth one merges with the three before it, and so on up
    ///
    /// Each run has a larger one among the three before it, so a list whose largest is of tier t is at most 3
    /// x (t + 1) long. Runs of more than half of the limit wait until the limit has grown: of these there are
    /// at most 16, as the limit is an eighth of the index.
    static func bound(_ counts: [Int]) -> Int {
        let count = counts.reduce(0, +)
        return 3 * (tier(counts.max() ?? 0) + 1) + 2 * count / PostIndex.mergeLimit(count)
    }

    @Test func mergesByTier() {
        let limit = PostIndex.mergeLimit(0)
        for (counts, merged) in [
            ([5], 0..<1), ([100, 100, 100], 2..<3), ([100, 100, 100, 100], 0..<4), ([127, 1, 1, 1], 0..<4),
            ([128, 1, 1, 1], 3..<4), ([600, 100, 100, 100], 3..<4), ([600, 100, 100, 100, 100], 1..<5),
            ([500, 500, 500, 60, 60, 60, 60], 0..<7), ([500, 500, 60, 60, 60, 60], 2..<6),
            ([1, 1, 1, 600], 0..<4),
            // no more than the limit is moved at once: as many as fit, if that is a large run
            ([limit / 4, limit / 4, limit / 4, limit / 4], 0..<4),
            ([limit / 3, limit / 3, limit / 3, limit / 3], 1..<4),
            ([limit, limit / 2 + 1, limit / 2], 2..<3),
            // what did not fit once is merged when nothing else is
            ([60_000, 60_000, 60_000, 60_000, 5], 0..<4), ([9, 9, 9, 9, 600, 2], 0..<5),
        ] as [([Int], Range<Int>)] {
            #expect(PostIndex.merge(counts) == merged, "\(counts)")
        }
    }

    @Test func runsStayFew() {
        for seed in 0..<20 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let largest = random.pick([1, 30, 200, 2_000])
            var counts: [Int] = []
            var total = 0
            while total < 1 << 17 {
                let added = random.number(in: 1...largest)
                total += added
                counts.append(added)
                Self.merge(&counts)
                if counts.count > Self.bound(counts) {
                    Issue.record("seed \(seed): \(counts.count) runs: \(counts)")
                    return
                }
            }
        }
    }

    private static func merge(_ counts: inout [Int]) {
        let range = PostIndex.merge(counts)
        counts.replaceSubrange(range, with: [counts[range].reduce(0, +)])
    }

    /// One million posts, 30 at a time, ten million, 300 at a time, and a hundred million: how many runs a
    /// look-up visits.
    @Test(arguments: [(33_000, 30, 20), (33_000, 300, 40), (100_000, 1_000, 40)])
    func runsOfALargeIndexStayFew(
        _ commits: Int, _ added: Int, _ expected: Int
    ) {
        var counts: [Int] = []
        var most = 0
        for _ in 0..<commits {
            counts.append(added)
            Self.merge(&counts)
            most = max(most, counts.count)
        }
        #expect(most <= expected, "\(most) runs: \(counts)")
    }
}
