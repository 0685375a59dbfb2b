import CPeerTables
import Quire

/// Quire through its Swift API, as an app would call it: plan, ingest, read out of snapshots.
class QuireEngine: Engine {
    private let cache: Cache
    /// By number. Neither a dictionary nor a set: the first one with keys of a type makes the runtime search
    /// all conformances of this program, in 0.25 ms, which would count as time of the cache.
    private var feeds: [(feed: Feed, isFilled: Bool)?] = []
    private var staged: [(feed: Feed, isFirst: Bool, answer: Answer)] = []
    private var reads: [(feed: Feed, pages: [PageInfo])] = []
    private var ids: [PostID] = []
    private var idsFeed: Feed?
    private(set) var found: [Bool] = []

    private static let options = FeedOptions(order: .stable)

    init(folder: String, durability: Durability) throws {
        cache = try Cache(
            at: folder + "/feeds.quire",
            options: CacheOptions(durability: durability == .ordinary ? .full : .relaxed))
    }

    private init(sharing cache: Cache) { self.cache = cache }

    var name: String { "quire" }
    var version: String { String(cString: peer_lmdb_version()) }
    var about: String { "Swift API: plan and ingest, pages read out of snapshots" }

    /// The cache closes with its last reference; this engine must not be used any more.
    func close() {}

    private func feed(_ number: Int) throws -> Feed {
        while feeds.count <= number { feeds.append(nil) }
        if let known = feeds[number] { return known.feed }
        let feed = try cache.feed(named: "feed-\(number)", options: Self.options)
        let isFilled = try cache.withSnapshot { try $0.info(of: feed).pages > 0 }
        feeds[number] = (feed, isFilled)
        return feed
    }

    // MARK: Writing

    func stage(_ pages: [FeedPage]) throws {
        staged.removeAll(keepingCapacity: true)
        for page in pages {
            let feed = try feed(page.feed)
            let posts = page.posts.map { Post(id: PostID($0.id), key: $0.key, body: $0.body) }
            let answer = Answer(posts: posts, bytes: page.bytes, next: .token("page=\(page.following)"))
            staged.append((feed, !feeds[page.feed]!.isFilled, answer))
            feeds[page.feed]!.isFilled = true
        }
    }

    func appendStaged() throws -> Int {
        try cache.batch { batch in
            var duplicates = 0
            for page in staged {
                duplicates += try Self.ingest(
                    page.answer, at: page.isFirst ? .head : .tail, of: page.feed, batch)
            }
            return duplicates
        }
    }

    func prependStaged() throws -> Int {
        try cache.batch { try Self.ingest(staged[0].answer, at: .head, of: staged[0].feed, $0) }
    }

    private static func ingest(
        _ answer: Answer, at place: Place, of feed: Feed, _ batch: borrowing Batch
    ) throws -> Int {
        let plan = try batch[feed].plan(place)
        guard let request = plan.request else {
            throw EngineFailure("quire: \(feed.name): \(plan) at \(place)")
        }
        let outcome = try batch[feed].ingest(answer, for: request.ticket)
        // Every page of the workload attaches to what is cached: nothing may be lost, moved or gapped.
        guard outcome.verdict == .ok, outcome.gapsOpened == 0, outcome.moved.isEmpty,
            outcome.removed.isEmpty, outcome.ignored.isEmpty
        else { throw EngineFailure("quire: \(feed.name): a page at \(place) gave \(outcome)") }
        // What the page repeats of its neighbour is not new, whether it is told as a duplicate or not.
        return answer.posts.count - outcome.new.count
    }

    func update(_ id: UInt64, body: [UInt8]) throws {
        let result = try cache.update(PostID(id), body: body)
        guard result == .changed else { throw EngineFailure("quire: update of \(id): \(result)") }
    }

    func prune(_ feed: Int) throws {
        let feed = try self.feed(feed)
        var policy = PrunePolicy()
        policy.maximumPages = 1
        while try !feed.prune(policy).isDone {}
    }

    // MARK: Reading

    func stage(reads addresses: [PageAddress], pages count: Int) throws {
        reads = []
        guard let first = addresses.first else { return }
        reads = Array(repeating: (try feed(first.feed), []), count: addresses.count)
        // A feed at a time, and of its pages only those wanted are kept: the list of a long feed is large.
        var rest = addresses.indices.sorted { addresses[$0].feed < addresses[$1].feed }[...]
        while let number = rest.first.map({ addresses[$0].feed }) {
            let wanted = rest.prefix { addresses[$0].feed == number }
            rest = rest.dropFirst(wanted.count)
            let feed = try feed(number)
            let limit = wanted.reduce(0) { max($0, addresses[$1].index) } + count
            let listed = try cache.withSnapshot { try $0.pages(of: feed, limit: limit) }
            for i in wanted {
                reads[i] = (feed, Array(listed.dropFirst(addresses[i].index).prefix(count)))
            }
        }
    }

    func readStaged(_ index: Int) throws -> ReadTotal {
        let (feed, pages) = reads[index]
        return try cache.withSnapshot { snapshot in
            var total = ReadTotal()
            for page in pages {
                try snapshot.forEachPost(of: page, in: feed) { post in
                    post.body.withUnsafeBytes { total.add($0) }
                }
            }
            return total
        }
    }

    func firstPage(of feed: Int) throws -> ReadTotal {
        let feed = try cache.feed(named: "feed-\(feed)", options: Self.options)
        return try cache.withSnapshot { snapshot in
            var total = ReadTotal()
            guard let page = try snapshot.page(at: 0, of: feed) else { return total }
            try snapshot.forEachPost(of: page, in: feed) { post in
                post.body.withUnsafeBytes { total.add($0) }
            }
            return total
        }
    }

    func stage(ids: [UInt64], in feed: Int) throws {
        self.ids = ids.map { PostID($0) }
        idsFeed = try self.feed(feed)
    }

    func lookUpStaged() throws {
        guard let idsFeed else { return }
        found = try cache.withSnapshot { try $0.contains(ids, in: idsFeed) }
    }

    func post(_ id: UInt64) throws -> ReadTotal {
        try cache.withSnapshot { snapshot in
            var total = ReadTotal()
            if let post = try snapshot.post(PostID(id)) {
                try snapshot.body(of: post).withUnsafeBytes { total.add($0) }
            }
            return total
        }
    }

    func pageCount(_ feed: Int) throws -> Int {
        let feed = try self.feed(feed)
        return try cache.withSnapshot { try $0.info(of: feed).pages }
    }

    // MARK: Other threads

    func makeReader() throws -> any Engine { QuireEngine(sharing: cache) }
    func makeWriter() throws -> any Engine { QuireEngine(sharing: cache) }
}
