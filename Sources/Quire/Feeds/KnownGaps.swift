/// The gaps of a feed that the loader knows, top first. In a feed with many gaps these are the first, the
/// last, and those around each loaded chunk. So a refresh costs the same with ten gaps and with ten thousand.
struct KnownGaps {
    struct Known {
        /// The position of the chunk directly below the gap.
        let position: UInt64
        let record: GapRecord
        /// True if there are other gaps between this one and the one above it in this list.
        var hidesOthers = false
    }

    private(set) var all: [Known] = []
    /// What rules have looked for, and where it is among the known gaps only.
    private(set) var lacking: [(what: SoughtGaps, chunks: ClosedRange<UInt64>)] = []
    /// The links of all gaps that were hidden when this was first needed. No gap changes that is not known.
    private var hiddenLinks: Set<Link>?
    private var transaction: Transaction
    private let feed: UInt32

    /// Loads all gaps, or at first only the first and the last. `isEmpty`: the feed has none.
    init(_ transaction: Transaction, feed: UInt32, isWhole: Bool = true, isEmpty: Bool = false) throws {
        (self.transaction, self.feed) = (transaction, feed)
        if isEmpty { return }
        if isWhole { try loadAll() } else { try loadOutermost() }
    }

    /// Goes on in the transaction after the one in which they were loaded.
    mutating func goOn(in transaction: Transaction) { self.transaction = transaction }

    /// Replaces the known gaps after a write.
    mutating func replace(_ known: [Known]) { all = known }

    /// Forgets what was looked for.
    mutating func forgetLacking() { lacking = [] }

    /// True if some gaps are not known.
    var areHidden: Bool { all.contains(where: \.hidesOthers) }

    // MARK: Reading

    mutating func loadAll() throws {
        all = []
        try forEach {
            all.append($0)
            return true
        }
    }

    private mutating func loadOutermost() throws {
        try withCursor { cursor in
            guard let first = try gap(cursor.first()), let last = try gap(cursor.last()) else { return }
            all = [first]
            if last.position == first.position { return }
            all.append(last)
            all[1].hidesOthers = try isHiding(above: last.position, below: first.position, cursor)
        }
    }

    /// Loads the gaps between these chunks that a rule looks for. All gaps there are hidden.
    mutating func load(_ sought: SoughtGaps, in chunks: ClosedRange<UInt64>) throws {
        if try mayBeHidden(sought) { try load(around: hidden(sought, in: chunks)) }
        lacking.append((sought, chunks))
    }

    /// Returns what rules have looked for and is not among the gaps between these chunks.
    func lacking(in chunks: ClosedRange<UInt64>) -> [SoughtGaps] {
        if lacking.isEmpty { return [] }
        return lacking.filter {
            $0.chunks.contains(chunks.lowerBound) && $0.chunks.contains(chunks.upperBound)
        }.map(\.what)
    }

    private func hidden(_ sought: SoughtGaps, in chunks: ClosedRange<UInt64>) throws -> [UInt64] {
        var found: [UInt64] = []
        try withCursor { cursor in
            var next = try cursor.seek(NumberKey(chunks.lowerBound + 1))
            while let (key, value) = next, let position = NumberKey(key)?.number,
                position <= chunks.upperBound
            {
                // whether the segment above has posts without a key is seen before the gap is decoded
                if sought != .belowUnkeyed || GapRecord.hasUnkeyed(value), let gap = try gap(next),
                    sought.contains(gap.record.gap, unkeyed: gap.record.above.unkeyed)
                {
                    found.append(position)
                }
                next = try cursor.next()
            }
        }
        return found
    }

    /// Returns false if no hidden gap has the link. The pages of a crawl ask for one link each.
    private mutating func mayBeHidden(_ sought: SoughtGaps) throws -> Bool {
        guard case .filled(let link) = sought else { return true }
        if hiddenLinks == nil {
            var links: Set<Link> = []
            try forEach {
                links.insert($0.record.gap.down.link)
                return true
            }
            hiddenLinks = links
        }
        return hiddenLinks!.contains(link)
    }

    /// Loads the gaps directly above and below each of these chunks. Positions ascend.
    mutating func load(around positions: [UInt64]) throws {
        var rest = all[...]
        var known: [Known] = []
        known.reserveCapacity(all.count + 2)
        try withCursor { cursor in
            for position in positions {
                while let next = rest.first, next.position <= position {
                    known.append(next)
                    rest.removeFirst()
                }
                guard let above = known.last?.position, above <= position,
                    let below = rest.first, below.hidesOthers
                else { continue }
                guard let lower = try gap(cursor.seek(NumberKey(position + 1))),
                    var upper = try gap(cursor.before(NumberKey(lower.position)))
                else { throw QuireError.corrupt("the gaps of feed number \(feed)") }
                if upper.position != above {
                    upper.hidesOthers = try isHiding(above: upper.position, below: above, cursor)
                    known.append(upper)
                }
                if lower.position != below.position { known.append(lower) }
                rest[rest.startIndex].hidesOthers =
                    try lower.position != below.position
                    && isHiding(above: below.position, below: lower.position, cursor)
            }
        }
        all = known + rest
    }

    /// Returns the gap with this id, known or not.
    func gap(_ id: GapID) throws -> Known? {
        guard let value = try transaction.get(.gapPlaces(of: feed), NumberKey(id.number)) else { return nil }
        let position = try ByteReader.number(value, "the place of gap \(id) of feed number \(feed)")
        guard let record = try transaction.get(.gaps(of: feed), NumberKey(position)) else {
            throw QuireError.corrupt("gap \(id) of feed number \(feed)")
        }
        let gap = Known(position: position, record: try GapRecord(record, "gap \(id) of feed number \(feed)"))
        if gap.record.gap.id != id {
            throw QuireError.corrupt("the place of gap \(id) of feed number \(feed)")
        }
        return gap
    }

    /// Returns the gap with this edge, known or not. It is mostly the one with this id.
    func gap(withEdge number: UInt64, probably id: GapID?) throws -> Known? {
        if let known = all.first(where: { $0.record.gap.has(edge: number) }) { return known }
        if !areHidden { return nil }
        if let found = try id.flatMap({ try gap($0) }), found.record.gap.has(edge: number) { return found }
        var found: Known?
        try forEach { gap in
            if gap.record.gap.has(edge: number) { found = gap }
            return found == nil
        }
        return found
    }

    /// Returns true if there are gaps strictly between these two.
    private func isHiding(above lower: UInt64, below upper: UInt64, _ cursor: Cursor) throws -> Bool {
        try cursor.before(NumberKey(lower)).flatMap { NumberKey($0.key)?.number } != upper
    }

    /// Calls `body` with each gap of the feed from a position on, known or not, while it returns true.
    func forEach(from position: UInt64 = 0, _ body: (Known) throws -> Bool) throws {
        try withCursor { cursor in
            var found = try gap(cursor.seek(NumberKey(position)))
            while let known = found, try body(known) {
                found = try gap(cursor.next())
            }
        }
    }

    private func withCursor(_ body: (Cursor) throws -> Void) throws {
        try transaction.withCursor(.gaps(of: feed), body)
    }

    private func gap(_ found: Cursor.Record?) throws -> Known? {
        guard let (key, value) = found, let key = NumberKey(key) else { return nil }
        return Known(position: key.number, record: try GapRecord(value, "a gap of feed number \(feed)"))
    }
}
