import Quire
import QuireDumps

/// The feed that pages go to. It comes into being with the first page that can be read: a run of bad
/// files leaves nothing behind.
final class Destination {
    let path: String
    let name: String
    private let options: FeedOptions
    private var cache: Cache?
    private(set) var feed: Feed?

    /// Looks for the feed, without creating it. `order` is what was asked for, if anything was.
    init(cache path: String, feed name: String, profile: Profile, order: OrderClass?) throws {
        (self.path, self.name, options) = (path, name, profile.options)
        if name.isEmpty || name.utf8.count > 255 {
            throw Failure(.usage, "the name of a feed has 1 to 255 bytes")
        }
        if exists(path) {
            cache = try Cache(at: path)
            feed = try cache?.existingFeed(named: name)
        }
        let actual = feed?.options.order ?? options.order
        if let order, order != actual {
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
        (self.cache, self.feed) = (cache, feed)
        return feed
    }

    /// What the feed holds, nil if it does not exist.
    func info() throws -> FeedInfo? {
        guard let feed else { return nil }
        return try feed.cache.withSnapshot { try $0.info(of: feed) }
    }
}
