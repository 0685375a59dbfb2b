import Quire

/// An operation that is measured a number of times on a cache filled by ``Bench``.
enum Operation: String, CaseIterable {
    /// 32 pages in one commit.
    case bulk
    /// One page at the tail of a feed: plan and ingest in one commit.
    case page
    /// The same in a cache that is as large as its budget, so that as much leaves.
    case budget
    /// The same in a feed whose ids are texts.
    case texts
    /// One page on top of a feed, whose last post is known.
    case refresh
    /// A page by its number, with every byte of its bodies.
    case read
    /// 20 screens of 30 rows from the top of a feed, with every byte of the bodies.
    case scroll
    /// A look-up of 100 ids in a feed that has half of them, without making the ids.
    case contains
    /// A post by its id, with its body.
    case post
    /// A new body for a post, in a commit of its own, without making the body.
    case update
    /// A local post above 1,000 others, in a commit of its own.
    case local
    /// A page in the middle of a feed is evicted, in a commit of its own.
    case evict
    /// The last page of a feed is pruned, in a commit of its own.
    case prune
    /// The last 32 pages of a feed are pruned, in a commit of their own.
    case bulkPrune = "bulk-prune"
    /// The next page of a crawl, in a feed in the order of changes.
    case crawl
    /// The same, with a post in its middle that stands 50 pages further up, or at its top.
    case contradict, repeated
    /// The file is opened and its first page read.
    case open
    /// The same in a process that has not used the library before.
    case start

    /// The maximum number of repetitions. Pages are always prepared for all of them, so that preparation
    /// costs the same in every run.
    var limit: Int {
        switch self {
        case .start: 1
        case .bulk, .bulkPrune: 8
        case .crawl, .contradict, .repeated, .texts: 24
        case .page, .budget, .refresh: 96
        case .contains, .update: 200
        case .local: 300
        case .read, .scroll, .post, .evict, .prune, .open: 10_000
        }
    }

    /// Prepares the operation. The returned closure runs it once, for the n-th time.
    func prepare(_ bench: Bench) throws -> (Int) throws -> Void {
        switch self {
        case .bulk, .page, .refresh: arrivals(bench)
        case .budget: try arrivalsInFullCache(bench)
        case .texts: try arrivalsOfTexts(bench)
        case .read, .scroll, .contains, .post: try reading(bench)
        case .update, .local, .evict, .prune, .bulkPrune: try changing(bench)
        case .crawl, .contradict, .repeated: try crawling(bench)
        case .open, .start: { _ in try self.open(bench) }
        }
    }

    private func arrivals(_ bench: Bench) -> (Int) throws -> Void {
        if self == .refresh {
            let pages = (0..<limit).map { bench.workload.refresh(of: $0 % Workload.feeds) }
            return { n in
                try bench.cache.batch {
                    try bench.take(pages[n].answer, at: .head, of: bench.feeds[pages[n].feed], in: $0)
                }
            }
        }
        let size = self == .bulk ? Workload.batch : 1
        let batches = (0..<limit).map { _ in (0..<size).map { _ in bench.workload.nextPage() } }
        return { n in try bench.ingest(batches[n]) }
    }

    private func arrivalsInFullCache(_ bench: Bench) throws -> (Int) throws -> Void {
        var budget = CacheBudget()
        budget.cache.posts = try bench.cache.withSnapshot { try $0.statistics().posts }
        try bench.reopen(budget)
        return arrivals(bench)
    }

    private func arrivalsOfTexts(_ bench: Bench) throws -> (Int) throws -> Void {
        let (length, size) = (100, UInt64(Workload.pageSize))
        let feed = try bench.cache.feed(named: "texts", options: FeedOptions(order: .stable))
        let pages = (0..<length + limit).map { number in
            var answer = Answer(next: .token("\(number + 1)"))
            for i in UInt64(number) * size..<UInt64(number + 1) * size {
                let id = PostID("at://did:plc:\(Workload.id(1 << 41 | i))/app.bsky.feed.post/\(i)")!
                answer.append(id: id, key: -Int64(i), body: [1])
            }
            return answer
        }
        func take(_ number: Int) throws {
            try bench.cache.batch {
                try bench.take(pages[number], at: number == 0 ? .head : .tail, of: feed, in: $0)
            }
        }
        for number in 0..<length { try take(number) }
        return { n in try take(length + n) }
    }

