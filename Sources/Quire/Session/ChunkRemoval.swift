/// Removes the chunks of a feed that left without having been loaded, with the pages that were only there, and
/// with everything that refers to their posts.
struct ChunkRemoval {
    private(set) var removed = RemovedChunks()
    private(set) var changes = ChangeList.encoded([])
    private var ids = PostIDs()
    private var bodies: [BodyReference] = []
    private var locations: [Location] = []
    /// The posts that leave their last feed.
    private var gone: [PostID] = []

    /// Reads what is to be removed. Must come before any write, which may move the bytes that the index lends.
    init(_ loader: FeedLoader, _ session: WriteSession) throws {
        for chunk in loader.leaving where !loader.chunks.contains(chunk.position) {
            try read(chunk, loader)
        }
        if removed.isEmpty { return }
        let index = try loader.index()
        let mayStay = index.mayBeElsewhere(ids, than: loader.feed)
        locations.reserveCapacity(ids.count)
        for i in ids.indices {
            let id = ids[i]
            let others = mayStay[i] ? try session.others(id, loader) : (isHeld: false, isShown: false)
            if others.isShown { bodies[i].record = 0 }
            if !others.isHeld { gone.append(id) }
            locations.append(Location(index.address(of: id), feed: loader.feed, position: Location.gone))
        }
        var list = ChangeList()
        list.append(removed: ids)
        changes = ids.count > RowChanges.limit ? ChangeList.encoded([.reset]) : list.encoded()
    }

    private mutating func read(_ chunk: LeavingChunk, _ loader: FeedLoader) throws {
        let columns = try loader.transaction.columns(at: chunk.position, of: loader.feed)
        var bodyBytes = 0
        do throws(QuireError) {
            for id in try columns.ids() { ids.append(id) }
            try columns.forEachBody { body in
                bodies.append(body)
                bodyBytes += Int(body.length)
            }
        } catch {
            throw QuireError.corrupt("a chunk of feed number \(loader.feed)")
        }
        removed.add(chunk, bodyBytes: bodyBytes)
    }

    /// Removes the records, except those of pages for which `isLoaded` is true: the writer of the feed changes
    /// them.
    mutating func apply(
        to session: WriteSession, _ loader: FeedLoader, isLoaded: (UInt64) -> Bool
    ) throws {
        if removed.isEmpty { return }
        let (transaction, feed) = (session.transaction, loader.feed)
        for (number, count) in removed.pages where !isLoaded(number) {
            let page = try transaction.head(ofPage: number, of: feed)
            if page.entries != count {
                throw QuireError.corrupt("page \(number) of feed number \(feed)")
            }
            removed.removePage(page)
            try transaction.delete(.pages(of: feed), NumberKey(newestFirst: number))
        }
        for (position, _) in removed.chunks {
            try transaction.delete(.chunks(of: feed), NumberKey(position))
        }
        for body in bodies { session.release(body) }
        try session.forget(gone, loader)
        session.add(locations)
        session.counters.entries &-= UInt64(ids.count)
    }
}
