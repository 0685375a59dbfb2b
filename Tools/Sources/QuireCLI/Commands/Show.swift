import ArgumentParser
import Quire

struct Show: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the posts of a feed, top first, with the gaps between them.",
        discussion: """
            A gap is drawn with its number and the link that leads into it from above; an open head, above \
            which posts may be missing, with the link that leads up. An unverified join is \
            one that only the server's numbering claims. Before the id, + means a post outside the \
            server's sequence, * a pinned one, ? one whose body is missing. TEXT is the title of the post, or \
            the start of its body.

            Without a feed, the feeds of the cache are listed, as quire feeds does.

            On a terminal, without -n, the feed is a view that scrolls, however long it is, and follows what \
            other programs write: space and b, the arrow keys or j and k, d and u, g and G; n and N go to the \
            next and to the previous gap, q ends it. NO_COLOR takes the colours away.

            Examples:
              quire show so.quire
              quire show so.quire so/active -n 20
              quire show so.quire so/active -n 5 --after 41
              quire show so.quire so/active -n 5 --at-key 1700000000
              quire show so.quire so/active --json --body -n 2
            """)

    @OptionGroup var target: CacheArgument

    @Argument(help: "The name of the feed; without it the feeds are listed.", completion: .feeds)
    var feed: String?

    @Option(
        name: .short,
        help: ArgumentHelp("The number of posts (default: 20, all in the view).", valueName: "number"))
    var number: Int?

    @Option(help: ArgumentHelp("Start below this post.", valueName: "id"))
    var after: String?

    @Option(help: ArgumentHelp("Start with the row that has this many rows above it.", valueName: "number"))
    var fromRank: Int?

    @Option(help: ArgumentHelp("Start with the first post whose key is this one or lower.", valueName: "key"))
    var atKey: Int64?

    @OptionGroup var json: JSONOption

    @Flag(help: "With --json, print the body too: as JSON if it is an object or an array, else as a string.")
    var body = false

    func validate() throws {
        if body && !json.isOn { throw ValidationError("--body goes with --json; see also quire export.") }
        if number ?? 0 < 0 { throw ValidationError("-n must not be negative.") }
        if let fromRank, fromRank < 0 { throw ValidationError("--from-rank must not be negative.") }
        if [after != nil, fromRank != nil, atKey != nil].count(where: \.self) > 1 {
            throw ValidationError("Only one of --after, --from-rank and --at-key can be given.")
        }
        if feed == nil && (body || number != nil || after != nil || fromRank != nil || atKey != nil) {
            throw ValidationError(
                "-n, --after, --from-rank, --at-key and --body go with the name of a feed; quire feeds lists them."
            )
        }
    }

    func run(_ output: Output) throws -> ExitStatus {
        let cache = try target.openToRead()
        guard let name = feed else { return try list(cache, output) }
        let feed = try openFeed(name, in: cache)
        if number == nil && !json.isOn && Terminal.isPresent {
            let rank = try feed.cache.withSnapshot { snapshot in
                try start(in: feed, snapshot).map { try snapshot.rank(of: $0, in: feed) + 1 } ?? 0
            }
            var view = try FeedView(feed, from: rank)
            try view.run()
            return .ok
        }
        try feed.cache.withSnapshot { snapshot in
            let start = try start(in: feed, snapshot)
            if json.isOn {
                let lines = JSONLines(output)
                let info = try snapshot.info(of: feed)
                if start == nil && info.isHeadOpen {
                    try lines.print(GapLine(above: info, of: feed, snapshot))
                }
                try eachRow(of: feed, after: start, snapshot) { row in
                    switch row {
                    case .post(let post):
                        try snapshot.body(of: post).withUnsafeBytes { bytes in
                            let line = PostLine(post, text: BodyText.excerpt(of: bytes))
                            try body ? lines.print(line, body: bytes) : lines.print(line)
                        }
                    case .gap(let gap): try lines.print(GapLine(gap, in: feed, snapshot))
                    }
                }
            } else {
                try printTable(of: feed, after: start, snapshot, output)
            }
        }
        return .ok
    }

    private func list(_ cache: Cache, _ output: Output) throws -> ExitStatus {
        let feeds = try FeedList(of: cache)
        try feeds.print(asJSON: json.isOn, output)
        if !json.isOn && !feeds.isEmpty {
            Messages.write("quire show \(target.cache) FEED shows the posts of one of them")
        }
        return .ok
    }

    /// The row below which to start; nil is the top.
    private func start(in feed: Feed, _ snapshot: borrowing Snapshot) throws -> RowPosition? {
        if let after { return try snapshot.require(after, in: feed).position }
        var rank = fromRank ?? 0
        if let atKey {
            guard let found = try snapshot.rank(ofKey: atKey, in: feed) else {
                throw Failure(
                    .data, "\(target.cache): the posts of feed \(feed.name) are not ordered by keys")
            }
            rank = found
        }
        if rank == 0 { return nil }
        guard let above = try snapshot.rows(of: feed, from: rank - 1, limit: 1).first else {
            let rows = counted(try snapshot.rowCount(of: feed), "row")
            throw Failure(.data, "\(target.cache): feed \(feed.name) has \(rows)")
        }
        return above.post?.position ?? above.gap?.position
    }

    /// The rows with as many posts as asked for, and a gap directly below them.
    private func eachRow(
        of feed: Feed, after start: RowPosition?, _ snapshot: borrowing Snapshot,
        _ body: (FeedRow) throws -> Void
    ) throws {
        var posts = 0
        let limit = number ?? 20
        try snapshot.eachRow(of: feed, after: start) { row in
            if row.post != nil {
                if posts == limit { return false }
                posts += 1
            }
            try body(row)
            return true
        }
    }

    private func printTable(
        of feed: Feed, after start: RowPosition?, _ snapshot: borrowing Snapshot, _ output: Output
    ) throws {
        let info = try snapshot.info(of: feed)
        let posts = counted(info.posts + info.detached, "post")
        let state = try Continuity(of: feed, snapshot).sentence
        try output.line("\(shown(feed.name)): \(posts), \(counted(info.pages, "page")), \(state)")
        var table = Table("ID", " KEY", " PAGE", " BYTES", "TEXT")
        if start == nil && info.isHeadOpen {
            table.addLine("~~~~ open head: \(shown(info.head)) ~~~~")
        }
        var last = start
        try eachRow(of: feed, after: start, snapshot) { row in
            switch row {
            case .post(let post):
                last = post.position
                if let doubt = post.doubt { table.addLine("- - - unverified join: \(doubt.rawValue) - - -") }
                let text = try snapshot.body(of: post).withUnsafeBytes { BodyText.excerpt(of: $0) }
                table.add(post.cells + [shown(text, limit: 50)])
            case .gap(let gap):
                last = gap.position
                table.addLine("~~~~ gap \(gap.id), \(gap.why.rawValue): \(shown(gap.down)) ~~~~")
            }
            try table.printBlock(to: output)
        }
        try table.print(to: output)
        let isMore = try !snapshot.rows(of: feed, after: last, limit: 1).isEmpty
        try output.line(isMore ? "…" : "goes on with: \(shown(info.tail))")
    }
}

