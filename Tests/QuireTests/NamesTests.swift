import Testing

@testable import Quire

/// R28: several ids of one post. That the rules hold is what scenarios 801 and on show; here is what is stored.
@Suite struct NamesTests {
    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache() }

    private func feed(_ name: String, of collection: String = "") throws -> Feed {
        try cache.feed(named: name, options: FeedOptions(collection: collection))
    }

    private func refresh(_ feed: Feed, _ ids: [PostID], version: Int64? = nil, body: String = "") throws {
        var answer = Answer(next: .token("n"))
        for id in ids { answer.append(id: id, version: version, body: Array((body.isEmpty ? "\(id)" : body).utf8)) }
        let request = try #require(try feed.plan(.head).request)
        #expect(try feed.ingest(answer, for: request.ticket).verdict == .ok)
    }

    private func body(_ id: PostID, in feed: Feed) throws -> String? {
        try cache.withSnapshot { snapshot in
            guard let row = try snapshot.find(id, in: feed) else { return nil }
            return try snapshot.body(of: row).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
    }

    private func name(_ id: PostID, in collection: String = "") throws -> PostID? {
        try cache.withSnapshot { try $0.post(id, in: collection)?.id }
    }

    private func aliases() throws -> Int { try cache.environment.read { try $0.count(.aliases) } }

    private static let long = PostID(String(repeating: "i", count: 300))!

    /// `[+L a] |n` becomes `[+x a] |n`, after reopening too, and every id of the post finds it.
    @Test(arguments: ["x", 7, long] as [PostID])
    func aConfirmedPostHasBothIDs(_ server: PostID) throws {
        let feed = try feed("f")
        try refresh(feed, ["a"])
        try feed.insertLocal("L", body: Array("draft".utf8))
        #expect(try feed.pin("L"))
        #expect(try cache.update("L", fields: ["quire.read": [1]], version: 1) == .changed)
        #expect(try feed.confirmLocal("L", as: server) == .united)
        try storage.reopen()
        let again = try cache.feed(named: "f")
        for id in ["L", server] as [PostID] {
            #expect(try body(id, in: again) == "draft")
            #expect(try name(id) == server)
        }
        let row = try #require(try cache.withSnapshot { try $0.find("L", in: again) })
        #expect(row.isRider && row.isPinned)
        #expect(try cache.withSnapshot { try $0.fields(of: row, in: again) } == ["quire.read": [1]])
        #expect(try cache.withSnapshot { try $0.contains(["L", server, "b"], in: again) } == [true, true, false])
        #expect(try cache.check().isEmpty)
    }

    /// A name that is replaced takes its other ids along: no id is further than one step from the name.
    @Test func aNameMayBeReplacedAgainAndAgain() throws {
        let feed = try feed("f")
        try refresh(feed, [1])
        try cache.batch { batch in
            for id in 1..<1_500 as Range<UInt64> {
                let result = try batch.addAlias(PostID(id), of: PostID(id + 1))
                #expect(result == .united)
            }
        }
        for id in [1, 2, 700, 1_499, 1_500] as [PostID] { #expect(try name(id) == 1_500) }
        #expect(try cache.addAlias(3, of: 9) == .same)
        #expect(try aliases() == 1_500)
        #expect(try cache.check().isEmpty)
    }

    /// `one: [a b]`, `two: [b2 c]`: followers are told that b2 left and b came, or that b is another one now.
    @Test func followersHearOfIt() throws {
        let (one, two) = (try feed("one"), try feed("two"))
        try refresh(one, ["a", "b"], version: 1, body: "old")
        try refresh(two, ["b2", "c"], version: 2, body: "new")
        #expect(try cache.update("b2", fields: ["f": [1]], version: 1) == .changed)
        let before = try cache.withSnapshot { try $0.generation }
        #expect(try cache.addAlias("b2", of: "b") == .united)
        let changes = try #require(try cache.withSnapshot { try $0.changes(since: before) })
        let heard = { (feed: Feed) in changes.filter { $0.feed == feed.number }.flatMap(\.changes) }
        #expect(heard(two) == [.removed(.post("b2")), .inserted(.post("b"), below: nil)])
        #expect(Set(heard(one)) == [.updated("b")])
        #expect(try body("b2", in: one) == "new")
        #expect(try body("b", in: two) == "new")
        #expect(try cache.check().isEmpty)
    }

    /// Fields alone are a change, too.
    @Test func followersHearOfFields() throws {
        let (one, two) = (try feed("one"), try feed("two"))
        try refresh(one, ["b"], body: "same")
        try refresh(two, ["b2"], body: "same")
        #expect(try cache.update("b2", fields: ["f": [1]], version: 1) == .changed)
        let before = try cache.withSnapshot { try $0.generation }
        #expect(try cache.addAlias("b2", of: "b") == .united)
        let changes = try #require(try cache.withSnapshot { try $0.changes(since: before) })
        #expect(changes.contains { $0.feed == one.number && $0.changes.contains(.updated("b")) })
    }

    /// A name is one of its collection, and goes with it.
    @Test func namesEndWithTheirCollection() throws {
        let (a, b) = (try feed("a", of: "A"), try feed("b", of: "B"))
        try refresh(a, ["x"])
        try refresh(b, ["x"])
        #expect(try cache.addAlias("x2", of: "x", in: "A") == .noted)
        #expect(try name("x2", in: "A") == "x")
        #expect(try name("x2", in: "B") == nil)
        #expect(try cache.addAlias("x2", of: "x", in: "C") == .missing)
        try a.evict(["x2"])
        #expect(try name("x", in: "A") == nil)
        try refresh(a, ["x2"])
        #expect(try name("x", in: "A") == "x", "the alias outlives the post")
        try a.drop()
        #expect(try aliases() == 0)
        #expect(try cache.check().isEmpty)
    }

    /// A batch that fails leaves two posts two.
    @Test func aFailedBatchUnitesNothing() throws {
        struct Stop: Error {}
        let feed = try feed("f")
        try refresh(feed, ["a", "b"])
        #expect(throws: Stop.self) {
            try cache.batch { batch in
                try batch.addAlias("a", of: "b")
                throw Stop()
            }
        }
        #expect(try name("a") == "a")
        #expect(try aliases() == 0)
        #expect(try cache.withSnapshot { try $0.rows(of: feed, limit: 9) }.count == 2)
    }

    /// What makes one file of another keeps the ids: a copy, a compaction, a repair.
    @Test func namesSurviveUpkeep() throws {
        let feed = try feed("f", of: "A")
        try refresh(feed, ["a", "b"])
        #expect(try cache.addAlias("a3", of: "a2", in: "A") == .noted)
        #expect(try cache.addAlias("a2", of: "a", in: "A") == .noted)
        let (copy, wreck) = (storage.folder + "/copy.quire", storage.folder + "/wreck.quire")
        try cache.copy(to: copy)
        _ = try Cache.compact(at: copy)
        try cache.copy(to: wreck)
        try storage.damage(wreck)
        let report = try Cache.repair(at: wreck)
        #expect(!report.isSound)
        for path in [copy, wreck] {
            let other = try Cache(at: path)
            for id in ["a", "a2", "a3"] as [PostID] {
                #expect(try other.withSnapshot { try $0.post(id, in: "A")?.id } == "a", "\(path)")
            }
            #expect(try other.check().isEmpty)
        }
    }
}
