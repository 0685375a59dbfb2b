import Quire
import QuireDumps

/// The feed that pages go to. It comes into being with the first page that it takes: a run of bad files, or a
/// first page that is refused, leaves nothing behind. An empty feed is as good as none: it begins anew.
final class Destination {
    /// As it was named; a dry run works on a copy elsewhere.
    let path: String
    let name: String
    let profile: Profile
    private var parsing: ParsingOptions
    private let asked: IngestOptions
    private let place: String
    private var cache: Cache?
    /// Nil until the commit of its first page.
    private(set) var feed: Feed?
    /// A feed without posts that was asked for with other options.
    private var empty: Feed?
    /// What the feed is created with.
    private var planned = FeedOptions()

    /// Looks for the feed, without creating it. `place` is where the cache is, if not at its path.
    init(cache path: String, at place: String? = nil, feed name: String, _ asked: IngestOptions) throws {
        (self.path, self.name, self.asked, self.place) = (path, name, asked, place ?? path)
        if name.isEmpty || name.utf8.count > 255 {
            throw Failure(.usage, "the name of a feed has 1 to 255 bytes")
        }
        if exists(self.place) {
            cache = try Cache(at: self.place)
            feed = try cache?.existingFeed(named: name)
        }
        parsing = try ParsingOptions(asked, remembered: feed.flatMap { try ParsingOptions(of: $0) })
        profile = try parsing.loadProfile()
        if let feed, let difference = difference(from: feed.options) {
            if try !info(of: feed).isEmpty { throw Failure(.usage, "\(path): feed \(name) \(difference)") }
            (empty, self.feed) = (feed, nil)
        }
    }

    /// What was asked for that a feed with posts cannot become.
    private func difference(from options: FeedOptions) -> String? {
        if let order = asked.order, order != options.order {
            return "was created with --order \(options.order.rawValue), which cannot become \(order.rawValue)"
        }
        if let collection = asked.collection, collection != options.collection {
            return "was created with --collection \"\(shown(options.collection))\", which cannot become "
                + "\"\(shown(collection))\""
        }
        return nil
    }

    var keyIsVersion: Bool { parsing.keyIsVersion }

    /// JSON Feed is recognised by its content, unless the user named a profile.
    var recognisesJSONFeed: Bool { parsing.isByDefault }

    /// The cache, created for pages of this kind if need be; nil if there is neither a feed nor a page for
    /// one.
    func open(for kind: InputPage.Kind?) throws -> Cache? {
        if let feed { return feed.cache }
        guard let kind else { return nil }
        var options = try options(for: kind)
        parsing.hold(kind)
        let cache = try self.cache ?? createCache(place)
        options.collection = try asked.collection ?? empty?.options.collection ?? freeCollection(in: cache)
        (self.cache, planned) = (cache, options)
        return cache
    }

    /// A collection that no feed is in: the name of the feed, or that and a number. Whether the ids of two
    /// feeds come from one server only the user knows; a collection of its own is right either way.
    private func freeCollection(in cache: Cache) throws -> String {
        let taken = Set(try cache.feeds().map(\.options.collection))
        if !taken.contains(name) { return name }
        let start = String(decoding: name.utf8.prefix(235), as: UTF8.self)
        return (2...).lazy.map { "\(start) \($0)" }.first { !taken.contains($0) }!
    }

    /// The feed in a batch on the cache, which makes it if it does not exist.
    func feed(in batch: borrowing Batch) throws -> Feed {
        if let feed { return feed }
        let feed =
            try empty.map { try batch[$0].setOptions(planned) }
            ?? batch.feed(named: name, options: planned)
        try parsing.remember(with: feed, batch)
        return feed
    }

    /// The batch that made the feed is committed.
    func hold(_ feed: Feed) { self.feed = feed }

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
                    .usage,
                    "feed \(name) is ordered by key (\(options.order.rawValue)): "
                        + "--key must name the field the server sorts by")
            }
        }
        return options
    }

    /// A feed holds one kind of thing.
    func require(_ page: InputPage) throws {
        let (held, given) = (parsing.kind, ParsingOptions.name(of: page.kind))
        if held == given { return }
        func words(_ kind: String?) -> String { kind ?? "pages of an API" }
        throw Failure(.data, "\(page.place): \(words(given)), but feed \(name) holds \(words(held))")
    }

    /// What is in the feed, nil if it does not exist.
    func info() throws -> FeedInfo? {
        try feed.map { try info(of: $0) }
    }

    private func info(of feed: Feed) throws -> FeedInfo {
        try feed.cache.withSnapshot { try $0.info(of: feed) }
    }
}

extension FeedInfo {
    fileprivate var isEmpty: Bool { posts == 0 && detached == 0 }
}
