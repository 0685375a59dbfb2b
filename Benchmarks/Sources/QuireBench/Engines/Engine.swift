import CPeers

/// What one read found.
struct ReadTotal: Equatable {
    /// Sum over all bodies, by `peer_sum`, wrapping.
    var sum: UInt64 = 0
    var posts = 0
    var bytes = 0

    static func += (total: inout ReadTotal, other: ReadTotal) {
        total.sum &+= other.sum
        total.posts += other.posts
        total.bytes += other.bytes
    }

    /// Touches every byte of a body.
    mutating func add(_ body: UnsafeRawBufferPointer) {
        posts += 1
        bytes += body.count
        if let start = body.baseAddress {
            sum &+= peer_sum(start.assumingMemoryBound(to: UInt8.self), body.count)
        } else {
            sum &+= peer_sum([], 0)
        }
    }
}

/// What the benchmark does with every engine; the model is that of `peer.h`.
///
/// Arguments are handed over by the `stage` methods, which are not timed: each engine puts them into the
/// form that a program using it would have in hand. One thread at a time may use an engine.
protocol Engine: AnyObject {
    var name: String { get }
    /// Of the library.
    var version: String { get }
    /// Layout and settings in one line.
    var about: String { get }

    func close()

    // MARK: Writing; each call is one durable transaction

    func stage(_ pages: [FeedPage]) throws
    /// Adds the staged pages below the last ones of their feeds. Returns how many posts they held already.
    func appendStaged() throws -> Int
    /// Adds the one staged page on top of its feed.
    func prependStaged() throws -> Int
    func update(_ id: UInt64, body: [UInt8]) throws
    /// Forgets all pages of the feed but the first, and the posts that no feed holds any longer.
    func prune(_ feed: Int) throws

    // MARK: Reading; each call is one snapshot

    func stage(reads: [PageAddress], pages: Int) throws
    /// Reads the pages that begin at a staged address.
    func readStaged(_ index: Int) throws -> ReadTotal
    func stage(ids: [UInt64], in feed: Int) throws
    /// Looks up which of the staged ids their feed holds.
    func lookUpStaged() throws
    /// What that found, one answer for each id.
    var found: [Bool] { get }
    func post(_ id: UInt64) throws -> ReadTotal
    func pageCount(_ feed: Int) throws -> Int
    /// What a program does that has just started: finds a feed and reads its first page.
    func firstPage(of feed: Int) throws -> ReadTotal

    /// Another one on the same files, for a thread of its own.
    func makeReader() throws -> any Engine
    /// For a thread that writes beside others; where there can be one writer only, they take turns.
    func makeWriter() throws -> any Engine
}

extension Engine {
    func firstPage(of feed: Int) throws -> ReadTotal {
        try stage(reads: [PageAddress(feed: feed, index: 0)], pages: 1)
        return try readStaged(0)
    }
}

/// Something an engine did that it must not do, or that it could not do.
struct EngineFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// What a commit promises when the power fails.
enum Durability: String, Codable, CaseIterable, Sendable {
    /// It is on disk when the call returns.
    case ordinary
    /// The last commits may be lost.
    case relaxed
}
