import Foundation
import Testing

@_spi(Unstable) @testable import Quire
@_spi(Unstable) @testable import TestSupport

/// The same operations write the same bytes in every process, although the seeds of Swift's hashes differ:
/// nothing that is written depends on the order in which a set or a dictionary is iterated.
@Suite struct ProcessSeedTests {
    private static let variable = "QUIRE_OPERATIONS"
    private static let histories = 0..<UInt64(24)

    @Test(.timeLimit(.minutes(5))) func everyProcessWritesTheSame() throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for seed in Self.histories {
            var chaos = try OperationChaos(seed: seed, Tuning(), isWide: true)
            let log = try OperationLog(chaos.storage.cache)
            for _ in 0..<80 { try chaos.step(log) }
            let lines = log.entries.map { "\($0.issuer) \(Data($0.bytes).base64EncodedString())" }
            try lines.joined(separator: "\n").write(
                toFile: "\(folder)/\(seed)", atomically: true, encoding: .utf8)
        }
        // all begin with copies of one file, so that its secret is the same
        _ = try Cache(
            at: folder + "/empty.quire", options: CacheOptions(durability: .relaxed, mapSize: 1 << 28))
        let said = try (0..<3).map { try Self.askChild($0, folder) }
        #expect(Set(said.map(\.hash)).count > 1, "the processes have the same seeds")
        for other in said.dropFirst() {
            for (a, b) in zip(said[0].lines, other.lines) where a != b {
                Issue.record("\(a)\n   instead of\n\(b)")
                return
            }
            #expect(other.lines.count == said[0].lines.count)
        }
        #expect(said[0].lines.count > 1000)
    }

    /// Starts this program again for the test below, and returns what it wrote.
    private static func askChild(_ number: Int, _ folder: String) throws -> (
        hash: Substring, lines: [Substring]
    ) {
        try TestChild.run("ProcessSeedTests/child", [variable: "\(folder)\n\(number)"])
        let lines = try String(contentsOfFile: "\(folder)/said-\(number)", encoding: .utf8).split(
            separator: "\n")
        return (lines[0], Array(lines[1...]))
    }

    /// Is not a test unless a parent started it: applies the operations, and writes what came of them.
    @Test func child() throws {
        guard let order = ProcessInfo.processInfo.environment[Self.variable] else { return }
        let words = order.split(separator: "\n").map(String.init)
        let (folder, number) = (words[0], words[1])
        var lines = ["\("order".hashValue)"]
        for seed in Self.histories {
            let path = "\(folder)/\(seed)-\(number).quire"
            try FileManager.default.copyItem(atPath: folder + "/empty.quire", toPath: path)
            var options = CacheOptions(durability: .relaxed, mapSize: 1 << 28)
            options.tuning = seed % 2 == 0 ? .cramped : Tuning()
            let cache = try Cache(at: path, options: options)
            let entries = try String(contentsOfFile: "\(folder)/\(seed)", encoding: .utf8)
                .split(separator: "\n").map { line in
                    let words = line.split(separator: " ")
                    return (Array(Data(base64Encoded: String(words[1]))!), UInt64(words[0])!)
                }
            let results = try OperationLog.replay(entries, into: cache, most: 9, seed: seed)
            for (i, result) in results.enumerated() {
                lines.append("history \(seed), operation \(i): \(result)")
            }
            try cache.environment.read { transaction in
                try transaction.forEachRecord { key, value in
                    let table = Table.owner(of: key)!.table.name
                    lines.append("history \(seed), \(table) \(Array(key)): \(Array(value))")
                }
            }
        }
        try lines.joined(separator: "\n").write(
            toFile: "\(folder)/said-\(number)", atomically: true, encoding: .utf8)
    }
}
