// What operations are made of, as bytes: answers, places, options, policies.

extension ByteReader {
    mutating func optionalSigned() throws(QuireError) -> Int64? {
        try optional { r throws(QuireError) in try r.signed() }
    }

    mutating func optionalInt() throws(QuireError) -> Int? {
        try optional { r throws(QuireError) in Int(try r.signed()) }
    }

    mutating func optionalNumber() throws(QuireError) -> UInt64? {
        try optional { r throws(QuireError) in try r.number() }
    }

    mutating func optionalBytes() throws(QuireError) -> [UInt8]? {
        try optional { r throws(QuireError) in Array(try r.blob()) }
    }
}

extension Answer: Record {
    func encode(_ writer: inout ByteWriter) {
        writer.blob(bytes)
        writer.list(posts) { writer, post in
            post.id.encode(&writer)
            writer.optional(post.key) { $0.signed($1) }
            writer.optional(post.version) { $0.signed($1) }
            writer.byte(post.detail.rawValue)
            // a range that is not in the bytes is refused when the operation is applied, not here
            writer.signed(Int64(post.body.lowerBound))
            writer.signed(Int64(post.body.upperBound))
        }
        writer.signed(Int64(opaqueRows))
        next.encode(&writer)
        previous.encode(&writer)
        writer.optional(total) { $0.signed(Int64($1)) }
        writer.optional(since) { $0.text($1) }
        writer.list(deleted) { $1.encode(&$0) }
        writer.signed(fetchedAt)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        self.init(bytes: Array(try reader.blob()))
        posts = try reader.list { r throws(QuireError) in
            var post = Post(
                id: try r.postID(), key: try r.optionalSigned(), version: try r.optionalSigned(),
                detail: Detail(rawValue: try r.byte()))
            let (lower, upper) = (Int(try r.signed()), Int(try r.signed()))
            if lower > upper { throw ByteReader.damage }
            post.body = lower..<upper
            return post
        }
        opaqueRows = Int(try reader.signed())
        next = try Link(&reader)
        previous = try Link(&reader)
        total = try reader.optionalInt()
        since = try reader.optional { r throws(QuireError) in try r.text() }
        deleted = try reader.list { r throws(QuireError) in try r.postID() }
        fetchedAt = try reader.signed()
    }
}

extension Place: Record {
    func encode(_ writer: inout ByteWriter) {
        switch self {
        case .head: writer.byte(0)
        case .tail: writer.byte(1)
        case .gap(let gap):
            writer.byte(2)
            writer.number(gap.number)
        case .aboveGap(let gap):
            writer.byte(3)
            writer.number(gap.number)
        case .openHead: writer.byte(4)
        case .around(let id):
            writer.byte(5)
            id.encode(&writer)
        case .page(let number):
            writer.byte(6)
            writer.signed(Int64(number))
        case .join(let id):
            writer.byte(7)
            id.encode(&writer)
        case .bodies(let ids):
            writer.byte(8)
            writer.list(ids) { $1.encode(&$0) }
        case .delta: writer.byte(9)
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        switch try reader.byte() {
        case 0: self = .head
        case 1: self = .tail
        case 2: self = .gap(GapID(try reader.number()))
        case 3: self = .aboveGap(GapID(try reader.number()))
        case 4: self = .openHead
        case 5: self = .around(try reader.postID())
        case 6: self = .page(Int(try reader.signed()))
        case 7: self = .join(above: try reader.postID())
        case 8: self = .bodies(try reader.list { r throws(QuireError) in try r.postID() })
        case 9: self = .delta
        default: throw ByteReader.damage
        }
    }
}

extension FeedOptions: Record {
    func encode(_ writer: inout ByteWriter) {
        writer.byte(order.code)
        writer.byte(paging.code)
        writer.flag(trustsEnd)
        writer.flag(isStrict)
        writer.number(pageSize)
        writer.number(minimumRun)
        writer.list(sticky.inOrder) { $1.encode(&$0) }
        writer.signed(Int64(firstPage))
        writer.number(sizes.code)
        writer.text(collection)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        let (order, paging) = (try OrderClass(code: try reader.byte()), try Paging(code: try reader.byte()))
        let (trustsEnd, isStrict) = (try reader.flag(), try reader.flag())
        self.init(
            order: order, paging: paging, trustsEnd: trustsEnd, pageSize: try reader.int(),
            minimumRun: try reader.int(),
            sticky: Set(try reader.list { r throws(QuireError) in try r.postID() }),
            firstPage: Int(try reader.signed()), isStrict: isStrict,
            sizes: SizePolicy(code: try reader.int()), collection: try reader.text())
    }
}

extension PrunePolicy: Record {
    func encode(_ writer: inout ByteWriter) {
        writer.flag(dropsOutOfSequence)
        writer.optional(maximumAge) { $0.signed($1) }
        writer.signed(now)
        for limit in [maximumPosts, maximumPages, maximumBytes] {
            writer.optional(limit) { $0.signed(Int64($1)) }
        }
        writer.list(visible.inOrder) { $1.encode(&$0) }
        writer.signed(Int64(budget))
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        self.init()
        dropsOutOfSequence = try reader.flag()
        maximumAge = try reader.optionalSigned()
        now = try reader.signed()
        maximumPosts = try reader.optionalInt()
        maximumPages = try reader.optionalInt()
        maximumBytes = try reader.optionalInt()
        visible = Set(try reader.list { r throws(QuireError) in try r.postID() })
        budget = Int(try reader.signed())
    }
}

extension EmbeddedPage: Record {
    func encode(_ writer: inout ByteWriter) {
        writer.text(feed)
        options.encode(&writer)
        answer.encode(&writer)
        writer.optional(note) { $1.encode(&$0) }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        self.init(
            of: try reader.text(), options: try FeedOptions(&reader), try Answer(&reader),
            note: try reader.optional { r throws(QuireError) in try PageNote(&r) })
    }
}

extension PageNote: Record {
    func encode(_ writer: inout ByteWriter) {
        writer.text(attribute)
        writer.blob(value)
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        self.init(try reader.text(), Array(try reader.blob()))
    }
}

extension Set<PostID> {
    fileprivate var inOrder: [PostID] { sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) } }
}
