import QuireSimulator
import Testing

@testable import Quire

/// The id index against a dictionary, through real LMDB: any adds, moves and removals, any commits.
@Suite struct PostIndexModelTests {
    @Test(arguments: [1, 2] as [UInt64]) func equalsADictionary(_ seed: UInt64) throws {
        var history = try History(seed: seed)
        do {
            for _ in 0..<60 { try history.commit() }
            try history.finish()
        } catch {
            Issue.record("seed \(seed): \(error)")
        }
    }

    struct Mistake: Error { let what: String }

    private struct History {
        let storage: TemporaryCache
        var random: SplitMix64
        var model: [PostID: [UInt32: UInt64]] = [:]
        /// All ids that ever were in the index.
        var ids: [PostID] = []
        var commits = 0

        init(seed: UInt64) throws {
            random = SplitMix64(seed: seed)
            storage = try TemporaryCache()
        }

        var entries: Int { model.values.reduce(0) { $0 + $1.count } }

        private mutating func newID() -> PostID {
            switch random.below(100) {
            case 0..<60: PostID(random.next() >> UInt64(random.pick([0, 1, 30, 50])))
            case 60..<97: PostID("at://did:plc:\(random.next())/post/\(random.below(1000))")!
            case 97: PostID(bytes: (0..<random.number(in: 190...300)).map { _ in UInt8(random.below(256)) })!
            default:
                PostID(
                    bytes: [UInt8](
                        repeating: UInt8(random.below(256)), count: random.pick([1, 200, 201, 65_536])))!
            }
        }

        /// One to four additions to one session, each seen by the next, in one commit.
        mutating func commit() throws {
            commits += 1
            let size = random.pick([1, 3, 30, 30, 30, 200, 800])
            let drops = random.chance(0.3)
            try storage.cache.write { session in
                for _ in 0..<random.number(in: 1...4) {
                    if random.chance(0.2) { session.add([], gone: [prune()]) }
                    session.add(locations(size, drops: drops, try session.index(of: 0)))
                    try look(try session.index(of: 0), at: 6)
                }
                session.counters.entries = UInt64(entries)
                session.touch()
            }
            if random.chance(0.05) { try storage.reopen() }
            try storage.cache.environment.read { transaction in
                try look(try PostIndex(transaction, of: 0), at: 30)
                let counts = try PostIndex.stored(transaction).map(\.run.count)
                if counts.count > SortedRunTests.bound(counts) {
                    throw Mistake(what: "commit \(commits): \(counts.count) runs: \(counts)")
                }
            }
        }

        /// A range of positions of a feed that leaves as a whole; the model learns it.
        private mutating func prune() -> GoneRange {
            let feed = random.pick([1, 2, 3, UInt32.max])
            let first = random.pick([1, random.next() | 1])
            let last = first + min(.max - first, random.pick([0, 1 << 50, 1 << 60]))
            let range = GoneRange(feed: feed, first...last)
            for id in model.keys {
                if let position = model[id]![feed], range.contains(position) { model[id]![feed] = nil }
            }
            return range
        }

        /// What the session adds, each place once; the model learns it.
        private mutating func locations(_ count: Int, drops: Bool, _ index: PostIndex) -> [Location] {
            var locations: [Location] = []
            var seen: Set<PostID> = []
            for _ in 0..<count {
                if ids.isEmpty || random.chance(0.5) { ids.append(newID()) }
                let id = random.chance(0.5) ? ids[ids.count - 1] : random.pick(ids)
                if !seen.insert(id).inserted { continue }
                let feed = random.pick([1, 2, 3, UInt32.max])
                var position = random.pick([1, .max, random.next() | 1])
                if model[id]?[feed] != nil && random.chance(drops ? 0.9 : 0.2) {
                    position = Location.gone
                    model[id]![feed] = nil
                } else {
                    model[id, default: [:]][feed] = position
                }
                locations.append(Location(index.address(of: id), feed: feed, position: position))
            }
            return locations
        }

        private mutating func look(_ index: PostIndex, at count: Int) throws {
            for _ in 0..<count {
                let id = random.chance(0.15) || ids.isEmpty ? newID() : random.pick(ids)
                try look(index, at: id)
            }
        }

