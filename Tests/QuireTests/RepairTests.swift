import Foundation
import QuireSimulator
import Testing

@testable import Quire

/// A damaged cache becomes a cache again, and nothing that was lost is called complete: small worlds with
/// every record, every page and every cut in turn, then damage at random.
@Suite(.timeLimit(.minutes(10))) struct RepairTests {
    private let world: DamagedWorld

    init() throws { world = try DamagedWorld() }

    // MARK: Small worlds

    @Test func aSoundFileIsLeftAlone() throws {
        let before = try world.write(world.whole)
        let report = try Cache.repair(at: before)
        #expect(report.isSound && report.keptFile == nil && report.feeds.isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: before)) == world.whole)
        #expect(try world.openAndLook() == world.portrait)
    }

    /// Every record with a byte changed, and every record missing, as LMDB itself would write it.
    @Test(arguments: [true, false]) func everyRecord(_ isMissing: Bool) throws {
        for (table, key, value) in try world.records() {
            let name = "\(table.name) \(key)"
            var damaged: [UInt8]? = value
            if isMissing { damaged = nil } else { damaged![value.count / 2] ^= 0x10 }
            let repaired = try world.repair(table, key, damaged)
            world.judge(repaired, name)
            let lost = try world.posts(in: table, key, value)
            for post in world.postsOf(world.portrait).subtracting(lost) {
                #expect(
                    repaired.portrait.feeds[post.feed]?.posts[post.id] != nil, "\(name): \(post) was lost")
            }
            let isDerived = ["names", "log", "counters", "locations", "body-use", "format"].contains(
                table.name.description)
            if isDerived { #expect(repaired.portrait == world.portrait, "\(name)") }
        }
    }

    /// Every LMDB page zeroed, and with bits flipped here and there.
    @Test func everyPage() throws {
        let stride = Specification.number("QUIRE_FLIPS") ?? 509
        for page in 0..<world.whole.count / 4096 {
            var file = world.whole
            file.replaceSubrange(page * 4096..<page * 4096 + 4096, with: Data(count: 4096))
            let repaired = try world.repair(file)
            world.judge(repaired, "page \(page) zeroed")
            if page > 1 {
                let lost = try world.posts(in: UInt64(page))
                for post in world.postsOf(world.portrait).subtracting(lost) {
                    #expect(
                        repaired.portrait.feeds[post.feed]?.posts[post.id] != nil,
                        "page \(page) zeroed: \(post) was lost")
                }
            }
            for offset in Swift.stride(from: page % 7, to: 4096, by: stride) {
                var file = world.whole
                file[page * 4096 + offset] ^= UInt8(1 << (offset % 8))
                let repaired = try world.repair(file)
                // LMDB itself falls back to the older commit when the newer one has a lower number.
                if page < 2 && repaired.report.isSound { continue }
                world.judge(repaired, "page \(page), bit \(offset % 8) of byte \(offset)")
            }
        }
    }

    /// The tree's root leads to another page of the file than it should: to another leaf, to one that was
    /// given up.
    @Test func everyWrongBranch() throws {
        let root = try #require(try LMDBFile(world.write(world.whole)).soundMeta().main.rootPage)
        let page = world.whole.subdata(in: Int(root) * 4096..<Int(root + 1) * 4096)
        let children = page.withUnsafeBytes { bytes in
            Nodes(of: bytes, PageHeader(bytes), isLeaf: false)!.map { $0.key.lowerBound - 8 }
        }
        #expect(children.count > 1, "a tree of two levels")
        for child in children {
            for target in 2..<world.whole.count / 4096 {
                var file = world.whole
                file[Int(root) * 4096 + child] = UInt8(target)
                if file == world.whole { continue }
                let repaired = try world.repair(file)
                world.judge(repaired, "node at \(child) leads to page \(target)")
                #expect(repaired.portrait == world.portrait, "no leaf is lost")
            }
        }
    }

    @Test func everyTruncation() throws {
        for pages in 0...world.whole.count / 4096 {
            world.judge(try world.repair(world.whole.prefix(pages * 4096)), "cut after \(pages) pages")
        }
        world.judge(try world.repair(world.whole.prefix(world.whole.count - 700)), "cut within a page")
    }

    // MARK: Pictures

    @Test func whatIsLostIsAGap() throws {
        let whole = "[+L 65 64 63 62 61] ~n60~ [45 44 43 41] ~n40~ [25 24 23 22 21] |n20"
        #expect(world.portrait.feeds["stable"]!.picture == whole)
        let without = [
            "[65 64 63 62 61] ~n60~ [45 44 43 41] ~n40~ [25 24 23 22 21] |n20",
            "?| [+L 62 61] ~n60~ [45 44 43 41] ~n40~ [25 24 23 22 21] |n20",
            "?| [+L 65 64 63] ~?~ [45 44 43 41] ~n40~ [25 24 23 22 21] |n20",
            "[+L 65 64 63 62 61] ~n60~ [41] ~n40~ [25 24 23 22 21] |n20",
            "[+L 65 64 63 62 61] ~n60~ [45 44 43] ~?~ [25 24 23 22 21] |n20",
            "[+L 65 64 63 62 61] ~n60~ [45 44 43 41] ~n40~ [22 21] |n20",
            "[+L 65 64 63 62 61] ~n60~ [45 44 43 41] ~n40~ [25 24 23] |?",
        ]
        let chunks = try world.records().filter { $0.table == .chunks(of: 1) }
        for (chunk, picture) in zip(chunks, without) {
            let repaired = try world.repair(.chunks(of: 1), chunk.key, nil)
            #expect(repaired.portrait.feeds["stable"]!.picture == picture)
        }
        // A gap that is lost without a trace: only the counts of the segments tell that there was one.
        for gap in try world.records() where gap.table == .gaps(of: 1) {
            let repaired = try world.repair(.gaps(of: 1), gap.key, nil).portrait.feeds["stable"]!
            #expect(
                repaired.rows.contains { if case .gap = $0 { true } else { false } }, "\(repaired.picture)")
        }
    }

    /// An observer of the old file is told to read the feeds anew, however far it had come.
    @Test func followersReadAnew() throws {
        let (table, key, _) = try #require(try world.records().first { $0.table == .chunks(of: 1) })
        let path = try world.write(world.whole)
        let cache = try Cache(at: path)
        let before = try cache.withSnapshot { try $0.generation }
        try cache.environment.write { try $0.delete(table, key) }
        _ = consume cache
        _ = try Cache.repair(at: path)
        let repaired = try Cache(at: path)
        let now = try repaired.withSnapshot { try $0.generation }
        #expect(now > before)
        try repaired.environment.read { transaction in
            let log = ChangeLog(transaction: transaction)
            for old in before - 3...before {
                let changes = try #require(try log.changes(since: old, now: now))
                #expect(
                    Set(changes.map(\.feed)) == [1, 2, 3] && changes.allSatisfy { $0.changes == [.reset] })
            }
        }
    }

    // MARK: Damage at random

    /// Caches of random histories with one to three changes: bits, bytes, pages, old pages, the size.
    @Test func damageAtRandom() throws {
        let first = UInt64(Specification.number("QUIRE_FIRST_SEED") ?? 0)
        var (damaged, files) = (0, 0)
        for seed in first..<first + UInt64(Specification.number("QUIRE_SEEDS") ?? 60) {
            let world = try DamagedWorld(seed: seed, steps: 40)
            var random = SplitMix64(seed: seed)
            for round in 0..<4 {
                var file = world.whole
                let changes = (0..<random.number(in: 1...3)).map { _ in Damage(&random, file.count) }
                for change in changes { change.apply(to: &file) }
                let isMeta = changes.contains(where: \.touchesMeta)
                let repaired: DamagedWorld.Repaired
                do {
                    repaired = try world.repair(file)
                } catch let error as QuireError where error.code == .notACache && isMeta {
                    continue  // nothing is left by which it could be told
                }
                (damaged, files) = (damaged + (repaired.report.isSound ? 0 : 1), files + 1)
                if isMeta && repaired.report.isSound { continue }
                world.judge(repaired, "seed \(seed), round \(round): \(changes)", mayLackCommit: isMeta)
            }
        }
        #expect(damaged > files / 4, "\(damaged) of \(files) files were damaged where it matters")
    }

    // MARK: What is no cache

    @Test func whatIsNoCacheIsRefused() throws {
        for (bytes, code) in [(Data(repeating: 120, count: 9000), QuireError.Code.notACache)] {
            let path = try world.write(bytes)
            #expect { try Cache.repair(at: path) } throws: { ($0 as? QuireError)?.code == code }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        }
    }
}

