/// Builds a new cache from what was recovered of a damaged one, through the engine's normal write path. So
/// all derived data (the id index, counts, the use of bodies, free space) is right.
///
/// A lost entry leaves the feed by an eviction (R15): a placeholder, or the post without a body, is inserted
/// at its place and evicted. So the rules choose the links of the new gap.
struct CacheRebuilder {
    private var recoveredFile: RecoveredFile
    private let cache: Cache
    private(set) var feeds: [RepairReport.Feed] = []
    private let progress: (Double) throws -> Void
    private var done = 0
    private let chunkCount: Int
    /// The names of feeds that are lost, although their records read back.
    private let leftOut: Set<String>

    /// The approximate number of bytes of bodies that one commit writes.
    private static let byteLimit = 8 << 20

    init(
        _ recoveredFile: RecoveredFile, without leftOut: Set<String>, into cache: Cache,
        progress: @escaping (Double) throws -> Void
    ) {
        (self.recoveredFile, self.cache, self.progress) = (recoveredFile, cache, progress)
        self.leftOut = leftOut
        chunkCount = recoveredFile.feeds.values.reduce(0) { $0 + $1.chunks.count }
    }

    mutating func run() throws {
        for remains in recoveredFile.feeds.values { recoveredFile.raise(clock: remains.clock) }
        try cache.write { session in
            session.counters.clock = recoveredFile.clock
            session.touch()
        }
        var names: Set<String> = []
        for remains in recoveredFile.feeds.values.sorted(by: { $0.number < $1.number }) {
            guard let record = remains.record, names.insert(record.name).inserted else {
                let isKnown = remains.name != nil || !remains.chunks.isEmpty
                if isKnown { feeds.append(.init(lost: remains.name ?? "number \(remains.number)")) }
                continue
            }
            if leftOut.contains(record.name) {
                feeds.append(.init(lost: record.name))
            } else {
                try rebuild(remains, record)
            }
        }
        try copyAttributes()
        try copyAliases()  // before the fields, whose keys contain names
        try copyFields()
        try startLog()
    }

    /// Of the cache itself. What is made is no replica: what a log has said of the old file is not true of
    /// it.
    private func copyAttributes() throws {
        guard let remains = recoveredFile.feeds[0] else { return }
        try cache.write { session in
            for (name, value) in remains.attributes where name.first != UInt8(ascii: "~") {
                try session.transaction.put(Attributes.table(of: nil), name, value)
            }
            session.touch()
        }
    }

    // MARK: A feed

    private mutating func rebuild(_ remains: RecoveredFeed, _ record: FeedRecord) throws {
        let feed = try cache.feed(named: record.name, options: record.options)
        let isIDs = record.options.paging == .ids
        var part = RebuildBatch(record: record, pages: remains.pages)
        let lost = remains.lostRows
        if lost.insertedBelow.contains(nil) { part.rows.append(.unknown) }
        for span in remains.spans(of: record) {
            switch span {
            case .gap(let gap): part.add(gap)
            case .unknown: part.rows.append(.unknown)
            case .chunk(let chunk):
                try add(chunk, of: record.collection, to: &part, lost)
                done += 1
                try progress(Double(done) / Double(chunkCount))
            }
            let isFull = part.rows.count > cache.tuning.repairLimit || part.bytes.count > Self.byteLimit
            if isFull && part.endsInEntry && !isIDs { try write(&part, to: feed) }
        }
        try write(&part, to: feed)
        if !isIDs { try renumberTop(of: feed, remains.pages) }
        try cache.write { session in
            try session.forgetLoaded(feed.number)  // of its tombstones
            for (name, value) in remains.attributes {
                try session.transaction.put(.attributes(of: feed.number), name, value)
            }
            for (key, value) in remains.tombstones {
                try session.transaction.put(.tombstones(of: feed.number), key, value)
            }
            session.touch()
        }
        feeds.append(try report(on: feed, part, record))
    }

    private mutating func add(
        _ chunk: RecoveredFeed.Chunk, of collection: UInt32, to part: inout RebuildBatch,
        _ lost: (removed: Set<PostID>, insertedBelow: Set<PostID?>)
    ) throws {
        guard let value = try recoveredFile.salvage.value(at: chunk.address) else {
            return part.rows.append(.unknown)
        }
        let record = try value.withUnsafeBytes { try ChunkRecord($0, "a chunk") }
        for (id, entry) in zip(record.ids, record.entries) {
            let body =
                entry.body.record == 0 ? [] : try recoveredFile.body(entry.body, of: id, in: collection)
            if let body, !lost.removed.contains(id) {
                part.add(id, entry, body)
            } else {
                part.addLost(id, entry)
            }
            if lost.insertedBelow.contains(id) { part.rows.append(.unknown) }
        }
    }

