import CPeers

/// Makes the pages of a workload, one after the other, and knows what the feeds hold. It keeps a few
/// numbers for each feed and session, but no list of ids.
final class PageStream {
    private struct FeedTail {
        /// Pages below and above the first one of the bulk load, that included.
        var pages = 0
        var pagesOnTop = 0
        /// Posts of these pages that were new to the feed.
        var posts = 0
        var postsOnTop = 0
        /// Serial numbers of the last posts, the lowest last.
        var last: [UInt64] = []
        var top: UInt64 = 0
    }

    /// Posts with serial numbers from `first` on came with this feed.
    private struct Origin {
        var first: UInt64
        var feed: Int
    }

    let workload: Workload
    let plan: ArrivalPlan
    let factory: PostFactory
    private var tails: [FeedTail]
    private var origins: [Origin] = []
    private var originsOfFeed: [[Int]]
    private var shared: SharedPosts
    private var random: SplitMix64
    private var session = 0
    private var sessionPage = 0
    private var scores: [UInt64: UInt32] = [:]

    /// The next serial number: as many distinct posts have been delivered.
    private(set) var serials: UInt64 = 0
    /// Sum of the bodies that feeds hold, each as often as it is held.
    private(set) var heldSum: UInt64 = 0
    private(set) var heldPosts = 0
    /// Bytes of the bodies of distinct posts, and of all that was delivered.
    private(set) var distinctBytes = 0
    private(set) var deliveredBytes = 0

    init(_ workload: Workload) {
        self.workload = workload
        plan = ArrivalPlan(pages: workload.pages, seed: workload.seed)
        factory = PostFactory(order: workload.ids, seed: workload.seed)
        tails = Array(repeating: FeedTail(), count: plan.sizes.count)
        originsOfFeed = Array(repeating: [], count: plan.sizes.count)
        shared = SharedPosts(
            expecting: Int(1.2 * Workload.sharedShare * Double(workload.pages * workload.pageSize)))
        random = SplitMix64(seed: workload.seed, 4)
    }

    var feedCount: Int { tails.count }

    func pageCount(_ feed: Int) -> Int { tails[feed].pages + tails[feed].pagesOnTop }

    /// How many of them refreshes have put there.
    func pagesOnTop(_ feed: Int) -> Int { tails[feed].pagesOnTop }

    /// A feed that the plan does not have.
    func addFeed() -> Int {
        tails.append(FeedTail())
        originsOfFeed.append([])
        return tails.count - 1
    }

    // MARK: Pages

    /// The next page of the bulk load, nil after the last.
    func nextPage() -> FeedPage? {
        guard session < plan.sessions.count else { return nil }
        let feed = plan.sessions[session].feed
        sessionPage += 1
        if sessionPage == plan.sessions[session].pages { (session, sessionPage) = (session + 1, 0) }
        return nextPage(of: feed)
    }

    /// The page below the last one of a feed. It starts with the last posts of the page before, because
    /// the server's list has moved on meanwhile.
    func nextPage(of feed: Int) -> FeedPage {
        var page = FeedPage(
            feed: feed, following: tails[feed].pages + 1, posts: [], bytes: [], duplicates: 0,
            newBytes: 0)
        page.bytes.reserveCapacity(workload.pageSize * 900)
        let drift = drawDrift(for: feed)
        let known = tails[feed].last.suffix(drift)
        for (i, serial) in known.enumerated() {
            append(serial, key: key(tails[feed].posts - known.count + i), to: &page)
        }
        page.duplicates = known.count
        let before = serials
        for _ in known.count..<workload.pageSize {
            let serial = drawShared(for: feed, before: before) ?? newSerial(in: feed)
            append(serial, key: key(tails[feed].posts), to: &page)
            if tails[feed].posts == 0 { tails[feed].top = serial }
            tails[feed].posts += 1
            tails[feed].last.append(serial)
            count(page.posts[page.posts.count - 1], serial, since: before, in: &page)
        }
        tails[feed].last.removeFirst(max(0, tails[feed].last.count - mostDrift))
        tails[feed].pages += 1
        deliveredBytes += page.bytes.count
        return page
    }

