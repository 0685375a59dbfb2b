import ArgumentParser
import Foundation
import Quire
import QuireInspector

struct ReportCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract:
            "Write an HTML file that shows a cache: a map of each feed, its gaps, the rows around them.",
        discussion: """
            The file holds everything it needs and asks for nothing; send it along with a bug. It has at most a \
            few megabytes, however large the cache is: of a long feed, one bar stands for several pages, and of \
            more than \(Report.feedLimit) feeds, it shows the first. A file of that name is replaced and keeps \
            its mode; a symbolic link is followed.

            Examples:
              quire report so.quire -o so.html
              quire report so.quire so/active -o so.html --without-bodies
            """)

    @OptionGroup var target: CacheArgument

    @Argument(help: "The feeds to show; all if none is named.", completion: .feeds)
    var feeds: [String] = []

    @Option(name: .shortAndLong, help: "The file to write.", completion: .file(extensions: ["html"]))
    var output: String

    @Flag(help: "Leave out what the posts hold. Ids, keys and links stay.")
    var withoutBodies = false

    func run(_ printed: Output) throws -> ExitStatus {
        let cache = try target.openToRead()
        let chosen = try feeds.isEmpty ? cache.feeds() : feeds.map { try openFeed($0, in: cache) }
        let report = Report(hasBodies: !withoutBodies, made: millisecondsNow())
        let html = try report.html(of: cache, feeds: chosen)
        do throws(FileReplacement.Failed) {
            try FileReplacement(path: output).write(html)
        } catch {
            throw Failure(.cannotCreate, "\(output): cannot be written: \(error.reason)")
        }
        let count = min(chosen.count, Report.feedLimit)
        let feeds =
            count == chosen.count
            ? counted(count, "feed") : "the first \(grouped(count)) of \(counted(chosen.count, "feed"))"
        try printed.line("\(shown(output)): \(feeds), \(sized(html.count))")
        if count < chosen.count {
            Messages.write("a report shows at most \(grouped(count)) feeds; name those that it is to show")
        }
        return .ok
    }
}
