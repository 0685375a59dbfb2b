import FlyingFox
import Foundation
import QuireSimulator
import Synchronization
import Testing

/// `quire pull` killed at any moment.
@Suite("quire pull, killed", .timeLimit(.minutes(10)), .serialized)
struct PullKillTests {
    /// When a request arrives: before the answer, beside it, or some moments after it left.
    private enum Moment: Int, CaseIterable { case before, beside, later }

    @Test("it goes on where it was, and hides no hole", arguments: [1, 2, 3, 4] as [UInt64])
    func killed(seed: UInt64) async throws {
        print("seed \(seed)")
        let held = Signalled()
        let box = try Sandbox()
        let numbers = Numbers(seed)
        let server = try await ListServer.start(posts: 150, usual: 10) { _, _, list in
            numbers.random.withLock { random in
                if !held.isOn { return nil }
                // New posts arrive, sometimes more than a page.
                if random.below(5) == 0 { list.insert(random.number(in: 1...15)) }
                guard random.below(5) == 0, let process = held.process else {
                    return nil
                }
                switch Moment(rawValue: random.below(3))! {
                case .before: process.send(SIGKILL)
                case .beside: Task.detached { process.send(SIGKILL) }
                case .later:
                    let yields = random.number(in: 1...200)
                    Task.detached {
                        for _ in 0..<yields { await Task.yield() }
                        process.send(SIGKILL)
                    }
                }
                return nil
            }
        }
        var kills = 0
        for round in 0..<14 {
            let process = try PullProcess(box, ["so", server.url, "--pause", "0s"])
            held.hold(process)
            let run = await process.end()
            if run.status == 0 && round > 8 { break }
            if run.status == 9 { kills += 1 }
            try await expectNoHiddenHole(box, server)
        }
        held.release()
        print(
            "seed \(seed): killed \(kills) times, \(server.requests.count) requests, \(server.ids.count) posts"
        )
        #expect(kills > 0)
        let last = try await box.pull("so", "--progress", "always")
        #expect(last.status == 0, "\(last)")
        #expect(try await box.rows(of: "so") == server.ids)
        #expect(try await box.other("check", box.cache).out == "no findings\n")
    }

    private final class Numbers: Sendable {
        let random: Mutex<SplitMix64>
        init(_ seed: UInt64) { random = Mutex(SplitMix64(seed: seed)) }
    }

    /// Posts that stand together in the cache stand together on the server, which only puts new ones on top.
    private func expectNoHiddenHole(_ box: Sandbox, _ server: ListServer) async throws {
        let list = server.ids
        for run in try await box.rows(of: "so").split(separator: "~") {
            let start = try #require(list.firstIndex(of: run.first!), "\(run.first!)")
            #expect(Array(run) == Array(list[start...].prefix(run.count)))
        }
    }
}
