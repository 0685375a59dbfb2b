import Quire
import Testing

@testable import QuirePaging

/// What a refresh does about the gap it opened, and what it never does under the reader. `[3 2 1]` is
/// cached when posts up to 12 appear.
@Suite(.timeLimit(.minutes(10))) struct RefreshPolicyTests {
    private func refreshed(
        _ policy: PagerOptions.RefreshPolicy, visible: Set<PostID>? = []
    ) async throws -> (PagerFixture, Pager, ListServer) {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 3, options: fixture.feed.options)
        let pager = fixture.pager(server, options: PagerOptions(refresh: policy))
        try await pager.refresh()
        if let visible { try await pager.setVisible(visible) }
        server.insert(9)
        #expect(try await pager.refresh().verdict == .gap)
        return (fixture, pager, server)
    }

    @Test func theGapIsKept() async throws {
        let (fixture, _, server) = try await refreshed(.keepGap)
        #expect(try fixture.picture == "[12 11 10] ~ [3 2 1] |end")
        #expect(server.requests.count == 2)
    }

    @Test func pagesAreAddedUntilTheyOverlap() async throws {
        let (fixture, _, server) = try await refreshed(.fillUntilOverlap(pages: 9))
        #expect(try fixture.picture == "[12 11 10 9 8 7 6 5 4 3 2 1] |end")
        #expect(server.requests.map(\.place).dropFirst(2).allSatisfy { $0 == .gap(GapID(1)) })
        #expect(server.requests.count == 5)
    }

    @Test func theBudgetLeavesAGap() async throws {
        let (fixture, _, server) = try await refreshed(.fillUntilOverlap(pages: 1))
        #expect(try fixture.picture == "[12 11 10 9 8 7] ~ [3 2 1] |end")
        #expect(server.requests.count == 3)
    }

    @Test func whatNobodySeesIsForgottenAtOnce() async throws {
        let (fixture, pager, _) = try await refreshed(.startAfresh)
        #expect(try fixture.picture == "[12 11 10] |…")
        try await pager.append()
        #expect(try fixture.picture == "[12 11 10 9 8 7] |…")
    }

    @Test func whatIsVisibleStaysUntilTheReaderLeaves() async throws {
        let (fixture, pager, _) = try await refreshed(.startAfresh, visible: [2, 1])
        #expect(try fixture.picture == "[12 11 10] ~ [3 2 1] |end")
        try await pager.setVisible([10, 3])
        #expect(try fixture.picture == "[12 11 10] ~ [3 2 1] |end")
        try await pager.setVisible([12, 11])
        #expect(try fixture.picture == "[12 11 10] |…")
    }

    @Test func nothingIsForgottenBeforeTheAppHasSpoken() async throws {
        let (fixture, pager, _) = try await refreshed(.startAfresh, visible: nil)
        #expect(try fixture.picture == "[12 11 10] ~ [3 2 1] |end")
        var policy = PrunePolicy()
        policy.maximumPosts = 1
        #expect(try await pager.prune(policy) == nil)
        #expect(try fixture.picture == "[12 11 10] ~ [3 2 1] |end")
    }

    @Test func whatWaitsToBeForgottenWaitsAcrossARestart() async throws {
        let (fixture, _, server) = try await refreshed(.startAfresh, visible: [2])
        let again = fixture.pager(server, options: PagerOptions(refresh: .startAfresh))
        try await again.setVisible([12])
        #expect(try fixture.picture == "[12 11 10] |…")
    }

    /// Nothing is out of sequence in an empty feed, nor in one with a first page.
    @Test func theFirstPageOfAnEmptyFeedIsNotForgotten() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 5, options: fixture.feed.options)
        let pager = fixture.pager(server, options: PagerOptions(refresh: .startAfresh))
        var policy = PrunePolicy()
        policy.dropsOutOfSequence = true
        try await pager.setVisible([])
        #expect(try await pager.prune(policy)?.pages == 0)
        try await pager.refresh()
        #expect(try await pager.prune(policy)?.pages == 0)
        try await pager.append()
        try await pager.setVisible([])
        #expect(try fixture.picture == "[5 4 3 2 1] |end")
    }

    /// All pages above the gap stay, and other feeds are left alone.
    @Test func onlyThisFeedForgetsAndOnlyBelowTheGap() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 3, options: fixture.feed.options)
        let other = try fixture.feed.cache.feed(named: "other", options: fixture.feed.options)
        let pager = fixture.pager(server, options: PagerOptions(refresh: .startAfresh))
        let pagers = [pager, fixture.pager(server, of: other)]
        for pager in pagers { try await pager.refresh() }
        server.insert(9)
        for pager in pagers { try await pager.refresh() }
        try await pager.fill(GapID(1))
        #expect(try fixture.picture == "[12 11 10 9 8 7] ~ [3 2 1] |end")
        try await pager.setVisible([])
        #expect(try fixture.picture == "[12 11 10 9 8 7] |…")
        let left = try fixture.feed.cache.withSnapshot {
            try $0.rows(of: other, limit: 9).map { $0.post?.id }
        }
        #expect(left == [12, 11, 10, nil, 3, 2, 1])
    }

    @Test func aBoundHoldsAfterEachRefresh() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 12, options: fixture.feed.options)
        let pager = fixture.pager(server, options: PagerOptions(keeps: 6))
        try await pager.refresh()
        while case .loaded = try await pager.append() {}
        try await pager.refresh()
        #expect(try fixture.picture == "[12 11 10 9 8 7 6 5 4 3 2 1] |end")  // the app has not spoken
        try await pager.setVisible([1])
        try await pager.refresh()
        #expect(try fixture.picture == "[12 11 10] ~ [3 2 1] |end")
        try await pager.setVisible([12])
        try await pager.fill(GapID(1), pages: 9)
        try await pager.refresh()
        #expect(try fixture.picture == "[12 11 10 9 8 7] |…")
        try await pager.append()
        #expect(try fixture.picture == "[12 11 10 9 8 7 6 5 4] |…")
    }

    @Test func aGapThatWasFilledMeanwhileIsNoReasonToForget() async throws {
        let (fixture, pager, _) = try await refreshed(.startAfresh, visible: [2])
        try await pager.fill(GapID(1), pages: 9)
        try await pager.setVisible([])
        #expect(try fixture.picture == "[12 11 10 9 8 7 6 5 4 3 2 1] |end")
        try fixture.feed.evict([6])  // to save space: another gap, which must stay
        try await pager.setVisible([12])
        #expect(try fixture.picture == "[12 11 10 9 8 7] ~ [5 4 3 2 1] |end")
    }

    @Test func pruningSparesWhatIsVisible() async throws {
        let (fixture, pager, _) = try await refreshed(.keepGap, visible: [2])
        var policy = PrunePolicy()
        policy.maximumPosts = 1
        try await pager.prune(policy)
        #expect(try fixture.picture.contains("[3 2 1]"))
    }
}
