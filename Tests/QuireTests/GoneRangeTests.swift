import QuireSimulator
import Testing

@testable import Quire

/// Ranges of positions that are gone, in runs of the id index: small worlds in full, and bytes that are none.
///
///     run 3   newest     positions 2...3 are gone
///     run 2              a→2
///     run 1   oldest     a→1   b→3        nothing is left: a was in 2, b in 3
@Suite struct GoneRangeTests {
    // MARK: Ranges by themselves

    private static let positions: [UInt64] = [1, 2, 3, 4, .max - 1, .max]

    /// All ranges of two feeds between these positions, in threes: the union has the same positions, in order
    /// and apart from each other.
    @Test func everyUnion() {
        var all: [GoneRange] = []
        for feed in [1, 2] as [UInt32] {
            for first in Self.positions {
                for last in Self.positions where last >= first {
                    all.append(GoneRange(feed: feed, first...last))
                }
            }
        }
        let memory = GuardedBytes(capacity: 1 << 10)
        for a in all {
            for b in all {
                for c in all.prefix(12) {
                    let union = GoneRange.union([a, b, c])
                    var bytes = [UInt8](repeating: 9, count: GoneRanges.size(of: union))
                    bytes.withUnsafeMutableBytes { GoneRanges.write(union, into: $0) }
                    let read = GoneRanges(memory.hold(bytes[...]))!
                    if !read.isAsWritten || read.count != union.count {
                        Issue.record("\(a) \(b) \(c): \(union)")
                        return
                    }
                    for feed in [0, 1, 2, 3] as [UInt32] {
                        for position in [0] + Self.positions + [5] {
                            let expected = [a, b, c].contains { $0.feed == feed && $0.contains(position) }
                            if read.contains(position, of: feed) != expected {
                                Issue.record("\(a) \(b) \(c): \(union) has \(position) of \(feed)")
                                return
                            }
                        }
                    }
                }
            }
        }
    }

    // MARK: In runs

    /// One run of a small world: posts a and b are in chunk 1, 2 or 3, or left, or the run does not know; and
    /// one of these ranges is gone.
    private static let ranges: [ClosedRange<UInt64>?] = [nil, 1...1, 2...2, 2...3, 3...(.max)]
    private static let places: [UInt64?] = [nil, Location.gone, 1, 2, 3]

    private struct World {
        var a: UInt64?
        var b: UInt64?
        var range: ClosedRange<UInt64>?

        static let a = PostAddress(hash: 5, check: 0)
        static let b = PostAddress(hash: 5, check: 2)

        var contents: RunContents {
            var contents = RunContents()
            if let a { contents.posts.append(Location(Self.a, feed: 1, position: a)) }
            if let b { contents.posts.append(Location(Self.b, feed: 1, position: b)) }
            if let range { contents.gone = [GoneRange(feed: 1, range)] }
            return contents
        }

        /// What is true after this run.
        func follow(_ before: [UInt64?]) -> [UInt64?] {
            zip(before, [a, b]).map { old, new in
                if let new { return new == Location.gone ? nil : new }
                return old.flatMap { old in range?.contains(old) ?? false ? nil : old }
            }
        }
    }

    private static func worlds(_ places: [UInt64?]) -> [World] {
        var worlds: [World] = []
        for range in ranges {
            for a in Self.places {
                for b in places { worlds.append(World(a: a, b: b, range: range)) }
            }
        }
        return worlds
    }

    private static func places(_ runs: [IndexRun]) -> [UInt64?] {
        let index = PostIndex(runs, 0)
        var found: [UInt64?] = [nil, nil]
        index.forEachPlace { location in
            if location.position != Location.gone {
                found[location.address == World.a ? 0 : 1] = location.position
            }
            return true
        }
        let byHash = Set(index.positions(withHash: 5).map(\.position))
        if byHash != Set(found.compactMap(\.self)) { return [99, 99] }
        return found
    }

