import Quire
import QuirePaging
import QuireSimulator
import Testing

/// Posts that a server pushes, and joins that only its page numbers vouch for (R26.8, R27).
@Suite("Pushed posts", .timeLimit(.minutes(10))) struct PushTests {
    private static func message(_ ids: PostID...) -> Answer {
        var answer = Answer()
        for id in ids { answer.append(id: id, body: Array("{}".utf8)) }
        return answer
    }

    @Test("no push over a living connection opens a gap; one after a break does, and a refresh closes it")
    func connection() async throws {
        let fixture = try PagerFixture(FeedOptions(pageSize: 3))
        let server = ListServer(posts: 3, options: fixture.feed.options)
        let pager = fixture.pager(server)
        try await pager.refresh()
        #expect(try fixture.picture == "[3 2 1] |end")
        try await pager.beginLive()
        server.insert(1)
        #expect(try await pager.push(Self.message(4)).verdict == .ok)
        #expect(try fixture.picture == "[4 3 2 1] |end")
        try await pager.endLive()
        server.insert(2)
        #expect(try await pager.push(Self.message(6)).verdict == .gap)
        #expect(try fixture.picture == "[6] ~ [4 3 2 1] |end")
        #expect(try await pager.refresh().verdict == .joined)
        #expect(try fixture.picture == "[6 5 4 3 2 1] |end")
    }

    /// A page that is unchanged since before the connection, or was asked for before, tells nothing of the
    /// top.
    @Test("a connection begins with an answer of its own", arguments: [false, true])
    func beginsAnew(isUnderWay: Bool) async throws {
        let fixture = try PagerFixture(FeedOptions(pageSize: 3))
        let (arrivals, arrive) = AsyncStream<Void>.makeStream()
        let (answers, release) = AsyncStream<Void>.makeStream()
        let pager = fixture.pager(
            Scripted { request in
                arrive.yield()
                for await _ in answers { break }
                var response = PageResponse.page([3, 2, 1], next: .end)
                if request.validators != nil { response.content = .notModified }
                response.validators = Validators(etag: "1")
                return response
            })
        release.yield()
        try await pager.refresh()
        var arrived = arrivals.makeAsyncIterator()
        await arrived.next()
        async let pull = isUnderWay ? pager.refresh() : .fresh
        if isUnderWay { await arrived.next() }
        let before = try fixture.generation
        async let live = pager.beginLive()
        while try fixture.generation == before { await Task.yield() }  // the feed is live from here on
        if isUnderWay { release.yield() }
        await arrived.next()
        release.yield()
        #expect(try await pull == (isUnderWay ? .notModified : .fresh))
        #expect(try await live.verdict == .ok)
        #expect(try await pager.push(Self.message(4)).verdict == .ok)
        #expect(try fixture.picture == "[4 3 2 1] |end")
    }

    @Test("numbered messages tell by themselves what was missed")
    func numbers() async throws {
        let fixture = try PagerFixture(FeedOptions(pageSize: 3))
        let server = ListServer(posts: 3, options: fixture.feed.options)
        let pager = fixture.pager(server)
        try await pager.beginLive(after: 7)
        server.insert(2)
        try await pager.push(Self.message(4), number: 8)
        #expect(try fixture.picture == "[4 3 2 1] |end")
        #expect(try await pager.push(Self.message(4), number: 8).verdict == .stale)
        try await pager.push(Self.message(6), number: 10)
        #expect(try fixture.picture == "[6] ~ [4 3 2 1] |end")
    }

    @Test("a message that names what it follows needs no connection")
    func follows() async throws {
        let fixture = try PagerFixture(FeedOptions(pageSize: 3))
        let pager = fixture.pager(ListServer(posts: 3, options: fixture.feed.options))
        try await pager.refresh()
        try await pager.push(Self.message(5, 4), follows: 3)
        #expect(try fixture.picture == "[5 4 3 2 1] |end")
    }

    @Test("a join by page numbers is proven by the page above it, or stays as it is")
    func verify() async throws {
        let fixture = try PagerFixture(FeedOptions(paging: .page, pageSize: 3))
        let server = ListServer(posts: 6, options: fixture.feed.options)
        let pager = fixture.pager(server)
        try await pager.refresh()
        try await pager.append()
        #expect(try fixture.feed.cache.withSnapshot { try $0.info(of: fixture.feed).unverifiedJoins } == 1)
        try await pager.verify(joinAbove: 3)
        let row = try fixture.feed.cache.withSnapshot { snapshot in
            try snapshot.rows(of: fixture.feed, limit: 9).compactMap(\.post).first { $0.id == 3 }
        }
        #expect(row?.doubt == .numbering)
        #expect(row?.isChecked == true)
        #expect(try await pager.verify(joinAbove: 2) == .refused(.noSuchJoin))
        #expect(try await pager.jump(toPage: 2).verdict == .ok)
    }
}
