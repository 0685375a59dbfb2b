import QuireSimulator

@testable import Quire

/// Values of records at random; every other one lies at an edge of what a record can hold.
struct RandomValues {
    var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func number() -> UInt64 {
        switch random.below(4) {
        case 0: random.pick([0, 1, .max, .max - 1, 1 << 63, (1 << 63) - 1])
        case 1: (1 << UInt64(7 * random.number(in: 1...9))) - UInt64(random.below(2))
        case 2: random.next() >> UInt64(random.below(64))
        default: random.next()
        }
    }

    mutating func int() -> Int { Int(number() >> 1) }
    mutating func signed() -> Int64 {
        random.chance(0.3) ? random.pick([.min, .max, -1, 0]) : Int64(bitPattern: number())
    }
    mutating func short() -> UInt32 { UInt32(truncatingIfNeeded: random.chance(0.2) ? .max : number()) }
    mutating func bool() -> Bool { random.chance(0.5) }

    mutating func optional<T>(_ value: (inout RandomValues) -> T) -> T? { bool() ? value(&self) : nil }

    mutating func list<T>(upTo limit: Int = 4, _ value: (inout RandomValues) -> T) -> [T] {
        (0..<random.below(limit + 1)).map { _ in value(&self) }
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    mutating func id() -> PostID {
        switch random.below(100) {
        case 0..<50: PostID(number())
        default: PostID(bytes: bytes(random.pick([1, 2, 20, 20, 20, 127, 128, 201])))!
        }
    }

    mutating func text() -> String {
        random.pick(["", "page=2", "ünï\u{0}", String(repeating: "x", count: 300)])
    }

    mutating func link() -> Link {
        switch random.below(8) {
        case 0: .unknown
        case 1: .end
        case 2: .confirmEnd
        case 3: .head
        case 4: .more
        case 5: .token(text())
        case 6: .below(id())
        default: .above(id())
        }
    }

    mutating func edge() -> Edge {
        var edge = Edge(
            link: link(), number: number(), after: optional { $0.id() }, triedLinks: list { $0.link() },
            isLoose: bool())
        (edge.isDoubtful, edge.isAssumed) = (bool(), bool())
        edge.search = optional { $0.search() }
        return edge
    }

    mutating func search() -> Search {
        var search = Search(optional { $0.id() })
        (search.back, search.skip, search.blanks, search.page) = (int(), int(), int(), int())
        (search.isStalled, search.isSure, search.isLost) = (bool(), bool(), bool())
        (search.hasEnded, search.isSolid) = (bool(), bool())
        search.echo = optional { Search.Echo(first: $0.id(), place: $0.int()) }
        search.probe = optional { $0.int() }
        search.after = optional { $0.id() }
        search.ceiling = optional { $0.int() } ?? .max
        return search
    }

    mutating func spot() -> Spot {
        Spot(number: Int32(truncatingIfNeeded: number()), row: Int32(random.below(100)), isLast: bool())
    }

    mutating func span() -> TicketRecord.Span {
        TicketRecord.Span(
            start: int(), rows: int(), page: optional { $0.int() }, asked: int(), isDisproved: bool())
    }

    mutating func sizes() -> LearnedSizes {
        LearnedSizes(
            isDisproved: bool(), size: optional { $0.int() }, asked: optional { $0.int() },
            short: optional { LearnedSizes.Short(own: $0.link(), start: $0.int(), rows: $0.int()) },
            most: int())
    }

    mutating func shifts() -> PositionShifts {
        var shifts = PositionShifts()
        for _ in 0..<random.below(3) {
            let runs = list(upTo: 40) { values in
                let lower = values.number()
                var run = UnloadedSpan(count: 0, unkeyed: 0, chunks: lower...max(lower, values.number()))
                run.shift = values.optional { $0.random.below(1000) - 500 }
                return run
            }
            shifts.add(runs, unit: 1 + random.below(100), forgets: random.chance(0.5))
        }
        return shifts
    }

    // MARK: Records

    mutating func chunk() -> ChunkRecord {
        let page = number()
        var body = BodyReference()
        let (isOneAnswer, isPlaced, hasDetails) = (bool(), bool(), bool())
        let asked = number()
        let confirmed = number()
        let entries = list(upTo: random.pick([0, 3, 128])) { values in
            var entry = Entry()
            entry.page = page
            entry.confirmed = isOneAnswer && values.random.chance(0.9) ? confirmed : values.number()
            entry.asked = isOneAnswer ? asked : values.number()
            entry.pushed = isOneAnswer ? 0 : values.number()
            if isPlaced {
                entry.spot = values.optional { $0.spot() }
                entry.isChecked = values.bool()
            }
            (entry.isDetached, entry.isPinned) = (values.bool(), values.bool())
            entry.isPlaceholder = values.bool()
            entry.claim = values.optional { Claim(why: $0.random.pick(Doubt.allCases), since: $0.number()) }
            entry.key = values.optional { $0.signed() }
            entry.version = values.optional { $0.signed() }
            // most bodies follow the one above; some lie elsewhere, some entries have none
            body.offset &+= body.length
            if !isOneAnswer || values.random.chance(0.1) {
                (body.record, body.offset) = (values.number(), values.short())
            }
            body.length = values.short()
            entry.body = body.record == 0 || values.random.chance(0.1) ? BodyReference() : body
            if entry.body.record != 0 && hasDetails {
                entry.detail = Detail(rawValue: UInt8(values.random.below(256)))
                entry.newest = values.optional { $0.signed() }
            }
            return entry
        }
        return ChunkRecord(
            page: page, ids: PostIDs(entries.map { _ in id() }), entries: entries, epoch: number())
    }

    mutating func fields() -> FieldsRecord {
        var record = FieldsRecord(id: id())
        record.fields = list { values in
            FieldsRecord.Field(
                name: values.text(), version: values.signed(), value: values.bytes(values.random.below(300)))
        }
        return record
    }

    mutating func page() -> PageRecord {
        var page = StoredPage(number: number(), own: link())
        (page.next, page.previous) = (link(), link())
        (page.first, page.last) = (optional { $0.id() }, optional { $0.id() })
        (page.isLooseBelow, page.isLooseAbove) = (bool(), bool())
        (page.received, page.new) = (int(), int())
        (page.duplicates, page.duplicatesInPage) = (int(), int())
        page.fetchedAt = signed()
        return PageRecord(page: page, entries: int(), start: number())
    }

    mutating func segment() -> SegmentCount { SegmentCount(entries: int(), unkeyed: int()) }

    mutating func gap() -> GapRecord {
        GapRecord(
            gap: Gap(
                id: GapID(number()), down: edge(), up: edge(), why: random.pick(Doubt.allCases),
                since: number()),
            above: segment())
    }

    mutating func feed() -> FeedRecord {
        let options = FeedOptions(
            order: random.pick(OrderClass.allCases), paging: random.pick(Paging.allCases),
            trustsEnd: bool(), pageSize: max(1, int()), minimumRun: max(1, int()),
            sticky: Set(list { $0.id() }), firstPage: Int(signed()), isStrict: bool(),
            sizes: random.pick([.free, .unknown, .fixed(max(1, int()))]), collection: text())
        var feed = FeedRecord(name: text(), options: options)
        feed.collection = short()
        (feed.resets, feed.changed, feed.edgeNumbers) = (number(), number(), number())
        (feed.pageNumbers, feed.ticketNumbers, feed.gapNumbers) = (number(), number(), number())
        (feed.head, feed.tail) = (edge(), edge())
        feed.skippedAbove = int()
        (feed.subscription.headAsOf, feed.subscription.live) = (
            optional { $0.number() }, optional { $0.number() }
        )
        feed.subscription.message = optional { $0.number() }
        feed.deltaToken = optional { DeltaToken(text: $0.text(), asOf: $0.number()) }
        (feed.sizes, feed.answersAgainstOrder, feed.shifts) = (sizes(), int(), shifts())
        feed.used = number()
        feed.lastSegment = segment()
        (feed.counts.entries, feed.counts.detached, feed.counts.placeholders) = (int(), int(), int())
        (feed.counts.pinned, feed.counts.unverifiedJoins, feed.counts.pages) = (int(), int(), int())
        (feed.counts.gaps, feed.counts.chunks, feed.counts.bodyBytes) = (int(), int(), int())
        return feed
    }

    mutating func ticket() -> TicketRecord {
        let operation = TicketRecord.Operation(rawValue: UInt8(random.below(9)))!
        var ticket = TicketRecord(number: number(), operation: operation, resets: number(), issued: number())
        ticket.own = link()
        ticket.edges = list { $0.number() }
        (ticket.isOverlapping, ticket.isBounded, ticket.isCancelled) = (bool(), bool(), bool())
        (ticket.isAtHead, ticket.isContinuation) = (bool(), bool())
        (ticket.isLoose, ticket.isAboveHead) = (bool(), bool())
        (ticket.mayClaim, ticket.isProbe) = (bool(), bool())
        ticket.span = optional { $0.span() }
        ticket.join = optional { TicketRecord.Join(upper: $0.id(), lower: $0.id()) }
        (ticket.after, ticket.minted) = (optional { $0.id() }, optional { $0.id() })
        ticket.confirms = optional { $0.number() }
        ticket.ids = list { $0.id() }
        ticket.limit = int()
        return ticket
    }

    mutating func counters() -> Counters {
        var counters = Counters()
        (counters.clock, counters.generation, counters.feeds) = (number(), number(), short())
        (counters.feedNumbers, counters.collections) = (short(), short())
        (counters.bodyRecords, counters.posts, counters.entries) = (number(), number(), number())
        (counters.bodyBytes, counters.fieldRecords) = (number(), number())
        counters.named = CollectionTotals(posts: number(), bodyBytes: number())
        return counters
    }

    // MARK: The change log

    mutating func row() -> RowID { bool() ? .post(id()) : .gap(GapID(number())) }

    /// Mostly rows put one below the other, as pages bring them; sometimes below one further up, with
    /// other changes in between.
    mutating func changes() -> [Change] {
        var upper: RowID?
        return list(upTo: random.pick([0, 3, 40])) { values in
            let row = values.row()
            switch values.random.below(10) {
            case 0: return .removed(row)
            case 1: return .updated(values.id())
            case 2: return .reset
            case 3: return .inserted(row, below: nil)
            case 4: return .inserted(row, below: values.row())
            default:
                defer { upper = row }
                return .inserted(row, below: upper)
            }
        }
    }
}
