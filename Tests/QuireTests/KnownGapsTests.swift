@_spi(Unstable) import TestSupport
import Testing

@_spi(Unstable) @testable import Quire

/// Of many gaps a rule sees those next to the chunks that are loaded, the first and the last, and where
/// others are hidden.
@Suite struct KnownGapsTests {
    /// `[a] ~ [b] ~ … ~ [g] |T`: seven chunks, six gaps. All sets of chunks that are loaded, in two steps,
    /// all ways to divide them.
    @Test func thoseNextToWhatIsLoaded() throws {
        let storage = try TemporaryCache(.cramped)
        let feed = try Self.feed(in: storage.cache, segments: 7)
        try storage.cache.write { session in
            let transaction = session.transaction
            let whole = try KnownGaps(transaction, feed: feed.number)
            let gaps = whole.all.map(\.position)
            let chunks = try Self.chunks(transaction, feed.number)
            #expect(gaps == Array(chunks.dropFirst()) && !whole.areHidden)
            for loaded in 0..<1 << chunks.count {
                var first = loaded
                while true {
                    var known = try KnownGaps(transaction, feed: feed.number, isWhole: false)
                    try known.load(around: Self.members(first, of: chunks))
                    try known.load(around: Self.members(loaded & ~first, of: chunks))
                    let expected = Self.picture(loaded, gaps)
                    let seen = Self.picture(known, gaps)
                    #expect(seen == expected, "chunks \(first), then \(loaded & ~first)")
                    if first == 0 { break }
                    first = (first - 1) & loaded
                }
            }
        }
    }

    /// Asking for some gaps of one run shows those, and no others but their neighbours.
    @Test func whatIsSoughtIsShown() throws {
        let storage = try TemporaryCache(.cramped)
        let feed = try Self.feed(in: storage.cache, segments: 9)
        try storage.cache.write { session in
            let chunks = try Self.chunks(session.transaction, feed.number)
            let gaps = Array(chunks.dropFirst())
            let all = try KnownGaps(session.transaction, feed: feed.number).all
            var known = try KnownGaps(session.transaction, feed: feed.number, isWhole: false)
            try known.load(around: [chunks[4]])
            #expect(Self.picture(known, gaps) == "0 ..3 4 ..7")
            let third = SoughtGaps.filled(by: all[2].record.gap.down.link)
            let elsewhere = SoughtGaps.filled(by: all[6].record.gap.down.link)
            for sought in [elsewhere, .belowUnkeyed, .endInDoubt, .searched] {
                try known.load(sought, in: chunks[1]...chunks[3])
                #expect(Self.picture(known, gaps) == "0 ..3 4 ..7", "\(sought)")
                #expect(known.lacking(in: chunks[2]...chunks[3]).last == sought)
                #expect(known.lacking(in: chunks[2]...chunks[4]).isEmpty)
            }
            try known.load(third, in: chunks[1]...chunks[3])
            #expect(Self.picture(known, gaps) == "0 ..2 3 4 ..7")
            #expect(known.lacking(in: chunks[1]...chunks[2]).last == third)
            let gap = known.all[0].record.gap.id
            #expect(try known.gap(gap)?.position == chunks[1])
            let hidden = try KnownGaps(session.transaction, feed: feed.number).all[6].record.gap.id
            #expect(try known.gap(hidden)?.position == chunks[7])
            #expect(try known.gap(GapID(99)) == nil)
        }
    }

    /// Some at a time, below each row: those that a walk through the rows meets.
    @Test func areReadInParts() throws {
        let storage = try TemporaryCache(.cramped)
        let feed = try Self.feed(in: storage.cache, segments: 7)
        func gaps(after position: RowPosition?, _ limit: Int) throws -> [GapID] {
            try storage.cache.withSnapshot { try $0.gaps(of: feed, after: position, limit: limit).map(\.id) }
        }
        let rows = try storage.cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
        for limit in 0...7 {
            #expect(try gaps(after: nil, limit) == Array(rows.compactMap(\.gap?.id).prefix(limit)))
            for (rank, row) in rows.enumerated() {
                let position = try #require(row.post?.position ?? row.gap?.position)
                let expected = rows[(rank + 1)...].compactMap(\.gap?.id).prefix(limit)
                #expect(try gaps(after: position, limit) == Array(expected), "\(limit) below row \(rank)")
            }
        }
        #expect(try gaps(after: RowPosition(chunk: .max, slot: 0), 7).isEmpty)
    }

    /// A rule that walks through 300 segments, from either end, stops about as often as their number has
    /// digits in binary, not at each gap: it is run again each time.
    @Test(arguments: [true, false]) func aWalkStopsSeldom(isDown: Bool) throws {
        let storage = try TemporaryCache()
        let feed = try Self.feed(in: storage.cache, segments: 300)
        try storage.cache.write { session in
            var (runs, seen) = (0, 0)
            try session.change(
                feed.number, focus: { try isDown ? $0.loadTop() : $0.loadBottom() },
                { state throws(Interruption) in
                    runs += 1
                    let spans = state.rows.lazy.compactMap { row -> Int? in
                        if case .unloaded(let span) = row { span } else { nil }
                    }
                    if let span = isDown ? spans.first : spans.reversed().first {
                        throw .needs(isDown ? .top(span) : .bottom(span))
                    }
                    seen = state.entries.count
                    return WriteSession.Effect(isChange: false)
                })
            #expect(seen >= 300)
            #expect(runs <= 12, "\(runs)")
        }
    }

