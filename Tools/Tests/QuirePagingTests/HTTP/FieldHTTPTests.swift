import FlyingFox
import Foundation
import LoopbackServers
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import QuireSimulator
import Synchronization
import Testing

@testable import TestSupport

/// Rows of Docs/field.md that need a server: what others do, and where they go wrong.
@Suite(.timeLimit(.minutes(10))) struct FieldHTTPTests {
    private static func counted(_ paging: Paging) -> FeedOptions {
        FeedOptions(order: .keyless, paging: paging, pageSize: 4)
    }

    /// Gaps are filled and the list is read until nothing is missing.
    private func scroll(_ pager: Pager) async throws {
        for _ in 0..<60 {
            let feed = pager.feed
            let gap = try feed.cache.withSnapshot { try $0.gaps(of: feed).first?.id }
            let result = if let gap { try await pager.fill(gap) } else { try await pager.append() }
            if gap == nil, result == .refused(.end) { return }
        }
        Issue.record("60 requests")
    }

    private func ids(_ fixture: PagerFixture) throws -> [PostID] {
        try OracleView(of: fixture.subject).entries
    }

    // MARK: Limit and offset, numbers

    @Test func anOffsetFeedBeginsAtTheTopAndGoesOnAtItsLastPost() async throws {
        let options = Self.counted(.offset)
        let (fixture, site) = (try PagerFixture(options), try await ListSite(posts: 12, options))
        let pager = fixture.pager(site.source)
        try await pager.refresh()
        try await scroll(pager)
        #expect(site.asked("offset").first == "0")
        #expect(site.asked("offset")[1] == "3")
        #expect(site.asked("limit").first == "4")
        #expect(try ids(fixture) == site.ids)
    }

    /// As many posts arrive as leave, so every offset seems right.
    @Test(arguments: [Paging.offset, .page], 1...3)
    func insertsAndDeletionsThatCancelOut(paging: Paging, count: Int) async throws {
        let options = Self.counted(paging)
        let (fixture, site) = (try PagerFixture(options), try await ListSite(posts: 20, options))
        let pager = fixture.pager(site.source)
        try await pager.refresh()
        try await pager.append()
        site.change { list in
            for _ in 0..<count {
                list.insertOnTop()
                list.delete(list.ids[count + 1])
            }
        }
        try await scroll(pager)
        try await pager.refresh()
        try await scroll(pager)
        // what left is noticed when it is fetched again
        #expect(try ids(fixture).filter(site.ids.contains) == site.ids)
    }

    /// The second page of a server that fixes its size is page 2, and no page is skipped when pages arrive
    /// above.
    @Test func thePageAfterTheFirstIsTheSecond() async throws {
        let options = Self.counted(.page)
        let (fixture, site) = (
            try PagerFixture(options), try await ListSite(posts: 20, options, ServerKind(size: .fixed(4)))
        )
        let pager = fixture.pager(site.source)
        try await pager.refresh()
        try await pager.append()
        try await pager.append()
        #expect(site.asked("page") == ["1", "2", "3"])
        #expect(try ids(fixture) == Array(site.ids.prefix(12)))
    }

    @Test func thePagesThatARefreshAddedAreNotCounted() async throws {
        let options = Self.counted(.page)
        let (fixture, site) = (
            try PagerFixture(options), try await ListSite(posts: 20, options, ServerKind(size: .fixed(4)))
        )
        let pager = fixture.pager(site.source)
        try await pager.refresh()
        try await pager.append()
        for _ in 0..<2 {
            site.change { for _ in 0..<4 { $0.insertOnTop() } }
            try await pager.refresh()
        }
        try await scroll(pager)
        #expect(try ids(fixture) == site.ids)
    }

    /// `has_more` is the end, pages are counted from 1.
    @Test func theEnvelopeOfStackExchange() async throws {
        let server = try await LoopbackServer.start { request in
            let size = request.query["pagesize"].flatMap { Int($0) } ?? 30
            let start = (request.query["page"].flatMap { Int($0) }.map { $0 - 1 } ?? 0) * size
            let items = (1...7).reversed().dropFirst(start).prefix(size).map { #"{"question_id":\#($0)}"# }
            return .json(
                #"{"items":[\#(items.joined(separator: ","))],"has_more":\#(start + size < 7),"quota_max":300,"#
                    + #""quota_remaining":200}"#)
        }
        let profile = Profile.named("stackexchange")!
        let fixture = try PagerFixture(profile.options)
        let pager = fixture.pager(
            try HTTPSource("\(server.address)/questions?page={page}&pagesize={limit}", profile: profile),
            options: PagerOptions(pageSize: 3))
        try await pager.refresh()
        try await scroll(pager)
        #expect(try ids(fixture) == [7, 6, 5, 4, 3, 2, 1])
        // each answer shows the post that it follows, because the server grants every size
        #expect(server.requests.map { $0.query["page"] } == ["1", "2", "2", "3"])
        #expect(server.requests.map { $0.query["pagesize"] } == ["3", "2", "3", "3"])
    }

    // MARK: What a page knows

    @Test func pagesKnowTheRequestsTheyAnswer() async throws {
        let options = FeedOptions(order: .stable, pageSize: 3)
        let (fixture, site) = (try PagerFixture(options), try await ListSite(posts: 9, options))
        let pager = fixture.pager(site.source)
        try await pager.refresh()
        try await scroll(pager)
        try fixture.subject.reopen()
        let owns = try fixture.feed.cache.withSnapshot { try $0.pages(of: fixture.feed, limit: 9).map(\.own) }
        #expect(owns == site.asked("token").map { $0.map(Link.token) ?? .head })
        #expect(Set(owns).count == 3)
    }

    @Test func aKnownPostShowsItsNewBodyInItsPlace() async throws {
        struct Item: Decodable { let title: String }
        let options = FeedOptions(order: .stable, pageSize: 3)
        let (fixture, site) = (try PagerFixture(options), try await ListSite(posts: 3, options))
        let pager = fixture.pager(site.source)
        func titles() throws -> [String] {
            try fixture.feed.posts(as: Item.self).rows(limit: 9).compactMap { try $0.post?.decoded().title }
        }
        try await pager.refresh()
        let before = try titles()
        site.change { $0.edit(2) }
        guard case .loaded(let outcome) = try await pager.refresh() else {
            Issue.record("nothing was loaded")
            return
        }
        let after = try titles()
        #expect(outcome.updated == 1 && outcome.new.isEmpty)
        #expect(after[1] != before[1] && after[1].hasSuffix("v2"))
        #expect([after[0], after[2]] == [before[0], before[2]])
        #expect(try ids(fixture) == [3, 2, 1])
    }

    /// One description holds posts, order, offset and validators, and a restart changes none of it.
    @Test func aFeedGoesOnAfterARestart() async throws {
        let options = Self.counted(.offset)
        let (fixture, site) = (try PagerFixture(options), try await ListSite(posts: 20, options))
        try await fixture.pager(site.source).refresh()
        try fixture.subject.reopen()
        #expect(try await fixture.pager(site.source).refresh() == .notModified)
        site.change { for _ in 0..<2 { $0.insertOnTop() } }
        try await fixture.pager(site.source).append()
        try await fixture.pager(site.source).append()
        let next = try #require(try fixture.feed.plan(.tail).request?.target)
        try fixture.subject.reopen()
        #expect(try fixture.feed.plan(.tail).request?.target == next)
        try await scroll(fixture.pager(site.source))
        #expect(try ids(fixture) == Array(site.ids.dropFirst(2)))
    }

    // MARK: Validators, totals

    /// Dates of whole seconds hide a change, so the tag is asked with; weak ones as they came, and never by
    /// HEAD.
    @Test func theTagIsAskedWithAndNotTheDate() async throws {
        let posts = Mutex([2, 1])
        let server = try await LoopbackServer.start { request in
            let posts = posts.withLock { $0 }
            let headers = [
                "ETag": "W/\"\(posts.count)\"", "Last-Modified": "Tue, 15 Nov 1994 12:45:26 GMT",
            ]
            if request.headers[HTTPHeader("If-None-Match")] == headers["ETag"] {
                return .json("", status: 304)
            }
            let items = posts.map { #"{"id":"\#($0)","key":\#($0),"body":{}}"# }.joined(separator: ",")
            return .json(#"{"posts":[\#(items)],"next":"end"}"#, headers: headers)
        }
        let options = FeedOptions(order: .stable, pageSize: 3)
        let fixture = try PagerFixture(options)
        let pager = fixture.pager(try WireFeed(options).source(server.address))
        try await pager.refresh()
        #expect(try await pager.refresh() == .notModified)
        posts.withLock { $0 = [3, 2, 1] }  // within the same second
        #expect(try await pager.refresh().verdict == .ok)
        #expect(try ids(fixture) == [3, 2, 1])
        #expect(
            server.requests.map { $0.headers[HTTPHeader("If-None-Match")] } == [nil, "W/\"2\"", "W/\"2\""])
        #expect(server.requests.allSatisfy { $0.headers[HTTPHeader("If-Modified-Since")] == nil })
        #expect(server.requests.allSatisfy { $0.method == .GET })
    }

    /// The number of posts is said, not said, or changes from page to page.
    @Test(arguments: [true, false])
    func theNumberOfPostsMayChange(isSaid: Bool) async throws {
        let list = Mutex((ids: Array((1...10).reversed()), requests: 0))
        let server = try await LoopbackServer.start { request in
            let page = request.query["page"].flatMap { Int($0) } ?? 1
            let rows = list.withLock { list in
                list.requests += 1
                if list.requests == 2 { list.ids = [12, 11] + list.ids.filter { $0 != 5 } }
                return list.ids
            }
            let items = rows.dropFirst((page - 1) * 3).prefix(3).map { #"{"id":\#($0)}"# }
            let total = isSaid ? #","total":\#(rows.count)"# : ""
            return .json(#"{"i":[\#(items.joined(separator: ","))],"size":3\#(total)}"#)
        }
        let json =
            #"{"name":"t","items":"i","id":{"path":"id"},"next":{"counted":true},"page":{"query":"page"},"#
            + #""total":{"path":"total"},"page_size":{"path":"size"},"order":"keyless","paging":"page"}"#
        let profile = try Profile(json: Array(json.utf8), name: "t")
        let fixture = try PagerFixture(profile.options)
        let pager = fixture.pager(
            try HTTPSource("\(server.address)/l?page={page}", profile: profile),
            options: PagerOptions(pageSize: 3))
        try await pager.refresh()
        try await scroll(pager)
        try await pager.refresh()
        try await scroll(pager)
        #expect(try ids(fixture) == list.withLock(\.ids).map { PostID(UInt64($0)) })
    }

    /// A list in pages by number whose server counts more posts than it shows, or fewer: the reader hears of
    /// it, and the list ends where its server ends it.
    @Test(arguments: [10, 100, 4]) @MainActor
    func theReaderHearsWhatTheServerCounts(count: Int) async throws {
        let server = try await LoopbackServer.start { request in
            let page = request.query["page"].flatMap { Int($0) } ?? 1
            let items = (1...10).reversed().dropFirst((page - 1) * 3).prefix(3).map { #"{"id":\#($0)}"# }
            let isMore = page * 3 < 10
            return .json(
                #"{"i":[\#(items.joined(separator: ","))],"total":\#(count),"more":\#(isMore)}"#)
        }
        let json =
            #"{"name":"t","items":"i","id":{"path":"id"},"next":{"more":"more"},"page":{"query":"page"},"#
            + #""total":{"path":"total"},"order":"keyless","paging":"page","sizes":3}"#
        let profile = try Profile(json: Array(json.utf8), name: "t")
        let fixture = try PagerFixture(profile.options)
        let pager = fixture.pager(
            try HTTPSource("\(server.address)/l?page={page}", profile: profile),
            options: PagerOptions(pageSize: 3))
        let format = WireFormat<[UInt8]>("bytes", recognises: { _ in true }) { $0 }
        let model = try FeedModel(pager, formats: [format])
        #expect(try pager.total == nil)
        await model.refresh()
        #expect(try pager.total == count && model.extent.total == count)
        #expect(model.extent.missing == max(0, count - 3))
        #expect(model.extent.missingAt == (count > 3 ? .tail : nil))
        try await scroll(pager)
        await model.refresh()
        #expect(try ids(fixture) == (1...10).reversed().map { PostID(UInt64($0)) })
        #expect(model.extent.missing == max(0, count - 10) && model.extent.missingAt == nil)
    }

    // MARK: Freshness

    @Test func whoAsksForMoreGetsMore() async throws {
        let options = FeedOptions(order: .stable, pageSize: 10)
        let (fixture, site) = (try PagerFixture(options), try await ListSite(posts: 50, options))
        for size in [10, 20] {
            let pager = fixture.pager(site.source, options: PagerOptions(pageSize: size))
            #expect(try await pager.refresh(.ifStale).verdict == .ok)
            #expect(try ids(fixture) == Array(site.ids.prefix(size)))
            #expect(try await pager.refresh(.ifStale) == .fresh)
        }
        #expect(site.asked("limit") == ["10", "20"])
    }

    /// What fails leaves posts and date as they were; what is purged is asked for anew, without validators.
    @Test func whatSucceededIsSavedAndMayBePurged() async throws {
        let options = FeedOptions(order: .stable, pageSize: 3)
        let isDown = Mutex(false)
        let server = try await LoopbackServer.start { _ in
            if isDown.withLock({ $0 }) { return .json("{}", status: 404) }
            let items = [3, 2, 1].map { #"{"id":"\#($0)","key":\#($0),"body":{}}"# }.joined(separator: ",")
            return .json(#"{"posts":[\#(items)],"next":"end"}"#, headers: ["ETag": "\"x\""])
        }
        let source = try WireFeed(options).source(server.address)
        let fixture = try PagerFixture(options)
        try await fixture.pager(source).refresh()
        fixture.clock.advance(.seconds(200))
        isDown.withLock { $0 = true }
        await #expect(throws: PageFailure.self) { try await fixture.pager(source).refresh() }
        #expect(try ids(fixture) == [3, 2, 1])
        try fixture.subject.reopen()
        #expect(try await fixture.pager(source).refresh(.ifStale) == .fresh)
        fixture.clock.advance(.seconds(150))  // 350 since it succeeded, 150 since it failed
        isDown.withLock { $0 = false }
        #expect(try await fixture.pager(source).refresh(.ifStale) != .fresh)
        #expect(server.requests.count == 3)

        let purged = try PagerFixture(options, clock: fixture.clock)
        #expect(try await purged.pager(source).refresh(.ifStale).verdict == .ok)
        #expect(server.requests.last?.headers[HTTPHeader("If-None-Match")] == nil)
        #expect(try ids(purged) == [3, 2, 1])
    }
}