    /// The page on top of a feed after a refresh: new posts, and at its end the post that was on top.
    func nextTopPage(of feed: Int) -> FeedPage {
        let fresh = workload.pageSize - 1
        var page = FeedPage(
            feed: feed, following: -tails[feed].pagesOnTop, posts: [], bytes: [], duplicates: 1,
            newBytes: 0)
        let before = serials
        let oldTop = tails[feed].top
        for i in 0..<fresh {
            let serial = newSerial(in: feed)
            if i == 0 { tails[feed].top = serial }
            append(serial, key: key(-tails[feed].postsOnTop - fresh + i), to: &page)
            count(page.posts[i], serial, since: before, in: &page)
        }
        append(oldTop, key: key(-tails[feed].postsOnTop), to: &page)
        tails[feed].postsOnTop += fresh
        tails[feed].pagesOnTop += 1
        deliveredBytes += page.bytes.count
        return page
    }

    private func append(_ serial: UInt64, key: Int64, to page: inout FeedPage) {
        let start = page.bytes.count
        factory.appendBody(serial, score: score(serial), to: &page.bytes)
        page.posts.append(PagePost(id: factory.id(serial), key: key, body: start..<page.bytes.count))
    }

    private func count(_ post: PagePost, _ serial: UInt64, since before: UInt64, in page: inout FeedPage) {
        heldPosts += 1
        page.bytes.withUnsafeBufferPointer {
            heldSum &+= peer_sum($0.baseAddress! + post.body.lowerBound, post.body.count)
        }
        if serial >= before {
            page.newBytes += post.body.count
            distinctBytes += post.body.count
        }
    }

    /// Descends with the rank of a post in its feed.
    private func key(_ rank: Int) -> Int64 { 1_700_000_000_000 - Int64(rank) * 1_000 }

    // MARK: Known posts

    private var mostDrift: Int { workload.pageSize * 2 / 10 }

    private func drawDrift(for feed: Int) -> Int {
        tails[feed].pages == 0 ? 0 : random.below(mostDrift + 1)
    }

    /// Now and then a post that another feed holds and this one does not.
    private func drawShared(for feed: Int, before: UInt64) -> UInt64? {
        let share = Workload.sharedShare / (1 - Workload.driftShare)
        guard before > 0, Double(random.next() >> 11) * 0x1p-53 < share else { return nil }
        for _ in 0..<8 {
            let serial = UInt64(random.below(Int(before)))
            if self.feed(of: serial) != feed, shared.insert(serial, in: feed) { return serial }
        }
        return nil
    }

    private func newSerial(in feed: Int) -> UInt64 {
        if origins.last?.feed != feed {
            originsOfFeed[feed].append(origins.count)
            origins.append(Origin(first: serials, feed: feed))
        }
        defer { serials += 1 }
        return serials
    }

    /// The feed that a post came with.
    func feed(of serial: UInt64) -> Int {
        var (low, high) = (0, origins.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if origins[middle].first <= serial { low = middle } else { high = middle }
        }
        return origins[low].feed
    }

    // MARK: Drawing

    /// A post that some feed holds.
    func drawSerial(_ random: inout SplitMix64) -> UInt64 { UInt64(random.below(Int(serials))) }

    /// A post that came with this feed.
    func drawSerial(of feed: Int, _ random: inout SplitMix64) -> UInt64 {
        let origin = originsOfFeed[feed][random.below(originsOfFeed[feed].count)]
        let end = origin + 1 < origins.count ? origins[origin + 1].first : serials
        let first = origins[origin].first
        return first + UInt64(random.below(Int(end - first)))
    }

    /// A page; long feeds are drawn more often.
    func drawPage(_ random: inout SplitMix64) -> PageAddress {
        let feed = feed(of: drawSerial(&random))
        return PageAddress(feed: feed, index: random.below(pageCount(feed)))
    }

    // MARK: Scores

    func score(_ serial: UInt64) -> UInt32 { scores[serial] ?? factory.firstScore(serial) }

    /// The body of a post after another vote. The feeds' sums are no longer known.
    func bodyWithNewScore(_ serial: UInt64) -> [UInt8] {
        scores[serial] = score(serial) + 1
        var bytes: [UInt8] = []
        factory.appendBody(serial, score: score(serial), to: &bytes)
        return bytes
    }
}
