import QuireSimulator
import Testing

@_spi(Unstable) @testable import Quire

/// Several feeds as one list. A feed is drawn by the keys of its posts, the list by feed and key:
///
///     A  9 7 5 .        . an end that the server has stated; |T a tail that goes on; ~ a gap; ^ an open head
///     B  8 6 ~ 2 |T
///
///     A9 B8 A7 B6 B~    all down to the first frontier
///     A5 A. …
@Suite struct MergedRowsTests {
    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache() }

    // MARK: Pictures

    /// Makes a feed from a picture: segments of keys, divided by `~`.
    private func draw(_ name: String, _ picture: String, collection: String? = nil) throws -> Feed {
        let feed = try cache.feed(
            named: name,
            options: FeedOptions(order: .stable, paging: .keyset, collection: collection ?? name))
        var words = picture.split(separator: " ").map(String.init)
        let isOpen = words.first == "^"
        if isOpen { words.removeFirst() }
        let ends = words.last == "."
        if ends || words.last == "|T" { words.removeLast() }
        let segments = words.split(separator: "~").map(Array.init)
        for (i, segment) in segments.enumerated() {
            let isLast = i == segments.count - 1
            // each segment is a jump that lands in it
            let place = i == 0 && !isOpen ? Place.head : .around(id(segment[0], name))
            let request = try #require(try feed.plan(place).request)
            var answer = Answer(
                next: isLast && ends ? .end : .token("below \(segment.last!)"),
                previous: i == 0 && !isOpen ? .end : .token("above \(segment[0])"))
            for key in segment { answer.append(id: id(key, name), key: Int64(key)!, body: Array(key.utf8)) }
            _ = try feed.ingest(answer, for: request.ticket)
        }
        return feed
    }

    private func id(_ key: String, _ name: String) -> PostID { PostID("\(name)\(key)")! }

    private func show(_ rows: [MergedRow], _ feeds: [Feed]) -> String {
        rows.map { row in
            let name = feeds[row.source].name
            switch row {
            case .post(let post, _): return "\(name)\(post.key.map(String.init) ?? "-")"
            case .frontier(.gap, _): return "\(name)~"
            case .frontier(.head, _): return "\(name)^"
            case .frontier(.tail, _): return "\(name)|T"
            }
        }.joined(separator: " ")
    }

    /// Reads in portions of `limit` rows. `|` ends what is read without asking for what is below a frontier.
    private func read(_ feeds: [Feed], limit: Int = 100, from key: Int64? = nil) throws -> String {
        try cache.withSnapshot { snapshot in
            var parts: [String] = []
            var position = try key.map { try snapshot.mergedPosition(atKey: $0, of: feeds) }
            while true {
                let read = try snapshot.mergedRows(of: feeds, after: position, limit: limit)
                #expect(
                    read.rows.count <= limit && (read.stop == .limit) == (read.rows.count == limit)
                        || read.stop != .limit)
                if !read.rows.isEmpty { parts.append(show(read.rows, feeds)) }
                if read.stop == .end { return parts.joined(separator: " ") }
                position = read.position
            }
        }
    }

    private func firstRead(_ feeds: [Feed]) throws -> String {
        try cache.withSnapshot { show(try $0.mergedRows(of: feeds, limit: 100).rows, feeds) }
    }

    @Test func keysDecideAndFrontiersStopTheList() throws {
        let a = try draw("A", "9 7 5 .")
        let b = try draw("B", "8 6 ~ 2 |T")
        #expect(try firstRead([a, b]) == "A9 B8 A7 B6 B~")
        for limit in [1, 2, 3, 7, 100] {
            #expect(try read([a, b], limit: limit) == "A9 B8 A7 B6 B~ A5 B2 B|T")
        }
        #expect(try firstRead([a]) == "A9 A7 A5")
        #expect(try firstRead([]) == "")
    }

    @Test func equalKeysComeInTheOrderOfTheFeeds() throws {
        let a = try draw("A", "5 |T")
        let b = try draw("B", "5 4 .")
        // a post that A misses may have the key 5 too, and would stand above that of B
        #expect(try firstRead([a, b]) == "A5 A|T")
        #expect(try firstRead([b, a]) == "B5 A5 A|T")
        #expect(try read([a, b]) == "A5 A|T B5 B4")
    }

    @Test func aFeedThatWasNeverRequestedHoldsAllBack() throws {
        let a = try draw("A", "9 7 .")
        let new = try cache.feed(named: "N", options: FeedOptions(order: .bump, collection: "N"))
        #expect(try firstRead([a, new]) == "N|T")
        #expect(try read([a, new]) == "N|T A9 A7")
    }

    @Test func aFeedThatWasDroppedHasNoRows() throws {
        let a = try draw("A", "9 7 .")
        let b = try draw("B", "8 |T")
        try b.drop()
        #expect(try firstRead([a, b]) == "A9 A7")
        #expect(try read([a, b], from: 8) == "A7")
    }

    @Test func anOpenHeadIsAFrontier() throws {
        let a = try draw("A", "9 7 .")
        let b = try draw("B", "^ 8 .")
        #expect(try firstRead([a, b]) == "B^")
        #expect(try read([a, b], limit: 1) == "B^ A9 B8 A7")
    }

    @Test func aListOpensAtAKey() throws {
        let a = try draw("A", "9 7 5 .")
        let b = try draw("B", "8 6 ~ 2 |T")
        #expect(try read([a, b], from: 10) == "A9 B8 A7 B6 B~ A5 B2 B|T")
        #expect(try read([a, b], from: 7) == "A7 B6 B~ A5 B2 B|T")
        // what is missing in the gap may have the key 4
        #expect(try read([a, b], from: 5) == "A5 B~ B2 B|T")
        #expect(try read([b, a], from: 5) == "B~ A5 B2 B|T")
        #expect(try read([a, b], from: 4) == "B~ B2 B|T")
        #expect(try read([a, b], from: 1) == "B|T")
    }

    @Test func aPostOfSeveralFeedsIsShownOnce() throws {
        let options = FeedOptions(order: .bump, paging: .keyset, collection: "shared")
        let a = try cache.feed(named: "A", options: options)
        let b = try cache.feed(named: "B", options: options)
        for (feed, keys) in [(a, [("x", 9), ("y", 4)]), (b, [("z", 8), ("x", 6), ("y", 4)])] {
            let request = try #require(try feed.plan(.head).request)
            var answer = Answer(next: .end)
            for (id, key) in keys { answer.append(id: PostID(id)!, key: Int64(key), body: [1]) }
            _ = try feed.ingest(answer, for: request.ticket)
        }
        #expect(try read([a, b]) == "A9 B8 A4")
        #expect(try read([b, a]) == "A9 B8 B4")
        #expect(try read([b]) == "B8 B6 B4")
    }

    @Test func postsWithoutAPlaceOfTheirOwnStayWhereTheyAre() throws {
        let a = try draw("A", "9 3 .")
        let b = try draw("B", "7 5 .")
        _ = try a.insertLocal("draft", body: [1])
        #expect(try read([a, b]) == "A- A9 B7 B5 A3")
        _ = try a.pin(id("9", "A"))
        _ = try a.evict([id("9", "A")])
        let rows = try read([a, b])
        #expect(rows.hasPrefix("A-") && rows.contains("B7 B5"))
    }

    @Test func otherFeedsAreRefused() throws {
        let a = try draw("A", "9 .")
        let list = try cache.feed(named: "L", options: FeedOptions(order: .ranked))
        try cache.withSnapshot { snapshot in
            func code(_ body: () throws -> Void) -> QuireError.Code? {
                do { try body(); return nil } catch { return (error as? QuireError)?.code }
            }
            #expect(code { _ = try snapshot.mergedRows(of: [a, list], limit: 1) } == .badArgument)
            #expect(code { _ = try snapshot.mergedRows(of: [a, a], limit: 1) } == .badArgument)
            #expect(code { _ = try snapshot.mergedPosition(atKey: 1, of: [list]) } == .badArgument)
            let position = try snapshot.mergedPosition(atKey: 1, of: [a])
            #expect(code { _ = try snapshot.mergedRows(of: [], after: position, limit: 1) } == .badArgument)
        }
    }
}

