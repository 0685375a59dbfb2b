// Operations as bytes. Sets and dictionaries are written in one order, so that equal operations have equal
// bytes.

extension CacheOperation {
    /// The version of the rules by which this library applies operations. A program that keeps a log refuses
    /// what was written under another one: the same operation could do something else.
    public static let rules: UInt16 = 1

    /// The version of the encoding.
    private static let encoding: UInt8 = 1

    /// The operation as bytes: the version of the encoding, that of the ``rules``, the operation, and a
    /// checksum.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        writer.byte(Self.encoding)
        writer.word(Self.rules)
        encode(&writer)
        return writer.sealed()
    }

    /// Decodes what ``encoded`` is. Any bytes may be passed.
    /// - Throws: ``QuireError`` `.newerFormat` if another version wrote it, `.corrupt` if it is no operation.
    public init(encoded bytes: [UInt8]) throws(QuireError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(QuireError) in
                guard Checksum.isValid(bytes) else { throw .corrupt("an operation") }
                var reader = try ByteReader(bytes)
                let (encoding, rules) = (try reader.byte(), try reader.word() as UInt16)
                if encoding != Self.encoding || rules != Self.rules {
                    throw QuireError(
                        .newerFormat,
                        "an operation of encoding \(encoding), rules \(rules); "
                            + "this library has \(Self.encoding), \(Self.rules)")
                }
                return try ByteReader.read(bytes, "an operation") { reader throws(QuireError) in
                    _ = (try reader.byte(), try reader.word() as UInt16)
                    return try Self(&reader)
                }
            }
        }
        self = try result.get()
    }
}

extension CacheOperation: Record {
    func encode(_ writer: inout ByteWriter) {
        switch self {
        case .open(let name, let options):
            writer.byte(0)
            writer.text(name)
            writer.optional(options) { $1.encode(&$0) }
        case .feed(let number, let operation):
            writer.byte(1)
            writer.number(UInt64(number))
            operation.encode(&writer)
        case .updateBody(let id, let body, let version, let detail, let collection):
            writer.byte(2)
            id.encode(&writer)
            writer.blob(body)
            writer.optional(version) { $0.signed($1) }
            writer.byte(detail.rawValue)
            writer.text(collection)
        case .updateFields(let id, let fields, let version, let collection):
            writer.byte(3)
            id.encode(&writer)
            writer.list(fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                $0.text($1.key)
                $0.blob($1.value)
            }
            writer.signed(version)
            writer.text(collection)
        case .addAlias(let alias, let id, let collection):
            writer.byte(4)
            alias.encode(&writer)
            id.encode(&writer)
            writer.text(collection)
        case .embed(let page):
            writer.byte(5)
            page.encode(&writer)
        case .setAttribute(let name, let value):
            writer.byte(6)
            writer.text(name)
            writer.optional(value) { $0.blob($1) }
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        switch try reader.byte() {
        case 0:
            self = .open(
                name: try reader.text(),
                options: try reader.optional { r throws(QuireError) in try FeedOptions(&r) })
        case 1:
            guard let number = UInt32(exactly: try reader.number()) else { throw ByteReader.damage }
            self = .feed(number, try FeedOperation(&reader))
        case 2:
            self = .updateBody(
                try reader.postID(), Array(try reader.blob()), version: try reader.optionalSigned(),
                detail: Detail(rawValue: try reader.byte()), collection: try reader.text())
        case 3:
            let id = try reader.postID()
            let fields = try reader.list { r throws(QuireError) in
                (try r.text(), Array(try r.blob()))
            }
            self = .updateFields(
                id, Dictionary(fields) { $1 }, version: try reader.signed(), collection: try reader.text())
        case 4:
            self = .addAlias(
                try reader.postID(), of: try reader.postID(), collection: try reader.text())
        case 5: self = .embed(try EmbeddedPage(&reader))
        case 6:
            self = .setAttribute(try reader.text(), to: try reader.optionalBytes())
        default: throw ByteReader.damage
        }
    }
}

extension FeedOperation: Record {
    func encode(_ writer: inout ByteWriter) {
        writer.byte(code)
        switch self {
        case .plan(let place, let limit, let isBounded, let link):
            place.encode(&writer)
            writer.optional(limit) { $0.signed(Int64($1)) }
            writer.flag(isBounded)
            writer.optional(link) { $1.encode(&$0) }
        case .ingest(let answer, let ticket, let issuer, let embedded, let note):
            answer.encode(&writer)
            writer.number(ticket.number)
            writer.word(issuer)
            writer.list(embedded) { $1.encode(&$0) }
            writer.optional(note) { $1.encode(&$0) }
        case .push(let answer, let number, let follows):
            answer.encode(&writer)
            writer.optional(number) { $0.number($1) }
            writer.optional(follows) { $1.encode(&$0) }
        case .crawl(let answer, let page, let crawl):
            answer.encode(&writer)
            writer.optional(page) { $0.signed(Int64($1)) }
            crawl.encode(&writer)
        case .beginLive(let message): writer.optional(message) { $0.number($1) }
        case .cancel(let ticket): writer.number(ticket.number)
        case .dropLink(let ticket, let issuer):
            writer.number(ticket.number)
            writer.word(issuer)
        case .delete(let id), .pin(let id), .unpin(let id), .removeLocal(let id): id.encode(&writer)
        case .evict(let ids): writer.list(ids) { $1.encode(&$0) }
        case .evictPage(let index): writer.signed(Int64(index))
        case .prune(let policy): policy.encode(&writer)
        case .rename(let name): writer.text(name)
        case .setOptions(let options): options.encode(&writer)
        case .insertLocal(let id, let body):
            id.encode(&writer)
            writer.blob(body)
        case .confirmLocal(let id, let server):
            id.encode(&writer)
            server.encode(&writer)
        case .setAttribute(let name, let value):
            writer.text(name)
            writer.optional(value) { $0.blob($1) }
        case .exchangeAttribute(let name, let old, let new):
            writer.text(name)
            writer.optional(old) { $0.blob($1) }
            writer.optional(new) { $0.blob($1) }
        case .endLive, .reset, .drop: break
        }
    }

