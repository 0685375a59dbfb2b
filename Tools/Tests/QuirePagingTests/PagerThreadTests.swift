import Foundation
import Quire
import Synchronization
import Testing

@testable import QuirePaging

/// A commit that waits holds up its pager and no other task.
@Suite(.timeLimit(.minutes(10))) struct PagerThreadTests {
    /// A writer that holds the cache until it is told to let go. The time limit ends the test if it never
    /// does.
    private final class Writer: Sendable {
        let isWriting = Mutex(false)
        let wasLetGo = Mutex<Bool?>(nil)
        let mayEnd = DispatchSemaphore(value: 0)

        init(_ cache: Cache) {
            let thread = Thread { [self] in
                try? cache.batch { _ in
                    isWriting.withLock { $0 = true }
                    let result = mayEnd.wait(timeout: .now() + 60)
                    wasLetGo.withLock { $0 = result == .success }
                }
            }
            thread.start()
        }
    }

    /// More pagers than there are threads for tasks wait for a writer, and that one for a task.
    @Test func commitsThatWaitLeaveTheThreadsOfTasksAlone() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 8, options: fixture.feed.options)
        let cache = fixture.feed.cache
        let pagers = try (0..<32).map { number in
            Pager(
                try cache.feed(named: "feed \(number)", options: fixture.feed.options), source: server,
                clock: fixture.clock.pagerClock())
        }
        let writer = Writer(cache)
        try await until { writer.isWriting.withLock { $0 } }
        let calls = pagers.map { pager in Task { try await pager.refresh().verdict } }
        for _ in 0..<100 { await Task.yield() }  // they plan, which is a commit
        await Task.detached { _ = writer.mayEnd.signal() }.value
        for call in calls { #expect(try await call.value == .ok) }
        #expect(writer.wasLetGo.withLock { $0 } == true)
    }
}
