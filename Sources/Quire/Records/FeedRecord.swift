/// The record of a feed. It begins with numbers of fixed width, the totals first, which are read alone most
/// often and changed in place. Its name, its outer edges and what few feeds have follow.
struct FeedRecord: Record {
    var name: String
    var options: FeedOptions
    /// The number of `options.collection`.
    var collection: UInt32 = 0
    var resets: UInt64 = 0
    var changed: UInt64 = 0
    var edgeNumbers: UInt64 = 2
    var pageNumbers: UInt64 = 0
    var ticketNumbers: UInt64 = 0
    var gapNumbers: UInt64 = 0
    var head: Edge
    var tail: Edge
    var skippedAbove = 0
    var sizes = LearnedSizes()
    var answersAgainstOrder = 0
    /// The commit that noted its last use, by a process with a budget; 0 if none did.
    var used: UInt64 = 0
    /// It has views: each change of its chunks must be noted.
    var hasViews = false
    var shifts = PositionShifts()
    var subscription = Subscription()
    var deltaToken: DeltaToken?
    /// The size of the segment below the last gap.
    var lastSegment = SegmentCount()
    var counts = FeedCounts()

    /// True for a feed of few chunks, which never forgets a position.
    var keepsPlaces: Bool { counts.chunks <= PositionShifts.eagerChunks }

    init(name: String, options: FeedOptions) {
        self.name = name
        self.options = options
        head = Edge(link: .end, number: 1)
        tail = Edge(link: .unknown, number: 2)
    }

    /// What few feeds have stands behind the rest, if a bit says so.
    private enum Part {
        static let collection = 1 as UInt8
        static let sticky = 2 as UInt8
        static let sizes = 4 as UInt8
        static let shifts = 8 as UInt8
        static let headAsOf = 16 as UInt8
        static let live = 32 as UInt8
        static let message = 64 as UInt8
        static let deltaToken = 128 as UInt8
    }

    func encode(_ writer: inout ByteWriter) {
        encodeHead(&writer)
        let parts = parts
        writer.byte(parts)
        writer.text(name)
        head.encode(&writer)
        tail.encode(&writer)
        if parts & Part.collection != 0 { writer.text(options.collection) }
        if parts & Part.sticky != 0 {
            writer.list(options.sticky.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
                $0.blob($1.bytes)
            }
        }
        if parts & Part.sizes != 0 { sizes.encode(&writer) }
        if parts & Part.shifts != 0 { shifts.encode(&writer) }
        if let headAsOf = subscription.headAsOf { writer.number(headAsOf) }
        if let live = subscription.live { writer.number(live) }
        if let message = subscription.message { writer.number(message) }
        if let deltaToken {
            writer.text(deltaToken.text)
            writer.number(deltaToken.asOf)
        }
    }

    private func encodeHead(_ writer: inout ByteWriter) {
        counts.encode(&writer)
        writer.wide(lastSegment.entries)
        writer.wide(lastSegment.unkeyed)
        writer.word(resets)
        writer.word(changed)
        writer.word(edgeNumbers)
        writer.word(pageNumbers)
        writer.word(ticketNumbers)
        writer.word(gapNumbers)
        writer.wide(skippedAbove)
        writer.wide(answersAgainstOrder)
        writer.word(used)
        writer.wide(options.pageSize)
        writer.wide(options.minimumRun)
        writer.word(Int64(options.firstPage))
        writer.wide(options.sizes.code)
        writer.word(collection)
        writer.byte(options.order.code)
        writer.byte(options.paging.code)
        writer.byte((options.trustsEnd ? 1 : 0) | (options.isStrict ? 2 : 0) | (hasViews ? 4 : 0))
    }

    private var parts: UInt8 {
        var parts: UInt8 = 0
        if !options.collection.isEmpty { parts |= Part.collection }
        if !options.sticky.isEmpty { parts |= Part.sticky }
        if sizes != LearnedSizes() { parts |= Part.sizes }
        if shifts != PositionShifts() { parts |= Part.shifts }
        if subscription.headAsOf != nil { parts |= Part.headAsOf }
        if subscription.live != nil { parts |= Part.live }
        if subscription.message != nil { parts |= Part.message }
        if deltaToken != nil { parts |= Part.deltaToken }
        return parts
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        counts = try FeedCounts(&reader)
        lastSegment = SegmentCount(entries: try reader.wide(), unkeyed: try reader.wide())
        resets = try reader.word()
        changed = try reader.word()
        edgeNumbers = try reader.word()
        pageNumbers = try reader.word()
        ticketNumbers = try reader.word()
        gapNumbers = try reader.word()
        skippedAbove = try reader.wide()
        answersAgainstOrder = try reader.wide()
        used = try reader.word()
        options = try Self.options(&reader, &collection, &hasViews)
        let parts = try reader.byte()
        name = try reader.text()
        head = try Edge(&reader)
        tail = try Edge(&reader)
        if parts & Part.collection != 0 { options.collection = try reader.text() }
        if parts & Part.sticky != 0 {
            options.sticky = Set(try reader.list { r throws(QuireError) in try r.postID() })
        }
        if parts & Part.sizes != 0 { sizes = try LearnedSizes(&reader) }
        if parts & Part.shifts != 0 { shifts = try PositionShifts(&reader) }
        if parts & Part.headAsOf != 0 { subscription.headAsOf = try reader.number() }
        if parts & Part.live != 0 { subscription.live = try reader.number() }
        if parts & Part.message != 0 { subscription.message = try reader.number() }
        if parts & Part.deltaToken != 0 {
            deltaToken = DeltaToken(text: try reader.text(), asOf: try reader.number())
        }
    }