    /// Three runs on top of each other, apart, and after each merge of neighbours, say the same.
    @Test func everyMerge() throws {
        let (oldest, newer) = (Self.worlds([nil, 3]), Self.worlds([nil, 1, Location.gone]))
        for (i, one) in oldest.enumerated() where one.range == nil {
            let first = MemoryRun(one.contents)
            for two in newer {
                let second = MemoryRun(two.contents)
                let below = two.follow(one.follow([nil, nil]))
                let merged = try RunContents().merged(over: [second.run, first.run])
                if merged.posts.contains(where: { $0.position == Location.gone }) || !merged.gone.isEmpty {
                    Issue.record("the oldest run keeps what is gone: \(merged)")
                }
                for three in newer[(i % 5)...] where (three.a ?? 0) != 2 {
                    let third = MemoryRun(three.contents)
                    let expected = three.follow(below)
                    let lower = MemoryRun(merged)
                    let upper = MemoryRun(
                        try RunContents().merged(over: [third.run, second.run], below: [first.run]))
                    for (runs, what) in [
                        ([third.run, second.run, first.run], "apart"), ([third.run, lower.run], "lower"),
                        ([upper.run, first.run], "upper"),
                    ] where Self.places(runs) != expected {
                        Issue.record(
                            "\(what): \(one) \(two) \(three): \(Self.places(runs)), not \(expected)")
                        return
                    }
                }
            }
        }
    }

    /// What a prune took leaves the index when its run is merged, though there is an older run:
    ///
    ///     newest   feed 1: 7...7 left              feed 1: 7...7 left
    ///     older    a→7   b→7   c→7   d→8           d→8   c gone       an older run has c at another place
    ///     below    c→9   e→4
    @Test func mergesDropWhatLeft() throws {
        func location(_ id: UInt64, _ position: UInt64) -> Location {
            Location(PostAddress.of(id, in: 0, seed: 0), feed: 1, position: position)
        }
        let below = MemoryRun(
            RunContents(posts: Location.sorted([location(3, 9)] + (5...40).map { location($0, 4) })))
        var posts = (100..<1100).map { location($0, 7) }
        posts += [location(3, 7), location(4, 8)]
        let older = MemoryRun(RunContents(posts: Location.sorted(posts), marks: [location(50, 0)]))
        let newest = RunContents(gone: [GoneRange(feed: 1, 7...7)])
        let merged = try newest.merged(over: [older.run], below: [below.run])
        #expect(merged.gone == newest.gone)
        #expect(merged.marks.isEmpty)
        // the filter below cannot exclude each of a thousand posts
        #expect(merged.posts.count < 50)
        let places = PostIndex([MemoryRun(merged).run, below.run], 0)
        #expect(places.position(of: 3, in: 1) == nil)
        #expect(places.position(of: 4, in: 1) == 8)
        #expect(places.position(of: 5, in: 1) == 4)
        #expect(places.position(of: 100, in: 1) == nil)
    }

    /// Whole runs with locations, marks and ranges, cut off and with changed bits: reading never traps.
    @Test func damagedBytesNeverTrap() throws {
        let memory = GuardedBytes(capacity: 1 << 13)
        for seed in 0..<20 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var contents = RunContents()
            let some = (0..<random.below(20)).map { _ in
                Location(PostAddress(hash: random.next(), check: 0), feed: 1, position: 7)
            }
            contents.posts = Location.sorted(some)
            contents.marks = Location.sorted(Array(some.prefix(random.below(5))))
            for feed in 1...3 as ClosedRange<UInt32> where random.chance(0.7) {
                contents.gone.append(GoneRange(feed: feed, 5...9))
            }
            if contents.isEmpty { continue }
            let whole = contents.encoded
            #expect(IndexRun(memory.hold(whole[...]))?.isAsWritten == true, "seed \(seed)")
            for count in whole.indices { try Self.ask(whole[..<count], memory, some) }
            for _ in 0..<200 {
                var damaged = whole
                for _ in 0..<random.number(in: 1...4) {
                    damaged[random.below(damaged.count)] ^= 1 << UInt8(random.below(8))
                }
                try Self.ask(damaged[...], memory, some)
            }
        }
    }

    private static func ask(_ bytes: ArraySlice<UInt8>, _ memory: GuardedBytes, _ known: [Location]) throws {
        guard let run = IndexRun(memory.hold(bytes)) else { return }
        _ = run.isAsWritten
        let index = PostIndex([run, run], 0)
        for location in known {
            _ = index.positions(withHash: location.hash)
            _ = index.isMarked(location.address)
        }
        _ = MemoryRun(try RunContents().merged(over: [run, run], below: [run]))
    }
}