    private mutating func write(_ part: inout RebuildBatch, to feed: Feed) throws {
        let (now, bytes) = (part, part.bytes)
        var lost = 0
        try cache.write { session in
            try session.change(
                feed.number,
                focus: { loader in
                    try loader.loadBottom()
                    try loader.load(posts: now.ids)
                    for number in now.pagesBefore {
                        // Pages whose posts have all been lost so far were never written; skip them.
                        let key = NumberKey(newestFirst: number)
                        let page = try session.transaction.get(.pages(of: feed.number), key)
                        if page != nil { try loader.page(number) }
                    }
                },
                { state throws(Interruption) in
                    let added = try now.append(to: &state)
                    lost = added.lost
                    return WriteSession.Effect(
                        placements: added.placements, posts: added.posts, bytes: bytes)
                })
        }
        part.lost += lost
        part.beginNext()
    }

    /// Gives the topmost page a new number if it lost posts, because it is no longer what the server sent. A
    /// pager stores its validators ("not modified") with the number of that page.
    private func renumberTop(of feed: Feed, _ pages: [UInt64: PageRecord]) throws {
        try cache.write { session in
            let reader = RowReader(transaction: session.transaction, feed: feed.number)
            guard let top = try reader.page(at: 0),
                pages[top.number]?.entries != top.posts
            else { return }
            let ids = try reader.rows(of: top).map(\.id)
            try session.change(feed.number, focus: { try $0.load(posts: ids) }) {
                state throws(Interruption) in
                state.renumber(top.number)
                return WriteSession.Effect()
            }
        }
    }

    private func report(on feed: Feed, _ part: RebuildBatch, _ old: FeedRecord) throws -> RepairReport.Feed {
        let new = try cache.environment.read { try $0.feed(feed.number) }
        let (before, after) = (old.counts, new.counts)
        return RepairReport.Feed(
            name: feed.name, isLost: false, posts: after.entries + after.detached,
            lostPosts: max(part.lost, before.entries + before.detached - after.entries - after.detached),
            lostBodies: part.placeholders, gaps: after.gaps, newGaps: max(0, after.gaps - before.gaps))
    }

    // MARK: What belongs to no feed

    /// The names of the collections by their old numbers.
    private var collections: [UInt32: String] {
        let records = recoveredFile.feeds.values.compactMap(\.record)
        return Dictionary(
            records.map { ($0.collection, $0.options.collection) }, uniquingKeysWith: { one, _ in one })
    }

    private func copyAliases() throws {
        let names = collections
        try cache.write { session in
            for (record, number) in recoveredFile.aliases {
                guard let collection = names[number] else { continue }
                _ = try session.unite(record.id, with: record.name, in: collection)
            }
        }
    }

    private mutating func copyFields() throws {
        let names = collections
        for (address, number) in recoveredFile.fields {
            guard let collection = names[number] else { continue }
            guard let value = try recoveredFile.salvage.value(at: address) else { continue }
            let record = try value.withUnsafeBytes { try FieldsRecord($0, "fields") }
            try cache.write { session in
                for field in record.fields {
                    _ = try session.update(
                        record.id, fields: [field.name: field.value], version: field.version, in: collection)
                }
            }
        }
    }

    /// Continues the commit numbers of the old cache. The log entry of the last commit says that every feed
    /// must be read again, so followers of the old cache do that.
    private func startLog() throws {
        let numbers = try cache.feeds().map(\.number)
        try cache.write { session in
            let written = session.counters.generation
            let last = max(written, recoveredFile.generation) + 1
            if written > 0 {
                for number in 1...written { try session.transaction.delete(.log, NumberKey(number)) }
            }
            let log = ChangeLog(transaction: session.transaction)
            for number in ChangeLog.oldest(at: last)..<last {
                try log.append([], generation: number)
            }
            session.counters.generation = last - 1
            session.touch()
            for number in numbers { session.note(.reset, in: number) }
        }
    }
}

extension FeedState {
    /// Gives a page another number.
    fileprivate mutating func renumber(_ number: UInt64) {
        guard var page = pages[number] else { return }
        pageNumbers += 1
        page.number = pageNumbers
        pages[pageNumbers] = page
        for entry in entries.indices where entries[entry].page == number { entries[entry].page = pageNumbers }
    }
}
