import Quire
import Testing

/// How many requests at one place may change no posts, although each of them leads on: quire.h and Docs/c.md
/// say when a program may give up.
@Suite struct LongSearchTests {
    let storage: TemporaryCache

    init() throws { storage = try TemporaryCache() }

    /// The server's list, topmost first.
    private struct List {
        var ids: [UInt64]
        let size: Int

        func answer(to target: Request.Target) throws -> Answer {
            var start = 0
            var limit = size
            switch target {
            case .link(.token(let link)):
                start = (try #require(Int(link.dropFirst("page=".count))) - 1) * size
            case .position(let offset, let rows): (start, limit) = (offset, rows ?? size)
            default: break
            }
            let end = min(ids.count, start + limit)
            var answer = Answer(next: end == ids.count ? .end : .token("page=\(end / size + 1)"))
            for id in ids[min(start, end)..<end] { answer.append(id: PostID(id)) }
            return answer
        }
    }

    /// Asks below the last post until an answer brings posts. Returns the number of requests.
    private func requests(of feed: Feed, _ list: List) throws -> Int {
        let rows = try storage.cache.withSnapshot { try $0.rowCount(of: feed) }
        for count in 1...40 + 2 * rows {
            let request = try #require(try feed.plan(.tail).request)
            let outcome = try feed.ingest(try list.answer(to: request.target), for: request.ticket)
            if !outcome.new.isEmpty || !outcome.removed.isEmpty { return count }
            #expect(!outcome.isUnchanged, "an answer that leads nowhere: \(outcome.verdict)")
        }
        Issue.record("more requests than the header allows")
        return .max
    }

    private func read(_ count: Int, of feed: Feed, _ list: List) throws {
        var held = 0
        while held < count {
            let request = try #require(try feed.plan(held == 0 ? .head : .tail).request)
            held += try feed.ingest(try list.answer(to: request.target), for: request.ticket).new.count
        }
    }

    @Test("Links that are positions lead one page further with each answer")
    func links() throws {
        var list = List(ids: (1...2_000).reversed(), size: 5)
        let feed = try storage.cache.feed(named: "f", options: FeedOptions(paging: .pages, pageSize: 5))
        try read(1_000, of: feed, list)
        list.ids = (2_001...2_200).reversed() + list.ids  // 40 pages
        #expect(try requests(of: feed, list) > 40)
    }

    @Test("A search by offset passes what is cached above the border page by page")
    func offsets() throws {
        var list = List(ids: (1...6_000).reversed(), size: 20)
        let feed = try storage.cache.feed(named: "f", options: FeedOptions(paging: .offset, pageSize: 20))
        try read(4_000, of: feed, list)
        list.ids.removeSubrange(2_970..<4_000)  // the border too
        #expect(try requests(of: feed, list) > 40)
    }
}
