import ArgumentParser
import Foundation
import Quire
import QuireSimulator

/// A clock that jumps by years between all operations, back and forth. No page may stay for ever because it
/// came from the future, none may leave because the clock was set back, and nothing may overflow.
struct Clocks: TortureCommand {
    static let configuration = CommandConfiguration(abstract: "Let clocks jump by years.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many caches live with such a clock.") var count = 20

    private static let (day, year) = (86_400_000 as Int64, 31_557_600_000 as Int64)
    private static let now = 1_770_000_000_000 as Int64
    private static let operations = 60

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        var summary = Summary(name: "clock jumps", unit: "operations")
        for cycle in 0..<count {
            let seed = random.next()
            let path = "\(folder)/clocks-\(cycle).quire"
            let child = Child { _ in
                do {
                    var random = SplitMix64(seed: seed)
                    try Self.live(path, &random)
                    return 0
                } catch {
                    complain("\(error)")
                    return 1
                }
            }
            let ending = child.wait().ending
            if ending != .exited(0) { throw Violation(what: "cache \(cycle): \(ending)") }
            for name in [path, path + "-lock", path + "-open"] { unlink(name) }
            summary.count += Self.operations
        }
        summary.notes = "\(count) caches; no page was immortal, none left too early"
        return summary
    }

    private static func live(_ path: String, _ random: inout SplitMix64) throws {
        let cache = try Cache(at: path, options: CacheOptions(durability: .relaxed, mapSize: 1 << 26))
        let feed = try cache.feed(named: "clock")
        var policy = PrunePolicy()
        policy.maximumAge = day
        var id: UInt64 = 1_000_000
        for _ in 0..<operations {
            let clock =
                random.chance(0.2)
                ? random.pick([.min, .min + 1, -1, 0, .max - 1, .max])
                : now + Int64(random.number(in: -300...300)) * year
            if random.chance(0.7) {
                try receive(&id, at: clock, in: feed)
            } else {
                let before = try posts(of: feed)
                policy.now = clock
                while try !feed.prune(policy).isDone {}
                // Nothing can be older than a day at the beginning of time.
                if clock == .min, try posts(of: feed) != before {
                    throw Violation(what: "posts left at the beginning of time")
                }
            }
            if let finding = try cache.check().first { throw Violation(what: "\(finding)") }
        }
        // The clock is right again, for a prune today and one in two days.
        for clock in [now, now + 2 * day] {
            policy.now = clock
            while try !feed.prune(policy).isDone {}
        }
        let left = try posts(of: feed)
        if left != 0 { throw Violation(what: "\(left) posts are immortal") }
    }

    private static func posts(of feed: Feed) throws -> Int {
        try feed.cache.withSnapshot { try $0.info(of: feed).posts }
    }

    private static func receive(_ id: inout UInt64, at clock: Int64, in feed: Feed) throws {
        guard let request = try feed.plan(.head).request else { throw Violation(what: "no refresh") }
        var answer = Answer(next: .token("below \(id)"), fetchedAt: clock)
        id += 4
        for number in (id - 5..<id).reversed() { answer.append(id: PostID(number), body: [1, 2, 3]) }
        _ = try feed.ingest(answer, for: request.ticket)
    }
}
