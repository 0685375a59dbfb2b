import Quire

/// The fixed feeds and the pages that arrive for them. Everything is derived from serial numbers; no page
/// depends on how the cache stores it.
struct Workload {
    static let feeds = 6
    static let pageSize = 30
    /// The number of pages in the cache before a measurement, and the pages and batches in which they come.
    static let pages = 256
    static let session = 8
    static let batch = 32

    /// A page and the feed it belongs to.
    typealias Arrival = (feed: Int, answer: Answer)

    private struct Known {
        var ids: [UInt64] = []
        var set: Set<UInt64> = []
        /// The keys of the topmost and of the last post.
        var top = Int64(1) << 40
        var bottom = Int64(1) << 40 + 1
        var pages = 0
        var head: UInt64?
    }

    private var known = [Known](repeating: Known(), count: Workload.feeds)
    private var serial: UInt64 = 0
    private var arrivals = 0
    private let filler: [UInt8]

    init() {
        filler = (0..<4096).map { UInt8(truncatingIfNeeded: Self.mix($0)) }
    }

    /// One step of splitmix64: 64 random-looking bits.
    static func mix(_ number: UInt64) -> UInt64 {
        var mixed = number &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns the id of the post with this serial number: 63 bits.
    static func id(_ serial: UInt64) -> UInt64 { mix(serial) >> 1 }

    static func order(of feed: Int) -> OrderClass {
        let orders: [OrderClass] = [.stable, .keyless, .bump]
        return orders[feed % orders.count]
    }

    /// Returns the posts of a feed, in order of arrival.
    func ids(of feed: Int) -> [UInt64] { known[feed].ids }

    /// Returns the number of pages that a feed has received.
    func pages(of feed: Int) -> Int { known[feed].pages }

    /// Returns the next page at the tail of a feed: half of all sessions are for feed 0, the others in turn.
    /// It starts with up to six posts of the previous page, and has one post of another feed.
    mutating func nextPage() -> Arrival {
        let number = arrivals / Self.session
        arrivals += 1
        return page(of: number % 2 == 0 ? 0 : 1 + number / 2 % (Self.feeds - 1))
    }

    private mutating func page(of feed: Int) -> Arrival {
        var answer = Answer(next: .token("page=\(known[feed].pages + 2)"))
        answer.bytes.reserveCapacity(Self.pageSize * 1100)
        let repeated = known[feed].pages == 0 ? 0 : Int(Self.mix(serial) % 7)
        for (i, id) in known[feed].ids.suffix(repeated).enumerated() {
            append(id, key: known[feed].bottom + Int64(repeated - 1 - i), to: &answer)
        }
        if let shared = foreign(to: feed) { add(shared, to: &answer, of: feed) }
        while answer.posts.count < Self.pageSize { add(fresh(), to: &answer, of: feed) }
        known[feed].pages += 1
        known[feed].head = known[feed].head ?? known[feed].ids[0]
        return (feed, answer)
    }

    /// Returns the next page on top of a feed; its last post is the previous top.
    mutating func refresh(of feed: Int) -> Arrival {
        var answer = Answer(next: .token("page=2"))
        answer.bytes.reserveCapacity(Self.pageSize * 1100)
        let new = (1..<Self.pageSize).map { _ in fresh() }
        let ids = new + [known[feed].head!]
        known[feed].top += Int64(new.count)
        known[feed].head = new[0]
        for (i, id) in ids.enumerated() {
            append(id, key: known[feed].top - Int64(i), to: &answer)
        }
        return (feed, answer)
    }

    /// Appends the body of a post: 382 to 1,098 bytes, 740 on average, different for each.
    func appendBody(of id: UInt64, variant: UInt64 = 0, to bytes: inout [UInt8]) {
        let mixed = Self.mix(id ^ variant << 1)
        withUnsafeBytes(of: mixed) { bytes.append(contentsOf: $0) }
        let start = Int((mixed >> 32) % 2048)
        bytes.append(contentsOf: filler[start..<start + 374 + Int(mixed % 717)])
    }

    private mutating func fresh() -> UInt64 {
        serial += 1
        return Self.id(serial)
    }

    /// Returns a post of the next feed that this one does not have.
    private func foreign(to feed: Int) -> UInt64? {
        let others = known[(feed + 1) % Self.feeds].ids
        if others.isEmpty { return nil }
        let id = others[Int(Self.mix(serial &+ 1) % UInt64(others.count))]
        return known[feed].set.contains(id) ? nil : id
    }

    private mutating func add(_ id: UInt64, to answer: inout Answer, of feed: Int) {
        known[feed].ids.append(id)
        known[feed].set.insert(id)
        known[feed].bottom -= 1
        append(id, key: known[feed].bottom, to: &answer)
    }

    private func append(_ id: UInt64, key: Int64, to answer: inout Answer) {
        let start = answer.bytes.count
        appendBody(of: id, to: &answer.bytes)
        answer.posts.append(Post(id: PostID(id), key: key, body: start..<answer.bytes.count))
    }
}
