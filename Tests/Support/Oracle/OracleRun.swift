import Foundation
@_spi(Unstable) import Quire
import QuireSimulator

/// Settings of the random tests, from the environment.
public enum OracleSettings {
    /// QUIRE_SEEDS: how many histories of each kind.
    static let seeds = number("QUIRE_SEEDS") ?? 40
    /// QUIRE_FIRST_SEED: where to start, to try new ground or repeat one history.
    static let first = UInt64(number("QUIRE_FIRST_SEED") ?? 0)
    /// Steps of a history.
    public static let steps = 60
    /// QUIRE_TRACE=1: print every step as it happens, to see what led to a crash. Best with one mode
    /// (QUIRE_MODE=bump), because modes run side by side.
    static let isTracing = number("QUIRE_TRACE") == 1
    static let modes = OracleMode.allCases.filter { mode in
        ProcessInfo.processInfo.environment["QUIRE_MODE"].map { $0 == mode.rawValue } ?? true
    }

    static var range: Range<UInt64> { first..<first + UInt64(seeds) }

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// Runs histories, and makes failing ones small.
public enum OracleRun {
    /// What went wrong, nil if nothing; what happened until then; and how many operations of the engine that
    /// was.
    private static func attempt(
        _ mode: OracleMode, _ tuning: Tuning, _ events: [OracleEvent]
    ) -> (failure: String?, log: [String], operations: Int) {
        var history: OracleHistory?
        var failure: String?
        do {
            let started = try OracleHistory(mode: mode, tuning: tuning)
            history = started
            try started.run(events)
            try started.heal()
        } catch {
            failure = "\(error)"
        }
        return (failure, history?.log ?? [], history?.operations ?? 0)
    }

    /// Every other history.
    private static func tuning(of seed: UInt64) -> Tuning { seed % 2 == 0 ? .cramped : Tuning() }

    /// The first failing history of a mode, shrunk, as a text for a person; and how many operations there
    /// were.
    public static func firstFailure(
        in mode: OracleMode, seeds: Range<UInt64>, steps: Int = OracleSettings.steps
    ) -> (failure: String?, operations: Int) {
        var operations = 0
        for seed in seeds {
            if OracleSettings.isTracing { print("--- \(mode.rawValue), seed \(seed)") }
            let events = OracleEvent.history(seed: seed, steps: steps)
            let tuning = tuning(of: seed)
            let first = attempt(mode, tuning, events)
            operations += first.operations
            guard let found = first.failure else { continue }
            let small = shrink(events) { attempt(mode, tuning, $0).failure != nil }
            let last = attempt(mode, tuning, small)
            let failure = """
                \(mode.rawValue), seed \(seed): \(last.failure ?? found)
                first seen as: \(found)
                after \(small.count) events: \(small.map(\.kind.rawValue).joined(separator: " "))
                \(last.log.suffix(80).joined(separator: "\n"))
                """
            return (failure, operations)
        }
        return (nil, operations)
    }

    /// The first failing crawl, as a text for a person.
    public static func firstFailureOfCrawls(seeds: Range<UInt64>) -> String? {
        for seed in seeds {
            let crawl = RecordedCrawl(seed: seed)
            do {
                try RecordedHistory(crawl, tuning(of: seed)).run()
            } catch {
                return "recorded, seed \(seed): \(error)\n\(crawl)"
            }
        }
        return nil
    }

    /// Drops events while the history still fails, larger pieces first. Gives up after a number of
    /// attempts: a failure that is not quite small is better than none.
    static func shrink(
        _ events: [OracleEvent], attempts: Int = 400, stillFails: ([OracleEvent]) -> Bool
    ) -> [OracleEvent] {
        var (events, left) = (events, attempts)
        var size = events.count / 2
        while size > 0 {
            var end = events.count
            var hasShrunk = false
            while end > 0 && left > 0 {
                let start = max(0, end - size)
                let fewer = Array(events[..<start] + events[end...])
                left -= 1
                if stillFails(fewer) {
                    events = fewer
                    hasShrunk = true
                }
                end = start
            }
            if left == 0 { break }
            if !hasShrunk || size > 1 { size /= 2 }
        }
        return events
    }
}
