import Testing

@testable import Quire

/// R28: several ids of one post. What the cases of the specification cannot show: bodies, look-ups,
/// collections, files.
@Suite struct AliasTests {
    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache() }

    private func refresh(_ feed: Feed, _ posts: [(PostID, String)], version: Int64? = nil) throws {
        var answer = Answer(next: .token("n"))
        for (id, body) in posts { answer.append(id: id, version: version, body: Array(body.utf8)) }
        let request = try #require(try feed.plan(.head).request)
        _ = try feed.ingest(answer, for: request.ticket)
        #expect(try cache.check() == [])
    }

    /// The posts of a feed and their bodies: `x:draft 2:b`.
    private func shown(_ feed: Feed) throws -> String {
        try feed.cache.withSnapshot { snapshot in
            try snapshot.rows(of: feed, limit: .max).compactMap(\.post).map { row in
                let body = try snapshot.body(of: row).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                return "\(row.isDetached ? "+" : "")\(row.id):\(body)"
            }.joined(separator: " ")
        }
    }

    private func name(of id: PostID, in cache: Cache) throws -> PostID? {
        try cache.withSnapshot { try $0.post(id)?.id }
    }

    @Test func aDraftBecomesTheServersPost() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [("a", "A")])
        try feed.insertLocal("L", body: Array("draft".utf8))
        #expect(try cache.update("L", fields: ["read": [1]], version: 1) == .changed)
        #expect(try feed.confirmLocal("L", as: "x") == .united)
        #expect(try shown(feed) == "+x:draft a:A")
        try storage.reopen()
        let again = try cache.feed(named: "f")
        try cache.withSnapshot { snapshot in
            let found = try snapshot.find("L", in: again)
            let held = try snapshot.contains(["L", "x", "y"], in: again)
            let post = try snapshot.post("L")
            #expect(found?.id == "x" && held == [true, true, false] && post?.fields == ["read": [1]])
        }
        try refresh(again, [("x", "accepted"), ("a", "A")], version: 1)
        #expect(try shown(again) == "x:accepted a:A")
        #expect(try feed.confirmLocal("L", as: "x") == .missing)
    }

    /// `[+L +M] |end` becomes `[+M] |end`: no post of the server's has left.
    @Test func theEndOfAnEmptyListStaysKnown() throws {
        let feed = try cache.feed(named: "f")
        let request = try #require(try feed.plan(.head).request)
        _ = try feed.ingest(Answer(next: .end), for: request.ticket)
        try feed.insertLocal("L", body: [1])
        try feed.insertLocal("M", body: [2])
        func tail() throws -> Link { try cache.withSnapshot { try $0.info(of: feed).tail } }
        #expect(try tail() == .end)
        #expect(try feed.confirmLocal("L", as: "M") == .united)
        #expect(try tail() == .end)
        #expect(try cache.check() == [])
        try feed.delete("M")
        #expect(try tail() == .unknown)
    }

    @Test("in one batch with its draft, and the server's body stands before it", arguments: [true, false])
    func theServersBodyStays(_ isOneBatch: Bool) throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [("x", "server"), ("a", "A")])
        if isOneBatch {
            try cache.batch {
                try $0[feed].insertLocal("L", body: Array("draft".utf8))
                let result = try $0[feed].confirmLocal("L", as: "x")
                #expect(result == .united)
            }
        } else {
            try feed.insertLocal("L", body: Array("draft".utf8))
            #expect(try feed.confirmLocal("L", as: "x") == .united)
        }
        #expect(try shown(feed) == "x:server a:A")
        #expect(try cache.check() == [])
    }

    @Test func theBetterBodyIsShownInAllFeeds() throws {
        let (one, two) = (try cache.feed(named: "one"), try cache.feed(named: "two"))
        try refresh(one, [("old", "newer")], version: 7)
        try refresh(two, [("new", "older"), ("b", "B")], version: 3)
        #expect(try cache.addAlias("old", of: "new") == .united)
        #expect(try shown(one) == "new:newer")
        #expect(try shown(two) == "new:newer b:B")
        #expect(try cache.check() == [])
        try refresh(two, [("old", "newest"), ("b", "B")], version: 9)
        #expect(try shown(one) == "new:newest")
        #expect(try cache.update("old", body: Array("last".utf8), version: 10) == .changed)
        #expect(try shown(two) == "new:last b:B")
        #expect(try cache.addAlias("new", of: "newest") == .united)  // and takes old along
        #expect(try name(of: "old", in: cache) == "newest")
        #expect(try cache.check() == [])
    }

    @Test func namesAreOfACollectionAndEndWithIt() throws {
        let (a, b) = (
            try cache.feed(named: "a", options: FeedOptions(collection: "A")),
            try cache.feed(named: "b", options: FeedOptions(collection: "B"))
        )
        #expect(try cache.addAlias("y", of: "x") == .noted)  // of the collection without a name
        #expect(try cache.addAlias("y", of: "x", in: "A") == .noted)
        #expect(try cache.addAlias("y", of: "x", in: "C") == .missing)
        try refresh(a, [("y", "a")])
        try refresh(b, [("y", "b")])
        #expect(try [shown(a), shown(b)] == ["x:a", "y:b"])
        try a.drop()
        #expect(try cache.check() == [])
        let fresh = try cache.feed(named: "a", options: FeedOptions(collection: "A"))
        try refresh(fresh, [("y", "a")])
        #expect(try shown(fresh) == "y:a")
        try fresh.drop()
        try b.drop()
        #expect(try cache.check() == [])
    }

    /// The record of the alias comes first in the table, and that of the name goes too.
    @Test func theLastNameEndsWithItsCollection() throws {
        let feed = try cache.feed(named: "a", options: FeedOptions(collection: "A"))
        #expect(try cache.addAlias("a", of: "b", in: "A") == .noted)
        try feed.drop()
        #expect(try cache.environment.read { try $0.count(.aliases) } == 0)
        #expect(try cache.check() == [])
    }

    /// A name that is replaced takes its other ids along: no id is further than one step from the name.
    @Test func aNameMayBeReplacedAgainAndAgain() throws {
        try refresh(try cache.feed(named: "f"), [(1, "A")])
        try cache.batch { batch in
            for id in 1..<1_500 as Range<UInt64> {
                let result = try batch.addAlias(PostID(id), of: PostID(id + 1))
                #expect(result == .united)
            }
        }
        for id in [1, 2, 700, 1_499, 1_500] as [PostID] { #expect(try name(of: id, in: cache) == 1_500) }
        #expect(try cache.addAlias(3, of: 9) == .same)
        #expect(try cache.environment.read { try $0.count(.aliases) } == 1_500)
        #expect(try cache.check() == [])
    }

    /// `one: [a b]`, `two: [b2 c]`: b2 leaves and b comes, and where b stood already it is another one now.
    @Test(arguments: [true, false]) func followersHearOfIt(_ isBodyNew: Bool) throws {
        let (one, two) = (try cache.feed(named: "one"), try cache.feed(named: "two"))
        try refresh(one, [("a", "A"), ("b", "B")], version: 1)
        try refresh(two, [("b2", isBodyNew ? "newer" : "B"), ("c", "C")], version: 2)
        if !isBodyNew { #expect(try cache.update("b2", fields: ["f": [1]], version: 1) == .changed) }
        let before = try cache.withSnapshot { try $0.generation }
        #expect(try cache.addAlias("b2", of: "b") == .united)
        let changes = try #require(try cache.withSnapshot { try $0.changes(since: before) })
        let heard = { (feed: Feed) in changes.filter { $0.feed == feed.number }.flatMap(\.changes) }
        #expect(heard(two) == [.removed(.post("b2")), .inserted(.post("b"), below: nil)])
        #expect(heard(one) == [.updated("b")])
    }

    @Test func repairKeepsNames() throws {
        let feed = try cache.feed(named: "f")
        try refresh(feed, [("x", "X"), ("a", "A")])
        #expect(try cache.addAlias("y", of: "x") == .noted)
        let path = storage.folder + "/copy.quire"
        try cache.copy(to: path)
        try storage.damage(path)
        #expect(try !Cache.repair(at: path).isSound)
        let repaired = try Cache(at: path)
        #expect(try name(of: "y", in: repaired) == "x")
        #expect(try repaired.check() == [])
    }
}
