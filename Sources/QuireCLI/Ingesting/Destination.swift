import Quire
import QuireDumps

/// The feed that pages go to. It comes into being with the first page that can be read: a run of bad
/// files leaves nothing behind.
final class Destination {
    /// As it was named; a dry run works on a copy elsewhere.
    let path: String
    let name: String
    let profile: Profile
    private var reading: Reading
    private let asked: IngestOptions
    private let place: String
    private var cache: Cache?
    private(set) var feed: Feed?

    /// Looks for the feed, without creating it. `place` is where the cache is, if not at its path.
    init(
        cache path: String, at place: String? = nil, feed name: String, _ asked: IngestOptions
    ) throws {
        (self.path, self.name, self.asked, self.place) = (path, name, asked, place ?? path)
        if name.isEmpty || name.utf8.count > 255 {
            throw Failure(.usage, "the name of a feed has 1 to 255 bytes")
        }
        if exists(self.place) {
            cache = try Cache(at: self.place)
            feed = try cache?.existingFeed(named: name)
        }
        reading = try Reading(asked, remembered: feed.flatMap { try Reading(of: $0) })
        profile = try reading.loadProfile()
        if let order = asked.order, let feed, order != feed.options.order {
            throw Failure(
                .usage, "\(path): feed \(name) was created with --order "
                    + "\(feed.options.order.rawValue), which cannot become \(order.rawValue)")
        }
    }

    var keyIsVersion: Bool { reading.keyIsVersion }

    /// JSON Feed is taken for what it says it is, unless somebody said what the responses are.
    var recognisesJSONFeed: Bool { reading.isByDefault }

    func create(_ kind: InputPage.Kind) throws -> Feed {
        if let feed { return feed }
        let options = try options(for: kind)
        let cache = try self.cache ?? createCache(place)
        let feed = try cache.feed(named: name, options: options)
        reading.hold(kind)
        try reading.remember(with: feed)
        (self.cache, self.feed) = (cache, feed)
        return feed
    }

    private func options(for kind: InputPage.Kind) throws -> FeedOptions {
        var options = profile.options
        switch kind {
        case .rows:
            options = FeedOptions(order: .stable, trustsEnd: true)
            if let order = asked.order, order != .stable {
                throw Failure(.usage, "a data dump is ordered by its ids: --order stable")
            }
        case .syndication:
            options = FeedOptions(order: asked.order ?? .keyless)
        case .response, .items:
            options.order = asked.order ?? options.order
            if [.stable, .bump].contains(options.order) && !profile.hasKey {
                throw Failure(
                    .usage, "feed \(name) is ordered by key (\(options.order.rawValue)): "
                        + "--key must name the field the server sorts by")
            }
        }
        return options
    }

    /// A feed holds one kind of thing.
    func require(_ page: InputPage) throws {
        let (held, given) = (reading.kind, Reading.name(of: page.kind))
        if held == given { return }
        func words(_ kind: String?) -> String { kind ?? "pages of an API" }
        throw Failure(
            .data, "\(page.place): \(words(given)), but feed \(name) holds \(words(held))")
    }

    /// What is in the feed, nil if it does not exist.
    func info() throws -> FeedInfo? {
        guard let feed else { return nil }
        return try feed.cache.withSnapshot { try $0.info(of: feed) }
    }
}