/// Random servers with random histories. What is shown above the first frontier is exactly the beginning of
/// what all servers together have: nothing that comes later can appear there.
@Suite struct MergedTruthTests {
    private struct Server {
        let feed: Feed
        /// The keys of its posts, descending. They never change.
        let keys: [Int64]
    }

    private let storage: TemporaryCache

    init() throws { storage = try TemporaryCache() }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func nothingCanAppearAboveTheFrontier(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let servers = try (0..<random.number(in: 1...4)).map { number in
            try Server(
                feed: storage.cache.feed(
                    named: "f\(number)",
                    options: FeedOptions(order: .stable, paging: .keyset, collection: "c\(number)")),
                // a server never gives a key twice, but two servers may give the same
                keys: Set((0..<random.number(in: 0...25)).map { _ in Int64(random.below(40)) }).sorted(by: >))
        }
        for step in 0..<30 {
            let server = random.pick(servers)
            try take(random.below(6), of: server, &random)
            try compare(servers, "seed \(seed), step \(step)", &random)
        }
    }

    /// The posts of all servers: of equal keys, those of the first server come first.
    private func truth(_ servers: [Server]) -> [(source: Int, rank: Int, key: Int64)] {
        servers.enumerated().flatMap { source, server in
            server.keys.enumerated().map { (source, $0.offset, $0.element) }
        }
        .sorted { ($1.key, $0.source, $0.rank) < ($0.key, $1.source, $1.rank) }
    }

