import Quire

/// A feed whose posts follow from their numbers: a larger number stands lower. Ids have no order, keys
/// descend.
struct NumberedFeed {
    static let pageSize = 30
    private static let body = 120
    /// For one post more than a page has, at which a page may end that joins.
    private static let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: body * (pageSize + 1))

    let feed: Feed
    /// Another one for each feed, so that no two have a post in common.
    let salt: UInt64

    init(_ name: String, in cache: Cache, salt: UInt64, _ options: FeedOptions) throws {
        feed = try cache.feed(named: name, options: options)
        self.salt = salt
    }

    func id(_ number: Int) -> PostID {
        PostID(mixed(salt &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(bitPattern: Int64(number))))
    }

    func key(_ number: Int) -> Int64 { -Int64(number) }

    /// An answer with these posts, top first, at most a page of them and one more. `rise` is added to the
    /// keys.
    func answer(_ numbers: some Sequence<Int>, rise: Int64 = 0, following: String) -> Answer {
        var answer = Answer(bytes: Self.bytes, next: .token(following))
        for (i, number) in numbers.enumerated() {
            answer.posts.append(
                Post(
                    id: id(number), key: key(number) + rise,
                    body: i * Self.body..<(i + 1) * Self.body))
        }
        return answer
    }

    /// Plans, and takes in what comes back.
    @discardableResult
    func fetch(_ place: Place, _ answer: Answer) throws -> Outcome {
        try feed.cache.batch { try Self.take(answer, at: place, of: feed, in: $0) }
    }

    static func take(_ answer: Answer, at place: Place, of feed: Feed, in batch: borrowing Batch) throws
        -> Outcome
    {
        let plan = try batch[feed].plan(place)
        guard let request = plan.request else { throw EngineFailure("\(feed.name): \(plan) at \(place)") }
        return try batch[feed].ingest(answer, for: request.ticket)
    }

    /// Fills the empty feed with pages, from number 0 on, and returns how many posts they have.
    func fill(_ posts: Int) throws -> Int {
        let pages = max(2, posts / Self.pageSize)
        var done = 0
        while done < pages {
            let range = done..<min(pages, done + 64)
            try feed.cache.batch { batch in
                for page in range {
                    let first = page * Self.pageSize
                    let outcome = try Self.take(
                        answer(first..<first + Self.pageSize, following: "page=\(page + 2)"),
                        at: page == 0 ? .head : .tail, of: feed, in: batch)
                    try require(outcome, .ok)
                }
            }
            done = range.upperBound
        }
        return pages * Self.pageSize
    }

    /// Fails if the outcome is another than the measurement is about.
    func require(_ outcome: Outcome, _ verdict: Outcome.Verdict) throws {
        guard outcome.verdict == verdict else { throw EngineFailure("\(feed.name): \(outcome)") }
    }
}
