// Several feeds as one list. Each feed descends by its keys, so the list is made by taking, again and again,
// the feed whose next row has the highest key. A feed that may get posts at some place has a frontier there,
// with the key of the row above: a post that is missing may have that key, but no higher one.

/// A feed that is to be merged with others.
struct MergedFeed {
    let reader: RowReader
    let name: String
    let order: OrderClass
    let collection: UInt32
}

/// What one feed contributes to a merged list.
private struct Source {
    enum Item {
        case row(FeedRow)
        case head(Link)
        case tail(Link)
    }

    let reader: RowReader
    let collection: UInt32
    let head: Link?
    let tail: Link?
    var at: SourcePosition
    /// Rows that were read ahead, the next one last.
    private var ahead: [FeedRow] = []
    /// How many rows to read ahead the next time: few at first, because most of many feeds show none of a
    /// read's rows.
    private var step: Int

    private static let stepLimit = 64

    /// `count` is the number of feeds that are merged.
    init(_ feed: MergedFeed, _ position: SourcePosition, amongst count: Int) throws {
        (reader, collection, at) = (feed.reader, feed.collection, position)
        step = max(4, Self.stepLimit / count)
        do {
            let record = try reader.record()
            head = record.counts.entries > 0 && record.head.link != .end ? record.head.link : nil
            tail = record.tail.link == .end ? nil : record.tail.link
        } catch let error as QuireError where error.code == .notFound {
            (head, tail) = (nil, nil)  // it was dropped, and has no rows
        }
    }

    /// Returns the next row or frontier; nil at the end. `limit` is how many rows may be of use.
    mutating func next(_ limit: Int) throws -> Item? {
        if at.stage == .head {
            if let head { return .head(head) }
            at.stage = .rows
        }
        if at.stage == .rows {
            if ahead.isEmpty {
                ahead = try reader.rows(after: at.row, limit: min(limit, step)).reversed()
                step = min(2 * step, Self.stepLimit)
            }
            if let row = ahead.last { return .row(row) }
            at.stage = .tail
        }
        if at.stage == .tail {
            if let tail { return .tail(tail) }
            at.stage = .end
        }
        return nil
    }

    /// The key by which the next item competes with those of the other feeds. A post outside the server's
    /// sequence, a post without a key and a frontier stay where they are.
    func key(of item: Item) -> Int64 {
        if case .row(.post(let post)) = item, !post.isDetached, let key = post.key { return min(at.key, key) }
        return at.key
    }

    /// Steps over the next item.
    mutating func take(_ item: Item) {
        at.key = key(of: item)
        switch item {
        case .head: at.stage = .rows
        case .tail: at.stage = .end
        case .row(let row):
            at.row = row.post?.position ?? row.gap?.position
            ahead.removeLast()
        }
    }
}

/// The next items of the feeds, as a heap: the highest key first; of equal keys, that of the feed named
/// first.
private struct Candidates {
    struct Element {
        let key: Int64
        let source: Int

        func precedes(_ other: Element) -> Bool {
            key > other.key || key == other.key && source < other.source
        }
    }

    private var heap: [Element]

    init(_ elements: [Element]) {
        // sorted, it is a heap
        heap = elements.sorted { $0.precedes($1) }
    }

    var first: Element? { heap.first }

    /// Replaces the first element by the next one of its feed; nil removes it.
    mutating func replaceFirst(with element: Element?) {
        let last = element ?? heap.removeLast()
        if heap.isEmpty { return }
        var at = 0
        while true {
            var child = 2 * at + 1
            if child >= heap.count { break }
            if child + 1 < heap.count, heap[child + 1].precedes(heap[child]) { child += 1 }
            if last.precedes(heap[child]) { break }
            heap[at] = heap[child]
            at = child
        }
        heap[at] = last
    }
}

/// Merges feeds in one snapshot.
struct Merging {
    private var sources: [Source]
    /// True if several of the feeds share their posts.
    private let sharesPosts: Bool
    private let numbers: [UInt32: Int]
    /// Where posts are shown that several feeds of a collection hold.
    private var shown: [UInt32: [PostID: Int]] = [:]

