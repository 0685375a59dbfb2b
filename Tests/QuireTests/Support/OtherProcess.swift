import QuireSimulator
@_spi(Unstable) @testable import TestSupport

@_spi(Unstable) @testable import Quire

/// What another process does with a cache of a ``BudgetWorld``: it has no budget, knows no function of a
/// view, and nothing of what is on a screen.
struct OtherProcess: Codable {
    let path: String
    let feed: String
    /// The number of posts that the server of the feed has.
    let posts: Int
    let pageSize: Int
    let seed: UInt64

    /// Takes in a page, changes a body, or lets a page go. To be run in a process of its own.
    func run() throws {
        var random = SplitMix64(seed: seed)
        var options = CacheOptions(durability: .relaxed, mapSize: 1 << 28)
        options.tuning = .cramped
        let cache = try Cache(at: path, options: options)
        guard let feed = try cache.existingFeed(named: feed) else { return }
        let rows = try cache.withSnapshot { try $0.rows(of: feed, limit: .max) }.compactMap { $0.post?.id }
        switch random.below(4) {
        case 0 where !rows.isEmpty: _ = try cache.update(random.pick(rows), body: [UInt8(random.below(256))])
        case 1: if try cache.withSnapshot({ try $0.info(of: feed).pages }) > 1 { try feed.evictPage(at: 1) }
        default:
            var server = SimulatedServer(prefix: self.feed)
            for _ in 0..<posts { server.insertOnTop() }
            guard let request = try feed.plan(random.pick([.head, .tail])).request else { return }
            let reply = server.reply(
                to: request.target, until: request.until, limit: pageSize, options: feed.options)
            if let answer = reply?.answer { _ = try feed.ingest(answer, for: request.ticket) }
        }
    }
}