    private func reading(_ bench: Bench) throws -> (Int) throws -> Void {
        let (cache, feeds) = (bench.cache, bench.feeds)
        let ids = feeds.indices.map { bench.workload.ids(of: $0) }
        let pages = try feeds.map { feed in
            try cache.withSnapshot { try $0.pages(of: feed, limit: .max).map(\.number) }
        }
        func draw<T>(_ n: Int, from all: [T]) -> T {
            all[Int(Workload.mix(UInt64(n)) % UInt64(all.count))]
        }
        switch self {
        case .read:
            return { n in
                let feed = n % feeds.count
                try cache.withSnapshot {
                    try $0.forEachPost(ofPage: draw(n, from: pages[feed]), in: feeds[feed]) {
                        bench.touch($0.body)
                    }
                }
            }
        case .scroll:
            return { n in try Self.scroll(bench, feeds[n % 2 == 0 ? 0 : 1 + n / 2 % (feeds.count - 1)]) }
        case .contains:
            // With fewer types the compiler looks for them for many seconds.
            let asked = (0..<limit).map { (n: Int) -> [PostID] in
                (50 * n..<50 * (n + 1)).flatMap { (i: Int) -> [PostID] in
                    let absent = UInt64(1) << 40 + UInt64(i)
                    return [PostID(draw(i, from: ids[0])), PostID(Workload.id(absent))]
                }
            }
            return { n in
                let found = try cache.withSnapshot { try $0.contains(asked[n], in: feeds[0]) }
                if found.count(where: \.self) != 50 { throw Unexpected(what: "\(found)") }
            }
        default:
            return { n in
                let id = PostID(draw(n, from: ids[n % feeds.count]))
                try cache.withSnapshot {
                    guard let post = try $0.post(id) else { throw Unexpected(what: "no \(id)") }
                    bench.sum &+= UInt64(try $0.body(of: post).unsafeLoadUnaligned(as: UInt64.self) & 0xFF)
                }
            }
        }
    }

    private static func scroll(_ bench: Bench, _ feed: Feed) throws {
        try bench.cache.withSnapshot {
            var position: RowPosition?
            for _ in 0..<20 {
                try $0.forEachRow(of: feed, after: position, limit: 30) {
                    position = $0.position
                    bench.touch($0.body)
                } gap: { _ in
                }
            }
        }
    }

    private func changing(_ bench: Bench) throws -> (Int) throws -> Void {
        let (cache, feeds, workload) = (bench.cache, bench.feeds, bench.workload)
        switch self {
        case .update:
            let ids = (0..<feeds.count).flatMap { workload.ids(of: $0) }
            let updates = (0..<limit).map { n in
                let id = ids[Int(Workload.mix(UInt64(n)) % UInt64(ids.count))]
                var body: [UInt8] = []
                workload.appendBody(of: id, variant: UInt64(n + 1), to: &body)
                return (id: PostID(id), body: body)
            }
            return { n in
                let result = try cache.update(updates[n].id, body: updates[n].body)
                if result != .changed { throw Unexpected(what: "\(updates[n].id): \(result)") }
            }
        case .local:
            let ids = (0..<1_000 + limit).map { PostID(Workload.id(1 << 40 + UInt64($0))) }
            try cache.batch { batch in
                for id in ids.prefix(1_000) { try batch[feeds[0]].insertLocal(id, body: []) }
            }
            return { n in try feeds[0].insertLocal(ids[1_000 + n], body: []) }
        case .evict:
            return { n in
                if try feeds[0].evictPage(at: 20) == 0 { throw Unexpected(what: "nothing left") }
            }
        default:
            let step = self == .prune ? 1 : 32
            let all = try cache.withSnapshot { try $0.pages(of: feeds[0], limit: .max).count }
            return { n in
                var policy = PrunePolicy()
                policy.maximumPages = all - step * (n + 1)
                let gone = try feeds[0].prune(policy).pages
                if gone != step { throw Unexpected(what: "\(gone) pages left") }
            }
        }
    }

    private func crawling(_ bench: Bench) throws -> (Int) throws -> Void {
        let (length, size) = (100, UInt64(Workload.pageSize))
        let feed = try bench.cache.feed(named: "crawl", options: FeedOptions(order: .bump))
        var crawl = Crawl(startingAt: .head(page: 0))
        func page(_ number: Int, again: UInt64? = nil) -> Answer {
            var answer = Answer(next: .token("\(number + 1)"))
            for i in UInt64(number) * size..<UInt64(number + 1) * size {
                let shown = i % size == (self == .repeated ? 0 : size / 2) ? again ?? i : i
                answer.append(id: PostID(Workload.id(1 << 40 | shown)), key: -Int64(shown), body: [1])
            }
            return answer
        }
        for number in 0..<length { _ = try feed.ingest(page(number), page: number, of: &crawl) }
        return { n in
            let number = length + n
            let answer = page(number, again: self == .crawl ? nil : UInt64(number - 50) * size)
            let outcome = try feed.ingest(answer, page: number, of: &crawl)
            if outcome.verdict != .ok { throw Unexpected(what: "\(outcome)") }
        }
    }

    private func open(_ bench: Bench) throws {
        bench.close()
        let cache = try Cache(at: bench.path, options: Bench.options)
        guard let feed = try cache.existingFeed(named: "feed-0") else {
            throw Unexpected(what: "no feed")
        }
        try cache.withSnapshot {
            try $0.forEachRow(of: feed, limit: Workload.pageSize) {
                bench.touch($0.body)
            } gap: { _ in
            }
        }
    }
}
