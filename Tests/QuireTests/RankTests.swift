import QuireSimulator
import Testing

@testable import Quire

/// The page index: what has which number from the top, against walking the feed from the top.
///
///     rank   0 1 2  3   4 5 6 7      of a row: how many rows are above it; a gap is a row
///            a b c ~n1~ d e f g      page 0: a b c, page 1: d e f g
@Suite struct RankTests {
    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache() }

    /// Compares all answers of the page index with those of a walk.
    private func expectEqualsWalk(_ feed: Feed, _ what: String) throws {
        try cache.withSnapshot { snapshot in
            let rows = try snapshot.rows(of: feed, limit: .max)
            #expect(try snapshot.rowCount(of: feed) == rows.count, "\(what)")
            for (rank, row) in rows.enumerated() {
                let two = try snapshot.rows(of: feed, from: rank, limit: 2)
                #expect(two == Array(rows[rank...].prefix(2)), "\(what)")
                let position = row.post?.position ?? row.gap!.position
                #expect(try snapshot.rank(of: position, in: feed) == rank, "\(what)")
                guard let post = row.post else { continue }
                #expect(try snapshot.rank(of: post.id, in: feed) == rank, "\(what)")
            }
            #expect(try snapshot.rows(of: feed, from: rows.count, limit: 1).isEmpty, "\(what)")
            #expect(try snapshot.rows(of: feed, from: -1, limit: 1).isEmpty, "\(what)")
            #expect(try snapshot.rank(of: "absent", in: feed) == nil, "\(what)")
            try expectPages(feed, rows, snapshot, what)
            try expectKeys(feed, rows, snapshot, what)
        }
    }

    private func expectPages(
        _ feed: Feed, _ rows: [FeedRow], _ snapshot: borrowing Snapshot, _ what: String
    ) throws {
        var order: [UInt64] = []
        for page in rows.compactMap({ $0.post?.page }) where !order.contains(page) { order.append(page) }
        #expect(try snapshot.pages(of: feed, limit: .max).map(\.number) == order, "\(what)")
        for (index, number) in order.enumerated() {
            let page = try snapshot.page(at: index, of: feed)
            #expect(page?.number == number && page?.index == index, "\(what)")
        }
        #expect(try snapshot.page(at: order.count, of: feed) == nil, "\(what)")
        #expect(try snapshot.page(at: -1, of: feed) == nil, "\(what)")
    }

    private func expectKeys(
        _ feed: Feed, _ rows: [FeedRow], _ snapshot: borrowing Snapshot, _ what: String
    ) throws {
        let keys = rows.map { $0.post.flatMap { $0.isDetached ? nil : $0.key } }
        let known = keys.compactMap(\.self)
        for key in Set(known.flatMap { [$0 - 1, $0, $0 + 1] } + [.min, .max]) {
            let expected = keys.firstIndex { $0.map { $0 <= key } ?? false } ?? rows.count
            let found = try snapshot.rank(ofKey: key, in: feed)
            #expect(found == (feed.options.order.hasKeys ? expected : nil), "\(what), key \(key)")
        }
    }

    /// A stable feed of random pages: more at the tail, jumps, evictions, deletions, pins, local posts.
    @Test(arguments: 0..<12 as Range<UInt64>) func equalsAWalk(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let order = random.pick([.stable, .stable, .bump] as [OrderClass])
        let options = FeedOptions(order: order, paging: .keyset, pageSize: 5)
        let feed = try cache.feed(named: "f", options: options)
        var newest: UInt64 = 100
        for step in 0..<40 {
            let what = "seed \(seed), step \(step)"
            switch random.below(10) {
            case 0..<4: try take(.tail, feed, &newest, &random)
            case 4: try take(.head, feed, &newest, &random)
            case 5, 6:
                try take(.around(PostID(UInt64(random.below(Int(newest)) + 1))), feed, &newest, &random)
            case 7:
                let ids = try held(feed)
                if ids.isEmpty { continue }
                _ = try feed.evict((0..<random.number(in: 1...9)).map { _ in random.pick(ids) })
            case 8:
                let ids = try held(feed)
                if !ids.isEmpty { try feed.delete(random.pick(ids)) }
            default:
                let ids = try held(feed)
                if !ids.isEmpty { _ = try feed.pin(random.pick(ids)) }
                _ = try feed.insertLocal(PostID("local-\(step)")!, body: [1])
            }
            try expectEqualsWalk(feed, what)
        }
        #expect(try cache.check().isEmpty, "seed \(seed)")
        try storage.reopen()
        try expectEqualsWalk(try cache.feed(named: "f", options: options), "seed \(seed), opened again")
    }

    /// Each commit of a page writes one record of the index, and one more where it merges older ones.
    @Test func aPageWritesOneRecord() throws {
        let feed = try cache.feed(named: "f", options: FeedOptions(order: .stable))
        func records() throws -> [[UInt8]: [UInt8]] {
            try cache.environment.read { transaction in
                var records: [[UInt8]: [UInt8]] = [:]
                try transaction.forEachRecord { key, value in
                    if Table.owner(of: key)?.table != .ranks(of: feed.number) { return }
                    records[Array(key)] = Array(value)
                }
                return records
            }
        }
        var (before, written): ([[UInt8]: [UInt8]], Int) = ([:], 0)
        for page in 0..<400 {
            let request = try feed.plan(page == 0 ? .head : .tail).request!
            var answer = Answer(next: .token("p\(page + 1)"))
            for key in stride(from: -3 * page, to: -3 * (page + 1), by: -1) {
                answer.append(id: PostID("p\(-key)")!, key: Int64(key), body: [1])
            }
            _ = try feed.ingest(answer, for: request.ticket)
            let after = try records()
            let changed = after.count { before[$0.key] != $0.value }
            #expect(changed <= 2 && after.count <= before.count + 1, "page \(page)")
            (before, written) = (after, written + changed)
        }
        #expect((400...440).contains(written), "\(written) records in 400 commits")
        #expect(before.count <= 12)
    }

    /// Bytes of a file may have any positions: a search in runs that are not in order ends all the same.
    @Test(arguments: 0..<60 as Range<UInt64>) func aSearchInDamagedRunsEnds(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let records = (0..<random.number(in: 1...4)).map { _ in
            let changes = (0..<random.number(in: 1...9)).map { _ in
                RankChange(position: UInt64(random.below(8)), rows: random.number(in: -1...3), pages: 1)
            }
            let size = RankRun.size(of: changes)
            let record = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
            RankRun.write(changes, into: record)
            return UnsafeRawBufferPointer(record)
        }
        defer { for record in records { record.deallocate() } }
        let index = RankIndex(runs: records.compactMap { RankRun($0) })
        #expect(index.position(ofRow: -1) == nil && index.position(ofPage: index.total.pages) == nil)
        for number in 0..<max(0, index.total.rows) { _ = index.position(ofRow: number) }
        for number in 0..<index.total.pages { _ = index.position(ofPage: number) }
    }

    /// A forged run with a right checksum: an error or some number, never a crash or a loop.
    @Test(arguments: [.max, .min, -1, 0, 1, 5, 1 << 40] as [Int64])
    func aForgedIndexDoesNoHarm(_ word: Int64) throws {
        let forgery = try Forgery()
        let cache = forgery.storage.cache
        let feed = try #require(try cache.existingFeed(named: "a"))
        for (first, second) in [(word, Int64.max), (3, word), (word, word), (word, 7)] {
            for (table, key, value) in try forgery.records("ranks") {
                var forged = value
                value.withUnsafeBytes { bytes in
                    for i in 0..<RankRun(bytes)!.count {
                        for at in [i * 24 + 8, i * 24 + 16] {
                            let word = i % 2 == 0 ? first : second
                            forged.replaceSubrange(
                                at..<at + 8, with: withUnsafeBytes(of: word.littleEndian, Array.init))
                        }
                    }
                }
                try forgery.put(table, key, Forgery.sealed(Array(forged.dropLast(4))))
            }
            try cache.withSnapshot { snapshot in
                for rank in [0, 1, 6, 1 << 39, .max - 1, .max] {
                    _ = try? snapshot.rows(of: feed, from: rank, limit: 3)
                    _ = try? snapshot.page(at: rank, of: feed)
                }
                for row in try snapshot.rows(of: feed, limit: .max) {
                    _ = try? snapshot.rank(of: row.post?.position ?? row.gap!.position, in: feed)
                }
                for key in [.min, 0, 32, .max] as [Int64] { _ = try? snapshot.rank(ofKey: key, in: feed) }
                _ = try snapshot.rowCount(of: feed)
            }
        }
    }

    private func held(_ feed: Feed) throws -> [PostID] {
        try cache.withSnapshot { try $0.rows(of: feed, limit: .max).compactMap(\.post?.id) }
    }

    /// The server has the posts `newest` … 1, whose keys are their numbers.
    private func take(
        _ place: Place, _ feed: Feed, _ newest: inout UInt64, _ random: inout SplitMix64
    ) throws {
        guard let request = try feed.plan(place).request else { return }
        var first = newest
        switch request.target {
        case .link(.below(let id)): first = (UInt64(id.description) ?? 1) - 1
        case .around(let id): first = min(newest, (UInt64(id.description) ?? 1) + 2)
        default:
            newest += UInt64(random.below(8))
            first = newest
        }
        var answer = Answer(next: first > 5 ? .unknown : .end)
        for number in stride(from: first, to: first > 5 ? first - 5 : 0, by: -1) {
            answer.append(id: PostID(number), key: Int64(number), body: [UInt8(truncatingIfNeeded: number)])
        }
        _ = try feed.ingest(answer, for: request.ticket)
    }
}
