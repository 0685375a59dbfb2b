import ArgumentParser
import CSync
import Foundation

/// Measures how operations of Quire grow with what the cache holds.
struct GrowthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "growth",
        abstract: "Measure how operations of Quire grow with posts, local posts and gaps.",
        discussion:
            "`run` compares engines as they grow. This measures what only Quire has. Commits are not synced.")

    @Option(help: "Numbers of posts in the cache, separated by commas.")
    var posts = "10000,30000,100000,300000"

    @Option(help: "Numbers of local posts, gaps, and operations in a batch, separated by commas.")
    var depths = "10,100,1000,10000"

    @Option var seed: UInt64 = 1

    @Option(help: "Where the caches go; must be on a real disk.")
    var folder = "/var/tmp/quire-bench"

    @Option(help: "Where the results go.")
    var json = "growth.json"

    func run() throws {
        syncing_set(false)
        var result = GrowthResult(machine: .current(folder: folder), date: Date.now.formatted(.iso8601))
        for depth in try numbers(depths) {
            note("\(depth) local posts")
            try inFolder { try LocalPostsGrowth(in: $0, seed: seed).measure(depth, into: &result) }
            if depth <= BatchGrowth.limit {
                note("\(depth) in a batch")
                try inFolder { try BatchGrowth(in: $0).measure(depth, into: &result) }
            }
            note("\(depth) gaps")
            try inFolder { try GapsGrowth(in: $0).measure(depth, into: &result) }
        }
        for size in try numbers(posts) {
            note("\(size) posts")
            try inFolder { try PostsGrowth(in: $0, posts: size, seed: seed).measure(into: &result) }
            try inFolder { try ScreensGrowth(in: $0, posts: size, seed: seed).measure(into: &result) }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(result).write(to: URL(fileURLWithPath: json))
    }

    /// Runs a measurement in a folder of its own, which does not stay.
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = folder + "/growth-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
        heap_release_free()
    }

    private func numbers(_ text: String) throws -> [Int] {
        try text.split(separator: ",").map {
            guard let number = Int($0), number > 0 else { throw ValidationError("\($0) is no size.") }
            return number
        }
    }

    private func note(_ text: String) { FileHandle.standardError.write(Data("  \(text)\n".utf8)) }
}
