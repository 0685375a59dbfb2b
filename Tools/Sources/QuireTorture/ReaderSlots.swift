import ArgumentParser
import Foundation
@_spi(Unstable) import Quire
import QuireSimulator

/// A process takes all places in LMDB's table of readers and is killed: the next reader gets one.
struct ReaderSlots: TortureCommand {
    static let configuration = CommandConfiguration(
        commandName: "slots", abstract: "Take all places for readers.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How often.") var count = 5

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        var summary = Summary(name: "reader slots", unit: "full tables")
        for cycle in 0..<count {
            try fillTheTable("\(folder)/slots-\(cycle).quire")
            summary.count += 1
        }
        return summary
    }

    private static func open(_ path: String) throws -> Cache {
        try Cache(at: path, options: CacheOptions(durability: .relaxed, mapSize: 1 << 20))
    }

    /// In a child of its own.
    private func inChild(_ what: String, _ body: @escaping () throws -> Bool) throws {
        let child = Child { _ in
            do { return try body() ? 0 : 1 } catch {
                complain("\(what): \(error)")
                return 2
            }
        }
        let ending = child.wait().ending
        if ending != .exited(0) { throw Violation(what: "\(what): \(ending)") }
    }

    /// One process takes all places and is killed; the next reader gets one, as does one after it.
    private func fillTheTable(_ path: String) throws {
        let greedy = Child { tell in
            guard let cache = try? Self.open(path) else { return 1 }
            var held: [OpenSnapshot] = []
            while let snapshot = try? OpenSnapshot(cache) { held.append(snapshot) }
            tell(UInt64(held.count))
            pause()
            return 0
        }
        guard let held = greedy.heard(), held >= 1000 else {
            throw Violation(what: "all places for readers could not be taken")
        }
        // An error, no crash and no waiting.
        try inChild("no place for a reader") {
            do { _ = try Self.open(path) } catch let error as QuireError { return error.code == .io }
            return false
        }
        greedy.end()
        _ = greedy.wait()
        try inChild("places of a killed reader") {
            let cache = try Self.open(path)
            try cache.feed(named: "first").setAttribute("a place", to: [1])
            return try cache.check().isEmpty
        }
    }
}
