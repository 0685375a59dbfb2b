import ArgumentParser
import QuireSimulator
import TestSupport

/// Runs random operations on every kind of feed, and compares with the simulated server's list and answers:
/// the histories of `OracleTests`, optimised and many more.
struct OracleHistories: TortureCommand {
    static let configuration = CommandConfiguration(
        commandName: "oracle", abstract: "Random operations, judged by the server's truth.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many operations of the cache there are.") var count = 10_000

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        var summary = Summary(name: "oracle", unit: "operations")
        var crawls = 0
        while summary.count < count {
            let seed = random.next() >> 1
            let seeds = seed..<seed + 1
            for mode in OracleMode.allCases {
                let (failure, operations) = OracleRun.firstFailure(in: mode, seeds: seeds)
                if let failure { throw Violation(what: failure) }
                summary.count += operations
            }
            if let failure = OracleRun.firstFailureOfCrawls(seeds: seeds) { throw Violation(what: failure) }
            crawls += 1
        }
        let kinds = OracleMode.allCases.count
        summary.notes = "\(crawls * kinds) histories on \(kinds) kinds of feed, \(crawls) recorded crawls"
        return summary
    }
}
