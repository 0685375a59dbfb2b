/// Removes the chunks of a feed that left without having been loaded, with the pages that were only there,
/// and with everything that refers to their posts.
struct ChunkRemoval {
    private let feed: UInt32
    private let collection: UInt32
    private(set) var removed = RemovedChunks()
    private(set) var changes = ChangeList.encoded([])
    private var ids = PostIDs()
    /// For each body record, the bytes that no entry shows any more.
    private var bodies = NumberTable<Int>()
    private var gone: [GoneRange] = []
    /// The posts that other feeds hold, as indices of `ids`, and what ends the marks of those that no feed
    /// holds any more.
    private var held: [Int] = []
    private var marks: [Location] = []

    /// Reads what is to be removed. Must come before any write, which may move the bytes that the chunks and
    /// the index lend.
    init(_ leaving: [LeavingChunk], of feed: UInt32, in index: PostIndex, _ session: WriteSession) throws {
        (self.feed, collection) = (feed, index.collection)
        if leaving.isEmpty { return }
        ids.reserveCapacity(leaving.reduce(0) { $0 + $1.columns.count })
        removed.reserve(leaving.count)
        for chunk in leaving {
            do throws(QuireError) {
                try chunk.columns.appendIDs(to: &ids)
            } catch {
                throw QuireError.corrupt("a chunk of feed number \(feed)")
            }
            removed.add(chunk)
            addRange(chunk)
        }
        releaseBodies(of: leaving, but: try shownElsewhere(index, session))
        var list = ChangeList()
        list.append(removed: ids)
        changes = ids.count > RowChanges.limit ? ChangeList.encoded([.reset]) : list.encoded()
    }

    /// Notes that there is nothing left from this chunk to the next one, which may leave as well.
    private mutating func addRange(_ chunk: LeavingChunk) {
        let last = chunk.next.map { $0 - 1 } ?? .max
        if let above = gone.last, above.last < .max, above.last + 1 == chunk.position {
            gone[gone.count - 1].last = last
        } else {
            gone.append(GoneRange(feed: feed, chunk.position...last))
        }
    }

    /// Notes the bytes that these chunks show, except those of the posts in `kept`: indices of `ids`, in
    /// order.
    private mutating func releaseBodies(of leaving: [LeavingChunk], but kept: [Int]) {
        var recent: (record: UInt64, bytes: Int) = (0, 0)
        var (first, start) = (0, 0)
        for chunk in leaving {
            var end = start
            while end < kept.count, kept[end] < first + chunk.columns.count { end += 1 }
            let slots = kept[start..<end].lazy.map { $0 - first }
            chunk.columns.forEachBodyRecord(all: chunk.bodyBytes, but: slots) { record, bytes in
                if record != recent.record {
                    if recent.bytes > 0 { bodies.add(recent.bytes, to: recent.record) }
                    recent = (record, 0)
                }
                recent.bytes += bytes
            }
            (first, start) = (first + chunk.columns.count, end)
        }
        if recent.bytes > 0 { bodies.add(recent.bytes, to: recent.record) }
    }

    /// Finds the posts that stay in other feeds. Returns those that are shown there, so that their bodies
    /// stay: indices of `ids`, in order.
    private mutating func shownElsewhere(_ index: PostIndex, _ session: WriteSession) throws -> [Int] {
        let areShared = index.areShared(ids)
        let shared = areShared.indices.filter { areShared[$0] }
        if shared.isEmpty { return [] }
        var others = [(count: Int, isShown: Bool)](repeating: (0, false), count: shared.count)
        var showsAll = NumberTable<Bool>()
        for (i, holder, position) in index.places(of: ids[shared[...]]) where holder != feed {
            others[i].count += 1
            if others[i].isShown { continue }
            let known = showsAll[UInt64(holder)]
            let isSo = try known ?? (session.transaction.counts(holder).placeholders == 0)
            if known == nil { showsAll[UInt64(holder)] = isSo }
            others[i].isShown =
                try isSo || session.transaction.showsBody(of: ids[shared[i]], at: position, of: holder)
        }
        var kept: [Int] = []
        kept.reserveCapacity(shared.count)
        for (i, other) in zip(shared, others) {
            if other.isShown { kept.append(i) }
            if other.count > 0 {
                held.append(i)
            } else {
                marks.append(index.mark(of: ids[i], isShared: false))
            }
        }
        return kept
    }

    /// Removes the records, except those of pages for which `isLoaded` is true: the writer of the feed
    /// changes them.
    mutating func apply(to session: WriteSession, isLoaded: (UInt64) -> Bool) throws {
        if removed.isEmpty { return }
        let transaction = session.transaction
        // of adjacent records the one first that was written last: then LMDB moves the fewest bytes
        try transaction.withCursor(.pages(of: feed)) { cursor in
            for (number, count) in removed.pages.reversed() where !isLoaded(number) {
                guard let value = try cursor.find(NumberKey(newestFirst: number), near: .below) else {
                    throw QuireError.corrupt("page \(number) of feed number \(feed)")
                }
                let page = try PageHead(value, ofPage: number, feed)
                if page.entries != count {
                    throw QuireError.corrupt("page \(number) of feed number \(feed)")
                }
                removed.removePage(page)
                try cursor.delete()
            }
        }
        try transaction.withCursor(.chunks(of: feed)) { cursor in
            for position in removed.positions.reversed() {
                if try cursor.find(NumberKey(position), near: .above) != nil { try cursor.delete() }
            }
        }
        for (record, bytes) in bodies { session.release(bytes, of: record) }
        try forgetPosts(session)
        session.add([], marks: marks, gone: gone)
        session.counters.entries &-= UInt64(ids.count)
    }

    /// Removes everything known about the posts that left their last feed.
    private func forgetPosts(_ session: WriteSession) throws {
        if session.counters.fieldRecords == 0 {
            session.counters.posts &-= UInt64(ids.count - held.count)
            return
        }
        let held = Set(held)
        try session.forget(ids.indices.lazy.filter { !held.contains($0) }.map { ids[$0] }, in: collection)
    }
}
