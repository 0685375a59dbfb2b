import ClusterTesting
import Foundation
import Quire
import Testing

@testable import QuireCluster

/// Random histories of three nodes over a log that lies.
@Suite struct LyingHistoryTests {
    /// QUIRE_CLUSTER_SEEDS: how many histories.
    static let seeds = ProcessInfo.processInfo.environment["QUIRE_CLUSTER_SEEDS"].flatMap { Int($0) } ?? 150
    /// QUIRE_CLUSTER_FIRST_SEED: where to start, to repeat one history.
    static let first =
        ProcessInfo.processInfo.environment["QUIRE_CLUSTER_FIRST_SEED"].flatMap { Int($0) } ?? 1

    /// QUIRE_TRACE=1: prints each step as it happens.
    static let isTracing = ProcessInfo.processInfo.environment["QUIRE_TRACE"] == "1"

    @Test func everyHistoryIsSound() async throws {
        var counts = ClusterWorld.Counts()
        for seed in Self.first..<Self.first + Self.seeds {
            let world = try ClusterWorld(seed: UInt64(seed))
            if Self.isTracing { print("seed \(seed)") }
            do {
                try await world.run(steps: 50)
                try await world.settle()
            } catch {
                let story = await world.story.joined(separator: "\n")
                Issue.record("seed \(seed): \(error)\n\(story)")
                return
            }
            counts += await world.counts
        }
        print("\(Self.seeds) histories over a log that lies: \(counts)")
        // a test that meets nothing proves nothing
        guard Self.seeds >= 100 else { return }
        #expect(counts.accepted > 0 && counts.stale > 0 && counts.forks > 0 && counts.lost > 0)
        #expect(counts.rebuilds > 0 && counts.refused > 0 && counts.divergences > 0)
    }
}
