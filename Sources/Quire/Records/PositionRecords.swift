// The encoding of R26 state: searches, spans, learned sizes, and shifts of estimated positions.

extension Search: Record {
    func encode(_ writer: inout ByteWriter) {
        writer.optional(border) { $1.encode(&$0) }
        writer.byte(
            (isStalled ? 1 : 0) | (isSure ? 2 : 0) | (isLost ? 4 : 0) | (hasEnded ? 8 : 0)
                | (isSolid ? 16 : 0))
        for number in [back, skip, blanks, page] { writer.number(number) }
        writer.optional(echo) { writer, echo in
            echo.first.encode(&writer)
            writer.number(echo.place)
        }
        writer.optional(probe) { $0.number($1) }
        writer.optional(after) { $1.encode(&$0) }
        writer.optional(ceiling == .max ? nil : ceiling) { $0.number($1) }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        self.init(try reader.optional { r throws(QuireError) in try r.postID() })
        let flags = try reader.byte()
        isStalled = flags & 1 != 0
        isSure = flags & 2 != 0
        isLost = flags & 4 != 0
        hasEnded = flags & 8 != 0
        isSolid = flags & 16 != 0
        back = try reader.int()
        skip = try reader.int()
        blanks = try reader.int()
        page = try reader.int()
        echo = try reader.optional { r throws(QuireError) in
            Echo(first: try r.postID(), place: try r.int())
        }
        probe = try reader.optional { r throws(QuireError) in try r.int() }
        after = try reader.optional { r throws(QuireError) in try r.postID() }
        ceiling = try reader.optional { r throws(QuireError) in try r.int() } ?? .max
    }
}

extension TicketRecord.Span: Record {
    func encode(_ writer: inout ByteWriter) {
        writer.signed(Int64(start))
        writer.number(rows)
        writer.optional(page) { $0.signed(Int64($1)) }
        writer.number(asked)
        writer.byte(isDisproved ? 1 : 0)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        start = Int(try reader.signed())
        rows = try reader.int()
        page = try reader.optional { r throws(QuireError) in Int(try r.signed()) }
        asked = try reader.int()
        isDisproved = try reader.byte() != 0
    }
}

extension SizePolicy {
    var code: Int {
        switch self {
        case .unknown: 0
        case .free: 1
        case .fixed(let size): size + 1
        }
    }

    init(code: Int) {
        switch code {
        case 0: self = .unknown
        case 1: self = .free
        default: self = .fixed(code - 1)
        }
    }
}

extension LearnedSizes: Record {
    func encode(_ writer: inout ByteWriter) {
        writer.byte(isDisproved ? 1 : 0)
        writer.optional(size) { $0.number($1) }
        writer.optional(asked) { $0.number($1) }
        writer.number(most)
        writer.optional(short) { writer, short in
            short.own.encode(&writer)
            writer.signed(Int64(short.start))
            writer.number(short.rows)
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        isDisproved = try reader.byte() != 0
        size = try reader.optional { r throws(QuireError) in try r.int() }
        asked = try reader.optional { r throws(QuireError) in try r.int() }
        most = try reader.int()
        short = try reader.optional { r throws(QuireError) in
            Short(own: try Link(&r), start: Int(try r.signed()), rows: try r.int())
        }
    }
}

/// Shifts of the estimated positions (R26.1) in chunks that were not loaded. An answer shifts everything
/// below it, and must not rewrite every chunk for that.
///
/// Each chunk stores the epoch in which it was written. Later shifts are applied when it is read. A feed of
/// few chunks forgets no shift: before its list is full, one change rewrites all its chunks. That would be
/// too much for a large feed, where positions older than the list are only estimates.
struct PositionShifts: Record, Hashable {
    struct Shift: Hashable {
        var epoch: UInt64
        var chunks: ClosedRange<UInt64>
        var distance: Int
        /// The number of rows in a page at that time.
        var unit: Int
    }

    private(set) var epoch: UInt64 = 0
    /// Shifts up to this epoch are forgotten. Older positions are only estimates.
    private(set) var forgotten: UInt64 = 0
    private(set) var shifts: [Shift] = []

    static let limit = 64
    /// A feed with at most this number of chunks is rewritten at once: about 8,000 posts in pages of 30.
    static let eagerChunks = 256

    init() {}

    /// True if a small feed should apply all shifts now.
    var isLong: Bool { shifts.count >= Self.limit }

    /// Notes the shifts of unloaded spans, from the top down. What lies between two spans that move alike is
    /// loaded, and is written in the new epoch: one shift is noted for all of them. `forgets`: only the
    /// newest are kept.
    mutating func add(_ runs: [UnloadedSpan], unit: Int, forgets: Bool) {
        var above: Int?
        for (i, run) in runs.enumerated() {
            guard let distance = run.shift else { continue }
            if above == nil { epoch += 1 }
            if let above, above == i - 1, runs[above].shift == distance {
                let first = shifts[shifts.count - 1].chunks.lowerBound
                shifts[shifts.count - 1].chunks = first...run.chunks.upperBound
            } else {
                shifts.append(Shift(epoch: epoch, chunks: run.chunks, distance: distance, unit: unit))
            }
            above = i
        }
        if above == nil { return }
        if forgets && shifts.count > Self.limit {
            forgotten = shifts[shifts.count - Self.limit - 1].epoch
            shifts.removeAll { $0.epoch <= forgotten }
        }
    }

    /// Removes all shifts, after all chunks were rewritten.
    mutating func clear() {
        epoch += 1
        (forgotten, shifts) = (epoch, [])
    }

    /// True if the newest epoch shifts the chunk at a position.
    func shiftsLast(_ position: UInt64) -> Bool {
        shifts.reversed().prefix { $0.epoch == epoch }.contains { $0.chunks.contains(position) }
    }

    /// Applies the shifts that came after an epoch, in which the chunk of these entries was written.
    func apply(
        to entries: inout [Entry], _ range: Range<Int>, since written: UInt64, at position: UInt64
    ) {
        if written >= epoch { return }
        if written < forgotten {
            for i in range where entries[i].movesWithRows { entries[i].spot?.isLast = false }
        }
        for shift in shifts.reversed().prefix(while: { $0.epoch > written }).reversed()
        where shift.chunks.contains(position) {
            for i in range {
                guard entries[i].movesWithRows, let spot = entries[i].spot else { continue }
                entries[i].spot = Spot(at: spot.position(unit: shift.unit) + shift.distance, unit: shift.unit)
            }
        }
    }

    func encode(_ writer: inout ByteWriter) {
        writer.number(epoch)
        writer.number(forgotten)
        writer.list(shifts) { writer, shift in
            writer.number(epoch - shift.epoch)
            writer.number(shift.chunks.lowerBound)
            writer.number(shift.chunks.upperBound - shift.chunks.lowerBound)
            writer.signed(Int64(shift.distance))
            writer.number(shift.unit)
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        epoch = try reader.number()
        forgotten = try reader.number()
        let last = epoch
        shifts = try reader.list { r throws(QuireError) in
            let (age, lower, length) = (try r.number(), try r.number(), try r.number())
            let distance = Int(try r.signed())
            let unit = try r.int()
            guard age <= last, length <= .max - lower, unit > 0, distance.magnitude < 1 << 31 else {
                throw ByteReader.damage
            }
            return Shift(epoch: last - age, chunks: lower...(lower + length), distance: distance, unit: unit)
        }
    }
}
