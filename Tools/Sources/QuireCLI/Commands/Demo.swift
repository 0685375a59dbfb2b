import ArgumentParser
import Foundation
import Quire
import QuireSimulator

struct Demo: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Watch a feed fill, a gap open and close. Needs no files.",
        discussion: """
            Examples:
              quire demo
              quire demo --seed 3 --cache demo.quire
            """)

    @Option(
        help: ArgumentHelp(
            "The seed of the generated pages. Another seed shows other pages.", valueName: "number"))
    var seed: UInt64 = 7

    @Option(
        help: ArgumentHelp("Keep the cache in this file, which must not exist.", valueName: "file"),
        completion: .file())
    var cache: String?

    func run(_ output: Output) throws -> ExitStatus {
        if let cache {
            if exists(cache) { throw Failure(.cannotCreate, "\(cache): exists already") }
            return try tell(cache, output)
        }
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("quire-demo-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw Failure(.cannotCreate, "\(folder.path): cannot be created")
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        return try tell(folder.appendingPathComponent("demo.quire").path, output)
    }

    private func tell(_ path: String, _ output: Output) throws -> ExitStatus {
        let cache = try createCache(path)
        let options = FeedOptions(order: .bump, paging: .keyset, pageSize: DemoStory.pageSize)
        let feed = try cache.feed(named: "demo", options: options)
        var story = DemoStory(feed: feed, output: output, random: SplitMix64(seed: seed))
        try story.tell()
        if self.cache != nil {
            var archive = try DemoArchive(in: cache, now: millisecondsNow())
            try archive.fill()
            try archive.recordSearch(in: cache)
        }
        let findings = try cache.check()
        for finding in findings { try output.line(shown(finding.description)) }
        try output.line("")
        if findings.isEmpty {
            try output.line("verified: no findings")
        } else {
            try output.line("not verified: \(counted(findings.count, "finding"))")
        }
        if self.cache != nil {
            try output.line("The cache stays: quire serve \(shown(path))")
        }
        return findings.isEmpty ? .ok : .findings
    }
}