    private func compare(_ servers: [Server], _ what: String, _ random: inout SplitMix64) throws {
        let feeds = servers.map(\.feed)
        let expected = truth(servers).map { "f\($0.source) \($0.rank)" }
        try storage.cache.withSnapshot { snapshot in
            let whole = try snapshot.mergedRows(of: feeds, limit: 1_000)
            let shown = whole.rows.compactMap { row in row.post.map { "f\(row.source) \($0.id)" } }
            #expect(shown == Array(expected.prefix(shown.count)), "\(what)")
            if whole.stop == .end { #expect(shown == expected, "\(what)") }
            // the same in portions, and below all frontiers: each row of each feed once
            var position: MergedPosition?
            var rows: [MergedRow] = []
            while true {
                let read = try snapshot.mergedRows(
                    of: feeds, after: position, limit: random.number(in: 1...5))
                rows += read.rows
                position = read.position
                if read.stop == .end { break }
            }
            #expect(Array(rows.prefix(whole.rows.count)) == whole.rows, "\(what)")
            let past = try snapshot.mergedRows(of: feeds, limit: 10_000, pastFrontiers: true)
            #expect(past.rows == rows && past.stop == .end, "\(what)")
            for (source, feed) in feeds.enumerated() {
                let own = rows.filter { $0.source == source }
                let walk = try snapshot.rows(of: feed, limit: 1_000)
                #expect(own.compactMap(\.post) == walk.compactMap(\.post), "\(what)")
                #expect(
                    own.count { if case .gap? = $0.frontier { true } else { false } }
                        == walk.count { $0.gap != nil }, "\(what)")
            }
            let keys = rows.compactMap(\.post?.key)
            #expect(keys == keys.sorted(by: >), "\(what)")
        }
    }

    /// One request, answered by the server; or an eviction.
    private func take(_ kind: Int, of server: Server, _ random: inout SplitMix64) throws {
        let feed = server.feed
        let held = try storage.cache.withSnapshot { try $0.rows(of: feed, limit: 1_000) }
        var place = Place.tail
        switch kind {
        case 0: place = .head
        case 1 where !server.keys.isEmpty:
            place = .around(PostID(UInt64(random.below(server.keys.count))))
        case 2:
            if let gap = held.compactMap(\.gap).randomElement(using: &random) { place = .gap(gap.id) }
        case 3:
            let posts = held.compactMap(\.post?.id)
            if !posts.isEmpty {
                _ = try feed.evict((0..<random.number(in: 1...3)).map { _ in random.pick(posts) })
            }
            return
        default: break
        }
        guard let request = try feed.plan(place).request else { return }
        let last = server.keys.count
        var (first, limit) = (0, random.number(in: 1...6))
        switch request.target {
        case .link(.below(let id)): first = Int(id.number!) + 1
        case .link(.above(let id)):
            limit = min(limit, Int(id.number!))
            first = Int(id.number!) - limit
        case .around(let id): first = max(0, Int(id.number!) - 2)
        default: break
        }
        let end = min(last, first + limit)
        var answer = Answer(
            next: end == last ? .end : .unknown, previous: first == 0 ? .end : .unknown)
        for rank in first..<max(first, end) {
            answer.append(id: PostID(UInt64(rank)), key: server.keys[rank], body: [1])
        }
        _ = try feed.ingest(answer, for: request.ticket)
    }
}
