import ArgumentParser
import Quire

struct Gaps: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the gaps of a feed, or of all feeds, top first.",
        discussion: "LEADS IN is the link that continues below the post above the gap.")

    @OptionGroup var target: CacheArgument

    @Argument(help: "The name of the feed.")
    var feed: String?

    @Flag(help: "The gaps of all feeds.")
    var all = false

    @Flag(help: "Exit with 1 when there are gaps.")
    var exitCode = false

    @OptionGroup var json: JSONOption

    func validate() throws {
        if all == (feed != nil) { throw ValidationError("Name a feed, or say --all.") }
    }

    func run(_ output: Output) throws -> ExitStatus {
        let cache = try target.open()
        let feeds = try feed.map { [try openFeed($0, in: cache)] } ?? cache.feeds()
        var lines: [GapLine] = []
        var claimed = 0
        try cache.withSnapshot { snapshot in
            for feed in feeds {
                claimed += try snapshot.info(of: feed).claimedSeams
                lines += try snapshot.gaps(of: feed).map { try GapLine($0, in: feed, snapshot) }
            }
        }
        if json.isOn {
            let json = JSONLines(output)
            for line in lines { try json.print(line) }
        } else {
            if !lines.isEmpty { try table(of: lines).print(to: output) }
            try output.line(sequenceSentence(gaps: lines.count, claimed: claimed))
        }
        return exitCode && !lines.isEmpty ? .findings : .ok
    }

    private func table(of lines: [GapLine]) -> Table {
        var table = Table("FEED", "GAP", "LEADS IN", "LEADS IN UPWARDS", "BELOW POST", "ABOVE POST")
        for line in lines {
            table.add(
                shown(line.feed), line.id, shown(line.down, limit: 40), shown(line.up, limit: 40),
                shown(line.above ?? "", limit: 40), shown(line.below ?? "", limit: 40))
        }
        return table
    }
}

struct GapLine: Encodable {
    /// The posts on either side.
    @OrNull var above: String?
    @OrNull var below: String?
    let down: String
    let downKind: String
    let downOverlapping: Bool
    let feed: String
    let id: String
    let postsAbove: Int
    let type = "gap"
    let up: String
    let upKind: String
    let upOverlapping: Bool

    init(_ gap: GapRow, in feed: Feed, _ snapshot: borrowing Snapshot) throws {
        let lower = try snapshot.rows(of: feed, after: gap.position, limit: 1).first?.post
        // above the post below the gap lies the gap, and above that the other post
        let upper = try snapshot.rows(of: feed, before: lower?.position, limit: 2).last?.post
        (above, below) = (upper?.id.description, lower?.id.description)
        (down, downKind) = (gap.down.description, gap.down.kind)
        (up, upKind) = (gap.up.description, gap.up.kind)
        (downOverlapping, upOverlapping) = (gap.isDownOverlapping, gap.isUpOverlapping)
        (self.feed, id, postsAbove) = (feed.name, gap.id.description, gap.postsAbove)
    }
}
