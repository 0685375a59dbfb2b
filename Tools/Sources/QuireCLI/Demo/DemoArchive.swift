import Quire
import QuireSimulator

/// More feeds of the demo's cache, for the report: a long list that a client has seen in parts, over two
/// months, and a recorded search. Their gaps have different reasons.
struct DemoArchive {
    private static let pageSize = 25
    private static let day: Int64 = 86_400_000

    private let feed: Feed
    private let now: Int64
    private var server = SimulatedServer(prefix: "q")
    /// How many days ago the client asks.
    private var age: Int64 = 60

    init(in cache: Cache, now: Int64) throws {
        let options = FeedOptions(order: .stable, paging: .keyset, pageSize: Self.pageSize)
        feed = try cache.feed(named: "archive", options: options)
        self.now = now
    }

    mutating func fill() throws {
        grow(by: 2_400)
        try fetch(.head)
        for _ in 0..<40 { try fetch(.tail) }
        age = 20
        grow(by: 600)
        try fetch(.head)
        for _ in 0..<9 { try fillTopmostGap() }
        age = 4
        grow(by: 320)
        try fetch(.head)
        for _ in 0..<4 { try fillTopmostGap() }
        if let old = server.ids.dropFirst(1_900).first { try fetch(.around(old)) }
        let pages = try feed.cache.withSnapshot { try $0.info(of: feed).pages }
        for index in [pages * 2 / 3, pages / 2] { _ = try feed.evictPage(at: index) }
        age = 0
        grow(by: 60)
        try fetch(.head)
        try fillTopmostGap()
        for id in server.ids.dropFirst(40).prefix(1) { _ = try feed.pin(id) }
    }

    /// A third feed, from responses that were recorded without their links: pages 3 to 14, without page 9.
    /// Only their numbers say which of them join.
    func recordSearch(in cache: Cache) throws {
        let search = try cache.feed(
            named: "search", options: FeedOptions(order: .keyless, paging: .pages, collection: "search"))
        var crawl = Crawl(startingAt: .head(page: 1))
        for page in 3...14 where page != 9 {
            var answer = Answer(fetchedAt: now - 2 * 3_600_000)
            for row in 0..<20 {
                guard let id = PostID("r\(page * 20 + row)") else { continue }
                answer.append(id: id, body: body(of: id))
            }
            _ = try search.ingest(answer, page: page, of: &crawl)
        }
    }

    private mutating func grow(by count: Int) { for _ in 0..<count { server.insertOnTop() } }

    private func fillTopmostGap() throws {
        guard let gap = try feed.cache.withSnapshot({ try $0.gaps(of: feed).first }) else { return }
        try fetch(.gap(gap.id))
    }

    private func fetch(_ place: Place) throws {
        guard let request = try feed.plan(place).request else { return }
        var answer = server.answer(
            to: request.target, until: request.until, limit: Self.pageSize, options: feed.options)
        if answer.next != .end, let last = answer.posts.last { answer.next = .below(last.id) }
        var told = Answer(next: answer.next)
        for post in answer.posts { told.append(id: post.id, key: post.key, body: body(of: post.id)) }
        answer = told
        answer.fetchedAt = now - age * Self.day - (age == 0 ? 60_000 : 3_600_000)
        _ = try feed.ingest(answer, for: request.ticket)
    }

    /// A question, always the same for one id.
    private func body(of id: PostID) -> [UInt8] {
        let number = Int(id.description.dropFirst()) ?? 0
        let begin = ["How do I", "When should I", "Is it safe to", "What happens if I", "Why can't I"]
        let what = [
            "refresh a list that moves", "page through a search", "keep my place in a feed",
            "merge two timelines",
            "cache a response that has no end", "delete a post that is cached",
            "follow a cursor that expires",
        ]
        let title = "\(begin[number % begin.count]) \(what[number * 3 % what.count])?"
        return Array(
            #"{"id": "\#(id)", "title": "\#(title)", "score": \#(number * 7 % 41), "tags": ["paging", "cache"]}"#
                .utf8)
    }
}
