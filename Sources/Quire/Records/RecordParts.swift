// Parts of records: ids, links, edges, body references, tickets.

extension PostID {
    /// Writes 0 and the number, or the count of the bytes and the bytes.
    func encode(_ writer: inout ByteWriter) {
        switch storage {
        case .integer(let number):
            writer.number(0)
            writer.number(number)
        case .bytes(let bytes): writer.blob(bytes)
        }
    }
}

extension PostIDs {
    /// Writes the id at an index, like ``PostID/encode(_:)``.
    @inline(__always)
    func encode(_ i: Int, _ writer: inout ByteWriter) {
        if let number = number(at: i) {
            writer.number(0 as UInt64)
            writer.number(number)
        } else {
            self[i].encode(&writer)
        }
    }
}

extension ByteReader {
    mutating func postID() throws(QuireError) -> PostID {
        let count = try count()
        if count == 0 { return PostID(try number()) }
        guard let id = PostID(bytes: try bytes(count)) else { throw Self.damage }
        return id
    }
}

extension Link: Record {
    func encode(_ writer: inout ByteWriter) {
        switch self {
        case .unknown: writer.byte(0)
        case .end: writer.byte(1)
        case .confirmEnd: writer.byte(2)
        case .head: writer.byte(3)
        case .more: writer.byte(4)
        case .token(let text):
            writer.byte(5)
            writer.text(text)
        case .below(let id):
            writer.byte(6)
            id.encode(&writer)
        case .above(let id):
            writer.byte(7)
            id.encode(&writer)
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        switch try reader.byte() {
        case 0: self = .unknown
        case 1: self = .end
        case 2: self = .confirmEnd
        case 3: self = .head
        case 4: self = .more
        case 5: self = .token(try reader.text())
        case 6: self = .below(try reader.postID())
        case 7: self = .above(try reader.postID())
        default: throw ByteReader.damage
        }
    }
}

extension OrderClass {
    var code: UInt8 {
        switch self {
        case .stable: 0
        case .keyless: 1
        case .bump: 2
        case .appendOnly: 3
        case .ranked: 4
        }
    }

    init(code: UInt8) throws(QuireError) {
        switch code {
        case 0: self = .stable
        case 1: self = .keyless
        case 2: self = .bump
        case 3: self = .appendOnly
        case 4: self = .ranked
        default: throw ByteReader.damage
        }
    }
}

extension Paging {
    var code: UInt8 {
        switch self {
        case .cursor: 0
        case .pages: 1
        case .keyset: 2
        case .offset: 3
        case .page: 4
        case .ids: 5
        }
    }

    init(code: UInt8) throws(QuireError) {
        switch code {
        case 0: self = .cursor
        case 1: self = .pages
        case 2: self = .keyset
        case 3: self = .offset
        case 4: self = .page
        case 5: self = .ids
        default: throw ByteReader.damage
        }
    }
}

extension Doubt: Record {
    /// The order is part of the format: add new cases at the end.
    private static let coded: [Doubt] = [
        .unfetched, .evicted, .endInDoubt, .jump, .missingPage, .contradiction, .drift, .numbering, .disorder,
        .unplaced, .missed, .damage,
    ]

    var code: UInt8 { UInt8(Self.coded.firstIndex(of: self)!) }

    init(code: UInt8) throws(QuireError) {
        if Int(code) >= Self.coded.count { throw ByteReader.damage }
        self = Self.coded[Int(code)]
    }

    func encode(_ writer: inout ByteWriter) { writer.byte(code) }

    init(_ reader: inout ByteReader) throws(QuireError) { self = try Self(code: try reader.byte()) }
}

extension Edge: Record {
    func encode(_ writer: inout ByteWriter) {
        link.encode(&writer)
        writer.number(number)
        writer.optional(after) { $1.encode(&$0) }
        writer.list(triedLinks) { $1.encode(&$0) }
        writer.byte((isDoubtful ? 1 : 0) | (isLoose ? 2 : 0) | (isAssumed ? 4 : 0) | (search == nil ? 0 : 8))
        search?.encode(&writer)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        let (link, number) = (try Link(&reader), try reader.number())
        let after = try reader.optional { r throws(QuireError) in try r.postID() }
        let triedLinks = try reader.list { r throws(QuireError) in try Link(&r) }
        let flags = try reader.byte()
        self.init(
            link: link, number: number, after: after, triedLinks: triedLinks, isLoose: flags & 2 != 0)
        isDoubtful = flags & 1 != 0
        isAssumed = flags & 4 != 0
        if flags & 8 != 0 { search = try Search(&reader) }
    }
}

extension BodyReference: Record {
    func encode(_ writer: inout ByteWriter) {
        writer.number(record)
        writer.number(UInt64(offset))
        writer.number(UInt64(length))
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        record = try reader.number()
        offset = UInt32(truncatingIfNeeded: try reader.number())
        length = UInt32(truncatingIfNeeded: try reader.number())
    }
}

extension TicketRecord: Record {
    func encode(_ writer: inout ByteWriter) {
        writer.number(number)
        writer.byte(operation.rawValue)
        writer.number(resets)
        writer.number(issued)
        own.encode(&writer)
        writer.list(edges) { $0.number($1) }
        writer.optional(gap) { $0.number($1.number) }
        writer.byte(
            (isOverlapping ? 1 : 0) | (isBounded ? 2 : 0) | (isCancelled ? 4 : 0)
                | (isAtHead ? 8 : 0) | (isContinuation ? 16 : 0) | (isLoose ? 32 : 0)
                | (isAboveHead ? 64 : 0) | (mayClaim ? 128 : 0))
        writer.optional(after) { $1.encode(&$0) }
        writer.optional(minted) { $1.encode(&$0) }
        writer.optional(confirms) { $0.number($1) }
        writer.optional(span) { $1.encode(&$0) }
        writer.byte(isProbe ? 1 : 0)
        writer.optional(join) { writer, join in
            join.upper.encode(&writer)
            join.lower.encode(&writer)
        }
        writer.list(ids) { $1.encode(&$0) }
        writer.number(limit)
        if issuer != 0 { writer.word(issuer) }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        let number = try reader.number()
        guard let operation = Operation(rawValue: try reader.byte()) else { throw ByteReader.damage }
        self.init(
            number: number, operation: operation, resets: try reader.number(),
            issued: try reader.number())
        own = try Link(&reader)
        edges = try reader.list { r throws(QuireError) in try r.number() }
        gap = try reader.optional { r throws(QuireError) in GapID(try r.number()) }
        let flags = try reader.byte()
        isOverlapping = flags & 1 != 0
        isBounded = flags & 2 != 0
        isCancelled = flags & 4 != 0
        isAtHead = flags & 8 != 0
        isContinuation = flags & 16 != 0
        isLoose = flags & 32 != 0
        isAboveHead = flags & 64 != 0
        mayClaim = flags & 128 != 0
        after = try reader.optional { r throws(QuireError) in try r.postID() }
        minted = try reader.optional { r throws(QuireError) in try r.postID() }
        confirms = try reader.optional { r throws(QuireError) in try r.number() }
        span = try reader.optional { r throws(QuireError) in try Span(&r) }
        isProbe = try reader.byte() != 0
        join = try reader.optional { r throws(QuireError) in
            Join(upper: try r.postID(), lower: try r.postID())
        }
        ids = try reader.list { r throws(QuireError) in try r.postID() }
        limit = try reader.int()
        if !reader.isAtEnd { issuer = try reader.word() }
    }
}
