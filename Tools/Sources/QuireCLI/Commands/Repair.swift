import ArgumentParser
import Quire

struct Repair: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a damaged cache usable again.",
        discussion: """
            Builds a new cache from the sound records, tests it, and puts it in place of the damaged file. The \
            damaged file is kept beside it as CACHE.corrupt-1 or the next free number. A gap opens where posts were \
            lost, with the link that fills it if one is left. A sound cache is left as it is. No process may have the \
            cache open. Exit code 1 if something was lost. Ctrl-C stops it, with exit code 130, and nothing has \
            changed.

            Examples:
              quire repair so.quire --dry-run
              quire repair so.quire
            """)

    @Argument(help: "The file of the cache.", completion: .file())
    var cache: String

    @Flag(help: "Report what would be lost, and change nothing.")
    var dryRun = false

    @OptionGroup var progress: ProgressOption
    @OptionGroup var json: JSONOption

    private struct Line: Encodable {
        let feed: String
        let posts: Int
        let lostPosts: Int
        let lostBodies: Int
        let gaps: Int
        let newGaps: Int
        let isLost: Bool
    }

    func run(_ output: Output) throws -> ExitStatus {
        if !exists(cache) { throw Failure(.noInput, "\(cache): no such cache") }
        let report = try LongWork(progress).run {
            try Cache.repair(at: cache, dryRun: dryRun, progress: $0)
        }
        if report.isSound {
            if !json.isOn { try output.line("the cache is sound; nothing was changed") }
            return .ok
        }
        for feed in report.feeds { try print(feed, output) }
        if !json.isOn {
            try output.line(counted(report.damagedRecords, "record") + " did not read back")
            if report.feeds.allSatisfy(\.isLost) { try output.line("no feed could be recovered") }
            if let kept = report.keptFile {
                try output.line("the damaged file is kept: \(shown(kept))")
            } else {
                try output.line("nothing was changed")
            }
        }
        return !report.feeds.isEmpty && report.feeds.allSatisfy(\.isWhole) ? .ok : .findings
    }

    private func print(_ feed: RepairReport.Feed, _ output: Output) throws {
        if json.isOn {
            return try JSONLines(output).print(
                Line(
                    feed: feed.name, posts: feed.posts, lostPosts: feed.lostPosts,
                    lostBodies: feed.lostBodies,
                    gaps: feed.gaps, newGaps: feed.newGaps, isLost: feed.isLost))
        }
        if feed.isLost { return try output.line("\(shown(feed.name)): lost") }
        let verb = dryRun ? "would keep" : "kept"
        try output.line(
            "\(shown(feed.name)): \(verb) \(counted(feed.posts, "post")), lost \(grouped(feed.lostPosts)), "
                + "\(counted(feed.newGaps, "new gap"))"
                + (feed.lostBodies > 0
                    ? ", \(counted(feed.lostBodies, "body", "bodies")) to fetch again" : ""))
    }
}