    private var code: UInt8 {
        switch self {
        case .plan: 0
        case .ingest: 1
        case .push: 2
        case .beginLive: 3
        case .endLive: 4
        case .crawl: 5
        case .cancel: 6
        case .delete: 7
        case .evict: 8
        case .evictPage: 9
        case .prune: 10
        case .reset: 11
        case .drop: 12
        case .rename: 13
        case .setOptions: 14
        case .pin: 15
        case .unpin: 16
        case .insertLocal: 17
        case .removeLocal: 18
        case .confirmLocal: 19
        case .setAttribute: 20
        case .exchangeAttribute: 21
        case .dropLink: 22
        }
    }

    init(_ reader: inout ByteReader) throws(QuireError) {
        switch try reader.byte() {
        case 0:
            self = .plan(
                try Place(&reader), limit: try reader.optionalInt(), isBounded: try reader.flag(),
                link: try reader.optional { r throws(QuireError) in try Link(&r) })
        case 1:
            self = .ingest(
                try Answer(&reader), for: Ticket(try reader.number()), issuer: try reader.word(),
                embedded: try reader.list { r throws(QuireError) in try EmbeddedPage(&r) },
                note: try reader.optional { r throws(QuireError) in try PageNote(&r) })
        case 2:
            self = .push(
                try Answer(&reader), number: try reader.optionalNumber(),
                follows: try reader.optional { r throws(QuireError) in try r.postID() })
        case 3: self = .beginLive(after: try reader.optionalNumber())
        case 4: self = .endLive
        case 5:
            self = .crawl(try Answer(&reader), page: try reader.optionalInt(), of: try Crawl(&reader))
        case 6: self = .cancel(Ticket(try reader.number()))
        case 7: self = .delete(try reader.postID())
        case 8: self = .evict(try reader.list { r throws(QuireError) in try r.postID() })
        case 9: self = .evictPage(at: Int(try reader.signed()))
        case 10: self = .prune(try PrunePolicy(&reader))
        case 11: self = .reset
        case 12: self = .drop
        case 13: self = .rename(to: try reader.text())
        case 14: self = .setOptions(try FeedOptions(&reader))
        case 15: self = .pin(try reader.postID())
        case 16: self = .unpin(try reader.postID())
        case 17: self = .insertLocal(try reader.postID(), body: Array(try reader.blob()))
        case 18: self = .removeLocal(try reader.postID())
        case 19: self = .confirmLocal(try reader.postID(), as: try reader.postID())
        case 20: self = .setAttribute(try reader.text(), to: try reader.optionalBytes())
        case 21:
            self = .exchangeAttribute(
                try reader.text(), from: try reader.optionalBytes(), to: try reader.optionalBytes())
        case 22: self = .dropLink(of: Ticket(try reader.number()), issuer: try reader.word())
        default: throw ByteReader.damage
        }
    }
}
