import ArgumentParser
import QuireSimulator
import TestSupport

/// Runs random operations with servers that page by position, of every kind, and compares with the server's
/// list and answers: the histories of `NumberedServerTests`, optimised and many more.
struct NumberedHistories: TortureCommand {
    static let configuration = CommandConfiguration(
        commandName: "numbered", abstract: "Servers that page by number or offset, judged by their truth.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many operations of the cache there are.") var count = 10_000

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        var summary = Summary(name: "numbered", unit: "operations")
        var total = NumberedHistory.Figures()
        var histories = 0
        while total.operations < count {
            let (failure, figures) = NumberedRun.any(&random)
            if let failure { throw Violation(what: failure) }
            total += figures
            histories += 1
        }
        summary.count = total.operations
        summary.notes =
            "\(histories) histories, \(total.requests) requests, \(total.claims) unverified joins, which hide "
            + "\(total.hidden) posts in the end; \(total.falseEnds) posts below ends that were concluded"
        return summary
    }
}