        func look(_ index: PostIndex, at id: PostID) throws {
            let expected = model[id] ?? [:]
            let positions = index.positions(of: id)
            let found = Dictionary(positions.map { ($0.feed, $0.position) }) { a, _ in a }
            let name = id.description.prefix(40)
            if positions.count != expected.count || found != expected {
                throw Mistake(what: "commit \(commits), post \(name): \(positions), not \(expected)")
            }
            for feed in [1, 4, .max] as [UInt32] where index.position(of: id, in: feed) != expected[feed] {
                throw Mistake(what: "commit \(commits), post \(name) in feed \(feed)")
            }
            let hash = index.address(of: id).hash
            if Set(index.positions(withHash: hash).map(\.position)) != Set(expected.values) {
                throw Mistake(what: "commit \(commits), post \(name) by its hash")
            }
        }

        /// Then all leave, and hardly anything is left of the index.
        mutating func finish() throws {
            try storage.cache.environment.read { transaction in
                let index = try PostIndex(transaction, of: 0)
                for id in ids.prefix(2000) { try look(index, at: id) }
            }
            for feed in [77, 78, 79] as [UInt32] {
                try storage.cache.write { session in
                    let index = try session.index(of: 0)
                    var all: [Location] = []
                    for id in ids {
                        for (feed, _) in model[id] ?? [:] {
                            all.append(Location(index.address(of: id), feed: feed, position: Location.gone))
                        }
                        model[id] = nil
                    }
                    // what was never there may leave as well
                    all += ids.prefix(1000).map {
                        Location(index.address(of: $0), feed: feed, position: Location.gone)
                    }
                    session.add(Self.unique(all))
                    session.counters.entries = 0
                    session.touch()
                }
            }
            try storage.cache.environment.read { transaction in
                let index = try PostIndex(transaction, of: 0)
                for id in ids.prefix(500) { try look(index, at: id) }
                let counts = try PostIndex.stored(transaction).map(\.run.count)
                if counts.reduce(0, +) > 1 << 16 {
                    throw Mistake(what: "the index of nothing has \(counts) locations")
                }
            }
        }

        private static func unique(_ all: [Location]) -> [Location] {
            let sorted = all.sorted { $0.precedes($1) }
            return sorted.indices.filter { $0 == 0 || !sorted[$0 - 1].isSamePlace(as: sorted[$0]) }
                .map { sorted[$0] }
        }
    }

    // MARK: What is gone goes

    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache() }

    /// Commits locations and returns how many each run has, oldest first.
    private func add(_ locations: [Location], live: Int) throws -> [Int] {
        try cache.write { session in
            session.add(locations)
            session.counters.entries = UInt64(live)
            session.touch()
        }
        return try cache.environment.read { try PostIndex.stored($0).map(\.run.count) }
    }

    private func locations(_ range: Range<UInt64>, _ position: UInt64) -> [Location] {
        let seed = cache.environment.cacheFile.seed
        return range.map { Location(PostAddress(PostID($0), in: 0, seed: seed), feed: 1, position: position) }
    }

    /// A place that is gone is kept only as long as an older run could contradict it.
    @Test func goneIsDropped() throws {
        #expect(try add(locations(0..<50, 0), live: 0) == [])
        #expect(try add(locations(0..<50, 9), live: 50) == [50])
        #expect(try add(locations(0..<20, 0), live: 30) == [50, 20])
        #expect(try add(locations(20..<21, 8), live: 30) == [50, 20, 1])
        // the fourth run of the tier takes all of them along
        #expect(try add(locations(60..<61, 8), live: 31) == [31])
        #expect(try add(locations(0..<200, 0), live: 0) == [31, 200])
        #expect(try add(locations(300..<301, 1), live: 1) == [31, 200, 1])
    }

    /// An index of mostly outdated locations is written anew.
    @Test func outdatedLocationsGo() throws {
        #expect(try add(locations(0..<33_000, 9), live: 33_000) == [33_000])
        #expect(try add(locations(0..<32_000, 0), live: 1_000) == [33_000, 32_000])
        #expect(try add(locations(1_000..<3_500, 0), live: 1_000) == [33_000, 32_000, 2_500])
        #expect(try add(locations(32_000..<33_000, 0), live: 0) == [])
    }
}
