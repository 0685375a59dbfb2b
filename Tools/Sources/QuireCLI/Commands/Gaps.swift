import ArgumentParser
import Quire

struct Gaps: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the gaps of a feed, or of all feeds, top first.",
        discussion: """
            LEADS IN is the link that continues below the post above the gap, LEADS IN UPWARDS the one that \
            continues above the post below it. BELOW POST and ABOVE POST are these two posts: the gap lies \
            below the one and above the other. With --json they are down, up, below_post and above_post.

            A head that is open is listed as head: posts may be missing above the first one, until an answer to \
            the request for the head says otherwise. An ingest that did not come to its end is said, too, with \
            --json as a line of type interrupted: what it did not read is missing.

            Examples:
              quire gaps so.quire
              quire gaps so.quire so/active --json
              quire gaps so.quire --exit-code
            """)

    @OptionGroup var target: CacheArgument

    @Argument(help: "The name of the feed; all feeds if none is named.", completion: .feeds)
    var feed: String?

    @Flag(help: "Exit with 1 if there are gaps, a head is open, or an ingest was interrupted.")
    var exitCode = false

    @OptionGroup var json: JSONOption

    func run(_ output: Output) throws -> ExitStatus {
        let cache = try target.openToRead()
        let feeds = try feed.map { [try openFeed($0, in: cache)] } ?? cache.feeds()
        var lines: [GapLine] = []
        var continuity = Continuity()
        try cache.withSnapshot { snapshot in
            for feed in feeds {
                let info = try snapshot.info(of: feed)
                try continuity.add(feed, snapshot)
                if info.isHeadOpen { lines.append(try GapLine(above: info, of: feed, snapshot)) }
                lines += try snapshot.gaps(of: feed).map { try GapLine($0, in: feed, snapshot) }
            }
        }
        if json.isOn {
            let json = JSONLines(output)
            for line in lines { try json.print(line) }
            for feed in continuity.interrupted { try json.print(InterruptedLine(feed: feed)) }
        } else {
            if !lines.isEmpty {
                var table = table(of: lines)
                try table.print(to: output)
            }
            try output.line(continuity.sentence)
            for text in continuity.help(for: target.cache) { try output.line("  " + text) }
        }
        return exitCode && !continuity.isWhole ? .findings : .ok
    }

    private func table(of lines: [GapLine]) -> Table {
        var table = Table("FEED", "GAP", "WHY", "LEADS IN", "LEADS IN UPWARDS", "BELOW POST", "ABOVE POST")
        for line in lines {
            table.add(
                shown(line.feed), line.id, line.why ?? "", shown(line.down, limit: 40),
                shown(line.up, limit: 40),
                shown(line.belowPost ?? "", limit: 40), shown(line.abovePost ?? "", limit: 40))
        }
        return table
    }
}

private struct InterruptedLine: Encodable {
    let feed: String
    let type = "interrupted"
}

struct GapLine: Encodable {
    /// The post that the gap lies above.
    @OrNull var abovePost: String?
    /// The post that the gap lies below.
    @OrNull var belowPost: String?
    let down: String
    let downKind: String
    let downOverlapping: Bool
    let feed: String
    let id: String
    let postsAbove: Int
    let type: String
    let up: String
    let upKind: String
    let upOverlapping: Bool
    /// Why the gap exists; an open head says it by its link.
    @OrNull var why: String?

    init(_ gap: GapRow, in feed: Feed, _ snapshot: borrowing Snapshot) throws {
        let lower = try snapshot.rows(of: feed, after: gap.position, limit: 1).first?.post
        // above the post below the gap lies the gap, and above that the other post
        let upper = try snapshot.rows(of: feed, before: lower?.position, limit: 2).last?.post
        (belowPost, abovePost) = (upper?.id.description, lower?.id.description)
        (down, downKind) = (gap.down.description, gap.down.kind)
        (up, upKind) = (gap.up.description, gap.up.kind)
        (downOverlapping, upOverlapping) = (gap.isDownOverlapping, gap.isUpOverlapping)
        why = gap.why.rawValue
        (self.feed, id, postsAbove, type) = (feed.name, gap.id.description, gap.postsAbove, "gap")
    }

    /// The open head of a feed.
    init(above info: FeedInfo, of feed: Feed, _ snapshot: borrowing Snapshot) throws {
        belowPost = nil
        abovePost = try snapshot.firstPost(of: feed)?.id.description
        (down, downKind, downOverlapping) = (Link.unknown.description, Link.unknown.kind, false)
        (up, upKind, upOverlapping) = (info.head.description, info.head.kind, false)
        why = nil
        (self.feed, id, postsAbove, type) = (feed.name, "head", 0, "head")
    }
}
