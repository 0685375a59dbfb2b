import ArgumentParser
import QuireSimulator
import TestSupport

/// Random operations on every kind of feed, judged by what the simulated server's list and its answers imply: the
/// histories of `OracleTests`, optimised and many more.
struct OracleHistories: TortureCommand {
    static let configuration = CommandConfiguration(
        commandName: "oracle", abstract: "Random operations, judged by the server's truth.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many operations of the cache there are.") var count = 10_000

    private static let steps = 60

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        var summary = Summary(name: "oracle", unit: "operations")
        var histories = 0
        while summary.count < count {
            let seed = random.next() >> 1
            let seeds = seed..<seed + 1
            for mode in OracleMode.allCases {
                if let failure = OracleRun.firstFailure(in: mode, seeds: seeds, steps: Self.steps) {
                    throw Violation(what: failure)
                }
            }
            if let failure = OracleRun.firstFailureOfCrawls(seeds: seeds) { throw Violation(what: failure) }
            histories += OracleMode.allCases.count
            summary.count += OracleRun.operations(seeds: seeds, steps: Self.steps) * OracleMode.allCases.count
        }
        summary.notes = "\(histories) histories of \(OracleMode.allCases.count) kinds of feed, "
            + "\(histories / OracleMode.allCases.count) recorded crawls"
        return summary
    }
}