extension RepairTests {
    /// Two gaps that say the same of themselves, in one of two feeds. A number of an edge is given anew; what
    /// contradicts itself takes no other feed along.
    @Test(arguments: [false, true]) func oneFeedContradictsItself(_ isLost: Bool) throws {
        let storage = try TemporaryCache()
        for name in ["a", "b"] {
            let feed = try storage.cache.feed(named: name)
            for page in 0..<5 as Range<UInt64> {
                var answer = Answer(next: .token("n\(page)"))
                for i in 0..<5 as Range<UInt64> { answer.append(id: PostID(100 - page * 5 - i), body: [1]) }
                let plan = try feed.plan(page == 0 ? .head : .tail)
                _ = try feed.ingest(answer, for: plan.request!.ticket)
            }
            _ = try feed.evict([(91...95), (81...85)].flatMap { $0.map { PostID($0) } })
        }
        let path = storage.folder + "/copy.quire"
        try storage.cache.copy(to: path)
        do {
            let cache = try Cache(at: path)
            let feed = try cache.feed(named: "b").number
            try cache.environment.write { transaction in
                let gaps = try transaction.withCursor(.gaps(of: feed)) { cursor in
                    var gaps: [(UInt64, GapRecord)] = []
                    var found = try cursor.first()
                    while let (key, value) = found {
                        gaps.append((NumberKey(key)!.number, try GapRecord(value, "a gap")))
                        found = try cursor.next()
                    }
                    return gaps
                }
                var second = gaps[1].1
                second.gap.down.number = gaps[0].1.gap.down.number
                if isLost { second.gap.since = 1 << 60 }
                try transaction.put(.gaps(of: feed), NumberKey(gaps[1].0), second)
            }
        }
        #expect(try !Cache.verify(at: path).isEmpty)
        let report = try Cache.repair(at: path)
        #expect(report.feeds.map(\.name) == ["a", "b"] && report.feeds.map(\.isLost) == [false, isLost])
        #expect(report.feeds[0].isWhole && report.feeds[1].isWhole == !isLost && !report.isEmptied)
        let cache = try Cache(at: path)
        #expect(try cache.check().isEmpty)
        #expect(try cache.feeds().map(\.name) == (isLost ? ["a"] : ["a", "b"]))
    }

