/// What was recovered of one feed of a damaged cache, and where something may be missing.
struct RecoveredFeed {
    /// The tables of a feed, in the order of their keys.
    enum Part: Int {
        case chunks, gaps, rest

        init(_ table: String) {
            self = table == "chunks" ? .chunks : table == "gaps" ? .gaps : .rest
        }
    }

    struct Chunk {
        let address: Salvage.NodeAddress
        let position: UInt64
        /// The number of entries in the server's sequence.
        let entries: Int
        /// True if chunks may be missing above this one.
        let isAfterBreak: Bool
    }

    /// A part from which the feed is rebuilt.
    enum RecoveredSpan {
        case chunk(Chunk)
        case gap(Gap)
        /// Entries or a gap may have been here.
        case unknown
    }

    let number: UInt32
    var name: String?
    private(set) var record: FeedRecord?
    private(set) var chunks: [Chunk] = []
    /// The gaps by position. A nil record means that only the position is known.
    private(set) var gaps: [(position: UInt64, record: GapRecord?)] = []
    private(set) var pages: [UInt64: PageRecord] = [:]
    private(set) var attributes: [(name: [UInt8], value: [UInt8])] = []
    private(set) var tombstones: [(key: [UInt8], value: [UInt8])] = []
    /// The newest clock value in any of its records.
    private(set) var clock: UInt64 = 0
    /// The changes of commits that are lost themselves.
    var lostChanges: [Change] = []
    /// True if chunks may be missing below the last one.
    private var isCutOff = false
    /// True if gaps may be missing without a trace.
    private var mayLackGaps = false

    init(number: UInt32) { self.number = number }

    // MARK: Taking records

    /// Takes in a record. Returns false if it does not match its key.
    mutating func take(
        _ table: String, _ key: [UInt8], _ value: [UInt8], _ address: Salvage.NodeAddress, isAfterBreak: Bool
    ) -> Bool {
        let number = RecoveredFile.number(key)
        return value.withUnsafeBytes { bytes in
            do throws(QuireError) {
                switch table {
                case "chunks":
                    let chunk = try ChunkRecord(bytes, table)
                    guard let number else { return false }
                    clock = chunk.entries.reduce(clock) { max($0, $1.confirmed) }
                    chunks.append(
                        Chunk(
                            address: address, position: number,
                            entries: chunk.entries.count { !$0.isDetached }, isAfterBreak: isAfterBreak))
                case "gaps":
                    guard let number else { return false }
                    gaps.append((number, try GapRecord(bytes, table)))
                case "feeds":
                    var feed = try FeedRecord(bytes, table)
                    feed.hasViews = false
                    guard feed.canGoOn else { return false }
                    clock = max(clock, feed.changed)
                    record = feed
                case "pages":
                    let page = try PageRecord(bytes, table)
                    pages[page.page.number] = page
                case "attributes":
                    try ByteReader.read(bytes, table) { reader throws(QuireError) in _ = try reader.blob() }
                    attributes.append((key, value))
                case "tombstones":
                    clock = max(clock, try ByteReader.number(bytes, table))
                    tombstones.append((key, value))
                case "ranks", "gap-places": break  // are built anew
                case "views", "view-data": break  // made anew when a program opens the view
                default: _ = try TicketRecord(bytes, table)  // all answers become stale, so only check it
                }
                return true
            } catch {
                return false
            }
        }
    }

    /// Notes that the record with this key is lost. Returns false if that does not tell what is missing.
    mutating func note(lost table: String, _ key: [UInt8]) -> Bool {
        if table == "gaps", let number = RecoveredFile.number(key) { gaps.append((number, nil)) }
        return table != "chunks"
    }

    /// Notes that records may be missing between one of the first part and one of the second.
    mutating func noteBreak(from upper: Part, to lower: Part) {
        if upper == .chunks && lower != .chunks { isCutOff = true }
        if upper != .rest && lower != .chunks { mayLackGaps = true }
    }

    // MARK: Putting together

    /// Returns the spans of the feed from its head to its tail. A segment is whole if its number of entries
    /// matches the record of the gap below it, or of the feed. In other segments, posts may be missing at
    /// every hole in LMDB's tree, or, if there is none, between any two chunks.
    func spans(of feed: FeedRecord) -> [RecoveredSpan] {
        if lostChanges.contains(.reset) { return [.unknown] }
        let knowsGaps = !mayLackGaps || gaps.count == feed.counts.gaps
        var spans: [RecoveredSpan] = []
        var next = 0
        for segment in 0...gaps.count {
            let gap = segment < gaps.count ? gaps[segment] : nil
            let start = next
            while next < chunks.count, gap.map({ chunks[next].position < $0.position }) ?? true { next += 1 }
            let found = chunks[start..<next].reduce(0) { $0 + $1.entries }
            let expected = gap.map { $0.record?.above.entries } ?? feed.lastSegment.entries
            var broken: Set<Int> = []
            if found != expected {
                let isBelowBroken = next < chunks.count ? chunks[next].isAfterBreak : isCutOff
                broken = Set(
                    (start..<next).filter { chunks[$0].isAfterBreak } + (isBelowBroken ? [next] : []))
                let isExplained = !broken.isEmpty || expected == nil
                if !knowsGaps || !isExplained { broken = Set(start...next) }
            }
            for place in start...next {
                if broken.contains(place) { spans.append(.unknown) }
                if place < next { spans.append(.chunk(chunks[place])) }
            }
            if let gap { spans.append(gap.record.map { .gap($0.gap) } ?? .unknown) }
        }
        return Self.guarded(spans)
    }

    /// Returns the spans with unknown ones added around gaps, since a gap must lie between two entries.
    private static func guarded(_ spans: [RecoveredSpan]) -> [RecoveredSpan] {
        var result: [RecoveredSpan] = []
        var mayTakeGap = false
        for span in spans {
            switch span {
            case .gap:
                if !mayTakeGap { result.append(.unknown) }
                mayTakeGap = false
            case .chunk(let chunk): mayTakeGap = mayTakeGap || chunk.entries > 0
            case .unknown: mayTakeGap = true
            }
            result.append(span)
        }
        if case .gap? = result.last { result.append(.unknown) }
        return result
    }

    /// The posts that lost commits removed or moved, and those below which they inserted. Nil among the
    /// latter means the head.
    var lostRows: (removed: Set<PostID>, insertedBelow: Set<PostID?>) {
        var (removed, below): (Set<PostID>, Set<PostID?>) = ([], [])
        for change in lostChanges {
            switch change {
            case .removed(.post(let id)): removed.insert(id)
            case .inserted(_, below: nil): below.insert(nil)
            case .inserted(_, below: .post(let id)?): below.insert(id)
            case .inserted, .removed, .updated, .reset: break
            }
        }
        return (removed, below)
    }
}

extension FeedRecord {
    /// True if it is small enough to count on from. The bytes are untrusted.
    fileprivate var canGoOn: Bool {
        let limit: UInt64 = 1 << 60
        let numbers = [resets, edgeNumbers, pageNumbers, ticketNumbers, gapNumbers]
        let sizes = [counts.entries, counts.detached, counts.gaps, lastSegment.entries, skippedAbove]
        return 1...255 ~= name.utf8.count && options.collection.utf8.count <= CollectionRecord.nameLimit
            && numbers.allSatisfy { $0 < limit }
            && sizes.allSatisfy { $0 < Int(limit) }
    }
}
