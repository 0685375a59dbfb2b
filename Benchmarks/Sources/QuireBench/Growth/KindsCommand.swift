import ArgumentParser
import CSync
import Foundation
import Quire
@_spi(Unstable) import TestSupport

/// Compares what writes cost in a short and in a long feed of each kind.
struct KindsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kinds",
        abstract: "Compare writes to a short and to a long feed, for each order and each kind of paging.",
        discussion: """
            The same writes, drawn from a seed, go to both. Prints a table: for each kind of write the mean over \
            all kinds of feeds, and the feed in which it grows most. A refresh of a feed of ids has a line of its \
            own, because the server answers with the whole list. Times are of the processor; commits are not \
            synced.
            """)

    @Option(help: "Pages of the short feed and of the long one, separated by a comma.")
    var pages = "300,3000"

    @Option(help: "Writes to each feed.")
    var writes = 1_000

    @Option var seed: UInt64 = 5

    @Option(help: "Where the caches go.")
    var folder = "/dev/shm"

    /// By what the table calls the write.
    private typealias Costs = [String: Cost]

    private static let list = "refresh of a feed of ids"

    private struct Cost {
        var count = 0
        var microseconds = 0.0
        var most = 0.0

        var mean: Double { microseconds / Double(max(1, count)) }
    }

    private struct Comparison {
        let feed: String
        let short: Cost
        let long: Cost

        /// A write of ten microseconds more costs hardly more, whatever the ratio.
        var ratio: Double { (long.mean + 10) / (short.mean + 10) }
    }

    func run() throws {
        let sizes = pages.split(separator: ",").compactMap { Int($0) }
        guard sizes.count == 2, sizes.allSatisfy({ $0 > 1 }) else {
            throw ValidationError("\(pages) is no pair of sizes.")
        }
        syncing_set(false)
        var compared: [String: [Comparison]] = [:]
        for order in OrderClass.allCases {
            for paging in Paging.allCases {
                let options = FeedOptions(order: order, paging: paging)
                let (short, long) = (try measure(options, sizes[0]), try measure(options, sizes[1]))
                for (write, cost) in short {
                    guard let longer = long[write] else { continue }
                    let name = "\(order.rawValue), \(paging.rawValue)"
                    compared[write, default: []].append(Comparison(feed: name, short: cost, long: longer))
                }
            }
        }
        print(
            "| write | mean, \(sizes[0]) pages | mean, \(sizes[1]) pages | longest "
                + "| grows most in | its means |")
        print("|---|---:|---:|---:|---|---:|")
        for write in AppWrites.Kind.allCases.map(\.rawValue) + [Self.list] {
            if let feeds = compared[write] { print(Self.line(write, feeds)) }
        }
    }

    private static func line(_ write: String, _ feeds: [Comparison]) -> String {
        func mean(_ cost: (Comparison) -> Double) -> Double {
            feeds.reduce(0) { $0 + cost($1) } / Double(feeds.count)
        }
        let steepest = feeds.max { $0.ratio < $1.ratio }!
        let longest = feeds.map(\.long.most).max()!
        return String(
            format: "| %@ | %.0f µs | %.0f | %.0f | %@ | %.0f and %.0f |", write, mean(\.short.mean),
            mean(\.long.mean), longest, steepest.feed, steepest.short.mean, steepest.long.mean)
    }

    private func measure(_ options: FeedOptions, _ pages: Int) throws -> Costs {
        let folder = "\(folder)/kinds-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let cache = try Cache(at: "\(folder)/kinds.quire")
        var writing = try AppWrites(in: cache, options, pages: pages, seed: seed)
        var costs: Costs = [:]
        for _ in 0..<writes {
            let (kind, write) = try writing.next()
            let start = Self.processorTime()
            try write(writing.feed)
            let time = Self.processorTime() - start
            let name = options.paging == .ids && kind.isRefresh ? Self.list : kind.rawValue
            costs[name, default: Cost()].count += 1
            costs[name]!.microseconds += time
            costs[name]!.most = max(costs[name]!.most, time)
        }
        let findings = try cache.check()
        guard findings.isEmpty else { throw EngineFailure("\(options): \(findings[0])") }
        return costs
    }

    /// Microseconds of the processor that this thread has had.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}
