import ArgumentParser
import Quire

struct Merge: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show several feeds as one list, the highest key first.",
        discussion: """
            The list ends at the first frontier: a gap, the tail or the open head of one of the feeds. A post \
            that is missing there may belong above all that follows in the other feeds. --past-frontiers shows \
            what follows all the same. The feeds' order must be stable or bump. A post that several of them \
            hold is shown once.

            Examples:
              quire merge tags.quire swift lmdb
              quire merge tags.quire swift lmdb --past-frontiers --json
            """)

    @OptionGroup var target: CacheArgument

    @Argument(help: "The feeds.", completion: .feeds)
    var feeds: [String]

    @Option(name: .short, help: ArgumentHelp("The number of posts (default: 20).", valueName: "number"))
    var number = 20

    @Option(help: ArgumentHelp("Start with the first post whose key is this one or lower.", valueName: "key"))
    var atKey: Int64?

    @Flag(help: "Go on below frontiers.")
    var pastFrontiers = false

    @OptionGroup var json: JSONOption

    func validate() throws {
        if number < 0 { throw ValidationError("-n must not be negative.") }
    }

    func run(_ output: Output) throws -> ExitStatus {
        let cache = try target.openToRead()
        let feeds = try feeds.map { try openFeed($0, in: cache) }
        try cache.withSnapshot { snapshot in
            var position = try atKey.map { try snapshot.mergedPosition(atKey: $0, of: feeds) }
            var (posts, stop) = (0, MergedRows.Stop.limit)
            let lines = JSONLines(output)
            var table = Table("ID", " KEY", "FEED", "TEXT")
            while posts < number {
                let read = try snapshot.mergedRows(
                    of: feeds, after: position, limit: min(max(512, feeds.count), number - posts),
                    pastFrontiers: pastFrontiers)
                for row in read.rows {
                    if row.post != nil { posts += 1 }
                    try add(row, of: feeds[row.source], to: &table, snapshot, lines)
                }
                if !json.isOn { try table.printBlock(to: output) }
                (position, stop) = (read.position, read.stop)
                if stop != .limit { break }
            }
            if json.isOn { return }
            try table.print(to: output)
            switch stop {
            case .limit: try output.line("…")
            case .frontier: try output.line("the list ends here; --past-frontiers goes on")
            case .end: try output.line("the end of all feeds")
            }
        }
        return .ok
    }

    private func add(
        _ row: MergedRow, of feed: Feed, to table: inout Table, _ snapshot: borrowing Snapshot,
        _ lines: JSONLines
    ) throws {
        switch row {
        case .post(let post, _):
            let text = try snapshot.body(of: post).withUnsafeBytes { BodyText.excerpt(of: $0) }
            if json.isOn { return try lines.print(MergedLine(post, of: feed, text)) }
            let key = post.key.map(String.init) ?? "-"
            table.add(shown(post.id.description), key, shown(feed.name), shown(text, limit: 50))
        case .frontier(.gap(let gap), _):
            if json.isOn { return try lines.print(GapLine(gap, in: feed, snapshot)) }
            table.addLine(
                "~~~~ \(shown(feed.name)): gap \(gap.id), \(gap.why.rawValue): \(shown(gap.down)) ~~~~")
        case .frontier(.head(let link), _):
            if json.isOn {
                return try lines.print(GapLine(above: snapshot.info(of: feed), of: feed, snapshot))
            }
            table.addLine("~~~~ \(shown(feed.name)): open head: \(shown(link)) ~~~~")
        case .frontier(.tail(let link), _):
            if json.isOn { return try lines.print(TailLine(feed, link)) }
            table.addLine("~~~~ \(shown(feed.name)): goes on with \(shown(link)) ~~~~")
        }
    }

    private struct MergedLine: Encodable {
        let bytes: Int
        let feed: String
        let id: String
        @OrNull var key: Int64?
        let text: String
        let type = "post"

        init(_ post: PostRow, of feed: Feed, _ text: String) {
            (bytes, self.feed, id, self.text) = (post.bodySize, feed.name, post.id.description, text)
            key = post.key
        }
    }

    private struct TailLine: Encodable {
        let down: String
        let downKind: String
        let feed: String
        let type = "tail"

        init(_ feed: Feed, _ link: Link) {
            (down, downKind, self.feed) = (link.description, link.kind, feed.name)
        }
    }
}
