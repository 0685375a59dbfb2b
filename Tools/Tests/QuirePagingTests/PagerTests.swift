import Quire
import QuireSimulator
import Synchronization
import Testing

@testable import QuirePaging

/// What a pager asks, when, and what its callers hear. Pages hold three posts, the newest on top.
@Suite(.timeLimit(.minutes(10))) struct PagerTests {
    // MARK: Pages

    @Test func pagesFollowOneAnotherToTheEnd() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 8, options: fixture.feed.options)
        let pager = fixture.pager(server)
        #expect(try await pager.append() == .refused(.empty))
        #expect(try await pager.refresh().verdict == .ok)
        #expect(try fixture.picture == "[8 7 6] |…")
        try await pager.append()
        #expect(try fixture.picture == "[8 7 6 5 4 3] |…")
        try await pager.append()
        #expect(try fixture.picture == "[8 7 6 5 4 3 2 1] |end")
        #expect(try await pager.append() == .refused(.end))
        #expect(server.requests.count == 3)
    }

    @Test func aRefreshAsksForTheTopHoweverMuchIsCached() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 8, options: fixture.feed.options)
        let pager = fixture.pager(server)
        try await pager.refresh()
        try await pager.append()
        server.insert(2)
        try await pager.refresh()
        #expect(try fixture.picture == "[10 9 8 7 6 5 4 3] |…")
        try await pager.append()
        #expect(try fixture.picture == "[10 9 8 7 6 5 4 3 2 1] |end")
        #expect(server.requests.map(\.place) == [.head, .tail, .head, .tail])
    }

    /// The last thousand posts that were read are gone: the search goes up what is cached, page by page.
    @Test func aLongSearchIsNotGivenUp() async throws {
        final class List: Sendable {
            let ids = Mutex(Array((1...6_000 as ClosedRange<UInt64>).reversed()))
            let requests = Mutex(0)
        }
        let list = List()
        let fixture = try PagerFixture(FeedOptions(paging: .offset, pageSize: 20))
        let pager = fixture.pager(
            Scripted { request in
                list.requests.withLock { $0 += 1 }
                var (start, limit) = (0, 20)
                if case .position(let offset, let rows) = request.target {
                    (start, limit) = (offset, rows ?? 20)
                }
                var answer = Answer(next: .token("more"))
                list.ids.withLock { ids in
                    for id in ids.dropFirst(start).prefix(limit) { answer.append(id: PostID(id)) }
                }
                return PageResponse(answer)
            })
        func rowCount() throws -> Int {
            let feed = fixture.feed
            return try feed.cache.withSnapshot { try $0.rowCount(of: feed) }
        }
        try await pager.refresh()
        while try rowCount() < 4_000 { try await pager.append() }
        list.ids.withLock { $0.removeSubrange(2_970..<4_000) }
        list.requests.withLock { $0 = 0 }
        #expect(try await pager.append().verdict == .ok)
        #expect(list.requests.withLock { $0 } > 40)
    }

    @Test func aGapIsFilledFromAbove() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 3, options: fixture.feed.options)
        let pager = fixture.pager(server)
        try await pager.refresh()
        server.insert(7)
        #expect(try await pager.refresh().verdict == .gap)
        #expect(try fixture.picture == "[10 9 8] ~ [3 2 1] |end")
        let gap = try #require(try topGap(fixture))
        #expect(try await pager.fill(gap).verdict == .gap)
        #expect(try fixture.picture == "[10 9 8 7 6 5] ~ [3 2 1] |end")
        #expect(try await pager.fill(gap, pages: 5).verdict == .joined)
        #expect(try fixture.picture == "[10 9 8 7 6 5 4 3 2 1] |end")
        #expect(try await pager.fill(gap) == .refused(.noSuchGap))
        #expect(server.requests.count == 4)
    }

    @Test func aGapWithoutALinkDownIsFilledFromBelow() async throws {
        let fixture = try PagerFixture()
        let pager = fixture.pager(
            Scripted { request in
                switch request.target {
                case .around(9): .page([9, 8])
                case .around: .page([3, 2], next: .end, previous: .token("above 3"))
                case .link(.token("above 3")): .page([8, 7, 3])
                default: throw PageFailure("no request for \(request.target) is expected", isTransient: false)
                }
            })
        try await pager.jump(to: 9)
        #expect(try await pager.append() == .refused(.noLink))
        try await pager.jump(to: 2)
        #expect(try fixture.picture == "…| [9 8] ~ [3 2] |end")
        try await pager.fill(try #require(try topGap(fixture)))
        #expect(try fixture.picture == "…| [9 8 7 3 2] |end")
    }

    @Test func anOpenHeadIsContinuedUpwards() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 11, options: fixture.feed.options)
        let pager = fixture.pager(server)
        try await pager.jump(to: 5)
        #expect(try fixture.picture == "…| [6 5 4] |…")
        try await pager.prepend()
        #expect(try fixture.picture == "…| [9 8 7 6 5 4] |…")
        try await pager.prepend()
        #expect(try fixture.picture == "[11 10 9 8 7 6 5 4] |…")
        #expect(try await pager.prepend() == .refused(.closed))
    }

    // MARK: Callers

    @Test func callersOfOnePlaceShareARequest() async throws {
        let fixture = try PagerFixture()
        let source = Switchboard()
        let pager = fixture.pager(source)
        async let first = pager.refresh()
        async let second = pager.refresh()
        let call = try await source.next()
        try await until { await pager.flights[.head]?.waiting.count == 2 }
        #expect(await pager.loading == [.head])
        source.answer(call, .page([3, 2, 1], next: .end))
        #expect(try await first == (try await second))
        #expect(source.count == 1)
        #expect(await pager.loading.isEmpty)
    }

    /// Found by a random session: both places gave the same ticket, and the server was asked twice.
    @Test func theBodiesOfAFeedOfIDsAreAskedForOnce() async throws {
        let fixture = try PagerFixture(FeedOptions(order: .ranked, paging: .ids, pageSize: 3))
        let source = Switchboard()
        let pager = fixture.pager(source)
        async let list = pager.refresh()
        try source.answer(await source.next(), .page([3, 2, 1]))
        _ = try await list
        #expect(try fixture.picture == "[?3 ?2 ?1] |end")
        async let fill = pager.fill(GapID(1))
        async let append = pager.append()
        let call = try await source.next()
        try await until { await pager.flights[.tail]?.waiting.count == 2 }
        source.answer(call, .page([3, 2, 1]))
        #expect(try await fill == (try await append))
        #expect(try fixture.picture == "[3 2 1] |end" && source.count == 2)
    }

    @Test func aCallerWhoLeavesDoesNotDisturbTheOthers() async throws {
        let fixture = try PagerFixture()
        let source = Switchboard()
        let pager = fixture.pager(source)
        let leaving = Task { try await pager.refresh() }
        let call = try await source.next()
        async let staying = pager.refresh()
        try await until { await pager.flights[.head]?.waiting.count == 2 }
        leaving.cancel()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        source.answer(call, .page([3, 2, 1], next: .end))
        #expect(try await staying.verdict == .ok)
        #expect(source.count == 1)
    }

    @Test(arguments: [true, false])
    func cancellationLeavesTheCacheUnchanged(heedsCancellation: Bool) async throws {
        let fixture = try PagerFixture()
        let source = Switchboard(heedsCancellation: heedsCancellation)
        let pager = fixture.pager(source)
        let task = Task { try await pager.refresh() }
        let call = try await source.next()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        source.answer(call, .page([3, 2, 1], next: .end))
        try await until { await pager.loading.isEmpty }
        async let again = pager.refresh()
        let second = try await source.next()
        #expect(try fixture.picture == "[] |…")
        source.answer(second, .page([4, 3], next: .end))
        #expect(try await again.verdict == .ok)
        #expect(try fixture.picture == "[4 3] |end")
    }

    @Test func aRefreshGoesBeforeAnAppend() async throws {
        let fixture = try PagerFixture()
        let source = Switchboard(heedsCancellation: false)
        let pager = fixture.pager(source)
        async let first = pager.refresh()
        try source.answer(await source.next(), .page([9, 8, 7], next: .token("below 7")))
        _ = try await first
        async let append = pager.append()
        let late = try await source.next()
        async let refresh = pager.refresh()
        #expect(try await append == .preempted)
        async let patient = pager.append()
        try await until { source.calls.count == 2 && source.count == 3 }
        try await until { await pager.flights[.head]?.waiting.count == 2 }
        source.answer(source.calls[1], .page([10, 9, 8], next: .token("below 8")))
        _ = try await refresh
        source.answer(late, .page([6, 5, 4], next: .end))
        try await until { source.count == 4 }
        #expect(try fixture.picture == "[10 9 8 7] |…")
        source.answer(source.calls[0], .page([6, 5, 4], next: .end))
        #expect(try await patient.verdict == .ok)
        #expect(try fixture.picture == "[10 9 8 7 6 5 4] |end")
    }

    @Test func othersWriteWhileARequestIsUnderWay() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 8, options: fixture.feed.options)
        let feed = fixture.feed
        let pager = fixture.pager(
            Scripted { request in
                if request.place == .tail { try feed.evict([6]) }
                return try await server.page(for: request)
            })
        try await pager.refresh()
        // The tail moved up meanwhile: the answer is stale, and what is below it is asked for.
        #expect(try await pager.append().verdict == .ok)
        #expect(try fixture.picture == "[8 7 6] |…")
        #expect(server.requests.count == 3)
    }

    // MARK: Failures

    @Test func aFailureChangesNothingAndEndsNothing() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 5, options: fixture.feed.options)
        let isDown = Notes()
        let pager = fixture.pager(
            Scripted { request in
                if isDown.lines.isEmpty { return try await server.page(for: request) }
                throw PageFailure("down", isTransient: false)
            })
        try await pager.refresh()
        isDown.write("yes")
        let before = try fixture.picture
        for _ in 0..<2 {
            await #expect(throws: PageFailure("down", isTransient: false)) { try await pager.refresh() }
            await #expect(throws: PageFailure("down", isTransient: false)) { try await pager.append() }
        }
        #expect(try fixture.picture == before)
        #expect(await pager.loading.isEmpty)
    }

    @Test func anAnswerThatLeadsNowhereIsNotAskedForAgain() async throws {
        let fixture = try PagerFixture(FeedOptions(order: .keyless, pageSize: 3))
        let source = Notes()
        let pager = fixture.pager(
            Scripted { request in
                source.write("\(request.place)")
                return .page([3, 2, 1], next: .token("round and round"))
            })
        try await pager.refresh()
        var results: [PageResult] = []
        for _ in 0..<10 { results.append(try await pager.append()) }
        #expect(source.lines.count < 5)
        #expect(results.last == .stopped(.noProgress))
        let count = source.lines.count
        try await pager.append(isForced: true)
        #expect(source.lines.count == count + 1)
        try await pager.refresh()
        try await pager.append()
        #expect(source.lines.count == count + 3)
    }

    @Test func emptyPagesThatSayMoreEndACallAndNotTheFeed() async throws {
        let fixture = try PagerFixture(
            FeedOptions(order: .keyless, paging: .page, pageSize: 3, sizes: .fixed(3)))
        let source = Notes()
        let pager = fixture.pager(
            Scripted { request in
                source.write("\(request.place)")
                guard case .page(let number, _) = request.target, 2...14 ~= number else {
                    return .page(request.place == .head ? [9, 8, 7] : [6, 5, 4], next: .more)
                }
                return .page([], next: .more)
            })
        try await pager.refresh()
        #expect(try await pager.append().verdict == .noProgress)
        #expect(source.lines.count == 9)
        #expect(try await pager.append() == .stopped(.noProgress))
        #expect(source.lines.count == 9)
        #expect(try fixture.picture == "[9 8 7] |…")
        try await pager.append(isForced: true)
        #expect(source.lines.count == 15)
        #expect(try fixture.picture == "[9 8 7 =6 5 4] |…")
    }

    // MARK: Catching up

    @Test func catchingUpFillsWhatIsMissingAboveTheMarker() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 6, options: fixture.feed.options)
        let pager = fixture.pager(server)
        try await pager.refresh()
        server.insert(14)
        let short = try await pager.catchUp(to: 5, budget: 3)
        #expect(!short.reachesMarker && short.pages == 3)
        #expect(try fixture.picture == "[20 19 18 17 16 15 14 13 12] ~ [6 5 4] |…")
        let rest = try await pager.catchUp(to: 5, budget: 10)
        #expect(rest.reachesMarker && rest.pages == 3)
        #expect(try fixture.picture == "[20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4] |…")
    }

    @Test func aMarkerThatIsNotCachedIsReachedFromTheTop() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 12, options: fixture.feed.options)
        let pager = fixture.pager(server)
        let catchUp = try await pager.catchUp(to: 5, budget: 10)
        #expect(catchUp.reachesMarker && catchUp.pages == 3)
        server.delete(2)
        let gone = try await pager.catchUp(to: 2, budget: 10)
        #expect(gone.hasEnded && !gone.reachesMarker)
        #expect(try fixture.picture == "[12 11 10 9 8 7 6 5 4 3 1] |end")
    }

    private func topGap(_ fixture: PagerFixture) throws -> GapID? {
        try fixture.feed.cache.withSnapshot { try $0.gaps(of: fixture.feed).first?.id }
    }

    // MARK: What is changed here, what cannot be asked

    /// A post that was deleted here while a page was on its way stays away, a local one stays, and a newer
    /// body is not overwritten by the older one of the page.
    @Test func changesMadeHereSurviveThePageThatIsOnItsWay() async throws {
        struct Item: Decodable, Equatable { let id: Int, mine: Bool? }
        let (fixture, board) = (try PagerFixture(), Switchboard())
        let pager = fixture.pager(board)
        func page() -> PageResponse {
            var answer = Answer(next: .end)
            for id in [3, 2, 1] as [UInt64] {
                answer.append(id: PostID(id), key: Int64(id), version: 1, body: Array("{\"id\":\(id)}".utf8))
            }
            return PageResponse(answer)
        }
        for isFirst in [true, false] {
            let call = Task { try await pager.refresh() }
            let asked = try await board.next()
            if !isFirst {
                try fixture.feed.delete(2)
                try fixture.feed.insertLocal("draft", body: Array(#"{"id":0,"mine":true}"#.utf8))
                _ = try fixture.feed.cache.update(1, body: Array(#"{"id":1,"mine":true}"#.utf8), version: 2)
            }
            board.answer(asked, page())
            _ = try await call.value
        }
        #expect(try fixture.picture == "[+draft 3 1] |end")
        let items = try fixture.feed.posts(as: Item.self).rows(limit: 9).compactMap { try $0.post?.decoded() }
        #expect(items == [Item(id: 0, mine: true), Item(id: 3, mine: nil), Item(id: 1, mine: true)])
        #expect(try fixture.feed.removeLocal("draft"))
        #expect(try fixture.picture == "[3 1] |end")
    }

    /// What a feed cannot be asked is refused by name, and nothing is sent.
    @Test func whatCannotBeAskedIsSaidSo() async throws {
        let settings: [(FeedOptions, Place)] = [
            (FeedOptions(order: .ranked), .around(1)), (FeedOptions(order: .ranked), .openHead),
            (FeedOptions(paging: .ids), .around(1)), (FeedOptions(paging: .ids), .openHead),
        ]
        for (options, place) in settings {
            let fixture = try PagerFixture(options)
            let server = ListServer(posts: 3, options: options)
            let pager = fixture.pager(server)
            try await pager.refresh()
            let result =
                if case .around(let id) = place { try await pager.jump(to: id) } else {
                    try await pager.prepend()
                }
            #expect(result == .refused(.unsupported), "\(options.order) \(options.paging) \(place)")
            #expect(server.requests.count == 1)
        }
    }
}
