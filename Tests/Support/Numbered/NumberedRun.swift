import Quire
import QuireSimulator

/// Runs histories before one kind of server.
public enum NumberedRun {
    /// The first failing history of a kind, as a text for a person, and what all histories up to there cost.
    public static func firstFailure(
        before setting: NumberedServer, seeds: Range<UInt64>, steps: Int = 40
    ) -> (failure: String?, figures: NumberedHistory.Figures) {
        var total = NumberedHistory.Figures()
        for seed in seeds {
            let order: OrderClass = seed % 3 == 0 ? .stable : .keyless
            var log: [String] = []
            do {
                let history = try NumberedHistory(setting, order: order, seed: seed)
                defer {
                    total += history.figures
                    log = history.log
                }
                try history.run(steps: steps)
                try history.settle()
            } catch {
                let text = ["\(setting), \(order.rawValue), seed \(seed): \(error)"] + log
                return (text.joined(separator: "\n"), total)
            }
        }
        return (nil, total)
    }

    /// One history before a server of any kind.
    public static func any(_ random: inout SplitMix64) -> (failure: String?, figures: NumberedHistory.Figures)
    {
        let size = random.number(in: 2...6)
        let setting = random.pick(NumberedServer.all(size: size, most: 2 * size))
        let seed = random.next() >> 1
        return firstFailure(before: setting, seeds: seed..<seed + 1)
    }
}
