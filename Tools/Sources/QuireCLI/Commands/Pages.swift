import ArgumentParser
import Quire

struct Pages: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the pages of a feed, top first.",
        discussion: """
            A page is one response. PAGE is its number in the cache, not the server's.

            Example:
              quire pages so.quire so/active
            """)

    @OptionGroup var target: FeedArguments
    @OptionGroup var json: JSONOption

    private struct Line: Encodable {
        let duplicates: Int
        let duplicatesInPage: Int
        let fetchedAt: Int64
        let full: Bool
        let index: Int
        let new: Int
        let next: String
        let nextKind: String
        let number: UInt64
        let own: String
        let ownKind: String
        let posts: Int
        let previous: String
        let previousKind: String
        let received: Int

        init(_ page: PageInfo) {
            (duplicates, duplicatesInPage) = (page.duplicates, page.duplicatesInPage)
            (fetchedAt, full, index) = (page.fetchedAt, page.isFull, page.index)
            (new, number, posts, received) = (page.new, page.number, page.posts, page.received)
            (next, nextKind) = (page.next.description, page.next.kind)
            (own, ownKind) = (page.own.description, page.own.kind)
            (previous, previousKind) = (page.previous.description, page.previous.kind)
        }
    }

    func run(_ output: Output) throws -> ExitStatus {
        let feed = try target.openToRead()
        let pages = try feed.cache.withSnapshot { try $0.pages(of: feed, limit: .max) }
        if json.isOn {
            let lines = JSONLines(output)
            for page in pages { try lines.print(Line(page)) }
            return .ok
        }
        if pages.isEmpty {
            try output.line("no pages")
            return .ok
        }
        var table = Table(
            " INDEX", " PAGE", "REQUESTED", "GOES ON WITH", " RECEIVED", " NEW", " KNOWN", " TWICE",
            " HOLDS", "FETCHED")
        for page in pages {
            table.add(
                String(page.index), String(page.number), shown(page.own), shown(page.next),
                grouped(page.received), grouped(page.new), grouped(page.duplicates),
                grouped(page.duplicatesInPage), grouped(page.posts), dated(page.fetchedAt))
        }
        try table.print(to: output)
        return .ok
    }
}
