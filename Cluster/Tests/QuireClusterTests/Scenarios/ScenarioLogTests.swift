import ClusterTesting
import Foundation
@_spi(Unstable) import TestSupport
import Testing

@_spi(Unstable) @testable import Quire
@testable import QuireCluster

/// The scenarios of the specification, through a shared log into three replicas with different tuning: what
/// they answer, and what they hold, is what a plain cache has.
@Suite struct ScenarioLogTests {
    private static let narrow: Tuning = {
        var tuning = Tuning()
        (tuning.chunkLimit, tuning.outerStride, tuning.innerStride, tuning.gapLimit) = (5, 64, 8, 2)
        return tuning
    }()

    @Test func everyScenario() async throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../Tests/Specification/scenarios.json")
        let scenarios = try #require(try JSON(Data(contentsOf: file)).list)
        var operations = 0
        for scenario in scenarios {
            let name = "\(scenario["id"]?.text ?? "") \(scenario["title"]?.text ?? "")"
            do { operations += try await Self.play(scenario) } catch {
                Issue.record("\(name): \(error)")
                return
            }
        }
        print("\(scenarios.count) scenarios, \(operations) operations through a log into three replicas")
        #expect(scenarios.count > 100 && operations > 500)
    }

    /// How many operations it has.
    private static func play(_ scenario: JSON) async throws -> Int {
        let player = try ScenarioPlayer(scenario, tuning: .cramped)
        let plain = player.storage.cache
        let recorded = try OperationLog(plain)
        for step in scenario["steps"]?.list ?? [] { try player.play(step, recorded) }

        let folder = ScratchFolder()
        let log = LyingLog(seed: 1, in: folder.path)
        var shards: [ClusterShard] = []
        for (i, tuning) in [Tuning(), .cramped, narrow].enumerated() {
            var options = ClusterOptions()
            options.cache.tuning = tuning
            options.cache.mapSize = 64 << 20
            options.checkpointInterval = 0
            options.pause = { await Task.yield() }
            // the feeds as the scenario has them at its start
            let place = try ScratchFolder.made(under: folder.path, "\(i)")
            try ScenarioRunner(scenario, tuning: tuning).storage.cache.copy(to: "\(place)/0-1.quire")
            try Self.makeReplica("\(place)/0-1.quire")
            try "1".write(toFile: "\(place)/0.current", atomically: true, encoding: .utf8)
            shards.append(try ClusterShard("0", log, in: "\(folder.path)/\(i)", options))
        }
        for (i, entry) in recorded.entries.enumerated() {
            // each node writes in turn
            let result = try await Self.submit(entry.bytes, to: shards[i % 3])
            if result != recorded.results[i].withoutIssuer {
                throw Trouble("operation \(i): \(result)\n   instead of\n\(recorded.results[i])")
            }
        }
        let end = await shards[recorded.entries.isEmpty ? 0 : (recorded.entries.count - 1) % 3].position
        let wanted = try Model.dump(plain)
        for shard in shards {
            try await shard.wait(for: end.number)
            if try Model.dump(shard.cache) != wanted {
                throw Trouble("\(try Model.dump(shard.cache))\n   instead of\n\(wanted)")
            }
            let findings = try shard.cache.check()
            if !findings.isEmpty { throw Trouble("\(findings)") }
        }
        return recorded.entries.count
    }

    /// Marks a cache as one that follows a log.
    private static func makeReplica(_ path: String) throws {
        let cache = try Cache(at: path)
        let seed = cache.environment.cacheFile.seed
        try cache.write(isOfLog: false) { session in
            try session.transaction.put(
                .format, NoKey(), CacheFile.encodedFormat(seed: seed, isReplica: true))
        }
    }

    private static func submit(_ bytes: [UInt8], to shard: ClusterShard) async throws -> OperationResult {
        do {
            let operation = try CacheOperation(encoded: bytes)
            let replies = try await shard.submit([operation]).replies
            return OperationResult.reply(try #require(replies.first)).withoutIssuer
        } catch let error as QuireError where error.isDeterministic { return .refused(error.code) }
    }

    struct Trouble: Error, CustomStringConvertible {
        let description: String
        init(_ text: String) { description = text }
    }
}

extension OperationResult {
    /// The issuer of a ticket is the history's, which a plain cache has not.
    fileprivate var withoutIssuer: OperationResult {
        if case .reply(.plan(let plan, _)) = self { .reply(.plan(plan, issuer: 0)) } else { self }
    }
}
