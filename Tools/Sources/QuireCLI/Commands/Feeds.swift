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
    private let infos: [FeedInfo]
    var isEmpty: Bool { infos.isEmpty }

    init(of cache: Cache) throws {
        let feeds = try cache.feeds()
        infos = try cache.withSnapshot { snapshot in try feeds.map { try snapshot.info(of: $0) } }
    }

    func print(asJSON isJSON: Bool, _ output: Output) throws {
        if isJSON {
            let lines = JSONLines(output)
            for info in infos { try lines.print(Line(info)) }
            return
        }
        if infos.isEmpty { return try output.line("no feeds") }
        var table = Table(
            "FEED", "ORDER", " POSTS", " PAGES", " GAPS", " UNVERIFIED", "COLLECTION", "GOES ON WITH")
        for info in infos {
            table.add(
                shown(info.name), info.options.order.rawValue, grouped(info.posts + info.detached),
                grouped(info.pages), grouped(info.gaps) + (info.isHeadOpen ? " + head" : ""),
                grouped(info.unverifiedJoins), shown(info.options.collection), shown(info.tail))
        }
        try table.print(to: output)
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
        let name: String
        let order: String
        let pages: Int
        let paging: String
        let posts: Int
        let detached: Int
        let tail: String
        let tailKind: String

        init(_ info: FeedInfo) {
            againstOrder = info.answersAgainstOrder
            (bodyBytes, unverified, placeholders) = (info.bodyBytes, info.unverifiedJoins, info.placeholders)
            (gaps, inSequence, name) = (info.gaps, Continuity(info).isWhole, info.name)
            collection = info.options.collection
            (head, headKind) = (info.head.description, info.head.kind)
            (tail, tailKind) = (info.tail.description, info.tail.kind)
            (order, paging) = (info.options.order.rawValue, info.options.paging.rawValue)
            (pages, posts, detached) = (info.pages, info.posts, info.detached)
        }
    }
}
