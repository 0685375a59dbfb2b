import Quire

/// A cache that goes through the same states in every run: state n + 1 follows from state n alone. So a
/// cache that was interrupted anywhere can be compared with one that never was, and goes on from there.
struct Story {
    let cache: Cache
    let feed: Feed

    init(
        at path: String, durability: CacheOptions.Durability = .full, writeTimeout: Duration = .seconds(30)
    ) throws {
        cache = try Cache(
            at: path,
            options: CacheOptions(durability: durability, mapSize: 1 << 26, writeTimeout: writeTimeout))
        feed = try cache.feed(named: "story", options: FeedOptions(order: .stable))
    }

    /// In which state the cache is: how often `next` was committed.
    func state() throws -> UInt64 {
        let bytes = try cache.withSnapshot { try $0.attribute("state", of: feed) } ?? []
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Commits the next state: a page on top, often a deletion, an update, a page that does not join, pages
    /// that are pruned.
    func next() throws -> UInt64 {
        let number = try state() + 1
        try cache.batch { batch in
            if number % 7 == 3 {
                try batch.delete(PostID(number * 10 - 15), from: feed)
            } else if let request = try batch.plan(.head, in: feed).request {
                _ = try batch.ingest(answer(number), for: request.ticket, in: feed)
            }
            if number.isMultiple(of: 5) {
                let body = [UInt8](repeating: UInt8(number & 0xFF), count: Int(number % 41) * 30)
                _ = try batch.update(PostID(number * 10 - 4), body: body)
            }
            if number.isMultiple(of: 11) {
                var policy = PrunePolicy()
                policy.maximumPages = 8
                _ = try batch.prune(feed, policy)
            }
            let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
            try batch.setAttribute("state", to: bytes, of: feed)
        }
        return number
    }

    /// Ten posts and, but for every 13th page, the two above which they join.
    private func answer(_ number: UInt64) -> Answer {
        var answer = Answer(next: .token("below \(number)"))
        let low = number.isMultiple(of: 13) ? number * 10 : number * 10 - 2
        for id in (low..<number * 10 + 10).reversed() {
            let size = Int((id &* 2_654_435_761) % 700)
            answer.append(
                id: PostID(id), key: Int64(id), body: [UInt8](repeating: UInt8(id & 0xFF), count: size))
        }
        return answer
    }

    /// A number for all that a reader sees of the feed.
    func digest() throws -> UInt64 {
        try cache.withSnapshot { snapshot in
            var digest = Digest()
            for row in try snapshot.rows(of: feed, limit: .max) {
                switch row {
                case .gap(let gap): digest.add("\(gap.id) \(gap.down) \(gap.up)".utf8)
                case .post(let post):
                    digest.add(post.id.description.utf8)
                    let body = try snapshot.body(of: post)
                    for place in body.byteOffsets {
                        digest.add(CollectionOfOne(body.unsafeLoad(fromByteOffset: place, as: UInt8.self)))
                    }
                }
            }
            return digest.value
        }
    }

    /// The digests of states 0, 1, 2 …, of a run that nothing interrupts.
    static func digests(count: Int, in folder: String) -> [UInt64]? {
        let path = folder + "/undisturbed.quire"
        let child = Child(seconds: 300) { tell in
            do {
                let story = try Story(at: path, durability: .relaxed)
                tell(try story.digest())
                for _ in 1...count {
                    _ = try story.next()
                    tell(try story.digest())
                }
                return 0
            } catch {
                complain("the undisturbed run failed: \(error)")
                return 1
            }
        }
        let (ending, digests) = child.wait()
        return ending == .exited(0) && digests.count == count + 1 ? digests : nil
    }
}

/// FNV-1a.
struct Digest {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
        value = (value ^ 0x1FF) &* 0x100_0000_01B3
    }
}

/// What a cache is like after a crash.
enum Aftermath {
    /// Opens the cache in a child: `verify` and `check` find nothing, and it is in a state from `acknowledged`
    /// to one later, exactly as the undisturbed run was. Returns that state, or what is wrong.
    static func inspect(
        _ path: String, acknowledged: UInt64, digests: [UInt64], isAlone: Bool = true
    ) -> Result<UInt64, Violation> {
        let child = Child { tell in
            do {
                if isAlone, let finding = try Cache.verify(at: path).first {
                    complain("verify: \(finding)")
                    return 2
                }
                let story = try Story(at: path, durability: .relaxed)
                if let finding = try story.cache.check().first {
                    complain("check: \(finding)")
                    return 3
                }
                let state = try story.state()
                tell(state)
                let isKnown = state < UInt64(digests.count)
                return try isKnown && story.digest() == digests[Int(state)] ? 0 : 4
            } catch {
                complain("\(error)")
                return 5
            }
        }
        let (ending, numbers) = child.wait()
        if ending != .exited(0) {
            return .failure(Violation(what: "reopening ended with \(ending) in state \(numbers)"))
        }
        guard let state = numbers.first, acknowledged...acknowledged + 1 ~= state else {
            return .failure(Violation(what: "acknowledged \(acknowledged), found \(numbers)"))
        }
        return .success(state)
    }
}

struct Violation: Error {
    let what: String
}
