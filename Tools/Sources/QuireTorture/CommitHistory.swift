@_spi(Unstable) import Quire

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A cache that goes through the same states in every run: state n + 1 depends on state n alone. So a cache
/// that was interrupted anywhere can be compared with an undisturbed one, and can continue.
struct CommitHistory {
    let cache: Cache
    /// The feed of most operations.
    let feed: Feed
    /// A feed that shares posts of the other one, and is reset from time to time.
    let mirror: Feed
    let crawl: Feed

    init(
        at path: String, durability: CacheOptions.Durability = .full, mapSize: Int64 = 1 << 26,
        writeTimeout: Duration = .seconds(30)
    ) throws {
        cache = try Cache(
            at: path,
            options: CacheOptions(durability: durability, mapSize: mapSize, writeTimeout: writeTimeout))
        feed = try cache.feed(named: "history", options: FeedOptions(order: .stable))
        mirror = try cache.feed(named: "mirror")
        crawl = try cache.feed(named: "crawl", options: FeedOptions(paging: .page, pageSize: 8))
    }

    /// Returns the state of the cache: how often `next` was committed.
    func state() throws -> UInt64 {
        let bytes = try cache.withSnapshot { try $0.attribute("state", of: feed) } ?? []
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Commits the next state, by the operation that leads to it.
    func next() throws -> UInt64 {
        let number = try state() + 1
        let operation = Operation(leadingTo: number)
        let step = try Step(self, to: number)
        try step.prelude(operation)
        try cache.batch { batch in
            var attempt = step  // the closure may run twice
            try attempt.perform(operation, in: batch)
            let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
            try batch[feed].setAttribute("state", to: bytes)
        }
        return number
    }

    /// Returns the path of its compact copy.
    static func copyPath(of path: String) -> String { path + ".copied" }

    func copy() throws {
        let path = Self.copyPath(of: cache.path)
        unlink(path)
        try cache.copy(to: path)
    }

    /// Returns a digest of everything that a reader sees of the feeds.
    func digest() throws -> UInt64 {
        try cache.withSnapshot { snapshot in
            var digest = Digest()
            for feed in [feed, mirror, crawl] {
                for name in ["note", "page"] { digest.add(try snapshot.attribute(name, of: feed) ?? []) }
                for row in try snapshot.rows(of: feed, limit: .max) {
                    switch row {
                    case .gap(let gap): digest.add(Array("\(gap.id) \(gap.down) \(gap.up)".utf8))
                    case .post(let post): try add(post, to: &digest, snapshot)
                    }
                }
            }
            return digest.value
        }
    }

    private func add(_ post: PostRow, to digest: inout Digest, _ snapshot: borrowing Snapshot) throws {
        digest.add(post.id.number ?? 0)
        digest.add((post.isPinned ? 1 : 0) | (post.isDetached ? 2 : 0) | (post.isPlaceholder ? 4 : 0))
        try snapshot.body(of: post).withUnsafeBytes { digest.add($0) }
        if let likes = try snapshot.post(post.id)?.fields["likes"] { digest.add(likes) }
    }

    /// Returns the digests of states 0, 1, 2 … of an undisturbed run.
    static func digests(upTo count: Int, in folder: String) throws -> [UInt64] {
        let path = folder + "/undisturbed.quire"
        let child = Child(seconds: 300) { tell in
            do {
                let history = try CommitHistory(at: path, durability: .relaxed)
                tell(try history.digest())
                for _ in 1...count {
                    _ = try history.next()
                    tell(try history.digest())
                }
                return 0
            } catch {
                complain("the undisturbed run failed: \(error)")
                return 1
            }
        }
        let (ending, digests) = child.wait()
        if ending != .exited(0) { throw Violation(what: "the undisturbed run failed: \(ending)") }
        return digests
    }
}

/// FNV-1a, eight bytes at a time.
struct Digest {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ word: UInt64) {
        value = (value ^ word) &* 0x100_0000_01B3
        value ^= value >> 32
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var at = 0
        while at + 8 <= bytes.count {
            add(bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            at += 8
        }
        for byte in bytes[at...] { add(UInt64(byte)) }
        add(UInt64(bytes.count))
    }

    mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }
}
