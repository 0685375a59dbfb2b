import ArgumentParser
import CSync
import Foundation
import Quire
import QuireDumps

/// From JSON bytes to committed posts, and both halves of the way.
struct JSONCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "json", abstract: "Measure JSON bytes to committed posts.")

    @Argument(help: "Folders of Stack Exchange responses; each is a feed.")
    var folders: [String] = []

    @Option(help: "Make this many pages instead.")
    var generate: Int?

    @Option(help: "The field the server sorts by; the feeds are then of order class bump.")
    var key: String?

    @Option(help: "How often each way is taken.")
    var rounds = 5

    @Flag(help: "Sync each commit.")
    var synced = false

    @Option(help: "Where the cache is put.")
    var folder = "/var/tmp/quire-bench"

    @Option(help: "Where the results go.")
    var json: String?

    func validate() throws {
        if folders.isEmpty && generate == nil {
            throw ValidationError("Name a folder, or --generate a number of pages.")
        }
    }

    func run() throws {
        let scratch = "\(folder)/json-\(getpid())"
        let pages = scratch + "/pages"
        try FileManager.default.createDirectory(atPath: pages, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        if let generate {
            var generator = GeneratedPages()
            try generator.write(generate, to: pages)
        }
        syncing_set(synced)
        let way = try JSONWay(folders: generate == nil ? folders : [pages], key: key, scratch: scratch)
        var result = JSONResult(
            pages: way.pageCount, skipped: way.skipped, bytes: way.byteCount, isSynced: synced,
            rounds: [])
        for round in 0..<max(1, rounds) {
            var times = JSONResult.Round()
            for step in 0..<3 {
                switch (step + round) % 3 {
                case 0: times.parser = try way.parse()
                case 1: (times.engine, _) = try way.commit()
                default: (times.both, result.posts) = try way.parseAndCommit()
                }
            }
            result.rounds.append(times)
        }
        print(result.text)
        if let json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(result).write(to: URL(fileURLWithPath: json))
        }
    }
}

/// What `quire-bench json` measured.
struct JSONResult: Codable {
    /// Seconds for all pages.
    struct Round: Codable {
        var parser = 0.0
        var engine = 0.0
        var both = 0.0
    }

    var pages: Int
    /// Files that are no page of questions.
    var skipped: Int
    var bytes: Int
    var posts = 0
    var isSynced: Bool
    var rounds: [Round]

    private func rate(_ seconds: KeyPath<Round, Double>) -> Double {
        let sorted = rounds.map { $0[keyPath: seconds] }.sorted()
        return Double(bytes) / 1e6 / sorted[sorted.count / 2]
    }

    var parserRate: Double { rate(\.parser) }
    var engineRate: Double { rate(\.engine) }
    var bothRate: Double { rate(\.both) }
    /// The whole way against the slower half.
    var ratio: Double { bothRate / min(parserRate, engineRate) }

    var text: String {
        func line(_ name: String, _ rate: Double) -> String {
            let posts = rate * 1e6 / Double(bytes) * Double(posts)
            return "  \(pad(name, 16))\(pad(number(rate), 8, left: true)) MB/s"
                + "\(pad(number(posts), 12, left: true)) posts/s"
        }
        return """
            \(pages) pages, \(number(Double(bytes) / 1e6)) MB, \(posts) posts, \
            \(isSynced ? "synced" : "not synced")\(skipped > 0 ? ", \(skipped) files skipped" : "")
            \(line("parser alone", parserRate))
            \(line("engine alone", engineRate))
            \(line("both", bothRate))
              both / slower half: \(number(ratio)) (target 0.5 or more)
            """
    }
}
