/// The feeds that a write session has loaded, as its writes left them, and those that the session before it
/// left. A page mostly comes next to the one before it: its write then decodes no chunk.
///
/// What is loaded is true until records change without the loader: ``WriteSession/forgetLoaded(_:)`` comes
/// before that. From one commit to the next it stays true if no other process has written in between and
/// nothing failed; ``WriteProgress`` sees to that. Other processes have loaded other feeds, so what a session
/// writes should not depend on it. Rows never do. What still does: whether a place that has moved stands in
/// its chunk or as a shift in the record of the feed; the order in which the log lists the changes of a
/// commit; and whether a new local or sticky post shares the chunk below it.
final class LoadedFeeds {
    /// The feed of the session's last operation.
    @exclusivity(unchecked) private(set) var recent: FeedLoader?
    /// Others, the one first that was used last.
    @exclusivity(unchecked) private var others: [FeedLoader] = []
    /// A feed whose counters a plan has changed. The answer to the request mostly follows, and writes them.
    @exclusivity(unchecked) var unwritten: FeedLoader?

    /// How many feeds are kept.
    private static let limit = 8

    /// Takes over what the session before this one left.
    static func take(from progress: WriteProgress?) -> LoadedFeeds {
        guard let kept = progress?.loadedFeeds else { return LoadedFeeds() }
        progress?.loadedFeeds = nil
        // nothing else puts feeds there
        return unsafeDowncast(kept, to: LoadedFeeds.self)
    }

    /// Leaves everything to the next session. Nothing may be unwritten.
    func give(to progress: WriteProgress?) {
        if let recent = recent.take() { add(recent) }
        progress?.loadedFeeds = self
    }

    /// Keeps a feed after an operation.
    func keep(_ loader: FeedLoader) { recent = loader }

    /// Takes the feed out if the session's last operation was on it. One that has come to know many gaps,
    /// those that it opened, is slower than a new one.
    func takeRecent(_ feed: UInt32) -> FeedLoader? {
        guard let loader = recent.take() else { return nil }
        if loader.feed != feed {
            add(loader)
            return nil
        }
        return loader.gaps.all.count > 4 * loader.gapLimit ? nil : loader
    }

    /// Takes a feed out that was used before. Its loader must begin anew.
    func take(_ feed: UInt32) -> FeedLoader? {
        others.firstIndex { $0.feed == feed }.map { others.remove(at: $0) }
    }

    /// Forgets a feed, because its records will change without its loader.
    func forget(_ feed: UInt32) throws {
        if unwritten?.feed == feed { try writeCounters() }
        if recent?.feed == feed { recent = nil }
        others.removeAll { $0.feed == feed }
    }

    /// Writes the record of the feed whose counters were changed in memory.
    func writeCounters() throws {
        guard let loader = unwritten else { return }
        unwritten = nil
        try loader.storeRecord()
    }

    /// Notes that a feed was used in a commit, which stands in its record.
    func noteUse(of feed: UInt32, in commit: UInt64) {
        if let recent, recent.feed == feed { recent.record.used = commit }
        for loader in others where loader.feed == feed { loader.record.used = commit }
    }

    private func add(_ loader: FeedLoader) {
        if loader.entryCount > LoadedChunks.keptLimit || loader.knowsMoreGapsThanNew { return }
        if others.count == Self.limit { others.removeLast() }
        others.insert(loader, at: 0)
    }
}

extension FeedLoader {
    /// True if a new loader would know fewer gaps, and so be faster.
    fileprivate var knowsMoreGapsThanNew: Bool {
        gaps.all.count > 2 && (gaps.all.count > gapLimit || gaps.areHidden)
    }
}
