import CQuire
import Foundation
import Quire
import Testing

/// A Swift program and a C program (Tests/C/twoproc.c) write and read one cache at the same time. Runs
/// where QUIRE_TWOPROC names the C program; Tests/C/run.sh sets it.
@Suite(.timeLimit(.minutes(10))) struct TwoProcessTests {
    static let program = ProcessInfo.processInfo.environment["QUIRE_TWOPROC"]
    static let commits = 5_000
    /// Only to end a hang: a busy disk syncs a hundred commits a second.
    static let seconds = 600

    @Test(.enabled(if: program != nil)) func swiftAndC() async throws {
        let folder = NSTemporaryDirectory() + "/quire-two-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/two.quire"
        let cache = try Cache(at: path)
        let mine = try cache.feed(named: "swift")
        let other = try cache.feed(named: "c")

        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.program!)
        process.arguments = [path, "c", "swift", "\(Self.commits)", "\(Self.seconds)"]
        try process.run()
        let writing = Task.detached {
            for number in 1...UInt64(Self.commits) { try Self.refresh(mine, number) }
        }
        let seen = try Self.follow(other, in: cache, path)
        try await writing.value
        process.waitUntilExit()

        #expect(process.terminationStatus == 0)
        #expect(seen == Self.commits)
        #expect(try cache.check().isEmpty)
    }

    /// One new post on top of two known ones, as the C program does it.
    private static func refresh(_ feed: Feed, _ number: UInt64) throws {
        try feed.cache.batch { batch in
            var answer = Answer(next: number > 3 ? .token("older") : .end)
            for id in (max(1, number - min(2, number - 1))...number).reversed() {
                answer.append(id: PostID(id), body: Array(String(id).utf8))
            }
            let request = try batch[feed].plan(.head).request!
            let outcome = try batch[feed].ingest(answer, for: request.ticket)
            #expect(outcome.new.count == 1)
        }
    }

    /// Wakes at the other's commits and looks at its newest posts, until it has made all of them.
    private static func follow(_ feed: Feed, in cache: Cache, _ path: String) throws -> Int {
        var handle: OpaquePointer?
        try ok(quire_open(path, nil, &handle))
        defer { quire_close(handle) }
        let deadline = Date(timeIntervalSinceNow: Double(seconds))
        var generation: UInt64 = 0
        var top = 0
        while top < commits && Date() < deadline {
            if quire_wait(handle, generation, 1000, &generation) == QUIRE_TIMEOUT { continue }
            let rows = try cache.withSnapshot { try $0.rows(of: feed, limit: 20) }
            let ids = rows.compactMap { $0.post.flatMap { Int($0.id.description) } }
            #expect(ids.count == rows.count)
            guard let first = ids.first else { continue }
            #expect(first >= top)
            #expect(ids == Array(stride(from: first, to: first - ids.count, by: -1)))
            top = first
        }
        return top
    }
}
