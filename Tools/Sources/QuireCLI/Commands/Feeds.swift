import ArgumentParser
import Quire

struct Feeds: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the feeds of a cache.",
        discussion: """
            Examples:
              quire feeds so.quire
              quire feeds so.quire --json
            """)

    @OptionGroup var target: CacheArgument
    @OptionGroup var json: JSONOption

    func run(_ output: Output) throws -> ExitStatus {
        try FeedList(of: target.openToRead()).print(asJSON: json.isOn, output)
        return .ok
    }
}

/// The feeds of a cache, as `feeds` and `show` list them.
struct FeedList {
    private let feeds: [(info: FeedInfo, continuity: Continuity)]
    private let cache: String
    var isEmpty: Bool { feeds.isEmpty }

    init(of cache: Cache) throws {
        let feeds = try cache.feeds()
        self.cache = cache.path
        self.feeds = try cache.withSnapshot { snapshot in
            try feeds.map { (try snapshot.info(of: $0), try Continuity(of: $0, snapshot)) }
        }
    }

    func print(asJSON isJSON: Bool, _ output: Output) throws {
        if isJSON {
            let lines = JSONLines(output)
            for feed in feeds { try lines.print(Line(feed.info, feed.continuity)) }
            return
        }
        if feeds.isEmpty { return try output.line("no feeds") }
        var table = Table(
            "FEED", "ORDER", " POSTS", " PAGES", " GAPS", " UNVERIFIED", "COLLECTION", "GOES ON WITH")
        for (info, _) in feeds {
            table.add(
                shown(info.name), info.options.order.rawValue, grouped(info.posts + info.detached),
                grouped(info.pages), grouped(info.gaps) + (info.isHeadOpen ? " + head" : ""),
                grouped(info.unverifiedJoins), shown(info.options.collection), shown(info.tail))
        }
        try table.print(to: output)
        for text in feeds.flatMap({ $0.continuity.help(for: cache) }) { try output.line(text) }
    }

    private struct Line: Encodable {
        let againstOrder: Int
        let bodyBytes: Int
        let unverified: Int
        let collection: String
        let placeholders: Int
        let gaps: Int
        let head: String
        let headKind: String
        let inSequence: Bool
        let interrupted: Bool
        let name: String
        let order: String
        let pages: Int
        let paging: String
        let posts: Int
        let detached: Int
        let tail: String
        let tailKind: String

        init(_ info: FeedInfo, _ continuity: Continuity) {
            againstOrder = info.answersAgainstOrder
            (bodyBytes, unverified, placeholders) = (info.bodyBytes, info.unverifiedJoins, info.placeholders)
            (gaps, inSequence, name) = (info.gaps, continuity.isWhole, info.name)
            interrupted = !continuity.interrupted.isEmpty
            collection = info.options.collection
            (head, headKind) = (info.head.description, info.head.kind)
            (tail, tailKind) = (info.tail.description, info.tail.kind)
            (order, paging) = (info.options.order.rawValue, info.options.paging.rawValue)
            (pages, posts, detached) = (info.pages, info.posts, info.detached)
        }
    }
}
