import FlyingFox
import Foundation
import LoopbackServers
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Synchronization
import Testing

/// The transport: what is sent, what is made of what comes back, what is refused. Over real sockets.
@Suite(.timeLimit(.minutes(10))) struct HTTPSourceTests {
    private static let options = FeedOptions(order: .stable, pageSize: 3)
    private static let wire = WireFeed(options)

    /// Posts as a server of these tests writes them.
    private static func page(_ ids: [UInt64], next: String = "end") -> String {
        let posts = ids.map { #"{"id":"\#($0)","key":\#($0),"body":{"id":\#($0)}}"# }
        return #"{"posts":[\#(posts.joined(separator: ","))],"next":"\#(next)"}"#
    }

    private static let ok = HTTPResponse.json(page([3, 2, 1]))

    /// Answers one after the other, the last one again and again.
    private static func server(_ answers: HTTPResponse...) async throws -> LoopbackServer {
        let count = Counter()
        return try await LoopbackServer.start { _ in answers[min(count.next(), answers.count - 1)] }
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)
        func next() -> Int {
            value.withLock { value in
                defer { value += 1 }
                return value
            }
        }
    }

    private static func pager(_ fixture: PagerFixture, _ server: LoopbackServer) throws -> Pager {
        fixture.pager(try wire.source(server.address))
    }

    /// The call fails for this reason, and the cache is as before.
    private func expectFailure(
        _ part: String, isTransient: Bool, of server: LoopbackServer, limit: Int = 10_000
    ) async throws {
        let fixture = try PagerFixture(Self.options)
        let source = try Self.wire.source(server.address, limit: limit, timeout: .seconds(60))
        let pager = fixture.pager(source, options: PagerOptions(retries: RetryPolicy(attempts: 1)))
        let error = await #expect(throws: PageFailure.self) { try await pager.refresh() }
        #expect(error?.isTransient == isTransient, "\(String(describing: error))")
        #expect(error?.message.contains(part) == true, "\(String(describing: error))")
        #expect(try fixture.picture == PagerFixture(Self.options).picture)
    }

    // MARK: Links

    @Test func linksOfTheHeaderAreFollowed() async throws {
        let server = try await LoopbackServer.start { request in
            let page = request.query["page"].flatMap { Int($0) } ?? 1
            let items = (0..<2).map { #"{"id":\#(11 - page * 2 - $0)}"# }
            let link = #"</issues?page=\#(page + 1)&state=all>; rel="next""#
            return .json("[\(items.joined(separator: ","))]", headers: page < 3 ? ["Link": link] : [:])
        }
        let profile = Profile.named("github")!
        let fixture = try PagerFixture(profile.options)
        let source = try HTTPSource("\(server.address)/issues?per_page={limit}&state=all", profile: profile)
        let pager = fixture.pager(source)
        try await pager.refresh()
        while case .loaded = try await pager.append() {}
        #expect(try fixture.picture == "[9 8 =7 6 =5 4] |end")
        #expect(server.requests.map { $0.query["page"] } == [nil, "2", "3"])
        #expect(server.requests.allSatisfy { $0.query["state"] == "all" })
    }

    @Test func parametersMadeOfAPostTakeTheirPlace() async throws {
        let server = try await LoopbackServer.start { request in
            let below = request.query["max_id"].flatMap { Int($0) } ?? 7
            let items = (1...2).map { below - $0 }.filter { $0 > 0 }.map { #"{"id":\#($0)}"# }
            return .json("[\(items.joined(separator: ","))]")
        }
        let profile = try Profile(
            json: Array(#"{"name":"t","id":{"path":"id"},"next":{"template":"max_id={id}"}}"#.utf8),
            name: "t")
        let fixture = try PagerFixture(profile.options)
        let pager = fixture.pager(try HTTPSource("\(server.address)/list?n={limit}", profile: profile))
        try await pager.refresh()
        while case .loaded = try await pager.append() {}
        #expect(try fixture.picture.hasPrefix("[6 5 4 3 2 1]"))
        #expect(server.requests.map { $0.query["max_id"] }.prefix(3) == [nil, "5", "3"])
    }

    @Test(arguments: [0, 1])
    func pagesAreCountedAsTheServerCounts(first: Int) async throws {
        let server = try await LoopbackServer.start { request in
            let size = request.query["size"].flatMap { Int($0) } ?? 3
            let start = ((request.query["page"].flatMap { Int($0) } ?? first) - first) * size
            let ids = (1...10).reversed().dropFirst(max(0, start)).prefix(size)
            let items = ids.map { #"{"id":\#($0)}"# }.joined(separator: ",")
            return .json(#"{"items":[\#(items)],"more":\#(start + size < 10)}"#)
        }
        let json =
            #"{"name":"n","items":"items","id":{"path":"id"},"next":{"more":"more"},"paging":"page","#
            + #""first_page":\#(first)}"#
        let profile = try Profile(json: Array(json.utf8), name: "n")
        let fixture = try PagerFixture(profile.options)
        let pager = fixture.pager(
            try HTTPSource("\(server.address)/list?page={page}&size={limit}", profile: profile),
            options: PagerOptions(pageSize: 3))
        try await pager.refresh()
        while case .loaded = try await pager.append() {}
        #expect(try fixture.rows == (1...10).reversed().map { "\($0)" })
        #expect(server.requests.allSatisfy { Int($0.query["page"] ?? "\(first)")! >= first })
    }

    @Test func aLinkToAnotherServerIsNotFollowed() async throws {
        let other = try await Self.server(Self.ok)
        let link = #"<\#(other.address)/issues?page=2>; rel="next""#
        let server = try await Self.server(.json(#"[{"id":9}]"#, headers: ["Link": link]))
        let fixture = try PagerFixture(Profile.named("github")!.options)
        let pager = fixture.pager(try HTTPSource("\(server.address)/issues", profile: .named("github")!))
        try await pager.refresh()
        let before = try fixture.picture
        await #expect(throws: HTTPSourceError.self) { try await pager.append() }
        #expect(other.requests.isEmpty)
        #expect(try fixture.picture == before)
    }

    // MARK: Conditions

    @Test(arguments: [
        ("ETag", "W/\"x\"", "If-None-Match"),
        ("Last-Modified", "Tue, 15 Nov 1994 12:45:26 GMT", "If-Modified-Since"),
    ])
    func whatHasNotChangedIsNotSentAgain(name: String, value: String, condition: String) async throws {
        let server = try await LoopbackServer.start { request in
            request.headers[HTTPHeader(condition)] == value
                ? .json("", status: 304)
                : .json(Self.page([3, 2, 1]), headers: [name: value, "Cache-Control": "max-age=60"])
        }
        let fixture = try PagerFixture(Self.options)
        let pager = try Self.pager(fixture, server)
        #expect(try await pager.refresh().verdict == .ok)
        #expect(try await pager.refresh(.ifStale) == .fresh)
        fixture.clock.advance(.seconds(61))
        #expect(try await pager.refresh(.ifStale) == .notModified)
        #expect(try await pager.refresh(.ifStale) == .fresh)
        #expect(server.requests.count == 2)
    }

    // MARK: Politeness

    @Test(arguments: [429, 503])
    func whoIsToldToWaitWaits(status: Int) async throws {
        let server = try await Self.server(
            .json("{}", status: status, headers: ["Retry-After": "7"]), Self.ok)
        let fixture = try PagerFixture(Self.options)
        #expect(try await Self.pager(fixture, server).refresh().verdict == .ok)
        #expect(fixture.clock.slept.reduce(.zero, +) >= .seconds(7))
        #expect(server.requests.count == 2)
    }

    @Test func backoffAndQuotaOfStackExchangeAreHeeded() async throws {
        let answer = { (left: Int) in
            HTTPResponse.json(
                #"{"items":[{"question_id":7}],"has_more":true,"backoff":9,"quota_remaining":\#(left)}"#)
        }
        let server = try await Self.server(answer(1), answer(0))
        let profile = Profile.named("stackexchange")!
        let fixture = try PagerFixture(profile.options)
        let pager = fixture.pager(
            try HTTPSource(
                "\(server.address)/questions?page={page}&pagesize={limit}&site={site}", profile: profile),
            options: PagerOptions(pageSize: 1),
            of: try fixture.feed.cache.feed(
                named: "questions", parameters: ["site": "a&b=c"], options: profile.options))
        try await pager.refresh()
        try await pager.refresh()
        #expect(fixture.clock.slept == [.seconds(9)])
        await #expect(throws: PagerError.quotaSpent(.seconds(86_400))) { try await pager.refresh() }
        #expect(server.requests.map { $0.query["site"] } == ["a&b=c", "a&b=c"])
    }

    @Test func theRateLimitOfGitHubIsHeeded() async throws {
        let headers = [
            "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795302090",
            "Date": "Sat, 21 Nov 2026 23:00:00 GMT",
        ]
        let server = try await Self.server(
            .json(#"[{"id":9}]"#, headers: ["X-RateLimit-Remaining": "1"]),
            .json(#"{"message":"API rate limit exceeded"}"#, status: 403, headers: headers))
        let fixture = try PagerFixture(Profile.named("github")!.options)
        let pager = fixture.pager(try HTTPSource("\(server.address)/issues", profile: .named("github")!))
        try await pager.refresh()
        await #expect(throws: PagerError.quotaSpent(.seconds(89))) { try await pager.refresh() }
        #expect(fixture.clock.slept == [.seconds(1)] && server.requests.count == 2)
        await #expect(throws: PagerError.quotaSpent(.seconds(89))) { try await pager.refresh() }
        fixture.clock.advance(.seconds(89))
        await #expect(throws: PagerError.quotaSpent(.seconds(89))) { try await pager.refresh() }
        #expect(server.requests.count == 3)
    }

    // MARK: Failures

    @Test func aLostConnectionIsTriedAgain() async throws {
        let server = try await Self.server(.dropped, Self.ok)
        let fixture = try PagerFixture(Self.options)
        #expect(try await Self.pager(fixture, server).refresh().verdict == .ok)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [(500, true), (502, true), (408, true), (400, false), (404, false), (501, false)])
    func aStatusSaysWhetherToTryAgain(status: Int, isTransient: Bool) async throws {
        let server = try await Self.server(.json("<html>", status: status))
        try await expectFailure("HTTP \(status)", isTransient: isTransient, of: server)
    }

    @Test func anErrorDocumentIsNoEmptyPage() async throws {
        let error = #"{"error":"throttle_violation","message":"too many\u001b[2J requests"}"#
        for status in [200, 400] {
            let server = try await Self.server(.json(error, status: status))
            try await expectFailure("too many\\u{1B}[2J requests", isTransient: false, of: server)
        }
    }

    /// What is not JSON was cut, or came from a machine in between, and may be whole the next time.
    @Test(arguments: [("", true), ("[", true), ("<html></html>", true), ("{\"posts\":[{}]}", false)])
    func whatIsNoPageIsRefused(body: String, isTransient: Bool) async throws {
        let server = try await Self.server(.json(body))
        try await expectFailure("response: ", isTransient: isTransient, of: server)
    }

    @Test func aBodyAboveTheLimitIsNotRead() async throws {
        let large = #"{"posts":[],"filling":"\#(String(repeating: "x", count: 20_000))"}"#
        try await expectFailure("more than 10000 bytes", isTransient: false, of: Self.server(.json(large)))
        let bomb = try gzip(Array(repeating: UInt8(ascii: " "), count: 5_000_000))
        #expect(bomb.count < 10_000)
        let server = try await Self.server(
            HTTPResponse(
                statusCode: .ok, headers: [HTTPHeader("Content-Encoding"): "gzip"], body: Data(bomb)))
        try await expectFailure("more than 10000 bytes", isTransient: false, of: server)
    }

    @Test func compressedBodiesAreRead() async throws {
        let server = try await Self.server(
            HTTPResponse(
                statusCode: .ok, headers: [HTTPHeader("Content-Encoding"): "gzip"],
                body: Data(try gzip(Array(Self.page([3, 2, 1]).utf8)))))
        let fixture = try PagerFixture(Self.options)
        try await Self.pager(fixture, server).refresh()
        #expect(try fixture.picture.hasPrefix("[3 2 1]"))
        #expect(server.requests[0].headers[HTTPHeader("Accept-Encoding")]?.contains("gzip") == true)
    }

    /// Compressed by the tool of that name.
    private func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        let folder = try FileManager.default.url(
            for: .itemReplacementDirectory, in: .userDomainMask,
            appropriateFor: FileManager.default.temporaryDirectory, create: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(bytes).write(to: folder.appending(path: "body"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["gzip", folder.appending(path: "body").path]
        try process.run()
        process.waitUntilExit()
        return Array(try Data(contentsOf: folder.appending(path: "body.gz")))
    }

    @Test func aServerThatIsNotThereMayComeBack() async throws {
        var server: LoopbackServer? = try await Self.server(Self.ok)
        let address = server!.address
        server = nil
        let fixture = try PagerFixture(Self.options)
        let pager = fixture.pager(
            try Self.wire.source(address), options: PagerOptions(retries: RetryPolicy(attempts: 1)))
        let error = await #expect(throws: PageFailure.self) { try await pager.refresh() }
        #expect(error?.isTransient == true)
    }

    @Test func aServerThatSaysNothingIsGivenUp() async throws {
        let server = try await LoopbackServer.start { _ in
            let (stream, _) = AsyncStream<Never>.makeStream()
            for await _ in stream {}
            return Self.ok
        }
        let fixture = try PagerFixture(Self.options)
        let pager = fixture.pager(
            try Self.wire.source(server.address, timeout: .milliseconds(200)),
            options: PagerOptions(retries: RetryPolicy(attempts: 1)))
        let error = await #expect(throws: PageFailure.self) { try await pager.refresh() }
        #expect(error?.isTransient == true)
    }

    // MARK: Redirections

    @Test func redirectionsAreFollowedWithoutTheAppsHeaders() async throws {
        let other = try await Self.server(Self.ok)
        let server = try await LoopbackServer.start { request in
            switch request.path {
            case "/list": .json("", status: 302, headers: ["Location": "/moved"])
            case "/moved": .json("", status: 307, headers: ["Location": "\(other.address)/there"])
            default: .json("", status: 404)
            }
        }
        let fixture = try PagerFixture(Self.options)
        let source = try HTTPSource("\(server.address)/list", profile: Self.wire.profile) { request in
            request.setValue("secret", forHTTPHeaderField: "X-Key")
            request.setValue("reader/1", forHTTPHeaderField: "User-Agent")
        }
        try await fixture.pager(source).refresh()
        #expect(try fixture.picture.hasPrefix("[3 2 1]"))
        for request in server.requests + other.requests {
            #expect(request.headers[HTTPHeader("User-Agent")] == "reader/1")
            #expect(request.headers[HTTPHeader("Accept")] == "application/json")
        }
        let key = HTTPHeader("X-Key")
        #expect(server.requests.map { $0.headers[key] } == ["secret", "secret"])
        #expect(other.requests.map { $0.headers[key] } == [nil])
    }

    @Test func redirectionsThatDoNotEndAreGivenUp() async throws {
        let server = try await Self.server(.json("", status: 302, headers: ["Location": "/list?again"]))
        try await expectFailure("redirected too often", isTransient: false, of: server)
        #expect(server.requests.count == 6)
    }

    // MARK: Cancelling

    @Test func aCancelledCallChangesNothing() async throws {
        let (answers, release) = AsyncStream<HTTPResponse>.makeStream()
        let server = try await LoopbackServer.start { _ in
            for await answer in answers { return answer }
            return .json("{}", status: 500)
        }
        let fixture = try PagerFixture(Self.options)
        let pager = try Self.pager(fixture, server)
        let call = Task { try await pager.refresh() }
        try await until { server.requests.count == 1 }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        release.yield(Self.ok)
        release.yield(Self.ok)
        #expect(try fixture.picture == PagerFixture(Self.options).picture)
        #expect(try await pager.refresh().verdict == .ok)
    }

    // MARK: Ids first

    @Test func bodiesCanBeFewerAndInAnyOrder() async throws {
        let options = FeedOptions(order: .ranked, paging: .ids, pageSize: 3)
        let ids = try Profile(json: Array(#"{"name":"ids","id":{},"paging":"ids"}"#.utf8), name: "ids")
        let items = try Profile(json: Array(#"{"name":"items","id":{"path":"id"}}"#.utf8), name: "items")
        let server = try await LoopbackServer.start { request in
            guard let wanted = request.query["ids"] else { return .json("[5,4,3,2,1]") }
            let found = wanted.split(separator: ",").filter { $0 != "4" }.reversed()
            return .json("[\(found.map { #"{"id":\#($0)}"# }.joined(separator: ","))]")
        }
        let fixture = try PagerFixture(options)
        let pager = fixture.pager(
            try HTTPSource(
                "\(server.address)/top", profile: ids,
                bodies: ("\(server.address)/items?ids={ids}", items)))
        try await pager.refresh()
        while case .loaded = try await pager.append() {}
        let posts = try fixture.feed.posts(as: [String: Int].self).rows(limit: 10).compactMap(\.post)
        #expect(posts.map(\.id.description) == ["5", "3", "2", "1"])
        #expect(try posts.map { try $0.decoded()["id"] } == [5, 3, 2, 1])
    }

    // MARK: Templates

    @Test(arguments: [
        "", "list?page={page}", "ftp://host/", "http:///list", "https://host/{page", "https://{}/",
    ])
    func whatIsNoTemplateIsRefusedAtOnce(template: String) {
        #expect(throws: HTTPSourceError.self) {
            _ = try HTTPSource(template, profile: .named("stackexchange")!)
        }
    }

    @Test func aParameterWithoutAPlaceIsAnError() async throws {
        let server = try await Self.server(Self.ok)
        let fixture = try PagerFixture(Self.options)
        let pager = fixture.pager(
            try HTTPSource("\(server.address)/list", profile: Self.wire.profile),
            of: try fixture.feed.cache.feed(
                named: "list", parameters: ["tag": "swift"], options: Self.options))
        await #expect(throws: HTTPSourceError.self) { try await pager.refresh() }
        #expect(server.requests.isEmpty)
    }
}