    /// Returns the commit of the last use out of the bytes of a record.
    static func used(_ value: UnsafeRawBufferPointer, _ feed: UInt32) throws(QuireError) -> UInt64 {
        if value.count < usedOffset + 8 { throw .corrupt("feed number \(feed)") }
        return UInt64(littleEndian: value.loadUnaligned(fromByteOffset: usedOffset, as: UInt64.self))
    }

    /// Returns whether a feed has views out of the bytes of its record.
    static func hasViews(_ value: UnsafeRawBufferPointer, _ feed: UInt32) throws(QuireError) -> Bool {
        if value.count <= flagsOffset { throw .corrupt("feed number \(feed)") }
        return value[flagsOffset] & 4 != 0
    }

    /// Behind the use, four numbers, the collection, the order and the paging.
    private static let flagsOffset = usedOffset + 5 * 8 + 4 + 2

    /// Behind 21 numbers of 8 bytes.
    static let usedOffset = 21 * 8

    private static func options(
        _ reader: inout ByteReader, _ collection: inout UInt32, _ hasViews: inout Bool
    ) throws(QuireError) -> FeedOptions {
        let (pageSize, minimumRun) = (try reader.wide(), try reader.wide())
        let (firstPage, sizes) = (try reader.word() as Int64, SizePolicy(code: try reader.wide()))
        collection = try reader.word()
        let (order, paging) = (try OrderClass(code: try reader.byte()), try Paging(code: try reader.byte()))
        let flags = try reader.byte()
        hasViews = flags & 4 != 0
        return FeedOptions(
            order: order, paging: paging, trustsEnd: flags & 1 != 0, pageSize: pageSize,
            minimumRun: minimumRun, firstPage: Int(firstPage), isStrict: flags & 2 != 0, sizes: sizes)
    }
}

// Fields that both the record and the state of a feed have.

extension FeedState {
    /// Evaluates the record for each field, so that one in an object is not copied as a whole.
    @inline(__always)
    mutating func take(_ record: @autoclosure () -> FeedRecord) {
        resets = record().resets
        changed = record().changed
        edgeNumbers = record().edgeNumbers
        pageNumbers = record().pageNumbers
        ticketNumbers = record().ticketNumbers
        gapNumbers = record().gapNumbers
        (head, tail) = (record().head, record().tail)
        skippedAbove = record().skippedAbove
        sizes = record().sizes
        answersAgainstOrder = record().answersAgainstOrder
        subscription = record().subscription
        deltaToken = record().deltaToken
    }
}

extension FeedRecord {
    @inline(__always)
    mutating func take(_ state: borrowing FeedState) {
        resets = state.resets
        changed = state.changed
        edgeNumbers = state.edgeNumbers
        pageNumbers = state.pageNumbers
        ticketNumbers = state.ticketNumbers
        gapNumbers = state.gapNumbers
        (head, tail) = (state.head, state.tail)
        skippedAbove = state.skippedAbove
        sizes = state.sizes
        answersAgainstOrder = state.answersAgainstOrder
        subscription = state.subscription
        deltaToken = state.deltaToken
    }
}

/// The totals of a feed. `check` recomputes them.
struct FeedCounts: Record, Hashable {
    var entries = 0
    var detached = 0
    var placeholders = 0
    var pinned = 0
    var unverifiedJoins = 0
    var pages = 0
    var gaps = 0
    /// The number of gaps whose upper link is an end in doubt (R11): everything below waits for them.
    var endsInDoubt = 0
    /// The number of gaps with a link that begins at another post than the gap's neighbour (R14).
    var overlaps = 0
    var chunks = 0
    var bodyBytes = 0

    init() {}

    func encode(_ writer: inout ByteWriter) {
        writer.wide(entries)
        writer.wide(detached)
        writer.wide(placeholders)
        writer.wide(pinned)
        writer.wide(unverifiedJoins)
        writer.wide(pages)
        writer.wide(gaps)
        writer.wide(endsInDoubt)
        writer.wide(overlaps)
        writer.wide(chunks)
        writer.wide(bodyBytes)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        entries = try reader.wide()
        detached = try reader.wide()
        placeholders = try reader.wide()
        pinned = try reader.wide()
        unverifiedJoins = try reader.wide()
        pages = try reader.wide()
        gaps = try reader.wide()
        endsInDoubt = try reader.wide()
        overlaps = try reader.wide()
        chunks = try reader.wide()
        bodyBytes = try reader.wide()
    }

    /// Reads the beginning of a feed's record.
    init(startOf value: UnsafeRawBufferPointer, _ feed: UInt32) throws(QuireError) {
        guard var reader = try? ByteReader(value), let counts = try? FeedCounts(&reader) else {
            throw .corrupt("feed number \(feed)")
        }
        self = counts
    }
}
