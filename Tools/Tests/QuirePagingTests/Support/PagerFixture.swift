import Quire
import QuirePaging
import Synchronization

@testable import TestSupport

/// A feed on disk of its own, and a clock that stands still.
struct PagerFixture {
    let subject: OracleSubject
    let clock: TestClock

    init(
        _ options: FeedOptions = FeedOptions(order: .stable, pageSize: 3),
        clock: TestClock = TestClock()
    ) throws {
        subject = try OracleSubject(options: options)
        self.clock = clock
    }

    var feed: Feed { subject.feed }

    func pager(
        _ source: any PagingSource, _ interceptors: [Interceptor] = [],
        options: PagerOptions = PagerOptions(), of feed: Feed? = nil
    ) -> Pager {
        Pager(
            feed ?? self.feed, source: source, interceptors: interceptors, options: options,
            clock: clock.pagerClock())
    }

    /// The feed in one line: `[9 8 7] ~ [3 2 1] |end`.
    var picture: String {
        get throws { try OracleView(of: subject).description }
    }

    /// How many commits there were.
    var generation: UInt64 {
        get throws { try feed.cache.withSnapshot { try $0.generation } }
    }
}

/// Lines that a closure writes and a test reads.
final class Notes: Sendable {
    private let written = Mutex<[String]>([])

    var lines: [String] { written.withLock { $0 } }
    func write(_ line: String) { written.withLock { $0.append(line) } }
}

extension PageResponse {
    /// A page that shows these posts, with their numbers as keys.
    static func page(_ ids: [UInt64], next: Link = .unknown, previous: Link = .unknown) -> PageResponse {
        var answer = Answer(next: next, previous: previous)
        for id in ids { answer.append(id: PostID(id), key: Int64(id), body: Array("{\"id\":\(id)}".utf8)) }
        return PageResponse(answer)
    }
}

extension PageResult {
    var verdict: Outcome.Verdict? { if case .loaded(let outcome) = self { outcome.verdict } else { nil } }
}
