import Quire
import Synchronization
import Testing

@testable import QuirePaging

/// What stands between a pager and its source.
@Suite(.timeLimit(.minutes(10))) struct InterceptorTests {
    @Test func theFirstSeesRequestsFirstAndResponsesLast() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 3, options: fixture.feed.options)
        let notes = Notes()
        func named(_ name: String) -> Interceptor {
            Interceptor { request, next in
                notes.write("\(name) asks")
                var request = request
                request.parameters[name] = "\(request.parameters.count)"
                defer { notes.write("\(name) hears") }
                return try await next(request)
            } observe: { _, result in
                notes.write("\(name): \((try? result.get())?.description ?? "failed")")
            }
        }
        try await fixture.pager(server, [named("a"), named("b")]).refresh()
        #expect(
            notes.lines == [
                "a asks", "b asks", "b hears", "a hears", "a: ok, 3 new, 0 removed",
                "b: ok, 3 new, 0 removed",
            ])
        #expect(server.requests.map(\.parameters) == [["a": "0", "b": "1"]])
    }

    @Test func oneMayAnswerOrRewriteTheAnswer() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 5, options: fixture.feed.options)
        let answering = Interceptor { request, next in
            request.place == .tail ? .page([2, 1], next: .end) : try await next(request)
        }
        let filtering = Interceptor { request, next in
            var response = try await next(request)
            if case .page(var answer) = response.content {
                answer.opaqueRows = answer.posts.filter { $0.id == 4 }.count
                answer.posts.removeAll { $0.id == 4 }
                response.content = .page(answer)
            }
            return response
        }
        let pager = fixture.pager(server, [filtering, answering])
        try await pager.refresh()
        try await pager.append()
        #expect(try fixture.picture == "[5 3 2 1] |end")
        #expect(server.requests.count == 1)
    }

    @Test func aFailureInOneChangesNothingAndEndsNothing() async throws {
        struct Broken: Error {}
        let fixture = try PagerFixture()
        let server = ListServer(posts: 8, options: fixture.feed.options)
        let notes = Notes()
        let breaking = Interceptor { request, next in
            let response = try await next(request)
            if notes.lines.count == 1 { throw Broken() }
            return response
        } observe: { _, result in
            notes.write("\(result)".hasPrefix("failure") ? "failed" : "loaded")
        }
        let pager = fixture.pager(server, [breaking])
        try await pager.refresh()
        let before = try fixture.picture
        await #expect(throws: Broken.self) { try await pager.append() }
        #expect(try fixture.picture == before)
        try await pager.append()
        #expect(try fixture.picture == "[8 7 6 5 4 3] |…")
        #expect(notes.lines == ["loaded", "failed", "loaded"])
    }

    @Test func theLogQuotesWhatServersSay() async throws {
        let fixture = try PagerFixture()
        let notes = Notes()
        let pager = fixture.pager(
            Scripted { request in
                if request.place == .head { return .page([3], next: .token("\u{1B}[2J")) }
                throw PageFailure("\u{1B}]0;gotcha\u{07}", isTransient: request.attempt == 1)
            }, [.logging(to: notes.write)])
        try await pager.refresh()
        await #expect(throws: PageFailure.self) { try await pager.append() }
        #expect(
            notes.lines == [
                #""main": ask for link head"#, #""main": ok, 1 new, 0 removed"#,
                #""main": ask for link "\u{1B}[2J""#, #""main": ask for link "\u{1B}[2J", attempt 2"#,
                #""main": failed: "\u{1B}]0;gotcha\u{07}""#,
            ])
    }

    @Test func aFreshFirstPageIsAnsweredWithoutAsking() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 8, options: fixture.feed.options)
        let pager = fixture.pager(server, [.answeringFresh(within: .seconds(5))])
        try await pager.refresh()
        for _ in 0..<10 {
            fixture.clock.advance(.milliseconds(490))
            #expect(try await pager.refresh() == .fresh)
        }
        try await pager.append()
        fixture.clock.advance(.milliseconds(100))
        #expect(try await pager.refresh().verdict == .ok)
        try fixture.feed.evict([8])
        #expect(try await pager.refresh().verdict == .ok)  // what is not there is not fresh
        #expect(server.requests.map(\.place) == [.head, .tail, .head, .head])
    }

    @Test func aRecordingReplaysTheSameFeed() async throws {
        let options = FeedOptions(order: .stable, pageSize: 3)
        let recording = PageRecording()
        let original = try PagerFixture(options)
        let server = ListServer(posts: 4, options: options)
        let pager = original.pager(server, [.recording(into: recording)])
        try await session(pager) { server.insert(6) }

        let replay = try PagerFixture(options)
        let copy = try PageRecording(lines: try recording.lines())
        let silent = Scripted { _ in throw PageFailure("asked", isTransient: false) }
        let replaying = replay.pager(silent, [.replaying(copy)])
        try await session(replaying) {}
        #expect(try replay.picture == original.picture)
        #expect(try replay.picture == "[10 9 8 7 6 5 4 3 2 1] |end")
        await #expect(throws: PageFailure.self) { try await replaying.refresh() }
    }

    @Test func aRecordingHasAllOfAnAnswer() async throws {
        var answer = Answer(next: .token("2"))
        answer.append(id: 1, version: 5, detail: .summary, body: [1, 2])
        (answer.total, answer.since, answer.deleted, answer.fetchedAt) = (17, "s", [7], 3)
        var response = PageResponse(answer)
        (response.mayRefuseLink, response.total) = (true, 18)
        let recording = PageRecording()
        let original = Scripted { [response] _ in response }
        let (first, second) = (try PagerFixture(), try PagerFixture())
        try await first.pager(original, [.recording(into: recording)]).refresh()
        let copy = try PageRecording(lines: try recording.lines())
        let replayed = Captured()
        let silent = Scripted { _ in throw PageFailure("asked", isTransient: false) }
        try await second.pager(silent, [replayed.interceptor, .replaying(copy)]).refresh()
        let again = try #require(replayed.response)
        guard case .page(let page) = again.content else {
            Issue.record("no page")
            return
        }
        #expect(page == answer && again.mayRefuseLink && again.total == 18)
    }

    /// The last response that came through.
    private final class Captured: Sendable {
        private let held = Mutex(PageResponse?.none)
        var response: PageResponse? { held.withLock(\.self) }
        var interceptor: Interceptor {
            Interceptor { request, next in
                let response = try await next(request)
                self.held.withLock { $0 = response }
                return response
            }
        }
    }

    private func session(_ pager: Pager, change: () -> Void) async throws {
        try await pager.refresh()
        try await pager.append()
        change()
        try await pager.refresh()
        try await pager.fill(GapID(1), pages: 3)
    }

    @Test func aBrokenRecordingNamesItsLine() throws {
        #expect(throws: PageFailure.self) { try PageRecording(lines: "\n{") }
        do { _ = try PageRecording(lines: "\n{") } catch {
            #expect("\(error)".hasPrefix("recording: line 2: "))
        }
    }
}