    /// What a refresh sees does not grow with the gaps that earlier ones left.
    @Test func aRefreshSeesFewGaps() throws {
        let storage = try TemporaryCache()
        let feed = try Self.feed(in: storage.cache, segments: 300)
        try Self.refresh(feed, 300)
        try storage.cache.write { session in
            var seen = 0
            try session.change(
                feed.number, focus: { try $0.load(edges: [$0.record.head.number]) },
                { state throws(Interruption) in
                    seen = state.gapRows.count
                    return WriteSession.Effect(isChange: false)
                })
            #expect(seen == 2)
        }
        #expect(try storage.cache.withSnapshot { try $0.gaps(of: feed).count } == 300)
        #expect(try storage.cache.check().isEmpty)
    }

    /// A session goes on with what its last operation knew: `[g] ~ … ~ [a]`, a refresh, then one segment is
    /// evicted or loses a post, all in one commit or in two.
    @Test(arguments: 0..<7, [1, 2]) func theNextOperationKnowsWhatIsHidden(_ segment: Int, _ leaving: Int)
        throws
    {
        let storage = try TemporaryCache(.cramped)
        let ids = (1...leaving).map { PostID(UInt64(segment * 10 + $0)) }
        let apart = try Self.feed(in: storage.cache, segments: 7, named: "apart")
        try Self.refresh(apart, 7)
        try apart.evict(ids)
        let together = try Self.feed(in: storage.cache, segments: 7, named: "together")
        try storage.cache.batch { batch in
            let request = try batch[together].plan(.head).request!
            _ = try batch[together].ingest(Self.page(7), for: request.ticket)
            _ = try batch[together].evict(ids)
        }
        #expect(try storage.cache.check().isEmpty)
        try storage.cache.withSnapshot { snapshot in
            let links = try [apart, together].map { feed in
                try snapshot.gaps(of: feed).map { "\($0.postsAbove) \($0.down)" }
            }
            #expect(links[0] == links[1])
        }
    }

    /// `[l k] ~ [j i] ~ … ~ [b a]`, six segments: if one post has no key, a jump to posts that are not known
    /// is refused (R18). Their place is at the top, so the third and the fourth segment are not loaded to
    /// find it.
    @Test(arguments: 0...6) func aPostWithoutKeyCounts(_ segment: Int) throws {
        let storage = try TemporaryCache(.cramped)
        let feed = try storage.cache.feed(named: "gaps", options: FeedOptions(order: .bump))
        for number in 0..<6 { try Self.refresh(feed, number, hasKeys: number != segment) }
        let request = try feed.plan(.around(PostID(1_000))).request!
        let verdict = try feed.ingest(Self.page(100), for: request.ticket).verdict
        #expect(verdict == (segment < 6 ? .island : .gap))
    }

    // MARK: Worlds

    private static func feed(in cache: Cache, segments: Int, named name: String = "gaps") throws -> Feed {
        let feed = try cache.feed(named: name, options: FeedOptions(order: .stable))
        for number in 0..<segments { try refresh(feed, number) }
        return feed
    }

    /// Two posts above all others, none of them known.
    private static func refresh(_ feed: Feed, _ number: Int, hasKeys: Bool = true) throws {
        let request = try feed.plan(.head).request!
        let answer = page(number, hasKeys: hasKeys)
        #expect(try feed.ingest(answer, for: request.ticket).new.count == 2)
    }

    private static func page(_ number: Int, hasKeys: Bool = true) -> Answer {
        var answer = Answer(next: .token("below \(number)"))
        for key in [Int64(number) * 10 + 2, Int64(number) * 10 + 1] {
            answer.append(
                id: PostID(UInt64(key)), key: hasKeys || answer.posts.isEmpty ? key : nil, body: [7])
        }
        return answer
    }

    private static func chunks(_ transaction: Transaction, _ feed: UInt32) throws -> [UInt64] {
        var positions: [UInt64] = []
        try ChunkReader(transaction: transaction, feed: feed).eachChunk(from: 0) { position, _ in
            positions.append(position)
            return true
        }
        return positions
    }

    private static func members(_ set: Int, of chunks: [UInt64]) -> [UInt64] {
        chunks.indices.filter { set >> $0 & 1 != 0 }.map { chunks[$0] }
    }

    // MARK: Pictures

    /// The gaps by number, two points before one that hides others: `0 ..3 4`.
    private static func picture(_ known: KnownGaps, _ gaps: [UInt64]) -> String {
        known.all.map { ($0.hidesOthers ? ".." : "") + "\(gaps.firstIndex(of: $0.position)!)" }
            .joined(separator: " ")
    }

    /// What should be known of these gaps when a set of chunks is loaded.
    private static func picture(_ loaded: Int, _ gaps: [UInt64]) -> String {
        var shown: Set<Int> = [0, gaps.count - 1]
        for chunk in 0...gaps.count where loaded >> chunk & 1 != 0 {
            shown.formUnion([chunk - 1, chunk].filter(gaps.indices.contains))
        }
        var upper = -1
        return shown.sorted().map { gap in
            defer { upper = gap }
            return (gap > upper + 1 ? ".." : "") + "\(gap)"
        }.joined(separator: " ")
    }
}
