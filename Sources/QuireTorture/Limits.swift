import ArgumentParser
import Foundation
import Quire
import QuireSimulator

/// What there is little of: address space that several processes must enlarge in turn, places in LMDB's table
/// of readers, and the one lock of all writers, while somebody who holds it is suspended.
struct Limits: TortureCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tiny maps, no places for readers, suspended writers.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How often each of them is met.") var count = 10

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        var summary = Summary(name: "limits", unit: "cycles")
        var size: Int64 = 0
        for cycle in 0..<count {
            let path = "\(folder)/limits-\(cycle).quire"
            size = max(size, try growTogether(path, &random))
            try fillTheTable(path)
            try suspend(path, isKilled: cycle.isMultiple(of: 2))
            summary.count += 3
            try FileManager.default.removeItem(atPath: path)
        }
        summary.notes = "maps of 1 MiB grew to files of \(size >> 10) KiB in several processes, one of them "
            + "killed; 1,024 readers killed; suspended writers resumed and killed"
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

    // MARK: Address space

    private static let value = 60_000

    /// Two processes with a map of 1 MiB write more than fits, in turn; one is killed on the way.
    private func growTogether(_ path: String, _ random: inout SplitMix64) throws -> Int64 {
        func writer(_ name: String) -> Assistant {
            Assistant { order in
                let feed = try Self.open(path).feed(named: name)
                var number = 0
                while order.wait() {
                    try feed.setAttribute(
                        "\(number)", to: [UInt8](repeating: UInt8(number), count: Self.value))
                    number += 1
                }
            }
        }
        let orders = 24
        let (first, second, killed) = (writer("first"), writer("second"), random.below(orders))
        for order in 0..<orders {
            if !first.works() { throw Violation(what: "a writer cannot enlarge its map") }
            if order < killed {
                if !second.works() { throw Violation(what: "a writer cannot follow a map that grew") }
            } else if order == killed {
                second.dies(after: UInt32(random.below(500)))
            }
        }
        first.stop()
        try inChild("after maps grew") {
            let cache = try Self.open(path)
            return try cache.withSnapshot { snapshot in
                for (name, count) in [("first", orders), ("second", killed)] {
                    let feed = try cache.existingFeed(named: name)!
                    for number in 0..<count
                    where try snapshot.attribute("\(number)", of: feed)
                        != [UInt8](repeating: UInt8(number), count: Self.value)
                    { return false }
                }
                return true
            } && cache.check().isEmpty
        }
        try inChild("verify after maps grew") { try Cache.verify(at: path).isEmpty }
        var status = stat()
        stat(path, &status)
        return Int64(status.st_size)
    }

    // MARK: Places for readers

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

    // MARK: The lock of writers

    /// A writer is suspended while it holds the lock. Readers go on, writers wait; it is resumed or killed,
    /// and those who waited commit.
    private func suspend(_ path: String, isKilled: Bool) throws {
        func write(_ name: String, _ then: @escaping () -> Void) throws {
            let cache = try Self.open(path)
            let feed = try cache.feed(named: "first")
            try cache.batch { batch in
                try batch.setAttribute(name, to: [1], of: feed)
                then()
            }
        }
        let sleeper = Child { tell in
            (try? write("sleeper") { raise(SIGSTOP) }) == nil ? 1 : 0
        }
        var status: Int32 = 0
        waitpid(sleeper.process, &status, WUNTRACED)
        if status & 0xFF != 0x7F { throw Violation(what: "a writer could not be suspended") }
        let waiter = Child { tell in
            tell(1)
            if (try? write("waiter") {}) == nil { return 1 }
            tell(2)
            return 0
        }
        _ = waiter.heard()
        try inChild("reading beside a suspended writer") {
            let cache = try Self.open(path)
            let feed = try cache.feed(named: "first")
            return try cache.withSnapshot { try $0.attribute("waiter", of: feed) } == nil
        }
        kill(sleeper.process, isKilled ? SIGKILL : SIGCONT)
        let ended = sleeper.wait().ending
        if ended != (isKilled ? .killed(signal: SIGKILL) : .exited(0)) {
            throw Violation(what: "a suspended writer ended with \(ended)")
        }
        let waited = waiter.wait()
        if waited.ending != .exited(0) { throw Violation(what: "who waited for the lock: \(waited.ending)") }
        try inChild("after a writer was suspended") {
            let cache = try Self.open(path)
            let feed = try cache.feed(named: "first")
            let (slept, waited) = try cache.withSnapshot {
                (try $0.attribute("sleeper", of: feed), try $0.attribute("waiter", of: feed))
            }
            return try (slept == nil) == isKilled && waited == [1] && cache.check().isEmpty
        }
    }
}
