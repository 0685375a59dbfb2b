import Quire
import QuireSimulator

/// What `quire demo` tells: a client with a cache, and a server whose list changes.
struct DemoStory {
    static let pageSize = 10

    private let feed: Feed
    private let output: Output
    private var random: SplitMix64
    private var server = SimulatedServer()
    private var step = 0

    init(feed: Feed, output: Output, random: SplitMix64) {
        (self.feed, self.output, self.random) = (feed, output, random)
        for _ in 0..<60 { server.insertOnTop() }
    }

    mutating func tell() throws {
        try output.line("A server shows 60 posts, newest first, ten to a page. In pictures, [ ] is what is")
        try output.line("cached without a hole, ~<51~ a gap where \"what is below 51?\" leads on, and |<51")
        try output.line("how the feed goes on at its end.")
        try fillAndScroll()
        try openAndCloseGap()
        try changePosts()
        try evict()
        try say("Test every record and every rule of the cache.", picture: false)
    }

    // MARK: The steps

    private mutating func fillAndScroll() throws {
        try fetch(.head)
        try say("Refresh: fetch the first page.")
        try fetch(.tail)
        try fetch(.tail)
        try say("Scroll down two pages.")
    }

    private mutating func openAndCloseGap() throws {
        let count = random.number(in: 21...29)
        for _ in 0..<count { server.insertOnTop() }
        try fetch(.head)
        try say("\(count) posts arrive. Refresh: the new first page does not reach what is cached.")
        guard let gap = try firstGap() else { return }
        try output.line(
            "   \(count - Self.pageSize) posts are missing, and the cache knows where: "
                + "gap \(gap.id) after post \(60 + count - 9).")
        try say("Fill the gap, page by page.", picture: false)
        while let gap = try firstGap() {
            try fetch(.gap(gap.id))
            try picture()
        }
        try output.line("   The last page met a post that was there already: the gap is closed.")
    }

    private mutating func changePosts() throws {
        let id = PostID(UInt64(random.number(in: 35...48)))
        server.bump(id)
        try fetch(.head)
        try say("Somebody replies to post \(id), it rises. Refresh: it is not shown twice.")
        let gone = PostID(UInt64(random.number(in: 52...58)))
        server.delete(gone)
        try feed.delete(gone)
        try say("Post \(gone) is deleted: its neighbours close up, nothing is missing between them.")
    }

    private mutating func evict() throws {
        let count = try feed.evictPage(at: 2)
        try say("Forget a page of \(count) posts to save space: that opens a gap, with its link.")
        while let gap = try firstGap() { try fetch(.gap(gap.id)) }
        try say("Fetch it again when somebody scrolls there.")
    }

    // MARK: The client

    private mutating func fetch(_ place: Place) throws {
        guard let request = try feed.plan(place).request else { return }
        var answer = server.answer(
            to: request.target, until: request.until, limit: Self.pageSize, options: feed.options)
        // This server has no links of its own; one asks for what is below a post.
        if answer.next != .end, let last = answer.posts.last { answer.next = .below(last.id) }
        answer.previous = .unknown
        _ = try feed.ingest(answer, for: request.ticket)
    }

    private func firstGap() throws -> GapRow? {
        try feed.cache.withSnapshot { try $0.gaps(of: feed).first }
    }

    // MARK: The words

    private mutating func say(_ sentence: String, picture isDrawn: Bool = true) throws {
        step += 1
        try output.line("")
        try output.line("\(step). \(sentence)")
        if isDrawn { try picture() }
    }

    private func picture() throws {
        try output.line("   " + feed.cache.withSnapshot { try FeedPicture.draw(feed, $0) })
    }
}
