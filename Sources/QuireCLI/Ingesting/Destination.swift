import Quire
import QuireDumps

/// The feed that pages go to. It comes into being with the first page that can be read: a run of bad
/// files leaves nothing behind.
final class Destination {
    let path: String
    let name: String
    let profile: Profile
    let reading: Reading
    private let options: FeedOptions
    private var cache: Cache?
    private(set) var feed: Feed?

    /// Looks for the feed, without creating it.
    init(cache path: String, feed name: String, _ asked: IngestOptions) throws {
        (self.path, self.name) = (path, name)
        if name.isEmpty || name.utf8.count > 255 {
            throw Failure(.usage, "the name of a feed has 1 to 255 bytes")
        }
        if exists(path) {
            cache = try Cache(at: path)
            feed = try cache?.existingFeed(named: name)
        }
        reading = try Reading(asked, remembered: feed.flatMap { try Reading(of: $0) })
        profile = try reading.loadProfile()
        var options = profile.options
        options.order = asked.order ?? options.order
        self.options = options
        let actual = feed?.options.order ?? options.order
        if let order = asked.order, order != actual {
            throw Failure(
                .usage, "\(path): feed \(name) was created with --order \(actual.rawValue), "
                    + "which cannot become \(order.rawValue)")
        }
        if [.stable, .bump].contains(actual) && !profile.hasKey {
            throw Failure(
                .usage, "feed \(name) is ordered by key (\(actual.rawValue)): "
                    + "--key must name the field the server sorts by")
        }
    }

    func create() throws -> Feed {
        if let feed { return feed }
        let cache = try self.cache ?? createCache(path)
        let feed = try cache.feed(named: name, options: options)
        try reading.remember(with: feed)
        (self.cache, self.feed) = (cache, feed)
        return feed
    }

    /// What the feed holds, nil if it does not exist.
    func info() throws -> FeedInfo? {
        guard let feed else { return nil }
        return try feed.cache.withSnapshot { try $0.info(of: feed) }
    }
}