    /// A feed whose posts are all lost is open above until the head is asked for, though it is empty.
    @Test(
        arguments: [("bodies", .cursor), ("chunks", .cursor), ("chunks", .ids)] as [(String, Paging)],
        [true, false])
    func allIsLost(_ damage: (table: String, paging: Paging), _ isEmptyOnServer: Bool) throws {
        let storage = try TemporaryCache()
        let feed = try storage.cache.feed(named: "f", options: FeedOptions(paging: damage.paging))
        var answer = Answer(next: .end)
        for id in (1...9 as ClosedRange<UInt64>).reversed() {
            answer.append(id: PostID(id), body: [1, 2, 3])
        }
        _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
        let path = storage.folder + "/copy.quire"
        try storage.cache.copy(to: path)
        do {
            let cache = try Cache(at: path)
            try cache.environment.write { transaction in
                var keys: [(table: Table, key: [UInt8])] = []
                try transaction.forEachRecord { key, _ in
                    let owner = Table.owner(of: key)!.table
                    if owner.name.description == damage.table { keys.append((owner, Array(owner.key(key)!))) }
                }
                for (table, key) in keys { try transaction.delete(table, key) }
            }
        }
        let report = try Cache.repair(at: path)
        #expect(report.feeds.map(\.posts) == [0] && !report.feeds[0].isWhole, "\(report)")
        let cache = try Cache(at: path)
        let repaired = try cache.feed(named: "f")
        func info() throws -> FeedInfo { try cache.withSnapshot { try $0.info(of: repaired) } }
        #expect(try info().isHeadOpen && !info().isInSequence && info().tail != .end)
        #expect(try cache.check() == [])
        if isEmptyOnServer { answer = Answer(next: .end) }
        _ = try repaired.ingest(answer, for: repaired.plan(.head).request!.ticket)
        #expect(try info().isInSequence && info().tail == .end)
        #expect(try info().posts == (isEmptyOnServer ? 0 : 9))
        #expect(try cache.check() == [])
    }

    /// The last commit of the log has another number, as after a flipped bit of its key: the repaired log
    /// goes on there, and reaches back as far as it must.
    @Test func aCommitOfAnotherNumber() throws {
        let storage = try TemporaryCache()
        let feed = try storage.cache.feed(named: "f", options: FeedOptions(order: .keyless))
        for page in 0..<20 as Range<UInt64> {
            var answer = Answer(next: .token("n\(page)"))
            for i in 0..<5 as Range<UInt64> { answer.append(id: PostID(page * 5 + i), body: [1, 2, 3]) }
            let plan = try feed.plan(page == 0 ? .head : .tail)
            _ = try feed.ingest(answer, for: plan.request!.ticket)
        }
        for bit in 8..<64 as Range<UInt64> {
            let path = storage.folder + "/copy-\(bit).quire"
            _ = try storage.cache.copy(to: path)
            do {
                let cache = try Cache(at: path)
                try cache.environment.write { transaction in
                    let last = try WriteSession.counters(transaction).generation
                    let value = Array(try transaction.get(.log, NumberKey(last))!)
                    try transaction.delete(.log, NumberKey(last))
                    try transaction.put(.log, NumberKey(last | 1 << bit), value)
                }
            }
            let report = try Cache.repair(at: path)
            #expect(!report.isEmptied, "bit \(bit)")
        }
    }
}
