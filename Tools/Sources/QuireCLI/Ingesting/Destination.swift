import Quire
import QuireDumps

/// The feed that receives the pages. It is created with the first page that it accepts, so a run of bad
/// files, or a refused first page, leaves nothing behind. An empty feed counts as none and is replaced.
final class Destination {
    /// The path as given; a dry run works on a copy elsewhere.
    let path: String
    let name: String
    private(set) var profile: Profile
    /// What the first response was found to be; nil if the profile was named or is remembered.
    private(set) var recognition: Recognition?
    /// True if the profile is to be found from the first response.
    let recognises: Bool
    /// True if the responses are to be read in another way than when the feed was last written.
    let readsOtherwise: Bool
    private var parsing: ParsingOptions
    private let asked: IngestOptions
    private let place: String
    private var cache: Cache?
    /// Nil until its first page is committed.
    private(set) var feed: Feed?
    /// A feed without posts that has other options than the requested ones.
    private var empty: Feed?
    /// The options for creating the feed. Its collection is chosen in the batch that creates it.
    private var planned = FeedOptions()

    /// Looks up the feed without creating it. `place` is the path of the cache, if not `path`.
    init(cache path: String, at place: String? = nil, feed name: String, _ asked: IngestOptions) throws {
        (self.path, self.name, self.asked, self.place) = (path, name, asked, place ?? path)
        if name.isEmpty || name.utf8.count > 255 {
            throw Failure(.usage, "the name of a feed has 1 to 255 bytes")
        }
        if exists(self.place) {
            cache = try Cache(at: self.place, options: CacheOptions(budget: asked.cacheBudget))
            feed = try cache?.existingFeed(named: name)
        }
        let remembered = try feed.flatMap { try ParsingOptions(of: $0) }
        let parsing = try ParsingOptions(asked, remembered: remembered)
        self.parsing = parsing
        readsOtherwise = remembered.map { $0 != parsing } ?? false
        recognises = asked.profile == nil && asked.profileFile == nil && remembered == nil
        profile = try parsing.loadProfile()
        if let feed, let difference = difference(from: feed.options) {
            if try !info(of: feed).isEmpty { throw Failure(.usage, "\(path): feed \(name) \(difference)") }
            (empty, self.feed) = (feed, nil)
        }
    }

    /// True if the caller said the order of the posts: its class, or their key.
    var saysOrder: Bool { saysClass || key != nil }
    var saysClass: Bool { asked.order != nil }
    /// The path of the sort key that the caller named.
    var key: String? { asked.key }

    /// What is known of the responses before one is read.
    var wishes: Recognition.Wishes? {
        recognises ? parsing.wishes(asked.order ?? feed?.options.order) : nil
    }

    /// Reads the responses as the first one was found to be.
    func adopt(_ recognition: Recognition) throws {
        self.recognition = recognition
        parsing.adopt(recognition.profile)
        profile = try parsing.loadProfile()
    }

    /// Returns the requested options that a feed with posts cannot change to, in words.
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

    /// What the feed holds, if not what its profile describes.
    var kind: InputPage.Kind? { parsing.heldKind }

    /// True if JSON Feed is recognised, because the options do not say what the responses are.
    var recognisesJSONFeed: Bool { parsing.isByDefault }

    /// Returns the cache, which is created if pages of this kind are to be stored; nil if there is neither a
    /// feed nor a page for one.
    func open(for kind: InputPage.Kind?) throws -> Cache? {
        if let feed { return feed.cache }
        guard let kind else { return nil }
        planned = try options(for: kind)
        parsing.hold(kind)
        cache = try cache ?? createCache(place, budget: asked.cacheBudget)
        return cache
    }

    /// Returns the collection of the feed if another process has made it meanwhile. Else returns the name of
    /// a collection without feeds: the feed's name, with a number if necessary. Only the user knows whether
    /// the ids of two feeds come from one server; a separate collection is right in any case.
    ///
    /// To be called in a batch, when no other process can make a feed.
    private func ownCollection(in cache: Cache) throws -> String {
        let feeds = try cache.feeds()
        if let made = feeds.first(where: { $0.name == name }) { return made.options.collection }
        let taken = Set(feeds.map(\.options.collection))
        if !taken.contains(name) { return name }
        let start = String(decoding: name.utf8.prefix(235), as: UTF8.self)
        return (2...).lazy.map { "\(start) \($0)" }.first { !taken.contains($0) }!
    }

    /// Returns the feed in a batch on the cache, and creates it if necessary.
    func feed(in batch: borrowing Batch, of cache: Cache) throws -> Feed {
        if let feed { return feed }
        var options = planned
        options.collection =
            try asked.collection ?? empty?.options.collection ?? ownCollection(in: cache)
        let feed =
            try empty.map { try batch[$0].setOptions(options) }
            ?? batch.feed(named: name, options: options)
        try parsing.remember(with: feed, batch)
        return feed
    }

    /// Keeps the feed, after the batch that created it was committed.
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

    /// Throws if the page is of another kind than the feed.
    func require(_ page: InputPage) throws {
        let (held, given) = (parsing.kind, ParsingOptions.name(of: page.kind))
        if held == given { return }
        func words(_ kind: String?) -> String { kind ?? "pages of an API" }
        throw Failure(.data, "\(page.place): \(words(given)), but feed \(name) holds \(words(held))")
    }

    /// Returns the contents of the feed; nil if it does not exist.
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
