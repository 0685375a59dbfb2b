import Testing

@testable import Quire

/// What the cases of R29 do not show: bodies, and what becomes of the token.
@Suite struct DeltaTests {
    private let storage: TemporaryCache

    init() throws { storage = try TemporaryCache() }

    private func feed(_ options: FeedOptions = FeedOptions(order: .stable)) throws -> Feed {
        try storage.cache.feed(named: "f", options: options)
    }

    @discardableResult
    private func ask(
        _ place: Place, _ posts: [(id: Int64, body: String)] = [], deleted: [PostID] = [], since: String?,
        next: Link? = nil, of feed: Feed
    ) throws -> Outcome {
        let request = try #require(try feed.plan(place).request)
        var answer = Answer(next: next ?? (place == .head ? .end : .unknown))
        for (id, body) in posts { answer.append(id: PostID(UInt64(id)), key: id, body: Array(body.utf8)) }
        (answer.deleted, answer.since) = (deleted, since)
        return try feed.ingest(answer, for: request.ticket)
    }

    private func token(of feed: Feed) throws -> String? {
        guard case .delta(let since)? = try feed.plan(.delta).request?.target else { return nil }
        return since
    }

    private func body(_ id: PostID, _ feed: Feed) throws -> String? {
        try feed.cache.withSnapshot { snapshot in
            try snapshot.find(id, in: feed).map { row in
                try snapshot.body(of: row).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    @Test("a changed post stays in its place and shows its new body in every feed")
    func bodies() throws {
        let (feed, other) = (
            try feed(), try storage.cache.feed(named: "other", options: FeedOptions(order: .stable))
        )
        try ask(.head, [(9, "nine"), (8, "eight")], since: "s1", of: feed)
        try ask(.head, [(8, "eight")], since: nil, of: other)
        let outcome = try ask(.delta, [(8, "eight, edited")], since: "s2", of: feed)
        #expect(outcome.duplicates == [8] && outcome.updated == 1)
        #expect(try Picture.show(feed) == "[9 8] |end")
        #expect(try body(8, feed) == "eight, edited")
        #expect(try body(8, other) == "eight, edited")
        #expect(try storage.cache.check() == [])
    }

    @Test("a feed of ids: a delta brings the body of a post that had none")
    func faults() throws {
        let feed = try feed(FeedOptions(paging: .ids))
        try ask(.head, [(2, ""), (1, "")], since: "s1", of: feed)
        #expect(try Picture.show(feed) == "[?2 ?1] |end")
        try ask(.delta, [(1, "one")], deleted: [2], since: "s2", of: feed)
        #expect(try Picture.show(feed) == "[1] |end")
        #expect(try body(1, feed) == "one")
        #expect(try storage.cache.check() == [])
    }

    /// What came on top between the request and its answer is not among the changes since the answer's token.
    @Test("the token of a page below covers the top only after a refresh")
    func latePages() throws {
        let feed = try feed()
        try ask(.head, [(9, "nine")], since: nil, next: .token("n"), of: feed)
        try ask(.tail, [(8, "eight")], since: "s1", of: feed)  // 10 and 11 are on top already
        #expect(try ask(.delta, [(12, "twelve")], since: "s2", of: feed).ignored == [12])
        #expect(try Picture.show(feed) == "[9 8] |?")
        try ask(
            .head, [(12, "twelve"), (11, "eleven"), (10, "ten"), (9, "nine")], since: nil, next: .token("n"),
            of: feed)
        #expect(try ask(.delta, [(13, "thirteen")], since: "s3", of: feed).new == [13])
        #expect(try Picture.show(feed) == "[13 12 11 10 9 8] |?")
    }

    @Test("the token of a page below does not replace one that covers the top; that of a delta does")
    func tokensOfPages() throws {
        let feed = try feed()
        try ask(.head, [(9, "nine")], since: "s1", next: .token("n"), of: feed)
        try ask(.tail, [(8, "eight")], since: "s2", of: feed)
        #expect(try token(of: feed) == "s1")
        #expect(try ask(.delta, [(10, "ten")], since: "s3", of: feed).new == [10])
        #expect(try token(of: feed) == "s3")
    }

    @Test("the token survives reopening and a copy; a reset and a repair forget it")
    func tokens() throws {
        try ask(.head, [(1, "one")], since: "s1", of: feed())
        try storage.reopen()
        #expect(try token(of: feed()) == "s1")
        let copy = storage.folder + "/copy.quire"
        try storage.cache.copy(to: copy)
        #expect(try token(of: Cache(at: copy).feed(named: "f")) == "s1")
        try storage.damage(copy)
        #expect(try !Cache.repair(at: copy).isSound)
        #expect(try token(of: Cache(at: copy).feed(named: "f")) == nil)
        try feed().reset()
        #expect(try feed().plan(.delta) == .refused(.noLink))
    }

    @Test("an answer that comes late does not bring back an older token")
    func late() throws {
        let feed = try feed()
        try ask(.head, [(9, "nine"), (8, "eight")], since: "s1", of: feed)
        let slow = try #require(try feed.plan(.delta).request)
        try ask(.head, [(9, "nine")], since: "s3", of: feed)
        var late = Answer()
        late.since = "s2"
        #expect(try feed.ingest(late, for: slow.ticket).verdict == .ok)
        #expect(try token(of: feed) == "s3")
    }
}
