import QuireSimulator
@_spi(Unstable) import TestSupport
import Testing

@_spi(Unstable) @testable import Quire

/// R13. Local posts stand on top of the feed, the newest first. A rule
/// does not load their chunks, and may not notice.
///
///     (l3 l2 l1) [6 5 4] ~n2~ [3 2 1]
@Suite struct LocalPostsTests {
    private let storage: TemporaryCache
    private let feed: Feed

    private static let seed = Specification.number("QUIRE_SEED").map(UInt64.init) ?? 7

    init() throws {
        storage = try TemporaryCache(.cramped)
        feed = try storage.cache.feed(named: "f", options: FeedOptions(order: .keyless))
    }

    /// Hundreds of posts come and go, between pages at the head and the tail.
    @Test func theirOrder() throws {
        var random = SplitMix64(seed: Self.seed)
        var (local, server): ([PostID], [PostID]) = ([], [])
        for step in 0..<300 {
            let id = PostID("l\(step)")!
            switch random.number(in: 0...9) {
            case 0...5:
                #expect(try feed.insertLocal(id, body: []))
                local.insert(id, at: 0)
            case 6, 7:
                guard !local.isEmpty else { continue }
                let gone = local.remove(at: random.number(in: 0...local.count - 1))
                #expect(try feed.removeLocal(gone))
            case 8:
                let page = (0..<3).map { PostID("p\(step)-\($0)")! }
                let place: Place = server.isEmpty ? .head : .tail
                try load(page, at: place, next: .token("n\(step)"))
                server += page
            default:
                let page = [PostID("h\(step)")!] + server.prefix(2)
                try load(page, at: .head, next: .token("r\(step)"))
                server.insert(page[0], at: 0)
            }
            let rows = try rows()
            #expect(rows.count == local.count + server.count, "seed \(Self.seed), step \(step)")
            #expect(rows.filter { $0.description.hasPrefix("l") } == local, "seed \(Self.seed), step \(step)")
            #expect(
                rows.filter { !$0.description.hasPrefix("l") } == server, "seed \(Self.seed), step \(step)")
        }
        #expect(try storage.cache.check() == [])
    }

    /// `(l) [p9 p8 …]`, then `(l) [q0] [p9 …]`, `(l) [q1] [q0] …`: what comes below a local post that stays
    /// on top finds room there, and moves nothing. Seventeen times used up the positions, and the whole feed
    /// was written anew.
    @Test func whatComesBelowALocalPostMovesNothing() throws {
        let storage = try TemporaryCache()
        let feed = try storage.cache.feed(named: "f", options: FeedOptions(order: .keyless))
        for page in 0..<50 {
            var answer = Answer(next: .token("n\(page)"))
            for i in 0..<10 { answer.append(id: PostID("p\(page)-\(i)")!) }
            let request = try #require(try feed.plan(page == 0 ? .head : .tail).request)
            _ = try feed.ingest(answer, for: request.ticket)
        }
        #expect(try feed.insertLocal("l", body: []))
        for step in 0..<200 {
            var answer = Answer()
            answer.append(id: PostID("q\(step)")!)
            try storage.cache.batch { batch in
                _ = try batch[feed].push(answer)
                let loader = try #require(batch.session.loaded.recent)
                #expect(loader.chunks.all.count <= 4, "step \(step)")
            }
        }
        #expect(try storage.cache.check() == [])
    }

    /// `[… x][y …]`, then `[… x n0 y …]`, `[… x n1 n0 y …]`: answers that come directly below one post again
    /// and again. When the positions there are used up, the chunks nearby move, and no others.
    @Test(arguments: [100, 1_000]) func whatComesBelowOnePostMovesItsNeighbours(pages: Int) throws {
        let storage = try TemporaryCache()
        let feed = try storage.cache.feed(named: "f", options: FeedOptions(order: .keyless))
        var list = (0..<pages * 10).map { PostID(UInt64($0)) }
        func answer(_ places: Range<Int>) -> Answer {
            var answer = Answer(next: .token("below \(list[places.upperBound - 1])"))
            for id in list[places] { answer.append(id: id) }
            return answer
        }
        for page in 0..<pages {
            let request = try #require(try feed.plan(page == 0 ? .head : .tail).request)
            _ = try feed.ingest(answer(page * 10..<page * 10 + 10), for: request.ticket)
        }
        for step in 0..<300 {
            list.insert(PostID(UInt64(1_000_000 + step)), at: 76)
            try storage.cache.batch { batch in
                let request = try #require(try batch[feed].plan(.around(75)).request)
                #expect(try batch[feed].ingest(answer(71..<81), for: request.ticket).verdict == .ok)
                let loader = try #require(batch.session.loaded.recent)
                #expect(loader.chunks.all.count <= 100, "step \(step)")
            }
        }
        let rows = try storage.cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
        #expect(rows.compactMap(\.post?.id) == list)
        #expect(try storage.cache.check() == [])
    }

    /// A post that the server shows leaves the others where they are.
    @Test func oneIsConfirmed() throws {
        let ids = (0..<50).map { PostID("l\($0)")! }
        try load([PostID("a"), PostID("b")], at: .head, next: .end)
        for id in ids { #expect(try feed.insertLocal(id, body: [])) }
        try load([ids[20], PostID("a")], at: .head, next: .token("n"))
        let left = ids.reversed().filter { $0 != ids[20] }
        let rows = try rows()
        #expect(rows.filter(left.contains) == left)
        #expect(rows.filter { !left.contains($0) } == [ids[20], PostID("a"), PostID("b")])
        #expect(try storage.cache.check() == [])
    }

    /// What an answer moves takes along the detached posts below it, also those that were not loaded. The
    /// list of changes says so:
    ///
    ///     [6 5] ~n~ [4 3 2 (1 0)]    to    [6 5 2 (1 0)] ~n~ [4 3]
    @Test func detachedPostsFollowWhatMoves() throws {
        func ids(_ numbers: Int...) -> [PostID] { numbers.map { PostID("p\($0)")! } }
        let list = try storage.cache.feed(
            named: "list", options: FeedOptions(order: .ranked, trustsEnd: true))
        try load(ids(4, 3, 2), at: .head, next: .token("n"), in: list)
        try load(ids(1, 0), at: .tail, next: .token("o"), in: list)
        for id in ids(1, 0) { #expect(try list.pin(id)) }
        try load(ids(4, 3, 2), at: .head, next: .end, in: list)
        try load(ids(6, 5), at: .head, next: .token("g"), in: list, .gap)
        #expect(try rows(of: list) == ids(6, 5, 4, 3, 2, 1, 0))
        var mirror = Mirror()
        try mirror.follow(storage.cache)
        let gap = try #require(try storage.cache.withSnapshot { try $0.gaps(of: list).first })
        try load(ids(2), at: .gap(gap.id), next: .token("h"), in: list, .gap)
        #expect(try rows(of: list) == ids(6, 5, 2, 1, 0, 4, 3))
        try mirror.follow(storage.cache)
    }

    private func rows(of feed: Feed? = nil) throws -> [PostID] {
        try storage.cache.withSnapshot { snapshot in
            try snapshot.rows(of: feed ?? self.feed, limit: .max).compactMap {
                if case .post(let post) = $0 { post.id } else { nil }
            }
        }
    }

    private func load(
        _ page: [PostID], at place: Place, next: Link, in feed: Feed? = nil, _ verdict: Outcome.Verdict = .ok
    ) throws {
        let feed = feed ?? self.feed
        let request = try #require(try feed.plan(place).request)
        var answer = Answer(next: next)
        for id in page { answer.append(id: id, body: []) }
        #expect(try feed.ingest(answer, for: request.ticket).verdict == verdict)
    }
}