struct PostLine: Encodable {
    let bytes: Int
    let unverified: Bool
    /// Why nothing proves that it follows the post above.
    @OrNull var doubt: String?
    let placeholder: Bool
    let id: String
    @OrNull var key: Int64?
    @OrNull var page: UInt64?
    let pinned: Bool
    let detached: Bool
    /// As in the column TEXT.
    let text: String
    let type = "post"

    init(_ row: PostRow, text: String) {
        self.text = text
        (bytes, unverified, placeholder) = (row.bodySize, row.isUnverified, row.isPlaceholder)
        doubt = row.doubt?.rawValue
        (id, key, page) = (row.id.description, row.key, row.page)
        (pinned, detached) = (row.isPinned, row.isDetached)
    }
}

extension Snapshot {
    /// The first post of the server's sequence.
    borrowing func firstPost(of feed: Feed) throws -> PostRow? {
        var first: PostRow?
        try eachRow(of: feed) { row in
            if let post = row.post, !post.isDetached { first = post }
            return first == nil
        }
        return first
    }

    /// Calls `body` for every row below a position until it returns false.
    borrowing func eachRow(
        of feed: Feed, after start: RowPosition? = nil, _ body: (FeedRow) throws -> Bool
    ) throws {
        var position = start
        while true {
            let rows = try rows(of: feed, after: position, limit: 512)
            guard let last = rows.last else { return }
            for row in rows where try !body(row) { return }
            position = last.post?.position ?? last.gap?.position
        }
    }
}