    init(_ feeds: [MergedFeed], from position: MergedPosition?) throws {
        let positions = position?.sources ?? Array(repeating: SourcePosition(), count: feeds.count)
        if positions.count != feeds.count {
            throw QuireError(
                .badArgument, "a position in a list of \(positions.count) feeds, not \(feeds.count)")
        }
        sources = try zip(feeds, positions).map { try Source($0, $1, amongst: feeds.count) }
        numbers = try Self.numbers(of: feeds)
        sharesPosts = Set(feeds.map(\.collection)).count < feeds.count
    }

    /// Returns the index of each feed by its number. Throws unless they can be merged.
    static func numbers(of feeds: [MergedFeed]) throws(QuireError) -> [UInt32: Int] {
        var numbers: [UInt32: Int] = [:]
        for (source, feed) in feeds.enumerated() {
            if !feed.order.hasKeys {
                throw QuireError(
                    .badArgument,
                    "feed \(feed.name) is \(feed.order.rawValue): only feeds whose order is that of "
                        + "keys, stable or bump, can be merged")
            }
            if numbers.updateValue(source, forKey: feed.reader.feed) != nil {
                throw QuireError(.badArgument, "feed \(feed.name) is merged with itself")
            }
        }
        return numbers
    }

    /// Returns up to `limit` rows, or those down to the first frontier if it does not read past them.
    mutating func rows(limit: Int, pastFrontiers: Bool) throws -> MergedRows {
        var rows: [MergedRow] = []
        rows.reserveCapacity(min(limit, 1024))
        var stop = MergedRows.Stop.limit
        let asked = limit > 0 ? Array(sources.indices) : []
        var candidates = try Candidates(asked.compactMap { try candidate($0, limit) })
        while rows.count < limit {
            guard let source = candidates.first?.source,
                let item = try sources[source].next(limit - rows.count)
            else {
                stop = .end
                break
            }
            sources[source].take(item)
            candidates.replaceFirst(with: try candidate(source, limit - rows.count))
            if case .row(.post(let post)) = item {
                if try !sharesPosts || isFirst(post, in: source) { rows.append(.post(post, source: source)) }
                continue
            }
            rows.append(.frontier(Self.frontier(item), source: source))
            if pastFrontiers { continue }
            stop = .frontier
            break
        }
        return MergedRows(
            rows: rows, position: MergedPosition(sources: sources.map(\.at)), stop: stop)
    }

    private static func frontier(_ item: Source.Item) -> Frontier {
        switch item {
        case .row(.gap(let gap)): .gap(gap)
        case .head(let link): .head(link)
        case .tail(let link): .tail(link)
        case .row(.post): preconditionFailure("a post is no frontier")
        }
    }

    /// The next item of a feed among those of the others; nil at its end.
    private mutating func candidate(_ source: Int, _ limit: Int) throws -> Candidates.Element? {
        guard let item = try sources[source].next(limit) else { return nil }
        return Candidates.Element(key: sources[source].key(of: item), source: source)
    }

    /// A post that several of the feeds hold is shown once: where its key is highest, in the server's
    /// sequence before outside of it, in the feed named first.
    private mutating func isFirst(_ post: PostRow, in source: Int) throws -> Bool {
        let (reader, collection) = (sources[source].reader, sources[source].collection)
        if let known = shown[collection]?[post.id] { return known == source }
        let index = try PostIndex(reader.transaction, of: collection)
        let places = index.positions(of: post.id)
        if places.count < 2 { return true }
        var (first, highest) = (source, Self.rank(post))
        for (feed, position) in places {
            guard let other = numbers[feed], other != source else { continue }
            let rank = Self.rank(try sources[other].reader.row(of: post.id, at: position))
            if rank > highest || rank == highest && other < first { (first, highest) = (other, rank) }
        }
        shown[collection, default: [:]][post.id] = first
        return first == source
    }

    private static func rank(_ post: PostRow) -> (Int, Int64) {
        post.isDetached ? (0, .min) : (1, post.key ?? .min)
    }
}

extension SourcePosition {
    /// The position from which a feed's rows have this key or a lower one. A gap there is among them.
    init(atKey key: Int64, _ reader: RowReader) throws {
        var rank = try reader.rank(ofKey: key)
        if rank > 0, try reader.rows(from: rank - 1, limit: 1).first?.gap != nil { rank -= 1 }
        self.init()
        if rank == 0 { return }
        self.key = key
        guard let row = try reader.position(above: rank) else {
            stage = .tail
            return
        }
        (stage, self.row) = (.rows, row)
    }
}
