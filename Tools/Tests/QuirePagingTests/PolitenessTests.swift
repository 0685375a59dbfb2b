import Foundation
import Quire
import Synchronization
import Testing

@testable import QuirePaging

/// How long a server is left alone, and how failed requests are retried.
@Suite(.timeLimit(.minutes(10))) struct PolitenessTests {
    /// Gives one of these after the other.
    private final class Script: PagingSource {
        private let rest: Mutex<[Result<PageResponse, any Error>]>
        init(_ results: Result<PageResponse, any Error>...) { rest = Mutex(results) }

        var left: Int { rest.withLock { $0.count } }

        func page(for request: PageRequest) async throws -> PageResponse {
            try rest.withLock { rest in
                if rest.isEmpty { throw PageFailure("the script is at its end", isTransient: false) }
                return try rest.removeFirst().get()
            }
        }
    }

    private static let page = PageResponse.page([3, 2, 1], next: .token("below 1"))
    private static let busy = PageFailure("busy", isTransient: true)

    // MARK: Retries

    @Test func aPassingFailureIsRetriedMoreAndMoreSlowly() async throws {
        let fixture = try PagerFixture()
        let retries = RetryPolicy(attempts: 4, firstDelay: .seconds(1), longestDelay: .seconds(3))
        let script = Script(
            .failure(Self.busy), .failure(Self.busy), .failure(Self.busy), .success(Self.page))
        let pager = fixture.pager(script, options: PagerOptions(retries: retries))
        #expect(try await pager.refresh().verdict == .ok)
        #expect(fixture.clock.slept == [.seconds(1), .seconds(2), .seconds(3)])
    }

    @Test func retriesEnd() async throws {
        let fixture = try PagerFixture()
        let script = Script(.failure(Self.busy), .failure(Self.busy), .success(Self.page))
        let pager = fixture.pager(script, options: PagerOptions(retries: RetryPolicy(attempts: 2)))
        await #expect(throws: Self.busy) { try await pager.refresh() }
        #expect(script.left == 1)
        #expect(try await pager.refresh().verdict == .ok)
    }

    @Test func aLastingFailureIsNotRetried() async throws {
        let fixture = try PagerFixture()
        let script = Script(.failure(PageFailure("gone", isTransient: false)), .success(Self.page))
        let pager = fixture.pager(script)
        await #expect(throws: PageFailure.self) { try await pager.refresh() }
        #expect(fixture.clock.slept.isEmpty && script.left == 1)
    }

    @Test func delaysLieBetweenHalfAndAll() {
        let policy = RetryPolicy(firstDelay: .seconds(2), longestDelay: .seconds(60))
        #expect(policy.delay(afterAttempt: 1, luck: 0) == .seconds(1))
        #expect(policy.delay(afterAttempt: 1, luck: 1) == .seconds(2))
        #expect(policy.delay(afterAttempt: 3, luck: 0.5) == .seconds(6))
        #expect(policy.delay(afterAttempt: 1_000_000, luck: 1) == .seconds(60))
    }

    @Test func lostConnectionsPass() {
        #expect(RetryPolicy.isUsuallyTransient(URLError(.timedOut)))
        #expect(!RetryPolicy.isUsuallyTransient(URLError(.badURL)))
        #expect(!RetryPolicy.isUsuallyTransient(CancellationError()))
    }

    // MARK: Pauses

    @Test func backoffIsHeededByEveryRequestOfTheFeed() async throws {
        let fixture = try PagerFixture()
        var paused = Self.page
        paused.pause = .seconds(10)
        let script = Script(.success(paused), .success(.page([], next: .end)), .success(Self.page))
        let pager = fixture.pager(script)
        try await pager.refresh()
        #expect(fixture.clock.slept.isEmpty)
        try await pager.append()
        #expect(fixture.clock.slept == [.seconds(10)])
        try await pager.refresh()
        #expect(fixture.clock.slept == [.seconds(10)])
    }

    @Test func retryAfterIsLongerThanTheBackoff() async throws {
        let fixture = try PagerFixture()
        let script = Script(
            .failure(PageFailure("429", isTransient: true, pause: .seconds(20))), .success(Self.page))
        #expect(try await fixture.pager(script).refresh().verdict == .ok)
        #expect(fixture.clock.slept == [.seconds(1), .seconds(19)])
    }

    @Test func aLongPauseIsToldAndSurvivesARestart() async throws {
        let fixture = try PagerFixture()
        let script = Script(
            .failure(PageFailure("503", isTransient: false, pause: .seconds(3_600))),
            .success(Self.page))
        await #expect(throws: PageFailure.self) { try await fixture.pager(script).refresh() }
        fixture.clock.advance(.seconds(600))
        await #expect(throws: PagerError.paused(.seconds(3_000))) {
            try await fixture.pager(script).refresh()
        }
        fixture.clock.advance(.seconds(3_000))
        #expect(try await fixture.pager(script).refresh().verdict == .ok)
    }

    @Test func aClockThatWasSetBackMakesNoPauseLonger() async throws {
        let fixture = try PagerFixture()
        let script = Script(
            .failure(PageFailure("503", isTransient: false, pause: .seconds(3_600))),
            .success(Self.page))
        let pager = fixture.pager(script)
        await #expect(throws: PageFailure.self) { try await pager.refresh() }
        fixture.clock.now -= 365 * 86_400_000
        await #expect(throws: PagerError.paused(.seconds(3_600))) { try await pager.refresh() }
        fixture.clock.advance(.seconds(3_600))
        #expect(try await pager.refresh().verdict == .ok)
    }

    @Test func noPauseIsLongerThanADay() async throws {
        let fixture = try PagerFixture()
        let script = Script(
            .failure(PageFailure("never", isTransient: false, pause: .seconds(Int64.max / 4))),
            .success(Self.page))
        let pager = fixture.pager(script)
        await #expect(throws: PageFailure.self) { try await pager.refresh() }
        fixture.clock.advance(.seconds(86_400))
        #expect(try await pager.refresh().verdict == .ok)
    }

    @Test func aSpentQuotaStopsRequestsUntilItIsRenewed() async throws {
        let fixture = try PagerFixture()
        var last = Self.page
        last.quota = Quota(remaining: 0, renewsIn: .seconds(100))
        let script = Script(.success(last), .success(Self.page))
        let pager = fixture.pager(script)
        try await pager.refresh()
        await #expect(throws: PagerError.quotaSpent(.seconds(100))) { try await pager.append() }
        #expect(script.left == 1)
        fixture.clock.advance(.seconds(100))
        #expect(try await pager.refresh().verdict == .ok)
    }

    @Test func aQuotaThatIsRenewedSoonIsWaitedFor() async throws {
        let fixture = try PagerFixture()
        var last = Self.page
        last.quota = Quota(remaining: 0, renewsIn: .seconds(1))
        let script = Script(.success(last), .success(last), .success(Self.page))
        let pager = fixture.pager(script)
        for _ in 0..<3 { try await pager.refresh() }
        #expect(fixture.clock.slept == [.seconds(1), .seconds(1)] && script.left == 0)
    }

    // MARK: Headers

    @Test func headersAreRead() {
        let date = "Tue, 15 Nov 1994 12:45:26 GMT"
        let response = PageResponse(
            Answer(), status: 200,
            headers: [
                "ETag": "W/\"x\"", "last-modified": date,
                "Cache-Control": "private, Max-Age=60", "Retry-After": "7",
            ])
        #expect(response.validators == Validators(etag: "W/\"x\"", lastModified: date))
        #expect(response.lifetime == .seconds(60) && response.pause == .seconds(7))
        if case .notModified = PageResponse(Answer(), status: 304, headers: [:]).content {
        } else {
            Issue.record("304 is a page")
        }
    }

    @Test(arguments: [
        ("120", 120), ("1.5", 1.5), ("99999999999999999999", 3_155_760_000),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 59), ("Fri, 31 Dec 1999 00:00:00 GMT", 0),
        ("soon", nil), ("-5", nil), ("", nil),
    ])
    func retryAfterIsANumberOrADate(text: String, seconds: Double?) {
        let headers = ["Retry-After": text, "Date": "Fri, 31 Dec 1999 23:59:00 GMT"]
        let failure = PageFailure("", status: 503, headers: headers)
        #expect(failure.pause == seconds.map { .seconds($0) })
    }

    struct RateLimit: Sendable {
        /// The names of the headers end with these.
        var remaining: String
        var reset: String?
        var resetAfter: String?
        var quota: Quota?
    }

    private static let rateLimits = [
        // Reddit: fractions of requests, seconds from now
        RateLimit(
            remaining: "598.0", reset: "372", quota: Quota(remaining: 598, renewsIn: .seconds(372))),
        // Discord: a date with a fraction, and the same in seconds from now
        RateLimit(
            remaining: "0", reset: "1795302001.250", resetAfter: "1.5",
            quota: Quota(remaining: 0, renewsIn: .milliseconds(1_500))),
        RateLimit(
            remaining: "0", reset: "1795302001.250",
            quota: Quota(remaining: 0, renewsIn: .milliseconds(1_250))),
        RateLimit(remaining: "7", resetAfter: "x", quota: Quota(remaining: 7)),
        RateLimit(remaining: "7", reset: "1.", quota: Quota(remaining: 7)),
        RateLimit(remaining: "1.2.3", quota: nil),
    ]

    @Test(arguments: rateLimits)
    func rateLimitsMayHaveFractions(limit: RateLimit) {
        var headers = ["Date": "Sat, 21 Nov 2026 23:00:00 GMT", "X-Ratelimit-Remaining": limit.remaining]
        headers["X-RateLimit-Reset"] = limit.reset
        headers["X-RateLimit-Reset-After"] = limit.resetAfter
        let failure = PageFailure("", status: 429, headers: headers)
        #expect(failure.quota == limit.quota)
    }

    /// The headers of the IETF's drafts, with the quota that they say; nil for none.
    private static let drafts: [(headers: [String: String], quota: Quota?)] = [
        (
            ["RateLimit-Limit": "100", "RateLimit-Remaining": "0", "RateLimit-Reset": "50"],
            Quota(remaining: 0, renewsIn: .seconds(50))
        ),
        (["ratelimit": #""default";r=0;t=12"#], Quota(remaining: 0, renewsIn: .seconds(12))),
        (["RateLimit": "\"a,b;r=0;t=9\" ; r=50 ; t=30"], Quota(remaining: 50, renewsIn: .seconds(30))),
        (
            ["RateLimit": #""second";r=0;t=1, "hour";r=0;t=700, "day";r=99;t=9000"#],
            Quota(remaining: 0, renewsIn: .seconds(700))
        ),
        (["RateLimit": "limit=10, remaining=0, reset=7"], Quota(remaining: 0, renewsIn: .seconds(7))),
        (["RateLimit": #""day";r=5"#], Quota(remaining: 5)),
        (["RateLimit": #""day";q=100;w=60"#], nil), (["RateLimit": "r=0"], Quota(remaining: 0)),
        (["RateLimit": ""], nil), (["RateLimit": #""open;r=0"#], Quota(remaining: 0)),
        (
            ["X-RateLimit-Remaining": "9", "X-RateLimit-Reset": "60", "RateLimit": #""burst";r=0;t=2"#],
            Quota(remaining: 0, renewsIn: .seconds(2))
        ),
    ]

    @Test(arguments: drafts)
    func rateLimitsOfTheDraftsAreRead(draft: (headers: [String: String], quota: Quota?)) {
        #expect(PageFailure("", status: 429, headers: draft.headers).quota == draft.quota)
    }

    @Test func someStatusesPass() {
        let passing = [400, 404, 408, 425, 429, 500, 501, 502, 503, 599, 600].filter {
            PageFailure("", status: $0, headers: [:]).isTransient
        }
        #expect(passing == [408, 425, 429, 500, 502, 503, 599])
    }
}
