/// What a worker is asked to do; one line of JSON.
struct Command: Codable, Sendable {
    enum Work: String, Codable, Sendable {
        /// Load the next pages of the workload, `batch` to a transaction.
        case load
        /// Read all of it and compare with what was generated.
        case verify
        /// Commit single pages at the tail of random feeds.
        case commit
        case read, readHot, scroll, contains, post, update
        /// Put pages on top of a feed.
        case refresh
        case prune
        /// Two threads read while one commits pages.
        case beside
        /// Several threads commit single pages.
        case group
        /// Close the engine, and open it again with syncing as asked.
        case close, reopen
        /// What files, memory and counters are now.
        case footprint
        case stop
    }

    var work: Work
    /// All engines get the same, so they draw the same feeds, pages and posts.
    var seed: UInt64 = 0
    /// How many pages to load, commits or reads to make.
    var count = 0
    /// Number of the repetition, from 0, and of the turn in all rounds.
    var round = 0
    var turn = 0
    /// Pages to a transaction.
    var batch = 1
    var threads = 1
    var feed: FeedSize = .long
    var isSyncing = false
}

/// Which feed an operation takes, by its number of pages.
enum FeedSize: String, Codable, CaseIterable, Sendable {
    case short, medium, long
}

/// What came of it; one line of JSON.
struct Reply: Codable, Sendable {
    /// Measurements by name; times in microseconds unless the name says otherwise.
    var metrics: [String: Double] = [:]
    /// How long single commits took, in nanoseconds, where an operation is done in several turns.
    var samples: [UInt64]?
    /// What must be the same for all engines.
    var checks: [String: String] = [:]
    /// Why it failed, nil if it did not.
    var failure: String?
}

/// The first line of a worker.
struct Greeting: Codable, Sendable {
    var version: String
    var about: String
    /// How long opening and reading the first page took, if there was one.
    var reply: Reply
}
